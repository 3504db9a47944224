import DepthKernels
import DepthScene
import Testing

@Suite struct PersonTests {
    @Test(arguments: ScenePattern.allCases)
    func `the same time gives the same bytes, whatever was drawn before`(pattern: ScenePattern) {
        let scene = Scene(pattern: pattern, seed: 7)
        let once = SceneRenderer(scene: scene, width: 96, height: 54)
        let again = SceneRenderer(scene: scene, width: 96, height: 54)
        for time in [5.0, 0.0, 2.3] {
            _ = again.video(at: time)
            _ = again.depth(at: time, frame: 9, noise: 0.1, holes: 0.1)
            _ = again.matte(at: time)
        }
        #expect(once.video(at: 1.25).bytes == again.video(at: 1.25).bytes)
        #expect(once.matte(at: 1.25).bytes == again.matte(at: 1.25).bytes)
        #expect(
            once.depth(at: 1.25, frame: 3, noise: 0.01, holes: 0.05).bytes
                == again.depth(at: 1.25, frame: 3, noise: 0.01, holes: 0.05).bytes)
        #expect(once.faces(seconds: 1.25) == again.faces(seconds: 1.25))
    }

    @Test func `the person moves and seeds differ`() {
        let renderer = SceneRenderer.person(160, 90)
        #expect(renderer.video(at: 0).bytes != renderer.video(at: 0.25).bytes)
        #expect(renderer.matte(at: 0).bytes != renderer.matte(at: 0.25).bytes)
        #expect(renderer.video(at: 0).bytes != SceneRenderer.person(160, 90, seed: 1).video(at: 0).bytes)
    }

    /// Samples the depth five times as finely as the matte: a pixel whose samples and whose neighbours' samples are all
    /// of the person is opaque, and one without any sample of it is clear.
    @Test(arguments: Size.small + [Size(width: 320, height: 180), Size(width: 640, height: 360)])
    func `the matte is opaque where the depth is the person's, away from edges`(size: Size) {
        let finer = 5
        let matte = SceneRenderer.person(size.width, size.height).matte(at: 0.8).pixels
        let fineWidth = size.width * finer
        let fine = SceneRenderer.person(fineWidth, size.height * finer).depth(at: 0.8).floats
        var wrong = 0
        for y in 0..<size.height {
            for x in 0..<size.width {
                let rows = max(0, (y - 1) * finer)..<min(size.height * finer, (y + 2) * finer)
                let columns = max(0, (x - 1) * finer)..<min(fineWidth, (x + 2) * finer)
                let inside = rows.reduce(0) { sum, row in
                    sum + columns.reduce(0) { $0 + (fine[row * fineWidth + $1] < personUpTo ? 1 : 0) }
                }
                let alpha = matte[y * size.width + x]
                if inside == rows.count * columns.count && alpha != 255 { wrong += 1 }
                if inside == 0 && alpha != 0 { wrong += 1 }
            }
        }
        #expect(wrong == 0)
    }

    @Test func `the matte is the share of the pixel that the person covers`() {
        let finer = 8
        let (width, height) = (160, 90)
        let matte = SceneRenderer.person(width, height).matte(at: 0.8).pixels
        let fine = SceneRenderer.person(width * finer, height * finer).depth(at: 0.8).floats
        var total = 0.0
        for y in 0..<height {
            for x in 0..<width {
                var inside = 0
                for row in (y * finer)..<((y + 1) * finer) {
                    for column in (x * finer)..<((x + 1) * finer) {
                        inside += fine[row * width * finer + column] < personUpTo ? 1 : 0
                    }
                }
                let share = 255 * Double(inside) / Double(finer * finer)
                total += abs(share - Double(matte[y * width + x]))
            }
        }
        // The coverages of two shapes in a pixel count as independent, so single pixels may differ more.
        #expect(total / Double(width * height) < 0.25)
    }

    @Test func `depth maps of different sizes agree at the same places`() {
        // With three times the size, the center of a sample is the center of every third one.
        let coarse = SceneRenderer.person(33, 17).depth(at: 1.1).floats
        let fine = SceneRenderer.person(99, 51).depth(at: 1.1).floats
        var different = 0
        for y in 0..<17 {
            for x in 0..<33 where abs(coarse[y * 33 + x] - fine[(3 * y + 1) * 99 + 3 * x + 1]) > 1e-3 { different += 1 }
        }
        #expect(different == 0)
    }

    @Test func `mattes of different sizes agree`() {
        let coarse = SceneRenderer.person(320, 180).matte(at: 1.1).pixels
        let fine = SceneRenderer.person(640, 360).matte(at: 1.1).pixels
        var total = 0
        for y in 0..<180 {
            for x in 0..<320 {
                let at = { (dx: Int, dy: Int) in Int(fine[(2 * y + dy) * 640 + 2 * x + dx]) }
                total += abs((at(0, 0) + at(1, 0) + at(0, 1) + at(1, 1)) / 4 - Int(coarse[y * 320 + x]))
            }
        }
        #expect(Double(total) / (320 * 180) < 0.1)
    }

    @Test func `the room stays well behind the person`() {
        let renderer = SceneRenderer.person(160, 90)
        for time in moments {
            let depth = renderer.depth(at: time).floats
            #expect(!depth.contains { $0 > personUpTo && $0 < roomFrom })
            #expect(depth.contains { $0 <= personUpTo })
            #expect(depth.contains { $0 >= roomFrom })
            #expect(depth.allSatisfy { $0 > 0.5 && $0 < 2.3 })
        }
    }

    @Test func `video shows the room, unchanging, wherever the matte is clear`() {
        let renderer = SceneRenderer.person(160, 90)
        let first = (video: renderer.video(at: 0).pixels, matte: renderer.matte(at: 0).pixels)
        for time in moments {
            let video = renderer.video(at: time).pixels
            let matte = renderer.matte(at: time).pixels
            let changed = matte.indices.filter { index in
                matte[index] == 0 && first.matte[index] == 0
                    && video[(4 * index)..<(4 * index + 4)] != first.video[(4 * index)..<(4 * index + 4)]
            }
            #expect(changed.isEmpty)
        }
    }

    @Test func `the fourth byte of video is 255`() {
        let video = SceneRenderer.person(64, 36).video(at: 0).pixels
        #expect(Swift.stride(from: 3, to: video.count, by: 4).allSatisfy { video[$0] == 255 })
    }

    @Test func `the face box lies in the frame and holds the face's depth`() throws {
        let renderer = SceneRenderer.person(320, 180)
        for time in moments {
            let face = try #require(renderer.faces(seconds: time).first)
            #expect(face.x > 0 && face.y > 0 && face.x + face.width < 1 && face.y + face.height < 1)
            let depth = renderer.depth(at: time).floats
            let columns = Int((face.x + face.width / 4) * 320)..<Int((face.x + face.width * 3 / 4) * 320)
            let rows = Int((face.y + face.height / 4) * 180)..<Int((face.y + face.height * 3 / 4) * 180)
            let middle = rows.flatMap { row in columns.map { depth[row * 320 + $0] } }.sorted()
            #expect(abs(middle[middle.count / 2] - faceDepth) < 0.02)
        }
    }
}
