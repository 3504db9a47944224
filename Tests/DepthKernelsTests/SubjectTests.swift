import DepthKernels
import TestSupport
import Testing

/// `subject=anchored`: what is kept of a scene that a depth camera with noise looks at.
@Suite struct SubjectTests {
    /// A person before a chair, beside a neighbour who touches them, as `Golden/regenerate_subject.py` wrote it.
    @Test func `the classes are the oracle's`() throws {
        let depth = try Golden.picture("subject.depth.pgm")
        let classes = try Golden.picture("subject.class.pgm").samples
        let scene = try Scene(
            width: depth.width, height: depth.height, depth: depth.samples.map { Float(Double($0) * 0.001) },
            faces: Golden.numbers("subject.faces.txt").map {
                Rectangle<Double>(x: $0[0], y: $0[1], width: $0[2], height: $0[3])
            })
        let matte = Matte()
        _ = try scene.alpha(of: matte)
        let found = try #require(matte.stages).classes
        try #require(found.count == classes.count)
        let different = zip(found, classes).count { Int($0.rawValue) != $1 }
        #expect(different * 1000 <= classes.count, "\(different) of \(classes.count)")
    }

    @Test func `the person is kept whole`() throws {
        var scene = Scene()
        scene.addPerson(axis: 160, top: 20, distance: 1.2)
        let alpha = try scene.alpha()
        #expect(try alpha == scene.alpha(.all))
        #expect(scene.isKept(alpha, Scene.head(160, 20, 1.2)) && scene.isKept(alpha, Scene.chest(160, 20, 1.2)))
    }

    /// A person, and a neighbour at the same range whose face nobody found.
    private static func neighbours() -> Scene {
        var scene = Scene()
        scene.addPerson(axis: 100, top: 40, distance: 1.8)
        scene.addPerson(axis: 230, top: 40, distance: 1.8, hasFace: false)
        return scene
    }

    @Test func `a neighbour at the same range is gone`() throws {
        let scene = SubjectTests.neighbours()
        let alpha = try scene.alpha()
        #expect(scene.isKept(alpha, Scene.chest(100, 40, 1.8)))
        #expect(scene.isGone(alpha, Scene.chest(230, 40, 1.8)) && scene.isGone(alpha, Scene.head(230, 40, 1.8)))
        #expect(try scene.isKept(scene.alpha(.all), Scene.chest(230, 40, 1.8)))
    }

    @Test func `a neighbour's shoulder behind the person's is gone`() throws {
        var scene = Scene()
        scene.addPerson(axis: 190, top: 40, distance: 1.95, hasFace: false)
        scene.addPerson(axis: 110, top: 40, distance: 1.75)
        let alpha = try scene.alpha()
        #expect(scene.isKept(alpha, Scene.chest(110, 40, 1.75)))
        #expect(scene.isGone(alpha, Scene.head(190, 40, 1.95)))
    }

    @Test(arguments: FaceSelect.allCases)
    func `neighbours who touch are parted between their faces`(select: FaceSelect) throws {
        var scene = Scene()
        scene.addPerson(axis: 110, top: 40, distance: 1.8)
        scene.addPerson(axis: 180, top: 44, distance: 1.82)
        var settings = Scene.settings(.anchored)
        settings.anchor.faceSelect = select
        let alpha = try scene.alpha(settings)
        #expect(scene.isKept(alpha, Scene.chest(110, 40, 1.8)))
        if select == .all {
            #expect(scene.isKept(alpha, Scene.head(180, 44, 1.82)))
        } else {
            #expect(scene.isGone(alpha, Scene.head(180, 44, 1.82)))
            #expect(scene.isGone(alpha, Scene.chest(180, 44, 1.82)))
        }
    }

    @Test func `a second box on the same face parts nobody`() throws {
        var scene = Scene()
        scene.addPerson(axis: 160, top: 20, distance: 1.2)
        let face = scene.faces[0]
        scene.faces.append(
            Rectangle<Double>(x: face.x + 6, y: face.y + 30, width: face.width - 8, height: face.height - 8))
        let alpha = try scene.alpha()
        #expect(try alpha == scene.alpha(.all))
    }

