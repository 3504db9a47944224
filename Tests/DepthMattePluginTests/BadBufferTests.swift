import CGStreamer
import GstBridge
import GstTestSupport
import Testing

/// Buffers that are not what their caps say. Each costs its own frame and no more.
@Suite struct BadBufferTests {
    /// A faulty pair among good ones: that frame is covered, one warning says so, the next is as it should be.
    private func check(_ what: String, depth: BufferRef? = nil, video: BufferRef? = nil) {
        let bench = Bench.room()
        #expect(Room.shown(bench.pair(0, depth: Room.wall(700))) == Room.all, "\(what): before")
        #expect(bench.bus.warnings().isEmpty)
        bench.depth.push(depth ?? guardedBuffer(Room.wall(700)), at: time(ofFrame: 1))
        bench.video.push(video ?? guardedBuffer(Room.picture), at: time(ofFrame: 1))
        let covered = bench.output.next()
        #expect(Room.shown(covered) == 0, "\(what): the faulty frame is covered")
        #expect(covered?.timing.start == time(ofFrame: 1), "\(what): and keeps its time")
        #expect(bench.bus.warnings().count == 1, "\(what): one warning")
        #expect(Room.shown(bench.pair(2, depth: Room.wall(700))) == Room.all, "\(what): after")
        #expect(bench.bus.errors().isEmpty, "\(what): no error")
        #expect(bench.video.settle() == GST_FLOW_OK)
        #expect(bench.depth.settle() == GST_FLOW_OK)
    }

    @Test(arguments: [0, 1, 100, Room.shape.size - 1])
    func `a video buffer that is too short`(size: Int) {
        check("\(size) bytes", video: guardedBuffer(Array(Room.picture.prefix(size))))
    }

    @Test(arguments: [0, 1, 100, Room.depth.width * Room.depth.height * 2 - 1])
    func `a depth buffer that is too short`(size: Int) {
        check("\(size) bytes", depth: guardedBuffer(Array(Room.wall(700).prefix(size))))
    }

    /// What NumPy gives: 27 pixels of 3 bytes, and 9 samples of 2, are padded by GStreamer.
    @Test(arguments: ["video", "depth", "background", "segmentation"])
    func `rows without padding are named by their pad and their bytes`(pad: String) {
        let pads = ["depth", "background", "segmentation"]
        let bench = Bench(pads, ["anchor": "fixed"])
        let video = VideoShape("BGR", 27, 4)
        let shapes = [
            "video": video, "background": video, "segmentation": VideoShape("GRAY8", 27, 4),
            "depth": VideoShape("GRAY16_LE", 9, 4),
        ]
        for (name, shape) in shapes {
            bench[name].start(shape)
            let tight = ["BGR": 81, "GRAY8": 27, "GRAY16_LE": 18][shape.format] ?? 0
            bench[name].push([UInt8](repeating: 3, count: name == pad ? tight * 4 : shape.size), at: 0)
        }
        #expect(bench.output.next() != nil)
        let warnings = bench.bus.warnings().map(\.text)
        #expect(warnings.count == 1, "\(warnings)")
        let size = shapes[pad].map(\.size) ?? 0
        for words in ["on the \(pad) pad", "caps need \(size), in rows of \(size / 4) bytes", "which are padded"] {
            #expect(warnings.first?.contains(words) == true, "\(warnings)")
        }
    }

    @Test(arguments: ["video", "depth"])
    func `a stream that counts bytes is an error that names its pad, and appsrc's remedy`(pad: String) {
        let bench = Bench(["depth"])
        var segment = GstSegment()
        gst_segment_init(&segment, GST_FORMAT_BYTES)
        bench[pad].push(segment)
        let error = bench.bus.nextError()?.text
        #expect(error?.hasPrefix("The \(pad) pad needs a stream in time format; set format=time at an appsrc") == true)
    }

    @Test func `a buffer without memory`() {
        check("video", video: guardedBuffer(memories: []))
        check("depth", depth: guardedBuffer(memories: []))
    }

