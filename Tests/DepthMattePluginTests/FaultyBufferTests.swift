import CGStreamer
import GstBridge
import GstTestSupport
import Testing

/// A buffer that is not what its caps say costs the frame that it is for, whatever the element and the pad.
@Suite struct FaultyBufferTests {
    /// The fault of a buffer.
    enum Fault: CaseIterable {
        case empty, oneByte, oneByteLess, unmappable, metaOfAnotherSize, metaPastTheEnd, metaOfAnotherFormat

        /// Such a buffer, that should hold `bytes`.
        func buffer(_ bytes: [UInt8], _ format: GstVideoFormat, width: guint, height: guint) -> BufferRef {
            switch self {
            case .empty: return guardedBuffer(memories: [])
            case .oneByte: return guardedBuffer(Array(bytes.prefix(1)))
            case .oneByteLess: return guardedBuffer(bytes.dropLast())
            case .unmappable: return unmappableBuffer(size: bytes.count)
            case .metaOfAnotherSize: return lying(bytes, format, width + 1, height, offset: 0)
            case .metaPastTheEnd: return lying(bytes, format, width, height, offset: 1_000_000)
            case .metaOfAnotherFormat: return lying(bytes, GST_VIDEO_FORMAT_AYUV64, width, height, offset: 0)
            }
        }

        private func lying(
            _ bytes: [UInt8], _ format: GstVideoFormat, _ width: guint, _ height: guint, offset: gsize
        ) -> BufferRef {
            let buffer = guardedBuffer(bytes)
            let meta = gst_buffer_add_video_meta(buffer.pointer, GST_VIDEO_FRAME_FLAG_NONE, format, width, height)
            meta?.pointee.offset.0 = offset
            return buffer
        }
    }

    /// The faulty buffer that a stream gets in place of a good one.
    private func faulty(_ fault: Fault, _ stream: Follower.Stream) throws -> BufferRef {
        var info = GstVideoInfo()
        let caps = try #require(gst_caps_from_string(stream.caps))
        defer { gst_caps_unref(caps) }
        try #require(gst_video_info_from_caps(&info, caps) != 0)
        return fault.buffer(
            Array(stream.frame.prefix(Int(info.size))), info.finfo.pointee.format, width: guint(info.width),
            height: guint(info.height))
    }

    @Test(arguments: Follower.all, Fault.allCases)
    func `a faulty leading buffer costs its own frame`(follower: Follower, fault: Fault) throws {
        try check(follower, leading: try faulty(fault, follower.leading), partner: nil, fault)
    }

    @Test(arguments: Follower.all, Fault.allCases)
    func `a faulty buffer of the partner costs the frame it goes with`(follower: Follower, fault: Fault) throws {
        let frames = try check(
            follower, leading: nil, partner: try faulty(fault, follower.stream(follower.partner)), fault)
        #expect(frames.map(follower.number) == [1, 0, 3])
    }

    /// A good pair, one with a faulty buffer, and a good one.
    @discardableResult
    private func check(
        _ follower: Follower, leading: BufferRef?, partner: BufferRef?, _ fault: Fault
    ) throws -> [Recorder.Frame] {
        let bench = Bench.numbered(follower)
        var frames: [Recorder.Frame] = []
        for number in 0..<3 {
            let due = time(ofFrame: number)
            let isFaulty = number == 1
            let second = isFaulty ? partner : nil
            bench[follower.partner].push(second ?? guardedBuffer(follower.numbered(number + 1)), at: due)
            bench.leading.push((isFaulty ? leading : nil) ?? guardedBuffer(follower.leading.frame), at: due)
            frames.append(try #require(bench.output.next(), "frame \(number)"))
        }
        #expect(frames.map(\.timing.start) == (0..<3).map { time(ofFrame: $0) })
        #expect(follower.number(frames[0]) == 1 && follower.number(frames[2]) == 3)
        #expect(bench.bus.warnings().count == 1, "one warning")
        #expect(bench.bus.errors().isEmpty)
        return frames
    }

    @Test(arguments: Follower.all)
    func `a hundred faulty buffers in a row give a warning a second`(follower: Follower) throws {
        let bench = Bench.numbered(follower)
        bench[follower.partner].end()
        let start = g_get_monotonic_time()
        for number in 0..<100 {
            bench.leading.push([1], at: time(ofFrame: number))
            try #require(bench.output.next() != nil)
        }
        let seconds = Int((g_get_monotonic_time() - start) / 1_000_000)
        #expect(1...(1 + seconds) ~= bench.bus.warnings().count)
    }
}
