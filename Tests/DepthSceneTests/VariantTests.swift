import DepthKernels
import DepthScene
import Testing

/// The scenes that are hard for a matte.
@Suite struct VariantTests {
    private static let variants = ScenePattern.allCases.filter { ![.person, .ramp, .blank].contains($0) }

    private func renderer(_ pattern: ScenePattern, _ width: Int = 320, _ height: Int = 180) -> SceneRenderer {
        SceneRenderer(scene: Scene(pattern: pattern, seed: 0), width: width, height: height)
    }

    /// Two rooms behind the same person: the pictures differ by the rooms' difference times 1 − alpha. A room's color at a
    /// pixel is that of a moment at which the person is elsewhere.
    @Test func `the video is composed with the alpha of the matte`() {
        let scenes = [renderer(.person), renderer(.likeColors)]
        let matte = scenes[0].matte(at: 0).pixels
        #expect(matte == scenes[1].matte(at: 0).pixels)
        let videos = scenes.map { $0.video(at: 0).pixels }
        var checked = 0
        for time in moments {
            let clear = scenes[0].matte(at: time).pixels
            let rooms = scenes.map { $0.video(at: time).pixels }
            for pixel in matte.indices where clear[pixel] == 0 && (1...254).contains(matte[pixel]) {
                checked += 1
                for byte in (4 * pixel)..<(4 * pixel + 3) {
                    let difference = Double(videos[0][byte]) - Double(videos[1][byte])
                    let ofRooms = Double(rooms[0][byte]) - Double(rooms[1][byte])
                    #expect(abs(difference - ofRooms * (1 - Double(matte[pixel]) / 255)) < 2.5)
                }
            }
        }
        #expect(checked > 100)
    }

    @Test(arguments: variants)
    func `each person has a face box on the face`(pattern: ScenePattern) throws {
        let scene = renderer(pattern)
        let expected = [ScenePattern.people: [false, true, true], .room: [true, true]][pattern, default: [true]]
        for time in moments.prefix(4) {
            let faces = scene.faces(seconds: time)
            let matte = scene.matte(at: time).pixels
            #expect(faces.count == expected.count)
            let isOpaque = faces.map { face in
                #expect(face.x > 0 && face.y > 0 && face.x + face.width < 1 && face.y + face.height < 1)
                let (x, y) = (face.x + face.width / 2, face.y + face.height / 2)
                return matte[Int(y * Double(scene.height)) * scene.width + Int(x * Double(scene.width))] == 255
            }
            #expect(isOpaque == expected)
        }
    }

    /// Sizes in the frame follow the focal length, and distances stay.
    @Test(arguments: [45.0, 69, 90, 120], [ScenePattern.person, .far, .room])
    func `a lens changes the size of the person, not the distance`(lens: Double, pattern: ScenePattern) {
        let layout = renderer(pattern)
        let scene = SceneRenderer(scene: Scene(pattern: pattern, seed: 0, lens: lens), width: 320, height: 180)
        let focal = SceneRenderer.focalLengths(lens: lens, width: 320, height: 180)
        let usual = SceneRenderer.focalLengths(lens: 60, width: 320, height: 180)
        #expect(abs(focal.x * 2 * tangents[lens, default: 0] - 320) < 0.01 && abs(focal.x - focal.y) < 0.01)
        let (face, usualFace) = (scene.faces(seconds: 0)[0], layout.faces(seconds: 0)[0])
        #expect(abs(face.width / usualFace.width - focal.x / usual.x) < 1e-4)
        func depth(_ renderer: SceneRenderer, at face: Rectangle<Double>) -> Float {
            let (x, y) = (face.x + face.width / 2, face.y + face.height / 2)
            return renderer.depth(at: 0).floats[Int(y * 180) * 320 + Int(x * 320)]
        }
        #expect(abs(depth(scene, at: face) - depth(layout, at: usualFace)) < 0.03)
        #expect(scene.depth(at: 0).floats.allSatisfy { $0 > 0 }, "the room fills the frame")
    }

