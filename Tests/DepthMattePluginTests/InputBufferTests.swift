import CGStreamer
import GstBridge
import GstTestSupport
import Testing

/// The memory of the buffers that come in, through each element that reads depth.
@Suite struct InputBufferTests {
    /// Counts of a scene with somebody in it.
    private static func map(_ depth: DepthShape) -> [UInt8] {
        depth.bytes(counts: sceneCounts(depth.width, depth.height, largest: 2000))
    }

    private static let depth = DepthShape("GRAY16_LE", 64, 32)

    /// A buffer, another reference to it, and where its bytes are.
    private struct Held {
        let buffer: BufferRef
        let copy: [UInt8]

        var isWritable: Bool {
            let object = UnsafeMutableRawPointer(buffer.pointer).assumingMemoryBound(to: GstMiniObject.self)
            return gst_mini_object_is_writable(object) != 0
        }

        init(_ bytes: [UInt8]) {
            buffer = guardedBuffer(bytes)
            copy = bytes
        }

        var shared: BufferRef { BufferRef(sharing: buffer.pointer) }
        var references: Int { Int(buffer.pointer.pointee.mini_object.refcount) }

        /// Changes every byte of the memory, as an upstream would that uses a buffer again.
        func overwrite() {
            var map = GstMapInfo()
            guard let memory = gst_buffer_peek_memory(buffer.pointer, 0),
                gst_memory_map(memory, &map, GST_MAP_READ) != 0
            else {
                Issue.record("the memory cannot be mapped")
                return
            }
            for index in 0..<Int(map.size) { map.data[index] ^= 0x5a }
            gst_memory_unmap(memory, &map)
        }
    }

    // MARK: References

    @Test(arguments: DepthReader.all)
    func `inputs are let go once their frame is out, and are writable again`(reader: DepthReader) throws {
        let (bench, video) = (reader.bench(), reader.video(64, 32))
        reader.start(bench, InputBufferTests.depth, video)
        var inputs: [Held] = []
        for number in 0..<3 {
            inputs += [Held(InputBufferTests.map(InputBufferTests.depth)), Held(noise(video, seed: 7))]
            let (map, picture) = (inputs[inputs.count - 2], inputs[inputs.count - 1])
            try #require(reader.frame(bench, number, depth: map.shared, video: picture.shared) != nil)
        }
        // A click and a snapshot are answered from the last frame's map.
        gst_element_set_state(bench.element, GST_STATE_READY)
        for input in inputs {
            #expect(eventually { input.references == 1 })
            #expect(input.isWritable)
        }
        withExtendedLifetime(bench) {}
    }

    /// One map is shown, and one waits: a camera with two buffers for maps would stop where a third were held.
    @Test func `a map that is shown is let go while the next is waited for, and a click is answered`() throws {
        let bench = Bench.room()
        let maps = (0..<3).map { _ in Held(Room.wall(900)) }
        bench.depth.push(maps[0].shared, at: 0)
        bench.video.push(Room.picture, at: 0)
        #expect(bench.output.next() != nil)
        bench.depth.push(maps[1].shared, at: time(ofFrame: 1) / 2)
        bench.video.push(Room.picture, at: time(ofFrame: 1))
        #expect(eventually { maps[0].references == 1 })
        gst_pad_push_event(
            bench.output.pad, gst_navigation_event_new_mouse_button_press(1, 10, 20, GST_NAVIGATION_MODIFIER_NONE))
        #expect(bench.bus.structures("depth-probe").first?.contains("metres=(double)0.9") == true)
        bench.depth.push(maps[2].shared, at: time(ofFrame: 2))
        #expect(bench.output.next() != nil)
    }

    @Test(arguments: DepthReader.all)
    func `an empty list of buffers is nothing`(reader: DepthReader) throws {
        let log = GStreamerLog(G_LOG_LEVEL_CRITICAL)
        let (bench, video) = (reader.bench(), reader.video(64, 32))
        reader.start(bench, InputBufferTests.depth, video)
        for pad in [reader.depthPad, reader.videoPad].compactMap({ $0 }) {
            bench[pad].settle()
            #expect(gst_pad_push_list(bench[pad].pad, gst_buffer_list_new()) == GST_FLOW_OK)
        }
        let map = guardedBuffer(InputBufferTests.map(InputBufferTests.depth))
        #expect(reader.frame(bench, depth: map, video: guardedBuffer(noise(video, seed: 7))) != nil)
        #expect(log.texts == [] && bench.bus.errors().isEmpty)
    }

    // MARK: Contents

    @Test(arguments: DepthReader.all)
    func `inputs that somebody else holds stay as they are, and what becomes of them changes no frame`(
        reader: DepthReader
    ) throws {
        let (bench, video) = (reader.bench(), reader.video(64, 32))
        reader.start(bench, InputBufferTests.depth, video)
        var frames: [(frame: Recorder.Frame, bytes: [UInt8])] = []
        for number in 0..<3 {
            let (map, picture) = (Held(InputBufferTests.map(InputBufferTests.depth)), Held(noise(video, seed: 7)))
            let frame = try #require(reader.frame(bench, number, depth: map.shared, video: picture.shared))
            frames.append((frame, frame.bytes))
            for input in [map, picture] {
                #expect(input.buffer.bytes == input.copy, "frame \(number)")
                input.overwrite()
                #expect(input.buffer.bytes != input.copy)
            }
        }
        for (index, frame) in frames.enumerated() {
            #expect(frame.frame.bytes == frame.bytes, "frame \(index)")
            #expect(frame.bytes == frames[0].bytes, "frame \(index)")
        }
    }

