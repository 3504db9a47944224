import CGStreamer
import GstBridge
import GstTestSupport
import Testing

/// A buffer that is not what its caps say costs the frame that it is for, whatever the element, the pad and the fault.
@Suite struct BadBufferTests {
    /// What is wrong with a buffer, and how such a one is made of the bytes that it should hold.
    struct Fault: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let buffer: @Sendable (_ bytes: [UInt8], _ shape: VideoShape) throws -> BufferRef

        init(_ name: String, _ buffer: @escaping @Sendable ([UInt8], VideoShape) throws -> BufferRef) {
            testDescription = name
            self.buffer = buffer
        }

        /// A meta that was truthful before `tell`.
        init(lie name: String, _ tell: @escaping @Sendable (UnsafeMutablePointer<GstVideoMeta>) -> Void) {
            self.init(name) { bytes, shape in
                let buffer = guardedBuffer(bytes)
                let meta = try #require(
                    gst_buffer_add_video_meta(
                        buffer.pointer, GST_VIDEO_FRAME_FLAG_NONE, shape.info.finfo.pointee.format,
                        guint(shape.width), guint(shape.height)))
                tell(meta)
                return buffer
            }
        }
    }

    static let faults = [
        Fault("no memory") { _, _ in guardedBuffer(memories: []) },
        Fault("no byte") { _, _ in guardedBuffer([]) },
        Fault("one byte") { bytes, _ in guardedBuffer(Array(bytes.prefix(1))) },
        Fault("a hundred bytes") { bytes, _ in guardedBuffer(Array(bytes.prefix(100))) },
        Fault("one byte less") { bytes, _ in guardedBuffer(bytes.dropLast()) },
        Fault("memory that cannot be mapped") { bytes, _ in unmappableBuffer(size: bytes.count) },
        Fault(lie: "stride 0") { $0.pointee.stride.0 = 0 },
        Fault(lie: "stride 1") { $0.pointee.stride.0 = 1 },
        Fault(lie: "a negative stride from the first row") { $0.pointee.stride.0 *= -1 },
        Fault(lie: "a negative stride from the second row") {
            $0.pointee.offset.0 = gsize($0.pointee.stride.0)
            $0.pointee.stride.0 *= -1
        },
        Fault(lie: "a stride of the last plane one pixel too long") {
            switch $0.pointee.n_planes {
            case 1: $0.pointee.stride.0 += 4
            case 2: $0.pointee.stride.1 += 4
            default: $0.pointee.stride.2 += 4
            }
        },
        Fault(lie: "a huge stride") { $0.pointee.stride.0 = .max },
        Fault(lie: "the smallest stride there is") { $0.pointee.stride.0 = .min },
        Fault(lie: "an offset past the end") { $0.pointee.offset.0 = 1_000_000 },
        Fault(lie: "an offset near 2^64") { $0.pointee.offset.0 = gsize.max },
        Fault(lie: "an offset of 2^63") { $0.pointee.offset.0 = 1 << 63 },
        Fault(lie: "no plane") { $0.pointee.n_planes = 0 },
        Fault(lie: "four planes") { $0.pointee.n_planes = 4 },
        Fault(lie: "a million planes") { $0.pointee.n_planes = 1_000_000 },
        Fault(lie: "another format") { $0.pointee.format = GST_VIDEO_FORMAT_AYUV64 },
        Fault(lie: "no format") { $0.pointee.format = GST_VIDEO_FORMAT_UNKNOWN },
        Fault(lie: "a larger picture") { $0.pointee.width = 6400 },
        Fault(lie: "a picture one pixel wider") { $0.pointee.width += 1 },
        Fault(lie: "a smaller picture") { $0.pointee.height = 1 },
        Fault(lie: "no picture") { $0.pointee.width = 0 },
        // Only of one plane is the next byte not the next plane's.
        Fault(lie: "an offset of one byte") { $0.pointee.offset.0 += $0.pointee.n_planes == 1 ? 1 : 1_000_000 },
    ]

    /// Each element that reads depth, with its map's pad and that of its video.
    private static let pads = DepthReader.all.flatMap { reader in
        [reader.depthPad, reader.videoPad].compactMap { $0 }.map { (reader, $0) }
    }

    @Test(arguments: pads, faults)
    func `a faulty buffer among good ones costs its own frame, with one warning`(
        input: (reader: DepthReader, pad: String), fault: Fault
    ) throws {
        let (reader, isDepth) = (input.reader, input.pad == input.reader.depthPad)
        let (depth, video) = (DepthShape("GRAY16_LE", 32, 24), reader.video(40, 30))
        let map = depth.bytes(counts: sceneCounts(32, 24, largest: 2000))
        let bench = reader.bench()
        reader.start(bench, depth, video)
        let frames = try (0..<3).map { number in
            let picture = noise(video, seed: 7)
            let faulty =
                number == 1
                ? try isDepth ? fault.buffer(map, VideoShape("GRAY16_LE", 32, 24)) : fault.buffer(picture, video) : nil
            let frame = reader.frame(
                bench, number, depth: isDepth ? faulty ?? guardedBuffer(map) : guardedBuffer(map),
                video: isDepth ? guardedBuffer(picture) : faulty ?? guardedBuffer(picture))
            return try #require(frame, "frame \(number)")
        }
        #expect(frames.map(\.timing.start) == (0..<3).map { time(ofFrame: $0) })
        #expect(frames[2].bytes == frames[0].bytes && frames[1].bytes != frames[0].bytes)
        if isDepth || reader.factory == "depthmatte" {
            let nothing = try #require(reader.picture([UInt8](repeating: 0, count: map.count), depth, video))
            let difference = Difference(frames[1].bytes, nothing, DepthReader.shape(of: frames[1].caps))
            #expect(difference.isNone, "nothing of the room is shown: \(difference)")
        }
        #expect(bench.bus.warnings().count == 1 && bench.bus.errors().isEmpty)
        for pad in [reader.depthPad, reader.videoPad].compactMap({ $0 }) { #expect(bench[pad].settle() == GST_FLOW_OK) }
    }

    /// Pictures beside the video: the background, which is fitted or not, a network's, and that of a detector, of which only
    /// the boxes are read.
    @Test(arguments: ["background", "segmentation", "face"], faults)
    func `a faulty picture beside the video is left out`(pad: String, fault: Fault) throws {
        for (width, height) in [(64, 48), (80, 60)] {
            let picture = VideoShape(pad == "segmentation" ? "GRAY8" : "RGB", width, height)
            let bench = Bench(
                ["depth", pad],
                [
                    "anchor": "fixed", "blur-radius": "0", "background-color": "0xff102030",
                    "method": pad == "segmentation" ? "fusion" : "threshold",
                ])
            bench.depth.start(Room.depth)
            bench.video.start(Room.shape)
            bench[pad].start(picture)
            for number in 0..<2 {
                let good = flat(picture, [9, 8, 7])
                let buffer = number == 0 ? try fault.buffer(good, picture) : guardedBuffer(good)
                bench[pad].push(buffer, at: time(ofFrame: number))
                let bytes = try #require(bench.pair(number, depth: Room.wall(3000))).bytes
                let expected: [UInt8] = pad == "background" && number == 1 ? [9, 8, 7] : [0x10, 0x20, 0x30]
                #expect(pixels(bytes, otherThan: expected, Room.shape) == 0, "frame \(number)")
            }
            let warnings = bench.bus.warnings().map(\.text)
            #expect(warnings.count == (pad == "face" ? 0 : 1), "\(warnings)")
            #expect(warnings.allSatisfy { $0.contains(pad) } && bench.bus.errors().isEmpty)
        }
    }

    @Test(arguments: Follower.all)
    func `a hundred faulty buffers in a row, whatever their bytes, give a warning a second`(follower: Follower) throws {
        let bench = Bench.numbered(follower)
        bench[follower.partner].end()
        let start = g_get_monotonic_time()
        for number in 0..<100 {
            bench.leading.push([UInt8](repeating: 1, count: 1 + number % 30), at: time(ofFrame: number))
            try #require(bench.output.next() != nil)
        }
        let seconds = Int((g_get_monotonic_time() - start) / 1_000_000)
        #expect(1...(1 + seconds) ~= bench.bus.warnings().count)
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

    @Test func `a lying plane of a planar video`() throws {
        let shape = VideoShape("I420", 64, 48)
        for plane in 0..<3 {
            let bench = Bench([], ["view": "original"])
            bench.video.start(shape)
            let fault = Fault(lie: "plane \(plane)") { meta in
                withUnsafeMutableBytes(of: &meta.pointee.offset) {
                    $0.bindMemory(to: gsize.self)[plane] += 1 << 40
                }
            }
            bench.video.push(try fault.buffer(noise(shape, seed: 1), shape), at: 0)
            #expect(bench.output.next() != nil)
            #expect(bench.bus.warnings().count == 1)
        }
    }
}
