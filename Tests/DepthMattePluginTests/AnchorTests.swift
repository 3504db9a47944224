import CGStreamer
import DepthKernels
import GstTestSupport
import TestSupport
import Testing

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// The anchors that set the cutoff.
@Suite struct AnchorTests {
    /// Three bands side by side, at 0.7 m, 1.5 m and 3 m; the frame has the size of the map.
    private static let width = 90
    private static let height = 60
    private static let depth = DepthShape("GRAY16_LE", width, height)
    private static let video = VideoShape("GRAY8", 92, height)
    private static let bands = [700, 1500, 3000]
    private typealias Region = (x: UInt32, y: UInt32, width: UInt32, height: UInt32)
    /// Boxes each inside one band.
    private static let boxes: [(x: UInt32, y: UInt32, width: UInt32, height: UInt32)] = [
        (5, 10, 10, 10), (35, 10, 20, 20), (66, 10, 12, 12),
    ]

    private static var counts: [Int] { (0..<width * height).map { bands[$0 % width / 30] } }

    private static let hard = ["blur-radius": "0", "gamma": "1", "view": "matte", "anchor-smoothing": "0"]

    /// Which of the bands are foreground.
    private func visible(
        _ properties: [String: String], boxes: [Int] = [], type: String = "face", counts: [Int] = AnchorTests.counts
    ) -> [Bool]? {
        visible(bench(properties), frame: 0, boxes: boxes, type: type, counts: counts)
    }

    private func bench(_ properties: [String: String], inputs: [String] = ["depth"]) -> Bench {
        let bench = Bench(inputs, AnchorTests.hard.with(properties))
        bench.depth.start(AnchorTests.depth)
        bench.video.start(AnchorTests.video)
        return bench
    }

    private func visible(
        _ bench: Bench, frame: Int, boxes: [Int], type: String = "face", counts: [Int] = AnchorTests.counts
    ) -> [Bool]? {
        let buffer = guardedBuffer(noise(AnchorTests.video, seed: 1))
        for box in boxes.map({ AnchorTests.boxes[$0] }) {
            buffer.addRegion(box.x, box.y, box.width, box.height, type: type)
        }
        bench.depth.push(AnchorTests.depth.bytes(counts: counts), at: time(ofFrame: frame))
        bench.video.push(buffer, at: time(ofFrame: frame))
        guard let bytes = bench.output.next()?.bytes else { return nil }
        return [15, 45, 75].map { bytes[50 * 92 + $0] == 255 }
    }

    @Test func `auto follows the face, and takes the cutoff while none was seen`() {
        #expect(visible([:]) == [true, false, false])
        #expect(visible(["cutoff": "2"]) == [true, true, false])
        #expect(visible([:], boxes: [1]) == [true, true, false])
    }

    @Test func `face shows nobody while no face was seen, and holds the last one`() {
        let bench = bench(["anchor": "face"])
        #expect(visible(bench, frame: 0, boxes: []) == [false, false, false])
        #expect(visible(bench, frame: 1, boxes: [1]) == [true, true, false])
        #expect(visible(bench, frame: 2, boxes: []) == [true, true, false])
        #expect(visible(bench, frame: 3, boxes: [0]) == [true, false, false])
    }

    @Test func `the nearest thing, a point and a fixed cutoff ignore faces`() {
        #expect(visible(["anchor": "nearest"], boxes: [2]) == [true, false, false])
        #expect(visible(["anchor": "nearest", "margin": "1"]) == [true, true, false])
        #expect(visible(["anchor": "point", "anchor-x": "0.5"], boxes: [0]) == [true, true, false])
        #expect(visible(["anchor": "point", "anchor-x": "0.9"], boxes: [0]) == [true, true, true])
        #expect(visible(["anchor": "fixed"], boxes: [2]) == [true, false, false])
    }

