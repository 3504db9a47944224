import CGStreamer
import DepthMattePlugin
import GstBridge
import GstTestSupport
import Testing

/// A frame out of a pool leaves with nothing of what its memory held before: each byte is drawn or cleared, those around
/// the picture too.
///
/// Each story is told twice, with other old bytes in the memory. All of what leaves must be the same.
@Suite struct StaleMemoryTests {
    private static let sizes = [(1, 1), (7, 5), (33, 18)]

    /// The padding that some sinks want, or none.
    private static let alignments: [GstVideoAlignment?] = [
        nil, GstVideoAlignment(top: 3, left: 8, bottom: 5, right: 4, rowAlignment: 32),
    ]

    /// Tells a story on stale memory of either kind, padded and not.
    private func check(
        _ what: String, _ tell: ((UnsafeMutablePointer<GstQuery>) -> Void) throws -> [Recorder.Frame]
    ) throws {
        for (index, alignment) in StaleMemoryTests.alignments.enumerated() {
            let told = try [0x55, 0xaa].map { filler in
                try tell { offerStalePool(in: $0, filler: filler, alignment: alignment) }
            }
            #expect(told[0].count(where: \.isOfStalePool) > 0, "\(what): the pool is not used")
            for (number, (one, other)) in zip(told[0], told[1]).enumerated() where one.bytes != other.bytes {
                let differing = zip(one.bytes, other.bytes).enumerated().filter { $1.0 != $1.1 }.map(\.offset)
                Issue.record(
                    "\(what), alignment \(index), frame \(number): \(differing.count) bytes, \(differing.prefix(9))")
            }
        }
    }

    /// Makes what is downstream of an element offer the pool.
    private func offer(_ pool: @escaping (UnsafeMutablePointer<GstQuery>) -> Void, to bench: Bench) {
        answerQueries(on: bench.output.pad) { query in
            guard query.pointee.type == GST_QUERY_ALLOCATION else { return nil }
            pool(query)
            return true
        }
    }

    // MARK: depthmatte

    static let looks: [[String: String]] =
        effectModes.map { ["background-mode": $0] } + [
            ["background-color": "0xff204060"], ["background-mode": "stream", "background-fit": "contain"],
            ["background-mode": "transparent"],
            ["view": "original"], ["view": "depth"], ["view": "depth", "depth-fit": "contain", "depth-offset-x": "3"],
            ["view": "matte"], ["view": "quad"], ["view": "quad", "background-mode": "blur"],
            ["on-missing-depth": "pass"],
        ]

    @Test(arguments: FormatTests.videoFormats, looks)
    func `depthmatte draws or clears every byte`(format: String, look: [String: String]) throws {
        for (width, height) in StaleMemoryTests.sizes where format.canBeShown(look) {
            try check("\(width)x\(height)") { pool in
                try matteStory(VideoShape(format, width, height), look, pool)
            }
        }
    }

    /// A person, a faulty frame, a faulty map, a face while the pointer is held, and no depth any more.
    private func matteStory(
        _ shape: VideoShape, _ look: [String: String], _ pool: (UnsafeMutablePointer<GstQuery>) -> Void
    ) throws -> [Recorder.Frame] {
        try withoutActuallyEscaping(pool) { pool in
            let picture = VideoShape("RGB", 12, 20)
            let bench = Bench(["depth", "background"], ["blur-radius": "1"].with(look))
            offer(pool, to: bench)
            bench.background.start(picture)
            bench.background.push(noise(picture, seed: 8), at: 0)
            bench.background.end()
            bench.depth.start(Room.depth)
            bench.video.start(shape)
            var held: [BufferRef] = []
            var frames: [Recorder.Frame] = []
            for number in 0..<5 {
                let map = Room.depth.bytes(counts: sceneCounts(32, 24))
                if number < 4 {
                    bench.depth.push(number == 2 ? [1, 2] : map, at: time(ofFrame: number))
                } else {
                    bench.depth.end()
                }
                if number == 3 {
                    gst_pad_push_event(
                        bench.output.pad,
                        gst_navigation_event_new_mouse_button_press(1, 1, 1, GST_NAVIGATION_MODIFIER_NONE))
                }
                let buffer = guardedBuffer(noise(shape, seed: 3).dropLast(number == 1 ? shape.size / 2 + 1 : 0))
                buffer.addRegion(0, 0, UInt32(shape.width), UInt32(shape.height))
                // A frame that somebody else holds is copied by the element, into the pool's memory.
                held.append(BufferRef(sharing: buffer.pointer))
                bench.video.push(buffer, at: time(ofFrame: number == 4 ? 90 : number))
                frames.append(try #require(bench.output.next()))
            }
            #expect(bench.bus.errors().isEmpty)
            withExtendedLifetime(held) {}
            return frames
        }
    }

    // MARK: depthcolorize and depthcloud

    /// The formats of which an element makes its pictures.
    static let pictures: [(factory: String, format: String)] =
        [("depthcolorize", ["RGB", "BGR"]), ("depthcloud", [])].flatMap { factory, more in
            (["RGBx", "BGRx", "xRGB", "xBGR", "RGBA", "BGRA", "ARGB", "ABGR"] + more).map { (factory, $0) }
        }

    @Test(arguments: pictures, [false, true])
    func `pictures of depth are drawn or cleared whole`(
        kind: (factory: String, format: String), hasVideo: Bool
    ) throws {
        for (width, height) in StaleMemoryTests.sizes {
            try check("\(width)x\(height)") { pool in
                try pictureStory(kind, width, height, hasVideo: hasVideo, pool)
            }
        }
    }

    /// A map, a faulty one, one under a held pointer, and one beside a faulty video frame.
    private func pictureStory(
        _ kind: (factory: String, format: String), _ width: Int, _ height: Int, hasVideo: Bool,
        _ pool: (UnsafeMutablePointer<GstQuery>) -> Void
    ) throws -> [Recorder.Frame] {
        try withoutActuallyEscaping(pool) { pool in
            let depth = DepthShape("GRAY16_LE", width, height)
            let video = VideoShape("I420", width, height)
            let bench = Bench(
                hasVideo ? ["video"] : [], ["depth-scale": "0.7"],
                downstream: "video/x-raw, format=\(kind.format), width=\(width), height=\(height)",
                of: Bench.Kind(factory: kind.factory, leading: "depth"))
            offer(pool, to: bench)
            if hasVideo { bench.video.start(video) }
            bench.depth.start(depth)
            var frames: [Recorder.Frame] = []
            for number in 0..<4 {
                if hasVideo {
                    bench.video.push(
                        noise(video, seed: 5).dropLast(number == 3 ? video.size / 2 : 0), at: time(ofFrame: number))
                }
                if number == 2 {
                    gst_pad_push_event(
                        bench.output.pad,
                        gst_navigation_event_new_mouse_button_press(1, 1, 1, GST_NAVIGATION_MODIFIER_NONE))
                }
                let map = depth.bytes(counts: sceneCounts(width, height))
                bench.depth.push(map.dropLast(number == 1 ? map.count : 0), at: time(ofFrame: number))
                frames.append(try #require(bench.output.next()))
            }
            #expect(bench.bus.errors().isEmpty)
            return frames
        }
    }
}

extension String {
    /// True where `depthmatte` takes video of a format with this name for the look: some formats cannot have the alpha channel
    /// that `background-mode=transparent` needs.
    func canBeShown(_ look: [String: String]) -> Bool {
        look["background-mode"] != "transparent"
            || TransparencyTests.pairs.contains { $0.0 == self }
    }
}