    @Test func `many faulty buffers in a row give one warning a second`() {
        let bench = Bench.room()
        let start = g_get_monotonic_time()
        for number in 0..<50 { #expect(Room.shown(bench.pair(number, depth: [1, 2, 3])) == 0) }
        let seconds = Int((g_get_monotonic_time() - start) / 1_000_000)
        #expect(1...(1 + seconds) ~= bench.bus.warnings().count)
    }

    @Test func `a short background or face buffer leaves the stream going`() {
        let bench = Bench(["depth", "background", "face"], ["anchor": "fixed", "blur-radius": "0"])
        bench.depth.start(Room.depth)
        bench.video.start(Room.shape)
        bench.background.start(Room.shape)
        bench.face.start(Room.shape)
        bench.background.push([1, 2, 3], at: 0)
        bench.face.push([], at: 0)
        #expect(Room.leaked(bench.pair(0, depth: Room.wall(3000))) == 0)
        bench.background.push(flat(Room.shape, [9, 8, 7]), at: time(ofFrame: 1))
        bench.face.push([], at: time(ofFrame: 1))
        let frame = bench.pair(1, depth: Room.wall(3000))
        #expect(frame.map { pixels($0.bytes, otherThan: [9, 8, 7], Room.shape) } == 0)
        #expect(bench.bus.errors().isEmpty)
    }

    // MARK: Metas that lie

    /// A change to a truthful meta.
    struct Lie: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let tell: @Sendable (UnsafeMutablePointer<GstVideoMeta>) -> Void

        init(_ name: String, _ tell: @escaping @Sendable (UnsafeMutablePointer<GstVideoMeta>) -> Void) {
            testDescription = name
            self.tell = tell
        }
    }

    static let lies = [
        Lie("stride 0") { $0.pointee.stride.0 = 0 },
        Lie("stride 1") { $0.pointee.stride.0 = 1 },
        Lie("a negative stride") { $0.pointee.stride.0 = -192 },
        Lie("a stride one row too long") { $0.pointee.stride.0 = 196 },
        Lie("a huge stride") { $0.pointee.stride.0 = .max },
        Lie("the smallest stride there is") { $0.pointee.stride.0 = .min },
        Lie("an offset of one byte") { $0.pointee.offset.0 = 1 },
        Lie("an offset past the end") { $0.pointee.offset.0 = 1_000_000 },
        Lie("an offset near 2^64") { $0.pointee.offset.0 = gsize.max },
        Lie("an offset of 2^63") { $0.pointee.offset.0 = 1 << 63 },
        Lie("no plane") { $0.pointee.n_planes = 0 },
        Lie("four planes") { $0.pointee.n_planes = 4 },
        Lie("a million planes") { $0.pointee.n_planes = 1_000_000 },
        Lie("another format") { $0.pointee.format = GST_VIDEO_FORMAT_I420 },
        Lie("no format") { $0.pointee.format = GST_VIDEO_FORMAT_UNKNOWN },
        Lie("a larger picture") { $0.pointee.width = 6400 },
        Lie("a smaller picture") { $0.pointee.height = 1 },
        Lie("no picture") { $0.pointee.width = 0 },
    ]

    static func buffer(_ bytes: [UInt8], _ shape: VideoShape, _ lie: Lie) throws -> BufferRef {
        let buffer = guardedBuffer(bytes)
        let meta = try #require(
            gst_buffer_add_video_meta(
                buffer.pointer, GST_VIDEO_FRAME_FLAG_NONE, shape.info.finfo.pointee.format, guint(shape.width),
                guint(shape.height)))
        lie.tell(meta)
        return buffer
    }

    @Test(arguments: lies)
    func `a lying meta on the video`(lie: Lie) throws {
        check(lie.testDescription, video: try BadBufferTests.buffer(Room.picture, Room.shape, lie))
    }

    @Test(arguments: lies)
    func `a lying meta on the depth`(lie: Lie) throws {
        let shape = VideoShape("GRAY16_LE", Room.depth.width, Room.depth.height)
        check(lie.testDescription, depth: try BadBufferTests.buffer(Room.wall(700), shape, lie))
    }

    @Test(arguments: lies)
    func `a lying meta on the background`(lie: Lie) throws {
        let bench = Bench(["depth", "background"], ["anchor": "fixed", "blur-radius": "0"])
        bench.depth.start(Room.depth)
        bench.video.start(Room.shape)
        bench.background.start(Room.shape)
        bench.background.push(try BadBufferTests.buffer(flat(Room.shape, [9, 8, 7]), Room.shape, lie), at: 0)
        #expect(Room.leaked(bench.pair(0, depth: Room.wall(3000))) == 0)
        #expect(bench.bus.errors().isEmpty)
    }

    @Test func `a lying plane of a planar video`() throws {
        let shape = VideoShape("I420", 64, 48)
        for plane in 0..<3 {
            let bench = Bench([], ["view": "original"])
            bench.video.start(shape)
            let lie = Lie("plane \(plane)") { meta in
                withUnsafeMutableBytes(of: &meta.pointee.offset) {
                    $0.bindMemory(to: gsize.self)[plane] += 1 << 40
                }
            }
            bench.video.push(try BadBufferTests.buffer(noise(shape, seed: 1), shape, lie), at: 0)
            #expect(bench.output.next() != nil)
            #expect(bench.bus.warnings().count == 1)
        }
    }
}