    @Test func `the floor is gone and the feet stay`() throws {
        var scene = Scene()
        scene.addFloor(height: 0.88)
        scene.addPerson(axis: 160, top: 10, distance: 2.2, isWhole: true)
        let alpha = try scene.alpha()
        let (floor, feet) = (Rectangle(20, 228, 100, 238), Rectangle(143, 205, 151, 222))
        #expect(scene.isGone(alpha, floor) && scene.isKept(alpha, feet))
        #expect(try scene.isKept(scene.alpha(.all), floor))
    }

    @Test func `shoes that are not measured stay, and a dark patch of the floor does not`() throws {
        var scene = Scene()
        scene.addShoes()
        scene.add(210..<240, 205..<225) { _, _ in 0 }
        let alpha = try scene.alpha()
        #expect(scene.share(alpha, Rectangle(143, 205, 151, 226)) > 0.9)
        #expect(scene.isGone(alpha, Rectangle(212, 207, 238, 223)) && scene.isGone(alpha, Rectangle(20, 228, 100, 238)))
    }

    @Test func `shoulders seen from above are no floor`() throws {
        var scene = Scene()
        scene.addPerson(axis: 160, top: 0, distance: 0.4)
        scene.addFloor(height: 0.14, rows: 180..<240)
        #expect(try scene.isKept(scene.alpha(), Rectangle(60, 188, 260, 232)))
    }

    @Test func `a bag on the floor beside the person is gone`() throws {
        var scene = Scene()
        scene.addFloor(height: 0.88)
        scene.addPerson(axis: 160, top: 10, distance: 2.2, isWhole: true)
        scene.add(220..<250, 190..<226) { _, _ in 2.15 }
        let alpha = try scene.alpha()
        let bag = Rectangle(225, 195, 245, 220)
        #expect(scene.isGone(alpha, bag) && scene.isKept(alpha, Scene.chest(160, 10, 2.2)))
        #expect(try scene.isKept(scene.alpha(.all), bag))
    }

    @Test func `legs of which only specks are measured are kept`() throws {
        var scene = Scene()
        scene.addPerson(axis: 160, top: 10, distance: 2.2, isWhole: true)
        let whole = scene.depth
        let width = scene.width
        scene.add(136..<184, 126..<234) { x, y in
            x % 11 < 3 && y % 17 < 3 ? whole[y * width + x] : 0
        }
        #expect(try scene.alpha() == scene.alpha(.all))
    }

    @Test func `a bag beside legs that the border cuts is gone`() throws {
        var scene = Scene()
        scene.addPerson(axis: 160, top: 10, distance: 1.8, isWhole: true)
        scene.add(210..<240, 180..<240) { _, _ in 1.75 }
        let alpha = try scene.alpha()
        #expect(scene.isGone(alpha, Rectangle(215, 186, 235, 234)) && scene.isKept(alpha, Scene.chest(160, 10, 1.8)))
    }

    @Test func `noise does not tear holes into the person`() throws {
        var scene = Scene()
        scene.addPerson(axis: 160, top: 20, distance: 1.2)
        for speck in 0..<40 {
            let (x, y) = (120 + speck * 37 % 80, 120 + speck * 53 % 100)
            scene.add(x..<(x + 2), y..<(y + 2)) { _, _ in 1.35 }
        }
        #expect(try scene.isKept(scene.alpha(), Rectangle(118, 118, 202, 222)))
    }

    /// What is less than 0.85 m below the face is no floor: laps and seats are as low as desks.
    @Test func `hands on a desk are kept`() throws {
        var scene = Scene()
        scene.addPerson(axis: 160, top: 10, distance: 0.9)
        // Its far edge is where the person sits; the hands lie 3 cm above it.
        scene.addFloor(height: 0.28, rows: 206..<240)
        scene.add(140..<180, 200..<226) { _, y in Scene.floorDistance(y, height: 0.25) }
        let alpha = try scene.alpha()
        #expect(scene.isKept(alpha, Rectangle(146, 200, 174, 218)))
        #expect(scene.isKept(alpha, Scene.chest(160, 10, 0.9)))
    }

