import CGStreamer
import GstBridge
import GstTestSupport
import Testing

/// The metas of a video buffer, where it is changed in place and where it is copied.
@Suite struct MetaTests {
    /// How the frame comes out: the buffer itself, a copy of it, or a frame with an alpha channel more.
    enum Way: CaseIterable {
        case inPlace, copied, widened
    }

    private static let shape = VideoShape("RGBx", 64, 48)

    /// A frame through the element; `decorate` puts on it what is to be looked for.
    private func frame(
        _ way: Way, _ format: String = "RGBx", fields: String = "", _ decorate: (BufferPointer) -> Void
    ) throws -> (input: BufferRef?, output: Recorder.Frame) {
        let bench = Bench([], way == .widened ? ["background-mode": "transparent"] : [:])
        bench.video.start(VideoShape(format, 64, 48, fields: fields))
        let buffer = guardedBuffer(noise(VideoShape(format, 64, 48), seed: 4))
        decorate(buffer.pointer)
        let held = way == .copied ? BufferRef(sharing: buffer.pointer) : nil
        bench.video.push(buffer, at: 0)
        return (held, try #require(bench.output.next()))
    }

    private func has(_ api: GType, _ frame: Recorder.Frame) -> Bool {
        var state: gpointer?
        return gst_buffer_iterate_meta_filtered(frame.buffer.pointer, &state, api) != nil
    }

    @Test(arguments: Way.allCases, ["RGBx", "RGBA", "I420"])
    func `what is said of the picture stays on it`(way: Way, format: String) throws {
        let (held, out) = try frame(way, format) { buffer in
            gst_buffer_add_video_region_of_interest_meta(buffer, "cat", 1, 2, 3, 4)
            gst_buffer_add_video_time_code_meta_full(
                buffer, 30, 1, nil, GST_VIDEO_TIME_CODE_FLAGS_NONE, 1, 2, 3, 4, 0)
            let crop = gst_buffer_add_meta(buffer, gst_video_crop_meta_get_info(), nil)
            crop.map { UnsafeMutableRawPointer($0).assumingMemoryBound(to: GstVideoCropMeta.self) }?.pointee.width = 20
            let caps = gst_caps_from_string("timestamp/x-ntp")
            gst_buffer_add_reference_timestamp_meta(buffer, caps, 99, noClockTime)
            gst_caps_unref(caps)
        }
        #expect(has(gst_video_region_of_interest_meta_api_get_type(), out))
        let code = gst_buffer_get_meta(out.buffer.pointer, gst_video_time_code_meta_api_get_type())
            .map { UnsafeMutableRawPointer($0).assumingMemoryBound(to: GstVideoTimeCodeMeta.self).pointee.tc }
        #expect(code?.minutes == 2 && code?.frames == 4)
        let crop = gst_buffer_get_meta(out.buffer.pointer, gst_video_crop_meta_api_get_type())
        #expect(
            crop.map { UnsafeMutableRawPointer($0).assumingMemoryBound(to: GstVideoCropMeta.self).pointee.width } == 20)
        #expect(gst_buffer_get_reference_timestamp_meta(out.buffer.pointer, nil)?.pointee.timestamp == 99)
        withExtendedLifetime((held, out)) {}
    }

    @Test(arguments: [VideoShape("RGBx", 64, 48), VideoShape("RGBx", 3, 3)], [false, true])
    func `places in the video are not named on four pictures, and all else is`(shape: VideoShape, isFaulty: Bool) throws
    {
        let bench = Bench([], ["view": "quad"])
        bench.video.start(shape)
        let buffer = guardedBuffer(noise(shape, seed: 4).dropLast(isFaulty ? 1 : 0))
        gst_buffer_add_video_region_of_interest_meta(buffer.pointer, "face", 1, 1, 2, 2)
        gst_buffer_add_meta(buffer.pointer, gst_video_crop_meta_get_info(), nil)
        gst_buffer_add_video_time_code_meta_full(
            buffer.pointer, 30, 1, nil, GST_VIDEO_TIME_CODE_FLAGS_NONE, 1, 2, 3, 4, 0)
        bench.video.push(buffer, at: 0)
        let out = try #require(bench.output.next())
        #expect(!has(gst_video_region_of_interest_meta_api_get_type(), out))
        #expect(!has(gst_video_crop_meta_api_get_type(), out))
        #expect(has(gst_video_time_code_meta_api_get_type(), out))
    }

    @Test(arguments: [Way.copied, .widened])
    func `what is said of the memory does not go to a copy`(way: Way) throws {
        let other = guardedBuffer([1, 2, 3])
        let (held, out) = try frame(way) { buffer in
            gst_buffer_add_parent_buffer_meta(buffer, other.pointer)
            gst_buffer_add_video_meta(buffer, GST_VIDEO_FRAME_FLAG_NONE, GST_VIDEO_FORMAT_RGBx, 64, 48)
        }
        #expect(!has(gst_parent_buffer_meta_api_get_type(), out))
        if let meta = gst_buffer_get_video_meta(out.buffer.pointer)?.pointee {
            #expect(meta.format == (way == .widened ? GST_VIDEO_FORMAT_RGBA : GST_VIDEO_FORMAT_RGBx))
        }
        withExtendedLifetime((held, out)) {}
    }