    /// The frames of the background pad are kept from frame to frame.
    @Test func `a background picture that changes behind the element's back changes no frame that has left`() throws {
        let shape = VideoShape("RGB", 64, 48)
        let bench = Bench(["depth", "background"], ["anchor": "fixed", "blur-radius": "0"])
        for (pad, caps) in [("depth", Room.depth.caps), ("video", shape.caps), ("background", shape.caps)] {
            bench[pad].start(caps)
        }
        let picture = Held(flat(shape, [9, 8, 7]))
        bench.background.push(picture.shared, at: 0)
        let frame = try #require(bench.pair(0, depth: Room.wall(3000)))
        let bytes = frame.bytes
        #expect(pixels(bytes, otherThan: [9, 8, 7], shape) == 0)
        picture.overwrite()
        #expect(frame.bytes == bytes)
    }

    @Test(arguments: ["RGB", "I420", "BGRx"])
    func `a frame that left may come back as an input`(format: String) throws {
        let shape = VideoShape(format, 64, 32)
        let bench = Bench(["depth", "background"], ["anchor": "fixed", "blur-radius": "0", "cutoff": "5"])
        let depth = InputBufferTests.depth
        for (pad, caps) in [("depth", depth.caps), ("video", shape.caps), ("background", shape.caps)] {
            bench[pad].start(caps)
        }
        let near = depth.bytes(counts: [Int](repeating: 1000, count: depth.width * depth.height))
        let far = depth.bytes(counts: [Int](repeating: 6000, count: depth.width * depth.height))
        bench.background.push(noise(shape, seed: 3), at: 0)
        bench.depth.push(near, at: 0)
        bench.video.push(noise(shape, seed: 4), at: 0)
        var last = try #require(bench.output.next())
        let first = last.bytes
        for number in 1..<5 {
            let held = last
            // As the video and, at once, as the background.
            bench.background.push(BufferRef(sharing: last.buffer.pointer).copied, at: time(ofFrame: number))
            bench.depth.push(number % 2 == 0 ? near : far, at: time(ofFrame: number))
            bench.video.push(BufferRef(sharing: last.buffer.pointer).copied, at: time(ofFrame: number))
            last = try #require(bench.output.next(), "frame \(number)")
            #expect(held.bytes == first && last.bytes == first, "frame \(number)")
        }
        #expect(bench.bus.warnings().isEmpty && bench.bus.errors().isEmpty)
    }

    // MARK: Guard pages

    /// Frames of whole pages, which have a page that nobody may touch before and behind them; so have those that leave.
    @Test(arguments: DepthReader.all)
    func `nothing before and behind a frame is touched`(reader: DepthReader) throws {
        let depth = InputBufferTests.depth  // 4096 bytes
        let video = reader.video(128, 64)
        try #require(depth.width * depth.height * 2 % 4096 == 0 && video.size % 4096 == 0)
        let expected = try #require(reader.picture(InputBufferTests.map(depth), depth, video))
        let frames = try with(.guarded, of: 1024...Int.max) {
            let bench = reader.bench()
            reader.start(bench, depth, video)
            return try (0..<3).map { number in
                // One is somebody else's too, and so is copied.
                let picture = guardedBuffer(noise(video, seed: 7))
                let held = number == 1 ? BufferRef(sharing: picture.pointer) : nil
                defer { withExtendedLifetime(held) {} }
                let frame = reader.frame(
                    bench, number, depth: guardedBuffer(InputBufferTests.map(depth)), video: picture)
                return try #require(frame, "frame \(number)").bytes
            }
        }
        for (number, frame) in frames.enumerated() { #expect(frame == expected, "frame \(number)") }
    }

    // MARK: Layouts

    @Test(arguments: DepthReader.all, [false, true])
    func `padded rows and planes in another order are read as packed ones`(reader: DepthReader, memoryPerPlane: Bool)
        throws
    {
        let (depth, video) = (DepthShape("GRAY16_LE", 31, 24), reader.video(45, 31))
        let map = InputBufferTests.map(depth)
        let bench = reader.bench()
        reader.start(bench, depth, video)
        let depthBuffer = try LayoutTests.rearranged(
            map, VideoShape("GRAY16_LE", depth.width, depth.height), memoryPerPlane: memoryPerPlane)
        let videoBuffer = try LayoutTests.rearranged(noise(video, seed: 7), video, memoryPerPlane: memoryPerPlane)
        let frame = reader.frame(bench, depth: depthBuffer, video: videoBuffer)
        let bytes = try #require(frame).bytes
        // The samples: what lies between them is not the picture.
        let expected = try #require(reader.picture(map, depth, video))
        let shape = DepthReader.shape(of: try #require(frame).caps)
        #expect(Difference(bytes, expected, shape).isNone)
        #expect(bench.bus.warnings().isEmpty && bench.bus.errors().isEmpty)
    }
}

extension BufferRef {
    /// Another buffer with the same memory, of which the times may be set.
    fileprivate var copied: BufferRef {
        guard let copy = gst_buffer_copy(pointer) else { preconditionFailure("no memory for a buffer") }
        return BufferRef(taking: copy)
    }
}

extension DepthReader {
    /// The format and size that caps of raw video name.
    static func shape(of caps: String) -> VideoShape {
        VideoShape(
            caps.value(of: "format"), Int(caps.value(of: "width")) ?? 0, Int(caps.value(of: "height")) ?? 0)
    }
}

extension String {
    /// The value of a field of caps in their text form, without its type.
    fileprivate func value(of name: String) -> String {
        guard let start = firstRange(of: "\(name)=(") else { return "" }
        return String(self[start.upperBound...].drop { $0 != ")" }.dropFirst().prefix { $0 != "," && $0 != ";" })
    }
}