    /// Some maps reach neither end of the scale.
    @Test(arguments: ["relative", "relative-inverted"], [65_535, 30_000, 3000])
    func `auto shows the nearest thing of relative depth until a face was seen`(kind: String, nearest: Int) {
        let nearness = [nearest, nearest * 7 / 10, nearest / 5]
        let bands = kind == "relative" ? nearness : nearness.map { 65_535 - $0 }
        let counts = (0..<AnchorTests.width * AnchorTests.height).map { bands[$0 % 90 / 30] }
        let settings = ["depth-kind": kind]
        #expect(visible(settings, counts: counts) == [true, false, false])
        #expect(visible(settings, boxes: [1], counts: counts) == [true, true, false])
        #expect(visible(settings.with(["margin": "1"]), counts: counts) == [true, true, false])
        #expect(visible(settings.with(["anchor": "face"]), counts: counts) == [false, false, false])
    }

    @Test func `margin lies behind the anchor`() {
        #expect(visible(["margin": "0"], boxes: [0]) == [true, false, false])
        #expect(visible(["margin": "0.79"], boxes: [0]) == [true, false, false])
        #expect(visible(["margin": "0.81"], boxes: [0]) == [true, true, false])
    }

    @Test(arguments: [
        ("largest", [true, true, false]), ("nearest", [true, false, false]), ("first", [true, true, true]),
        ("all", [true, true, true]),
    ])
    func `face-select chooses among several faces`(choice: String, expected: [Bool]) {
        #expect(visible(["face-select": choice], boxes: [2, 1, 0]) == expected)
    }

    @Test func `the first 64 boxes on a frame are read`() {
        let many = [Int](repeating: 0, count: 63)
        #expect(visible(["face-select": "all"], boxes: many + [2]) == [true, true, true])
        #expect(visible(["face-select": "all"], boxes: many + [0, 2]) == [true, false, false])
    }

    @Test func `only the listed types are faces`() {
        #expect(visible(["anchor": "face"], boxes: [1], type: "dog") == [false, false, false])
        #expect(visible(["anchor": "face", "face-types": "cat, dog"], boxes: [1], type: "dog") == [true, true, false])
        #expect(visible(["anchor": "face", "face-types": ""], boxes: [1]) == [false, false, false])
    }