    /// GStreamer 1.22 crashes where it copies such a meta and logs that.
    @Test func `a frame that brings another buffer along is copied while GStreamer logs buffers`() async {
        await #expect(processExitsWith: .success) {
            loadElements()
            gst_debug_remove_log_function(gst_debug_log_default)
            gst_debug_add_log_function(
                { _, _, _, _, _, _, message, _ in _ = gst_debug_message_get(message) }, nil, nil)
            gst_debug_set_active(1)
            gst_debug_set_threshold_for_name("GST_BUFFER", GST_LEVEL_TRACE)
            for properties in [[:], ["background-mode": "transparent"], ["view": "matte"]] {
                let bench = Bench(["depth"], properties)
                bench.video.start(MetaTests.shape)
                bench.depth.start(DepthShape("GRAY16_LE", 8, 6))
                let room = guardedBuffer([1, 2, 3])
                let buffer = guardedBuffer(noise(MetaTests.shape, seed: 4))
                gst_buffer_add_parent_buffer_meta(buffer.pointer, room.pointer)
                gst_buffer_add_video_region_of_interest_meta(buffer.pointer, "face", 1, 1, 2, 2)
                bench.depth.push([UInt8](repeating: 3, count: 96), at: 0)
                bench.video.push(buffer, at: 0)
                let out = try #require(bench.output.next())
                var state: gpointer?
                try #require(
                    gst_buffer_iterate_meta_filtered(
                        out.buffer.pointer, &state, gst_video_region_of_interest_meta_api_get_type()) != nil)
                withExtendedLifetime((room, out)) {}
            }
        }
    }

    @Test func `a frame that brings another buffer along is copied and leaves without it`() throws {
        let room = guardedBuffer(noise(MetaTests.shape, seed: 4))
        let (_, out) = try frame(.inPlace) { gst_buffer_add_parent_buffer_meta($0, room.pointer) }
        #expect(!has(gst_parent_buffer_meta_api_get_type(), out))
        withExtendedLifetime(out) {
            #expect(gst_buffer_peek_memory(out.buffer.pointer, 0)?.pointee.allocator != nil)
        }
        #expect(room.pointer.pointee.mini_object.refcount == 1)
    }

    @Test(arguments: Way.allCases)
    func `flags stay on the frame`(way: Way) throws {
        let kept = [
            GST_BUFFER_FLAG_LIVE, GST_BUFFER_FLAG_DISCONT, GST_BUFFER_FLAG_RESYNC, GST_BUFFER_FLAG_MARKER,
            GST_BUFFER_FLAG_HEADER, GST_BUFFER_FLAG_DROPPABLE, GST_BUFFER_FLAG_DELTA_UNIT, GST_BUFFER_FLAG_CORRUPTED,
            GST_BUFFER_FLAG_GAP, GST_BUFFER_FLAG_DECODE_ONLY,
        ].reduce(0) { $0 | $1.rawValue }
        let (held, out) = try frame(way) { $0.pointee.mini_object.flags |= kept }
        #expect(out.buffer.flags.rawValue & kept == kept)
        withExtendedLifetime((held, out)) {}
    }

    @Test(arguments: Way.allCases)
    func `times and offsets stay on the frame`(way: Way) throws {
        let bench = Bench([], way == .widened ? ["background-mode": "transparent"] : [:])
        bench.video.start(MetaTests.shape)
        let buffer = guardedBuffer(noise(MetaTests.shape, seed: 4))
        let held = way == .copied ? BufferRef(sharing: buffer.pointer) : nil
        buffer.pointer.pointee.pts = 5_000
        buffer.pointer.pointee.dts = 4_000
        buffer.pointer.pointee.duration = 3_000
        buffer.pointer.pointee.offset = 12
        buffer.pointer.pointee.offset_end = 13
        bench.video.push(buffer)
        let frame = try #require(bench.output.next())
        let out = withExtendedLifetime(frame) { frame.buffer.pointer.pointee }
        #expect(out.pts == 5_000 && out.dts == 4_000 && out.duration == 3_000)
        #expect(out.offset == 12 && out.offset_end == 13)
        withExtendedLifetime((held, frame)) {}
    }

    @Test(arguments: [Way.inPlace, .copied])
    func `an interlaced frame keeps its fields' order`(way: Way) throws {
        let fields = GST_VIDEO_BUFFER_FLAG_INTERLACED.rawValue | GST_VIDEO_BUFFER_FLAG_TFF.rawValue
        let (held, out) = try frame(way, fields: "interlace-mode=(string)mixed") { buffer in
            buffer.pointee.mini_object.flags |= fields
        }
        #expect(out.buffer.flags.rawValue & fields == fields)
        #expect(out.caps.contains("mixed"))
        withExtendedLifetime((held, out)) {}
    }
}
