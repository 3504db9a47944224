import CGStreamer
import GstBridge
import GstTestSupport
import Testing

/// The `segmentation` pad: what a network thinks of the video, which may come late, seldom or never.
@Suite struct SegmentationPadTests {
    private static let (width, height) = (96, 72)
    private static let video = VideoShape("GRAY8", width, height)
    private static let depth = DepthShape("GRAY16_LE", width, height)
    /// Rows are padded to 32 bytes.
    private static let mask = VideoShape("GRAY8", 31, 17)

    /// A person at 0.8 m before a wall at 1.6 m. Neither depth nor color tells them from the wall above row 20.
    private static let counts = (0..<width * height).map { index in
        let (x, y) = (Double(index % width) - 48, Double(index / width) - 40)
        guard index / width >= 20 else { return 0 }
        return x * x / 400 + y * y / 900 < 1 ? 800 : 1600
    }

    private static let picture = (0..<width * height).map { counts[$0] == 800 ? UInt8(90) : 140 }

    private func bench(_ properties: [String: String] = [:]) -> Bench {
        let bench = Bench(
            ["depth", "segmentation"],
            ["anchor": "fixed", "method": "fusion", "settle": "0", "view": "matte"].with(properties))
        bench.depth.start(SegmentationPadTests.depth)
        bench.video.start(SegmentationPadTests.video)
        return bench
    }

    private func push(_ count: Int, on bench: Bench) {
        let depth = SegmentationPadTests.depth.bytes(counts: SegmentationPadTests.counts)
        for number in 0..<count {
            bench.depth.push(depth, at: time(ofFrame: number))
            bench.video.push(SegmentationPadTests.picture, at: time(ofFrame: number))
        }
        bench.depth.end()
        bench.video.end()
    }

    /// The output for frames that all show the same, and masks at some times in milliseconds.
    private func mattes(
        _ count: Int, masks: [(start: GstClockTime, value: UInt8)] = [], _ properties: [String: String] = [:]
    ) -> [[UInt8]] {
        let bench = bench(properties)
        let segmentation = bench["segmentation"]
        segmentation.start(SegmentationPadTests.mask)
        for mask in masks {
            let bytes = [UInt8](repeating: mask.value, count: SegmentationPadTests.mask.size)
            segmentation.push(bytes, at: mask.start * millisecond)
        }
        segmentation.end()
        push(count, on: bench)
        let frames = bench.output.rest()
        #expect(bench.bus.errors().isEmpty && bench.bus.warnings().isEmpty)
        return frames.map(\.bytes)
    }

    private func sum(_ matte: [UInt8]) -> Int { matte.reduce(0) { $0 + Int($1) } }

    @Test func `a picture of another size and rate adds to what depth and color leave open`() {
        let without = mattes(6)
        let with = mattes(6, masks: [(0, 255), (100, 0)])
        #expect(without.count == 6 && with.count == 6)
        for (number, (with, without)) in zip(with, without).enumerated() {
            if number < 3 {
                #expect(sum(with) > sum(without), "frame \(number)")
            } else {
                #expect(sum(with) < sum(without), "frame \(number)")
            }
            // Samples measured behind the cutoff stay room.
            for y in 32..<72 { #expect(with[y * 96] == 0 && with[y * 96 + 95] == 0) }
        }
    }

    @Test func `a weight of 0 and a pad that ends at once change nothing`() throws {
        let plain = Bench(["depth"], ["anchor": "fixed", "method": "fusion", "settle": "0", "view": "matte"])
        plain.depth.start(SegmentationPadTests.depth)
        plain.video.start(SegmentationPadTests.video)
        push(3, on: plain)
        let expected = plain.output.rest().map(\.bytes)
        #expect(expected.count == 3)
        #expect(mattes(3) == expected)
        #expect(mattes(3, masks: [(0, 255)], ["segmentation-weight": "0"]) == expected)
        let ended = bench()
        ended["segmentation"].end()
        push(3, on: ended)
        #expect(ended.output.rest().map(\.bytes) == expected)
    }

    @Test func `a picture says nothing of frames a quarter of a second later`() {
        let (with, without) = (mattes(10, masks: [(0, 255)]), mattes(10))
        // Frame 7 is 233 ms later, frame 8 267.
        #expect(zip(with, without).map { $0 != $1 } == (0..<10).map { $0 <= 7 })
    }
}
