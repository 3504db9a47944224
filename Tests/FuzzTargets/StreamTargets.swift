import CGStreamer
import DepthKernels
import DepthMattePlugin
import GstBridge
import GstTestSupport

/// Frames of any layout, content, meta and time, with any settings, in the order in which a stream has them.
func fuzzFrames(_ input: inout FuzzInput) {
    let stream = AnyStream(&input)
    for _ in 0..<input.number(1...8) where !input.isEmpty {
        switch input.number(0...15) {
        case 0: stream.begin(stream.anyPad(&input), &input)
        case 1, 2: setAnyProperty(of: stream.bench.element, &input)
        default: stream.pushFrame(on: stream.anyPad(&input), &input)
        }
    }
    stream.end()
}

/// Events and queries of any kind in any order, between frames.
func fuzzEvents(_ input: inout FuzzInput) {
    let stream = AnyStream(&input)
    for _ in 0..<input.number(1...24) where !input.isEmpty {
        let pad = stream.anyPad(&input)
        switch input.number(0...13) {
        case 0: stream.begin(pad, &input)
        case 1: setAnyProperty(of: stream.bench.element, &input)
        case 2: stream.pushSegment(on: pad, &input)
        case 3:
            stream.feed(pad).gap(
                at: min(anyTime(&input), noClockTime - 1), input.flag() ? noClockTime : anyTime(&input))
        case 4: stream.flush()
        case 5: stream.seek(&input)
        case 6: stream.query(pad, &input)
        case 7: stream.navigate(&input)
        case 8: stream.release(pad)
        case 9: stream.change(to: input.choice([GST_STATE_PAUSED, GST_STATE_READY, GST_STATE_NULL]))
        case 10: stream.feed(pad).push(anyEvent(&input))
        default: stream.pushFrame(on: pad, &input)
        }
    }
    stream.end()
}

/// Pointer and keyboard events of any kind, over a picture.
func fuzzNavigation(_ input: inout FuzzInput) {
    let stream = AnyStream(&input)
    setProperty(stream.bench.element, "navigation", "steer")
    for pad in stream.pads { stream.pushFrame(on: pad, &input) }
    for _ in 0..<input.number(1...24) where !input.isEmpty { stream.navigate(&input) }
    stream.end()
}

/// An element that plays, and its streams.
private final class AnyStream {
    let bench: Bench
    let pads: [String]
    private let leading: String
    /// True where the pad "sink" takes depth maps.
    private let hasDepthSink: Bool
    private var formats: [String: Format] = [:]
    /// That of the last seek that flushed: its segments have it too, as with demuxers.
    private var seqnum: guint32?

    /// What a pad's frames look like.
    private struct Format {
        let layout: FrameLayout
        let format: GstVideoFormat
    }

    private static let kinds = [
        (
            Bench.Kind(factory: "depthmatte", leading: "video"), "video",
            ["depth", "background", "face", "segmentation"]
        ),
        (Bench.Kind(factory: "depthcolorize", leading: "depth"), "depth", ["video"]),
        (Bench.Kind(factory: "depthcloud", leading: "depth"), "depth", ["video"]),
        (Bench.Kind(factory: "depthalign", leading: "sink"), "sink", []),
        (Bench.Kind(factory: "depthpack", leading: "video"), "video", ["depth"]),
        (Bench.Kind(factory: "depthunpack", leading: "sink", output: "video"), "sink", []),
    ]

    /// The depth camera 8 cm beside the color camera, as caps carry it.
    private static let calibration: String = {
        let camera = CameraIntrinsics(width: 32, height: 24, fx: 40, fy: 40, cx: 15.5, cy: 11.5)
        let pose = CameraPose(rotation: CameraPose.identity.rotation, translation: SIMD3(0.08, 0, 0))
        let json = Calibration(depth: camera, color: camera, depthToColor: pose).json
        return ", calibration=(string)\"" + json.replacing("\"", with: "\\\"") + "\""
    }()

    init(_ input: inout FuzzInput) {
        let (kind, leading, others) = input.choice(AnyStream.kinds)
        self.leading = leading
        let requested = Array(others.prefix(input.number(0...others.count)))
        pads = [leading] + requested
        hasDepthSink = kind.output == "src" && leading == "sink"
        bench = Bench(requested, ["max-pixels": "4096"], readsMetas: input.flag(), of: kind)
        for _ in 0..<input.number(0...4) { setAnyProperty(of: bench.element, &input) }
        setProperty(bench.element, "max-pixels", "4096")
        for pad in pads { begin(pad, &input) }
    }

    func feed(_ pad: String) -> Feed { bench[pad] }

    func anyPad(_ input: inout FuzzInput) -> String { input.choice(pads) }

