import CGStreamer
import DepthKernels
import GstBridge
import GstTestSupport
import Testing

/// Warnings of set-ups that are valid but most likely not meant.
@Suite(.serialized) struct SetupWarningTests {
    // MARK: A reference pad without a stream

    @Test(arguments: [
        ("depthmatte", "depth", "video", "depthtestsrc", ""),
        (
            "depthcolorize", "video", "depth", "depthtestsrc attach-depth=false",
            " attach-depth of camera is off, so no frame has depth. "
        ),
        ("depthcloud", "video", "depth", "videotestsrc", ""),
    ])
    func `an unlinked reference pad is a warning when another pad gets data`(
        factory: String, linked: String, reference: String, source: String, loss: String
    ) throws {
        let log = ElementLog(factory)
        let pipeline = Pipeline(
            "\(source) name=camera camera. ! video/x-raw,width=32,height=24 ! element.\(linked) "
                + "\(factory) name=element ! fakesink")
        #expect(pipeline.set(GST_STATE_PAUSED) == GST_STATE_CHANGE_ASYNC)
        #expect(
            pipeline.bus.nextWarning()?.text.hasPrefix(
                "The pad \(reference) is not linked. Nothing is output until it is.\(loss)") == true)
        // Video may bring its depth.
        let text = "pad \(reference) is not linked; nothing is output until it is"
        #expect(log.texts.contains(text) == (factory == "depthmatte"))
        pipeline.set(GST_STATE_NULL)
    }

    @Test func `a linked reference pad is no warning`() {
        let log = ElementLog("depthmatte")
        let pipeline = Pipeline(
            "depthtestsrc num-buffers=2 name=camera camera.video ! video/x-raw,width=32,height=24 ! matte.video "
                + "camera.depth ! matte.depth depthmatte name=matte ! fakesink")
        #expect(pipeline.run() == .ended)
        #expect(pipeline.bus.warnings() == [])
        #expect(!log.texts.contains { $0.contains("not linked") })
    }

    // MARK: Colors without alpha

    @Test(arguments: ["depthmatte", "depthcloud"])
    func `a color with alpha 0 is logged with the opaque one`(factory: String) {
        let log = ElementLog(factory)
        let element = makeElement(factory, ["background-color": "0x00ff00"])
        defer { gst_object_unref(element) }
        let text = "background-color=0x0000ff00 has alpha 0, so it is transparent; the opaque color is 0xff00ff00"
        #expect(log.texts == [text])
        setProperty(element, "background-color", "0xff00ff00")
        setProperty(element, "background-color", "0")
        #expect(log.texts == [text], "an opaque color and a clear one are no mistakes")
    }

    // MARK: A range without depth

    @Test func `a near limit behind the cutoff is one warning`() throws {
        let bench = Bench.room(["cutoff": "1", "near": "2"])
        for number in 0..<3 {
            #expect(Room.shown(bench.pair(number, depth: Room.wall(900))) == 0)
        }
        let warnings = bench.bus.warnings()
        #expect(warnings.count == 1, "\(warnings)")
        #expect(warnings.first?.text.hasPrefix("near (2.0 m) is not below the cutoff (1.0 m)") == true, "\(warnings)")
    }

    @Test func `a near limit before the cutoff is no warning`() throws {
        let bench = Bench.room(["cutoff": "1", "near": "0.5"])
        #expect(Room.shown(bench.pair(0, depth: Room.wall(900))) == Room.all)
        #expect(bench.bus.warnings() == [])
    }

    private static let (noneHidden, noneShown) = (
        "No count of the depth map is behind", "No count of the depth map but"
    )

    @Test(arguments: [
        ("GRAY8", "anchor=auto", "\(noneHidden) the cutoff (1.0 m), so nothing can be hidden."),
        ("GRAY8", "anchor=nearest", noneHidden),
        ("GRAY8", "depth-unit=0.02", ""),
        ("GRAY16_LE", "depth-kind=disparity depth-unit=0.0001 depth-bias=2", noneHidden),
        ("GRAY16_LE", "depth-kind=relative", "\(noneShown) the nearest is before the cutoff (1.0 m)"),
        ("GRAY8", "depth-kind=relative-inverted", noneShown),
        ("GRAY16_LE", "depth-kind=relative anchor=head", "Relative depth has no metres, so no head"),
        ("GRAY16_LE", "depth-kind=relative anchor=auto", ""),
        ("GRAY8", "depth-kind=relative-inverted anchor=auto", ""),
        ("GRAY8", "mask=band-pass", ""), ("GRAY16_LE", "cutoff=60", ""),
    ])
    func `counts all or none of which are before the cutoff are one warning`(
        format: String, settings: String, text: String
    ) {
        let pairs = settings.split(separator: " ").map { $0.split(separator: "=").map(String.init) }
        let properties = Dictionary(uniqueKeysWithValues: pairs.map { ($0[0], $0[1]) })
        let bench = Bench(["depth"], ["anchor": "fixed"].with(properties))
        let shape = DepthShape(format, 32, 24)
        bench.depth.start(shape)
        bench.video.start(Room.shape)
        for number in 0..<3 {
            let counts = (0..<32 * 24).map { $0 % 32 < 16 ? 100 : 200 }
            #expect(bench.pair(number, depth: shape.bytes(counts: counts)) != nil)
        }
        let warnings = bench.bus.warnings().map(\.text)
        #expect(warnings.count == (text.isEmpty ? 0 : 1) && warnings.first?.hasPrefix(text) != false, "\(warnings)")
    }

    // MARK: Counts that are no distance

    @Test(arguments: DepthReader.all)
    func `a scale by which nothing is measured is one warning`(reader: DepthReader) {
        let (depth, video) = (DepthShape("GRAY16_LE", 32, 24), reader.video(40, 30))
        let bench = reader.bench(["depth-unit": "-0.001"])
        reader.start(bench, depth, video)
        for number in 0..<3 {
            let map = guardedBuffer(depth.bytes(counts: [Int](repeating: 900, count: 32 * 24)))
            #expect(
                reader.frame(bench, number, depth: map, video: guardedBuffer(flat(video, [9, 9, 9]))) != nil)
        }
        let warnings = bench.bus.warnings()
        #expect(warnings.count == 1, "\(warnings)")
        #expect(warnings.first?.text.hasPrefix("With depth-unit=-0.001 and depth-bias=0.0 no count is") == true)
    }

    @Test func `a negative unit of a relative map is a warning that names what turns it round`() {
        let bench = Bench.room(["depth-kind": "relative", "depth-unit": "-1"])
        #expect(bench.pair(0, depth: Room.wall(900)) != nil)
        #expect(bench.bus.warnings().first?.text.contains("set relative-inverted") == true)
    }

    // MARK: Depth that does not fit

    @Test func `depth maps none of which belongs to a frame are one warning`() {
        let bench = Bench.room()
        for number in 0..<40 {
            bench.depth.push(Room.wall(900), at: time(ofFrame: number + 300))
            bench.video.push(Room.picture, at: time(ofFrame: number))
            #expect(bench.output.next() != nil)
        }
        let warnings = bench.bus.warnings()
        #expect(warnings.count == 1, "\(warnings)")
        // The thirtieth frame is at 967 ms, the first depth map at 10 s.
        let text = "No depth map was within max-skew (50 ms) of any frame; the nearest to this one is 9033 ms away. "
        #expect(warnings.first?.text == text + "Mend the time stamps, or raise max-skew.")
    }

    @Test func `depth that stops is no warning of its time stamps`() {
        let bench = Bench.room()
        #expect(bench.pair(0, depth: Room.wall(900)) != nil)
        bench.depth.push(Room.wall(900), at: time(ofFrame: 300))
        for number in 1..<60 {
            bench.video.push(Room.picture, at: time(ofFrame: number))
            #expect(bench.output.next() != nil)
        }
        #expect(bench.bus.warnings() == [])
    }

    @Test(arguments: [true, false])
    func `depth that is not registered to the video is a warning`(hasColor: Bool) {
        let optics = CameraIntrinsics(width: 64, height: 48, fx: 60, fy: 60, cx: 31.5, cy: 23.5)
        let json = Calibration(depth: optics, color: hasColor ? optics : nil).json.replacing("\"", with: "\\\"")
        let bench = Bench(["depth"])
        bench.depth.start(Room.depth.caps + ", calibration=(string)\"\(json)\"")
        bench.video.start(Room.shape)
        #expect(bench.pair(0, depth: Room.wall(900)) != nil)
        let warnings = bench.bus.warnings()
        #expect(warnings.count == (hasColor ? 1 : 0), "\(warnings)")
        #expect(warnings.allSatisfy { $0.text.hasPrefix("The depth map is not registered to the video") })
    }
}

/// The warnings that a debug category logs while this lives.
private final class ElementLog {
    private let record: Record

    private final class Record: Sendable {
        let texts = Monitor([String]())
        let category: String

        init(_ category: String) { self.category = category }
    }

    init(_ category: String) {
        loadElements()
        record = Record(category)
        gst_debug_set_threshold_for_name(category, GST_LEVEL_WARNING)
        gst_debug_add_log_function(
            { category, level, _, _, _, _, message, data in
                guard let category, let message, let data, level == GST_LEVEL_WARNING else { return }
                let record = Unmanaged<Record>.fromOpaque(data).takeUnretainedValue()
                guard String(cString: gst_debug_category_get_name(category)) == record.category,
                    let text = gst_debug_message_get(message)
                else { return }
                let line = String(cString: text)
                record.texts.withLock { $0.append(line) }
            }, Unmanaged.passRetained(record).toOpaque(),
            { data in if let data { Unmanaged<Record>.fromOpaque(data).release() } })
    }

    deinit {
        gst_debug_remove_log_function_by_data(Unmanaged.passUnretained(record).toOpaque())
        gst_debug_unset_threshold_for_name(record.category)
    }

    var texts: [String] { record.texts.withLock { $0 } }
}
