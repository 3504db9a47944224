import CGStreamer
import GstBridge
import GstTestSupport
import Testing

/// The buffers that `depthcolorize` takes and makes.
@Suite struct ColorizeBufferTests {
    private static let depth = DepthShape("GRAY16_LE", 8, 4)
    private static let map = depth.bytes(counts: [Int](repeating: 900, count: 8 * 4))

    private func bench(_ inputs: [String] = [], _ properties: [String: String] = [:]) -> Bench {
        Bench(
            inputs, properties, downstream: "video/x-raw, format=RGB",
            of: Bench.Kind(factory: "depthcolorize", leading: "depth"))
    }

    private func has(_ api: GType, _ frame: Recorder.Frame) -> Bool {
        gst_buffer_get_meta(frame.buffer.pointer, api) != nil
    }

    /// How the map lies on the picture that leaves, and whether a place in the one is that place in the other.
    enum Picture: CaseIterable {
        case alone, overVideoOfItsSize, overLargerVideo, moved, enlarged

        var keepsPlaces: Bool { self == .alone || self == .overVideoOfItsSize }
        var videoWidth: Int? { self == .overVideoOfItsSize ? 8 : self == .overLargerVideo ? 16 : nil }
        var properties: [String: String] {
            self == .moved ? ["depth-offset-x": "2"] : self == .enlarged ? ["depth-scale": "2"] : [:]
        }
    }

    @Test(arguments: Picture.allCases)
    func `what is said of places in the map stays while they are those of the picture`(picture: Picture) throws {
        let bench = bench(picture.videoWidth == nil ? [] : ["video"], picture.properties)
        if let width = picture.videoWidth {
            let video = VideoShape("RGB", width, width / 2)
            bench.video.start(video)
            bench.video.push(flat(video, [1, 2, 3]), at: 0)
        }
        bench.depth.start(ColorizeBufferTests.depth)
        let buffer = guardedBuffer(ColorizeBufferTests.map)
        gst_buffer_add_video_region_of_interest_meta(buffer.pointer, "face", 1, 1, 2, 2)
        gst_buffer_add_meta(buffer.pointer, gst_video_crop_meta_get_info(), nil)
        gst_buffer_add_video_time_code_meta_full(
            buffer.pointer, 30, 1, nil, GST_VIDEO_TIME_CODE_FLAGS_NONE, 1, 2, 3, 4, 0)
        bench.depth.push(buffer, at: 0)
        let frame = try #require(bench.output.next())
        #expect(has(gst_video_region_of_interest_meta_api_get_type(), frame) == picture.keepsPlaces)
        #expect(has(gst_video_crop_meta_api_get_type(), frame) == picture.keepsPlaces)
        #expect(has(gst_video_time_code_meta_api_get_type(), frame), "no place is in it")
    }

    @Test func `a camera with a single buffer gets it back before the next frame`() throws {
        let bench = bench()
        let camera = try #require(gst_buffer_pool_new())
        defer {
            gst_buffer_pool_set_active(camera, 0)
            gst_object_unref(camera)
        }
        let settings = gst_buffer_pool_get_config(camera)
        gst_buffer_pool_config_set_params(settings, nil, guint(ColorizeBufferTests.map.count), 1, 1)
        try #require(gst_buffer_pool_set_config(camera, settings) != 0)
        try #require(gst_buffer_pool_set_active(camera, 1) != 0)

        bench.depth.start(ColorizeBufferTests.depth)
        for number in 0..<3 {
            var parameters = GstBufferPoolAcquireParams()
            parameters.flags = GST_BUFFER_POOL_ACQUIRE_FLAG_DONTWAIT
            var taken: UnsafeMutablePointer<GstBuffer>?
            #expect(eventually { gst_buffer_pool_acquire_buffer(camera, &taken, &parameters) == GST_FLOW_OK })
            let buffer = BufferRef(taking: try #require(taken))
            ColorizeBufferTests.map.withUnsafeBytes {
                _ = gst_buffer_fill(buffer.pointer, 0, $0.baseAddress, gsize($0.count))
            }
            bench.depth.push(buffer, at: time(ofFrame: number))
            _ = try #require(bench.output.next())
            // The probe answers from the last frame all the same.
            gst_pad_push_event(
                bench.output.pad, gst_navigation_event_new_mouse_button_press(1, 2, 2, GST_NAVIGATION_MODIFIER_NONE))
            let told = bench.bus.structures("depth-probe")
            #expect(told.count == 1 && told.first?.contains("metres=(double)0.9") == true, "\(told)")
        }
    }
}