    /// A stream's first events, or its next caps.
    func begin(_ pad: String, _ input: inout FuzzInput) {
        if input.seldom() {
            let caps = anyCaps(&input)
            if gst_caps_is_fixed(caps) != 0 { feed(pad).start(caps.text, seqnum: seqnum) }
            gst_caps_unref(caps)
            return
        }
        let (width, height) = (input.number(1...40), input.number(1...30))
        let isDepth = pad == "depth" || hasDepthSink
        // A picture that holds color and depth has sides that part into halves.
        let isPacked = pad == "sink" && !isDepth
        let caps: String
        if isDepth {
            let shape = DepthShape(
                input.choice(["GRAY16_LE", "GRAY16_BE", "GRAY8", "F32LE", "F16LE"]), width, height)
            caps = shape.caps + (pad == "sink" || input.seldom() ? AnyStream.calibration : "")
        } else {
            let name = isPacked ? input.choice(["I420", "NV12", "YV12", "NV21"]) : input.choice(VideoFormat.all).name
            caps = VideoShape(name, isPacked ? width * 4 : width, isPacked ? height * 4 : height).caps
        }
        guard let parsed = gst_caps_from_string(caps) else { return }
        defer { gst_caps_unref(parsed) }
        if isDepth, let format = try? DepthFormat(parsed, maxPixels: 4096) {
            formats[pad] = Format(layout: format.layout, format: format.layout.format)
        } else if let info = try? videoInfo(parsed, maxPixels: 4096) {
            formats[pad] = Format(layout: FrameLayout(info), format: info.finfo.pointee.format)
        }
        feed(pad).start(caps, seqnum: seqnum)
    }

    func pushFrame(on pad: String, _ input: inout FuzzInput) {
        guard let format = formats[pad] else { return }
        let buffer = anyBuffer(&input, size: format.layout.size)
        if format.format != GST_VIDEO_FORMAT_UNKNOWN {
            addMeta(to: buffer.pointer, format.format, format.layout, &input)
        }
        for _ in 0..<(input.flag() ? input.number(0...3) : 0) {
            let type = input.choice(["face", "person", "", "a,b"])
            if input.flag() {
                buffer.addRegion(4, 4, UInt32(input.byte()), UInt32(input.byte()), type: type)
            } else {
                buffer.addRegion(
                    UInt32(input.word(4)), UInt32(input.word(4)), UInt32(input.word(4)), UInt32(input.word(4)),
                    type: type)
            }
        }
        if input.seldom() { buffer.pointer.pointee.mini_object.flags |= guint(input.word(4)) & anyFlags }
        feed(pad).push(buffer, at: anyTime(&input), input.seldom() ? noClockTime : frameDuration)
    }

    func pushSegment(on pad: String, _ input: inout FuzzInput) {
        let (rates, start) = ([1, -1, 0.5, 2, 1000, -0.25], anyTime(&input))
        // None ends before it starts: no source sends that, and every element passes it on.
        let stop = input.flag() ? noClockTime : max(start, 1_000_000_000 &+ anyTime(&input))
        feed(pad).push(
            .time(rate: input.choice(rates), start: start, stop: stop, base: anyTime(&input)), seqnum: seqnum)
    }

    /// - Parameter seqnum: that of the seek behind the flush; nil where there is none.
    func flush(seqnum: guint32? = nil) {
        self.seqnum = seqnum
        for pad in pads { feed(pad).beginFlush(seqnum: seqnum) }
        for pad in pads { feed(pad).endFlush(seqnum: seqnum) }
    }

    /// Sends a seek, and answers it as every source does: one that flushes, with a flush.
    func seek(_ input: inout FuzzInput) {
        let flags = GstSeekFlags(rawValue: guint(input.byte()))
        let event = gst_event_new_seek(
            input.choice([1, -1, 2, 0.1]), GST_FORMAT_TIME, flags, GST_SEEK_TYPE_SET,
            gint64(truncatingIfNeeded: anyTime(&input)),
            input.choice([GST_SEEK_TYPE_NONE, GST_SEEK_TYPE_SET]), 2_000_000_000)
        guard let event else { return }
        let seqnum = gst_event_get_seqnum(event)
        let isTaken = gst_pad_push_event(bench.output.pad, event) != 0
        if isTaken && flags.rawValue & GST_SEEK_FLAG_FLUSH.rawValue != 0 { flush(seqnum: seqnum) }
    }

    func query(_ pad: String, _ input: inout FuzzInput) {
        let query =
            switch input.number(0...5) {
            case 0: gst_query_new_position(input.choice([GST_FORMAT_TIME, GST_FORMAT_BYTES]))
            case 1: gst_query_new_duration(GST_FORMAT_TIME)
            case 2: gst_query_new_latency()
            case 3: gst_query_new_seeking(GST_FORMAT_TIME)
            case 4: gst_query_new_segment(GST_FORMAT_TIME)
            default: gst_query_new_custom(GST_QUERY_CUSTOM, gst_structure_new_empty("any"))
            }
        guard let query else { return }
        gst_pad_peer_query(bench.output.pad, query)
        gst_mini_object_unref(UnsafeMutableRawPointer(query).assumingMemoryBound(to: GstMiniObject.self))
        let caps = anyCaps(&input)
        _ = feed(pad).allowedCaps(filter: caps.text)
        gst_caps_unref(caps)
    }