    @Test func `a person sets the anchor where there is no face`() {
        let anchor = ["anchor": "face"]
        #expect(visible(anchor, boxes: [1], type: "person") == [true, true, false])
        #expect(
            visible(anchor.with(["person-types": "body, woman"]), boxes: [1], type: "person") == [false, false, false])
        #expect(
            visible(anchor.with(["person-types": "body, woman"]), boxes: [1], type: "woman") == [true, true, false])
        // The face is at 0.7 m, the person at 1.5 m.
        let bench = bench(anchor)
        let buffer = guardedBuffer(noise(AnchorTests.video, seed: 1))
        buffer.addRegion(35, 10, 20, 20, type: "person")
        buffer.addRegion(5, 10, 10, 10)
        bench.depth.push(AnchorTests.depth.bytes(counts: AnchorTests.counts), at: 0)
        bench.video.push(buffer, at: 0)
        #expect(bench.output.next().map { $0.bytes[50 * 92 + 45] } == 0)
    }

    /// Detectors draw the boxes of people beyond the frame; those of faces that are cut off are no faces.
    @Test func `a person's box may reach out of the frame`() {
        let bench = bench(["anchor": "face"])
        for (number, type) in ["face", "person"].enumerated() {
            let buffer = guardedBuffer(noise(AnchorTests.video, seed: 1))
            buffer.addRegion(35, 20, 20, 1000, type: type)
            buffer.addRegion(200, 20, 20, 20, type: type)
            bench.depth.push(AnchorTests.depth.bytes(counts: AnchorTests.counts), at: time(ofFrame: number))
            bench.video.push(buffer, at: time(ofFrame: number))
            let bytes = bench.output.next()?.bytes
            #expect(bytes.map { $0[50 * 92 + 45] } == (type == "face" ? 0 : 255), "\(type)")
        }
    }

    @Test func `a hole in the middle of the face does not blind the anchor`() {
        var counts = AnchorTests.counts
        for y in 18..<22 {
            for x in 43..<47 { counts[y * AnchorTests.width + x] = 0 }
        }
        #expect(visible(["anchor": "face"], boxes: [1], counts: counts) == [true, true, false])
    }

    @Test func `the face's depth agrees with the reference`() {
        let video = VideoShape("GRAY8", 320, 240)
        let depth = DepthShape("GRAY16_LE", 161, 121)
        let counts = sceneCounts(161, 121)
        let metres = DepthScale().metres(counts)
        for box in [(140, 100, 40, 60), (33, 21, 7, 9), (0, 0, 320, 240), (319, 239, 1, 1)] {
            let distance = ReferenceMatte.faceDepth(
                metres: metres, width: 161, height: 121, videoWidth: 320, videoHeight: 240,
                box: (Double(box.0), Double(box.1), Double(box.2), Double(box.3)))
            guard let distance else {
                Issue.record("the reference sees no face in \(box)")
                continue
            }
            var reference = ReferenceMatte()
            reference.cutoff = distance + 0.25
            let alpha = reference.alpha(metres: metres, width: 161, height: 121, videoWidth: 320, videoHeight: 240)
            let matte = Bench(["depth"], unsmoothed.with(["view": "matte"])).process(
                video: noise(video, seed: 2), video, depth: depth.bytes(counts: counts), depth,
                face: (UInt32(box.0), UInt32(box.1), UInt32(box.2), UInt32(box.3)))
            let difference = Difference(matte ?? [], Reference.matteView(alpha: alpha, video), video)
            #expect(difference.isWithinPromise, "\(box): \(difference)")
        }
    }

    @Test func `boxes on the face pad are scaled to the video`() throws {
        let bench = bench(["anchor": "face"], inputs: ["depth", "face"])
        let small = VideoShape("RGB", 46, 30)
        bench.face.start(small)
        let buffer = guardedBuffer(noise(small, seed: 4))
        buffer.addRegion(18, 5, 8, 10)  // the middle band, at half size
        bench.face.push(buffer, at: 0)
        #expect(visible(bench, frame: 0, boxes: []) == [true, true, false])
        bench.face.end()
        #expect(visible(bench, frame: 1, boxes: []) == [true, true, false], "the last face holds after the end")
    }

    // MARK: Smoothing

    /// The cutoff that the matte shows, in metres: the map's lower half is a ramp of a centimetre per column, its upper
    /// half the face.
    private func cutoffs(rate: Int, seconds: Int, smoothing: Double, from start: Int, to end: Int) -> [Double] {
        let depth = DepthShape("GRAY16_LE", 400, 20)
        let video = VideoShape("GRAY8", 400, 20)
        let bench = Bench(["depth"], AnchorTests.hard.with(["anchor-smoothing": "\(smoothing)", "margin": "0"]))
        bench.depth.start(depth)
        bench.video.start(video)
        return (0...rate * seconds).map { frame in
            let face = frame == 0 ? start : end
            let counts = (0..<400 * 20).map { $0 / 400 < 10 ? face : ($0 % 400 + 1) * 10 }
            bench.depth.push(depth.bytes(counts: counts), at: time(ofFrame: frame, perSecond: rate))
            let buffer = guardedBuffer(noise(video, seed: 1))
            buffer.addRegion(100, 1, 200, 8)
            bench.video.push(buffer, at: time(ofFrame: frame, perSecond: rate))
            guard let bytes = bench.output.next()?.bytes else { return 0 }
            return Double(bytes[(15 * 400)..<(16 * 400)].count { $0 == 255 }) / 100
        }
    }

    @Test(arguments: [5, 10, 30, 60])
    func `anchor-smoothing is a time constant at every frame rate`(rate: Int) {
        let seen = cutoffs(rate: rate, seconds: 2, smoothing: 0.5, from: 700, to: 2700)
        #expect(abs(seen[0] - 0.7) <= 0.011, "the first face sets the cutoff at once")
        for second in 1...2 {
            let expected = 0.7 + 2 * (1 - exp(-Double(second) / 0.5))
            #expect(abs(seen[second * rate] - expected) <= 0.021, "after \(second) s")
        }
    }

    @Test func `without smoothing the cutoff jumps`() {
        #expect(cutoffs(rate: 2, seconds: 1, smoothing: 0, from: 700, to: 2700) == [0.7, 2.7, 2.7])
    }
}