    @Test(
        arguments: [
            (1.18, 76, 70..<240), (1.21, 76, 70..<240), (1.24, 76, 70..<240), (1.15, 44, 26..<66),
        ])
    func `a chair's back and headrest behind the person are gone`(distance: Float, half: Int, rows: Range<Int>) throws {
        var scene = Scene()
        scene.add((160 - half)..<(160 + half), rows) { _, _ in distance }
        scene.addPerson(axis: 160, top: 20, distance: 1)
        let alpha = try scene.alpha()
        for middle in [164 - half, 156 + half] {
            #expect(scene.isGone(alpha, Rectangle(middle - 4, rows.lowerBound + 6, middle + 4, rows.lowerBound + 20)))
        }
        #expect(scene.isKept(alpha, Scene.chest(160, 20, 1)) && scene.isKept(alpha, Scene.head(160, 20, 1)))
    }

    @Test func `a hand held out is kept, and what it holds`() throws {
        var scene = Scene()
        scene.addPerson(axis: 160, top: 20, distance: 1.2)
        // Before the shoulder's edge: half of it lies before the wall.
        scene.add(200..<236, 120..<160) { _, _ in 0.65 }
        scene.add(222..<262, 110..<150) { _, _ in 0.55 }
        let alpha = try scene.alpha()
        #expect(
            scene.isKept(alpha, Rectangle(206, 126, 216, 154)) && scene.isKept(alpha, Rectangle(228, 116, 256, 144)))
    }

    @Test(arguments: [false, true])
    func `a sleeve that comes in from below is kept, and that of a neighbour is not`(hasNeighbour: Bool) throws {
        var scene = Scene()
        scene.addPerson(axis: hasNeighbour ? 80 : 160, top: 20, distance: 0.9)
        if hasNeighbour { scene.addPerson(axis: 230, top: 60, distance: 1.1) }
        scene.add(270..<300, 80..<240) { _, _ in 0.7 }
        let (alpha, sleeve) = (try scene.alpha(), Rectangle(276, 86, 294, 230))
        #expect(hasNeighbour ? scene.isGone(alpha, sleeve) : scene.isKept(alpha, sleeve))
    }

    @Test func `a thing beyond arm's length before the person is gone`() throws {
        var scene = Scene()
        scene.addPerson(axis: 160, top: 40, distance: 2)
        scene.add(150..<230, 150..<200) { _, _ in 1 }
        let alpha = try scene.alpha()
        #expect(scene.isGone(alpha, Rectangle(156, 156, 224, 194)))
    }

    @Test func `what a thing in the hands parts from the head is kept`() throws {
        var scene = Scene()
        scene.addPerson(axis: 160, top: 10, distance: 1.8, isWhole: true)
        scene.add(110..<210, 80..<130) { _, _ in 1.4 }
        let alpha = try scene.alpha()
        #expect(scene.isKept(alpha, Rectangle(116, 86, 204, 124)) && scene.isKept(alpha, Rectangle(139, 138, 149, 220)))
    }

    @Test func `hair that holes part from the head is kept`() throws {
        var scene = Scene()
        scene.addPerson(axis: 160, top: 20, distance: 1.2)
        scene.add(130..<190, 36..<40) { _, _ in 0 }
        let alpha = try scene.alpha()
        #expect(scene.isKept(alpha, Rectangle(154, 26, 166, 33)))
    }

    /// Detectors' boxes differ; one that holds an arm before the chin has the arm's distance in its middle.
    @Test(arguments: [(0.25, 0, 1), (-0.25, 0, 1), (0, 0.25, 1), (0, -0.25, 1), (0, 0, 0.7), (0, 0, 1.4)])
    func `a box that is off the face keeps the same person`(right: Double, down: Double, scale: Double) throws {
        var scene = Scene()
        scene.addPerson(axis: 160, top: 20, distance: 1.2)
        scene.add(120..<200, 66..<74) { _, _ in 0.85 }
        scene.add(120..<200, 74..<130) { _, _ in 0.8 }
        /// Heads count from their third frame on.
        func distance() throws -> Double {
            let matte = Matte()
            for _ in 0..<5 { _ = try scene.alpha(of: matte, Scene.settings(.anchored)) }
            return matte.report.anchorDistance
        }
        let (alpha, anchor) = try (scene.alpha(), distance())
        #expect(scene.isKept(alpha, Rectangle(126, 80, 194, 124)) && scene.isKept(alpha, Scene.head(160, 20, 1.2)))
        #expect(abs(anchor - 1.22) < 0.05)
        let face = scene.faces[0]
        scene.faces[0] = Rectangle<Double>(
            x: face.x + (right + (1 - scale) / 2) * face.width, y: face.y + (down + (1 - scale) / 2) * face.height,
            width: scale * face.width, height: scale * face.height)
        #expect(try scene.alpha() == alpha && distance() == anchor)
    }

    @Test func `without an anchor everything is kept`() throws {
        var scene = Scene()
        scene.addPerson(axis: 100, top: 40, distance: 1.8)
        scene.addPerson(axis: 230, top: 40, distance: 1.8)
        #expect(try scene.alpha(Scene.settings(.anchored, .fixed)) == scene.alpha(Scene.settings(.all, .fixed)))
    }

    @Test(arguments: [true, false])
    func `the whole person is kept whose hand is the nearest thing`(hasFace: Bool) throws {
        var scene = Scene()
        scene.addPerson(axis: 90, top: 20, distance: 1.2, hasFace: hasFace)
        scene.addPerson(axis: 240, top: 20, distance: 1.15, hasFace: hasFace)
        scene.addHand(from: 90, to: 30..<90, distance: 1.2)
        let matte = Matte()
        // Heads count from their third frame on.
        var alpha: [UInt8] = []
        for _ in 0..<5 { alpha = try scene.alpha(of: matte, Scene.settings(.anchored, .nearest)) }
        #expect(scene.isKept(alpha, Rectangle(36, 126, 84, 174)) && scene.isKept(alpha, Scene.chest(90, 20, 1.2)))
        #expect(scene.isKept(alpha, Scene.head(90, 20, 1.2)))
        #expect(scene.isGone(alpha, Scene.head(240, 20, 1.15)) && scene.isGone(alpha, Scene.chest(240, 20, 1.15)))
        #expect(matte.report.cutoff > 1.4 && matte.report.cutoff < 1.7)
    }

    @Test func `a thing that nobody holds is kept alone, and what a moving point comes to`() throws {
        var scene = Scene()
        scene.addPerson(axis: 90, top: 20, distance: 1.4)
        scene.add(200..<280, 100..<190) { x, _ in 0.8 + 0.0005 * Float(x - 200) }
        let (thing, chest) = (Rectangle(206, 106, 274, 184), Scene.chest(90, 20, 1.4))
        let nearest = try scene.alpha(Scene.settings(.anchored, .nearest))
        #expect(scene.isKept(nearest, thing) && scene.isGone(nearest, chest))
        let matte = Matte()
        var settings = Scene.settings(.anchored, .point)
        for (x, y, isThing) in [(0.75, 0.6, true), (0.28, 0.55, false), (0.75, 0.6, true)] {
            (settings.anchor.x, settings.anchor.y) = (x, y)
            var alpha: [UInt8] = []
            // What was kept goes in the fourth frame, and fades.
            for _ in 0..<16 { alpha = try scene.alpha(of: matte, settings) }
            #expect(scene.isKept(alpha, isThing ? thing : chest) && scene.isGone(alpha, isThing ? chest : thing))
        }
    }

    /// A floor beside a thing looks as what a lost person uncovers does.
    @Test func `a thing without a face is no person who was lost`() throws {
        var scene = Scene()
        scene.addFloor(height: 0.88)
        scene.add(200..<280, 100..<234) { x, _ in 2 + 0.0005 * Float(x - 200) }
        let matte = Matte()
        var settings = Scene.settings(.anchored, .point)
        (settings.anchor.x, settings.anchor.y) = (0.75, 0.6)
        let alphas = try (0..<28).map { try scene.alpha(of: matte, settings, seconds: 0.45 * Double($0)) }
        for frame in 4..<28 { #expect(alphas[frame] == alphas[3], "frame \(frame)") }
    }

    @Test(arguments: [0, 1])
    func `of all faces one that is missed is kept, though it set the cutoff`(missed: Int) throws {
        var scene = Scene()
        scene.addPerson(axis: 100, top: 40, distance: 1.6)
        scene.addPerson(axis: 230, top: 40, distance: 1.8)
        var settings = Scene.settings(.anchored, .face)
        settings.anchor.faceSelect = .all
        let matte = Matte()
        for _ in 0..<3 { _ = try scene.alpha(of: matte, settings) }
        scene.faces.remove(at: missed)
        for _ in 0..<5 {
            let alpha = try scene.alpha(of: matte, settings)
            #expect(scene.isKept(alpha, Scene.chest(100, 40, 1.6)) && scene.isKept(alpha, Scene.chest(230, 40, 1.8)))
        }
    }

    @Test func `a face that is lost for some frames does not let the neighbour in`() throws {
        var scene = SubjectTests.neighbours()
        let matte = Matte()
        _ = try scene.alpha(of: matte)
        scene.faces = []
        for frame in 0..<5 {
            let alpha = try scene.alpha(of: matte)
            #expect(scene.isKept(alpha, Scene.chest(100, 40, 1.8)), "frame \(frame)")
            #expect(scene.isGone(alpha, Scene.chest(230, 40, 1.8)), "frame \(frame)")
        }
        // Nobody chose one of the heads any more; another head counts from its third frame on.
        matte.reset()
        for _ in 0..<3 { _ = try scene.alpha(of: matte) }
        #expect(try scene.isKept(scene.alpha(of: matte), Scene.chest(230, 40, 1.8)))
    }

    @Test func `another stretch of the stream does not let the neighbour in`() throws {
        var scene = SubjectTests.neighbours()
        let matte = Matte()
        _ = try scene.alpha(of: matte)
        scene.faces = []
        matte.forgetPast()
        let alpha = try scene.alpha(of: matte)
        #expect(scene.isKept(alpha, Scene.chest(100, 40, 1.8)) && scene.isGone(alpha, Scene.chest(230, 40, 1.8)))
    }

    @Test(arguments: [Float.infinity, .nan, -1])
    func `samples that were not measured may be said in any way`(unmeasured: Float) throws {
        func alpha(_ hole: Float) throws -> [UInt8] {
            var scene = Scene()
            scene.addFloor(height: 0.88)
            scene.addPerson(axis: 160, top: 10, distance: 2.2, isWhole: true)
            scene.add(130..<190, 100..<102) { _, _ in hole }
            scene.add(0..<320, 230..<240) { _, _ in hole }
            return try scene.alpha()
        }
        #expect(try alpha(unmeasured) == alpha(0))
    }

    @Test func `a link at the limit does not come and go`() throws {
        // A thing beside the shoulder whose step goes to and fro about the limit.
        let thing = Rectangle(170, 110, 182, 190)
        let (below, above) = (Scene.scene(besideShoulderBy: 0.06), Scene.scene(besideShoulderBy: 0.1))
        #expect(try below.isKept(below.alpha(), thing) && above.isGone(above.alpha(), thing))
        let matte = Matte()
        _ = try below.alpha(of: matte)
        for _ in 0..<3 {
            #expect(try above.isKept(above.alpha(of: matte), thing))
            #expect(try below.isKept(below.alpha(of: matte), thing))
        }
        // It goes where the step stays.
        for _ in 0..<3 { #expect(try above.isKept(above.alpha(of: matte), thing)) }
        for _ in 0..<12 { _ = try above.alpha(of: matte) }
        #expect(try above.isGone(above.alpha(of: matte), thing))
    }

    @Test func `a strip of the shoulder that a step parts is kept`() throws {
        var scene = Scene()
        scene.addPerson(axis: 160, top: 20, distance: 1.2)
        scene.add(211..<223, 100..<150) { _, _ in 1.35 }
        #expect(try scene.isKept(scene.alpha(), Rectangle(214, 105, 219, 145)))
    }

    /// It slopes so much that all of it counts as a step.
    @Test func `an arm that points at the camera is kept`() throws {
        var scene = Scene()
        scene.addPerson(axis: 160, top: 20, distance: 1.2)
        scene.add(60..<130, 120..<160) { _, _ in 0.6 }
        scene.add(60..<109, 160..<180) { _, y in 0.6 + 0.03 * Float(y - 160) }
        #expect(try scene.share(scene.alpha(), Rectangle(66, 163, 100, 176)) > 0.6)
    }

    @Test func `neither threads nor instruction sets show`() throws {
        var scene = Scene()
        scene.addFloor(height: 0.88)
        scene.addPerson(axis: 160, top: 10, distance: 2.2, isWhole: true)
        scene.add(220..<250, 190..<226) { _, _ in 2.15 }
        let expected = try scene.alpha()
        for loops in usableLoops {
            for size in [1, 3] {
                let matte = Matte(loops: loops)
                matte.pool = ReversedWorkerPool(size: size)
                #expect(try scene.alpha(of: matte) == expected, "\(loops), \(size) threads")
            }
        }
    }

    @Test(arguments: [(1, 1), (1, 9), (9, 1), (63, 5), (64, 64), (65, 3), (770, 9)])
    func `maps of any size and any depth get a matte`(width: Int, height: Int) throws {
        var random = RepeatableRandomNumberGenerator(seed: 5)
        let strange: [Float] = [0, .nan, .infinity, -1, 1e-30, 3e38, 0.5, 0.6, 1, 1.2]
        for number in 0..<4 {
            let scene = Scene(
                width: width, height: height,
                depth: (0..<(width * height)).map { _ in strange.randomElement(using: &random) ?? 0 },
                faces: [
                    Rectangle<Double>(x: 0, y: 0, width: Double(width), height: Double(height)),
                    Rectangle<Double>(x: Double(width) / 2, y: 0, width: Double(width) / 2, height: Double(height)),
                ])
            var settings = Scene.settings(.anchored)
            settings.anchor.faceSelect = FaceSelect.allCases[number]
            #expect(try scene.alpha(settings).count == width * height)
        }
    }
}

extension Rectangle<Int> {
    fileprivate init(_ left: Int, _ top: Int, _ right: Int, _ bottom: Int) {
        self.init(left: left, top: top, right: right, bottom: bottom)
    }

    fileprivate var columns: Range<Int> { left..<right }
    fileprivate var rows: Range<Int> { top..<bottom }
}

/// A gray scene before a wall, seen by a camera of 60 degrees at the height of the picture's middle.
private struct Scene {
    var width = 320
    var height = 240
    /// Metres.
    var depth: [Float]
    var faces: [Rectangle<Double>] = []
    /// Standard deviation, about, in metres at 1 m; it grows with the square of the distance.
    var noise: Float = 0.002

    init() { depth = Array(repeating: 4, count: 320 * 240) }

    init(width: Int, height: Int, depth: [Float], faces: [Rectangle<Double>]) {
        (self.width, self.height, self.depth, self.faces) = (width, height, depth, faces)
        noise = 0
    }

    static func settings(_ subject: SubjectChoice, _ anchor: AnchorMode = .auto) -> MatteSettings {
        var settings = MatteSettings()
        settings.method = .fusion
        settings.subject = subject
        settings.anchor.mode = anchor
        settings.cutoff = 2.2
        return settings
    }

    mutating func add(_ columns: Range<Int>, _ rows: Range<Int>, _ distance: (Int, Int) -> Float) {
        for y in rows.clamped(to: 0..<height) {
            for x in columns.clamped(to: 0..<width) { depth[y * width + x] = distance(x, y) }
        }
    }

    static func floorDistance(_ y: Int, height: Float) -> Float { height * 320 / (1.15 * (Float(y) + 0.5 - 120)) }

    /// A floor, or a desk, that far below the camera.
    mutating func addFloor(height: Float, rows: Range<Int>? = nil) {
        for y in rows ?? 121..<self.height {
            let distance = Scene.floorDistance(y, height: height)
            for x in 0..<width where distance < depth[y * width + x] || rows != nil { depth[y * width + x] = distance }
        }
    }

    private static func samplesPerMetre(_ distance: Double) -> Double { 320 / (1.15 * distance) }

    /// Someone with head, shoulders and trunk, or legs too, round as people are.
    mutating func addPerson(
        axis: Int, top: Int, distance: Double, isWhole: Bool = false, hasFace: Bool = true
    ) {
        let scale = Scene.samplesPerMetre(distance)
        func add(from: Double, to: Double, width: Double, behind: Double, at offset: Double = 0) {
            let middle = Double(axis) + offset * scale
            let half = width * scale / 2
            self.add(
                Int(middle - half)..<Int(middle + half), (top + Int(from * scale))..<(top + Int(to * scale))
            ) { x, _ in
                let place = (Double(x) - middle) / half
                return Float(distance + behind + 0.08 * place * place)
            }
        }
        if isWhole {
            add(from: 0.8, to: 1.75, width: 0.15, behind: 0.03, at: -0.1)
            add(from: 0.8, to: 1.75, width: 0.15, behind: 0.03, at: 0.1)
        }
        add(from: 0.3, to: isWhole ? 0.85 : 3, width: 0.44, behind: 0.02)
        add(from: 0.2, to: 0.32, width: 0.12, behind: 0.04)
        add(from: 0, to: 0.24, width: 0.16, behind: 0)
        if hasFace {
            faces.append(
                Rectangle<Double>(
                    x: Double(axis) - 0.08 * scale, y: Double(top) + 0.06 * scale, width: 0.16 * scale,
                    height: 0.16 * scale))
        }
    }

    /// A hand before the chest of someone, as an arm is seen that points at the camera: its forearm comes down to the trunk.
    mutating func addHand(from axis: Int, to columns: Range<Int>, distance: Float) {
        add(columns, 120..<180) { _, _ in distance - 0.6 }
        for y in 180..<220 {
            let behind = 0.6 * Float(220 - y) / 40
            add(columns.lowerBound + 15..<axis + 15, y..<(y + 1)) { _, _ in distance - behind }
        }
    }

    /// Someone with a thing beside the shoulder, that many metres behind it.
    static func scene(besideShoulderBy step: Float) -> Scene {
        var scene = Scene()
        scene.noise = 0
        scene.addPerson(axis: 130, top: 40, distance: 1.8)
        scene.add(160..<186, 100..<200) { _, _ in 1.882 + step }
        return scene
    }

    /// Someone on a floor whose shoes are not measured.
    mutating func addShoes() {
        addFloor(height: 0.88)
        addPerson(axis: 160, top: 10, distance: 2.2, isWhole: true)
        let whole = self
        add(130..<190, 212..<232) { x, y in
            let distance = whole.depth[y * whole.width + x]
            return distance < Scene.floorDistance(y, height: 0.88) ? 0 : distance
        }
    }

    /// The inside of a person's head.
    static func head(_ axis: Int, _ top: Int, _ distance: Double) -> Rectangle<Int> {
        let scale = samplesPerMetre(distance)
        let half = Int(0.03 * scale)
        return Rectangle(axis - half, top + Int(0.07 * scale), axis + half, top + Int(0.16 * scale))
    }

    /// The inside of a person's chest.
    static func chest(_ axis: Int, _ top: Int, _ distance: Double) -> Rectangle<Int> {
        let scale = samplesPerMetre(distance)
        let half = Int(0.08 * scale)
        return Rectangle(axis - half, top + Int(0.38 * scale), axis + half, top + Int(0.5 * scale))
    }

    func isKept(_ alpha: [UInt8], _ inside: Rectangle<Int>) -> Bool { share(alpha, inside) > 0.99 }
    func isGone(_ alpha: [UInt8], _ inside: Rectangle<Int>) -> Bool { share(alpha, inside) < 0.01 }

    func share(_ alpha: [UInt8], _ inside: Rectangle<Int>) -> Double {
        var sum = 0
        for y in inside.rows { for x in inside.columns { sum += Int(alpha[y * width + x]) } }
        return Double(sum) / Double(255 * inside.rows.count * inside.columns.count)
    }

    func alpha(_ subject: SubjectChoice = .anchored) throws -> [UInt8] { try alpha(Scene.settings(subject)) }

    func alpha(_ settings: MatteSettings) throws -> [UInt8] { try alpha(of: Matte(), settings) }

    func alpha(
        of matte: Matte, _ settings: MatteSettings = Scene.settings(.anchored), seconds: Double? = nil
    ) throws -> [UInt8] {
        var random = RepeatableRandomNumberGenerator(seed: 11)
        let measured = depth.map { z in
            let error = (0..<3).reduce(Float(0)) { sum, _ in sum + Float.random(in: -1...1, using: &random) }
            return z + error * noise * z * z
        }
        let depth = try DepthMap(metres: measured, width: width)
        let bytes = [UInt8](repeating: 120, count: width * height * 3)
        return try withRGB(bytes, width: width, height: height) { picture in
            matte.render(
                MatteFrame(
                    depth: depth.image, video: picture, width: width, height: height, faces: faces,
                    time: seconds.map { Int64($0 * 1e9) }), settings)
            return matte.finished.alpha.bytes
        }
    }
}