    /// Of half the angle.
    private let tangents = [45.0: 0.414214, 69: 0.687281, 90: 1, 120: 1.732051]

    @Test func `those within a metre are the matte of people`() {
        let scene = renderer(.people)
        let (depth, matte) = (scene.depth(at: 0.8).floats, scene.matte(at: 0.8).pixels)
        #expect(matte.indices.allSatisfy { matte[$0] < 255 || depth[$0] < 1 })
        #expect(matte.indices.allSatisfy { matte[$0] > 0 || depth[$0] >= 1 })
    }

    @Test func `nothing but the person is measured without a wall`() {
        let scene = renderer(.noWall)
        let (depth, matte) = (scene.depth(at: 0.8).floats, scene.matte(at: 0.8).pixels)
        #expect(matte.indices.allSatisfy { matte[$0] > 0 || depth[$0] == 0 })
        #expect(depth.contains { $0 > 0 })
    }

    @Test func `a chair stands behind shoulders and head, before a cutoff behind the face`() throws {
        let (scene, usual) = (renderer(.chair, 640, 360), renderer(.person, 640, 360))
        #expect(scene.matte(at: 0.8).pixels == usual.matte(at: 0.8).pixels)
        let (depth, matte) = (scene.depth(at: 0.8).floats, scene.matte(at: 0.8).pixels)
        let face = try #require(scene.faces(seconds: 0.8).first)
        let middle = Int((face.x + face.width / 2) * 640)
        for rows in [Int(face.y * 360)..<Int((face.y + face.height * 0.6) * 360), 200..<260] {
            for columns in [0..<middle, middle..<640] {
                let samples = rows.flatMap { row in columns.map { column in row * 640 + column } }
                let chair = samples.filter { matte[$0] == 0 && depth[$0] < faceDepth + 0.25 }
                #expect(chair.count > 400 && chair.allSatisfy { abs(depth[$0] - 0.88) < 1e-4 })
            }
        }
        for sensor in SensorKind.allCases {
            let measured = scene.depth(at: 0.8, sensor: sensor).floats
            let back = (205..<220).map { measured[$0 * 640 + middle - 100] }
            #expect(back.allSatisfy { abs($0 - 0.88) < 0.02 }, "\(sensor): \(back)")
        }
    }

    @Test func `dim video has the noise of its frame`() {
        let scene = renderer(.dim)
        func video(_ frame: UInt64) -> [UInt8] {
            var canvas = Canvas(width: scene.width, height: scene.height, bytesPerPixel: 4)
            canvas.draw { scene.drawVideo(seconds: 0, frame: frame, into: $0) }
            return canvas.pixels
        }
        let (first, second) = (video(3), video(4))
        #expect(first == video(3))
        let bytes = first.indices.filter { $0 % 4 != 3 }
        let square = bytes.reduce(0.0) { sum, byte in
            let change = Double(first[byte]) - Double(second[byte])
            return sum + change * change
        }
        #expect((3...6).contains((square / 2 / Double(bytes.count)).squareRoot()))
        #expect(scene.matte(at: 0).pixels == renderer(.person).matte(at: 0).pixels)
        let light = { (pixels: [UInt8]) in pixels.reduce(0.0) { $0 + Double($1) * Double($1) } - 65025 * 320 * 180 }
        #expect(abs(light(first) / light(renderer(.person).video(at: 0).pixels) - 0.2) < 0.02)
    }

    @Test func `strands of long hair are soft, and a structured light loses them`() {
        let (short, long) = (renderer(.person, 640, 360), renderer(.longHair, 640, 360))
        let mattes = [short.matte(at: 0).pixels, long.matte(at: 0).pixels]
        let strands = mattes[0].indices.filter { mattes[0][$0] == 0 && (1...254).contains(mattes[1][$0]) }
        #expect(strands.count > 2000)
        let exact = long.depth(at: 0).floats
        let measured = long.depth(at: 0, sensor: .structuredLight).floats
        let hair = mattes[0].indices.filter { mattes[0][$0] == 0 && mattes[1][$0] == 255 && exact[$0] > 0.8 }
        #expect(hair.count > 1000)
        #expect(hair.filter { measured[$0] > 0 && measured[$0] < 1 }.count * 4 < hair.count)
    }