    func navigate(_ input: inout FuzzInput) {
        let (x, y) = (input.double(), input.double())
        let state = GstNavigationModifierType(rawValue: guint(input.word(4)) & 0x1F1F)
        let event =
            switch input.number(0...8) {
            case 0: gst_navigation_event_new_mouse_button_press(gint(input.number(-1...9)), x, y, state)
            case 1: gst_navigation_event_new_mouse_button_release(gint(input.number(-1...9)), x, y, state)
            case 2: gst_navigation_event_new_mouse_move(x, y, state)
            case 3: gst_navigation_event_new_mouse_scroll(x, y, input.double(), input.double(), state)
            case 4: gst_navigation_event_new_touch_down(guint(input.byte()), x, y, input.double(), state)
            case 5: gst_navigation_event_new_touch_motion(guint(input.byte()), x, y, input.double(), state)
            case 6: gst_navigation_event_new_touch_up(guint(input.byte()), x, y, state)
            case 7: gst_navigation_event_new_key_press(input.choice(["1", "5", "Shift_L", "", "q"]), state)
            default: gst_navigation_event_new_command(GST_NAVIGATION_COMMAND_MENU1)
            }
        gst_pad_push_event(bench.output.pad, event)
    }

    func release(_ pad: String) {
        guard pad != leading else { return }
        formats[pad] = nil
        feed(pad).beginFlush()
        bench.release(pad)
        bench.request(pad)
    }

    /// Leaves PLAYING and comes back. That fails only where a file cannot be read, with an error.
    func change(to state: GstState) {
        gst_element_set_state(bench.element, state)
        if gst_element_set_state(bench.element, GST_STATE_PLAYING) != GST_STATE_CHANGE_FAILURE { return }
        promise(!bench.bus.errors().isEmpty, "a state change failed without an error")
        forgetFiles(of: bench.element)
        promise(gst_element_set_state(bench.element, GST_STATE_PLAYING) != GST_STATE_CHANGE_FAILURE)
    }

    /// Ends every stream. The element must let go of what is pushed, and end too, unless something was refused.
    func end() {
        for pad in pads { feed(pad).end() }
        let feeds = pads.map(feed)
        var rounds = 0
        while !feeds.allSatisfy({ $0.hasSettled(within: 2000) }) {
            rounds += 1
            // What was refused on one pad is waited for, with the others, as upstream would have ended with an error.
            if feeds.contains(where: \.hasFailed) || rounds > 1000 {
                gst_element_set_state(bench.element, GST_STATE_READY)
            }
            promise(rounds < 4000, "a push hangs: \(bench.output.story)")
        }
        _ = bench.output.present()
    }
}

private let anyFlags =
    GST_BUFFER_FLAG_DISCONT.rawValue | GST_BUFFER_FLAG_GAP.rawValue | GST_BUFFER_FLAG_CORRUPTED.rawValue
    | GST_BUFFER_FLAG_DROPPABLE.rawValue | GST_BUFFER_FLAG_HEADER.rawValue | GST_BUFFER_FLAG_DELTA_UNIT.rawValue
    | GST_BUFFER_FLAG_DECODE_ONLY.rawValue

private func anyTime(_ input: inout FuzzInput) -> GstClockTime {
    input.seldom() ? GstClockTime(input.word()) : time(ofFrame: input.number(0...7))
}

private func anyEvent(_ input: inout FuzzInput) -> UnsafeMutablePointer<GstEvent>? {
    switch input.number(0...5) {
    case 0: gst_event_new_eos()
    case 1: gst_event_new_segment_done(GST_FORMAT_TIME, gint64(truncatingIfNeeded: anyTime(&input)))
    case 2: input.flag() ? newCommentTag(anyComment(&input))?.shared() : gst_event_new_tag(gst_tag_list_new_empty())
    case 3: gst_event_new_custom(GST_EVENT_CUSTOM_DOWNSTREAM, gst_structure_new_empty("any"))
    case 4: gst_event_new_custom(GST_EVENT_CUSTOM_DOWNSTREAM_OOB, gst_structure_new_empty("any"))
    default: sinkMessageEvent()
    }
}

/// A comment on depth in video, or anything.
private func anyComment(_ input: inout FuzzInput) -> String {
    let codings = ["gray", "black", "record3d", "realsense", "depthkit", "blue"]
    let layouts = ["side-by-side", "side-by-side-swapped", "top-bottom", "top-bottom-swapped", ""]
    if input.seldom(bits: 2) { return input.text().filter { $0 != "\0" } }
    return "{\"depth-video\": {\"coding\": \"\(input.choice(codings))\", \"layout\": \"\(input.choice(layouts))\", "
        + "\"near\": \(input.double()), \"far\": \(input.double())}}"
}

private func sinkMessageEvent() -> UnsafeMutablePointer<GstEvent>? {
    guard let message = gst_message_new_application(nil, gst_structure_new_empty("any")) else { return nil }
    defer { gst_message_unref(message) }
    return gst_event_new_sink_message("any", message)
}