    @Test func `the hand is nearer, and the far person farther, than the usual one`() throws {
        for time in moments {
            #expect((0.4...0.52).contains(try #require(renderer(.hand, 160, 90).depth(at: time).floats.min())))
            let far = renderer(.far, 160, 90)
            let (depth, matte) = (far.depth(at: time).floats, far.matte(at: time).pixels)
            let inner = (161..<(matte.count - 161)).filter { index in
                [-160, -1, 0, 1, 160].allSatisfy { matte[index + $0] == 255 }
            }
            #expect(inner.count > 200)
            #expect(inner.allSatisfy { (2.9...3.35).contains(depth[$0]) })
        }
    }

    /// Points of the frame, of 16:9, whose depth follows from the layout: a camera 1.45 m above the floor that looks down by 10
    /// degrees, and a focal length of 1.5396 frame heights.
    @Test func `the planes of the living room are where its metres say`() {
        let depth = renderer(.room, 640, 360).depth(at: 0.8).floats
        /// The height above the floor, and metres ahead of the camera, of what is seen at a point.
        func place(_ x: Int, _ y: Int) -> (height: Double, ahead: Double, right: Double) {
            let metres = Double(depth[y * 640 + x])
            let (right, down) = ((Double(x) - 319.5) / 360 / 1.5396, (Double(y) - 179.5) / 360 / 1.5396)
            let (cosine, sine) = (0.98481, 0.17365)
            return (1.45 - metres * (down * cosine + sine), metres * (cosine - down * sine), metres * right)
        }
        for x in [20, 150, 350] { #expect(abs(place(x, 100).ahead - 4.2) < 0.01, "back wall") }
        for (x, y) in [(200, 350), (360, 300), (500, 350)] { #expect(abs(place(x, y).height) < 0.01, "floor") }
        for y in [20, 150, 250] { #expect(abs(place(560, y).right - 1.5) < 0.01, "side wall") }
        #expect(abs(place(150, 200).ahead - 3.65) < 0.01 && abs(place(150, 245).height - 0.45) < 0.01, "sofa")
        #expect(abs(place(120, 300).height - 0.42) < 0.01 && abs(place(120, 340).ahead - 2.35) < 0.01, "table")
    }

    /// Of the room's persons: true proportions, and feet on the floor.
    @Test func `the persons of the living room stand on the floor and sit on the sofa`() throws {
        let scene = renderer(.room, 640, 360)
        let (depth, matte) = (scene.depth(at: 0.8).floats, scene.matte(at: 0.8).pixels)
        for columns in [0..<330, 330..<640] {
            let isPerson = { (x: Int, y: Int) in matte[y * 640 + x] == 255 }
            let rows = (0..<360).filter { y in columns.contains { isPerson($0, y) } }
            let (top, foot) = (try #require(rows.first), try #require(rows.last))
            let shoe = try #require(columns.first { isPerson($0, foot) })
            let under = (foot + 3..<min(foot + 6, 360)).map { depth[$0 * 640 + shoe] }
            #expect(under.allSatisfy { abs($0 - depth[foot * 640 + shoe]) < 0.12 }, "\(columns): the floor at the shoe")
            let head = columns.filter { isPerson($0, top + 12) }.map { depth[(top + 12) * 640 + $0] }
            let width = Double(head.count) * Double(head.reduce(0, +)) / Double(head.count) / 360 / 1.5396
            #expect((0.12...0.18).contains(width), "\(columns): a head of \(width) m")
        }
    }

    @Test func `dropped frames are their share, and more of them include the others`() {
        func dropped(_ share: Double) -> Set<UInt64> {
            Set((0..<4000).filter { SceneRenderer.isDropped($0, seed: 7, share: share) })
        }
        #expect(dropped(0).isEmpty)
        #expect(dropped(1).count == 4000)
        #expect((320...480).contains(dropped(0.1).count))
        #expect(dropped(0.1).isSubset(of: dropped(0.2)))
    }
}
