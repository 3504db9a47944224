import CGStreamer
import CStreamRules
import GstBridge
import GstTestSupport
import Testing

/// The watch over every element's pads, seen to bark.
@Suite struct StreamRuleTests {
    /// What a pad does, and the violations that the watch must find in it.
    struct Case: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let violations: [String]
        let steps: @Sendable (WatchedPad) -> Void

        init(_ what: String, _ violations: [String], _ steps: @escaping @Sendable (WatchedPad) -> Void) {
            (testDescription, self.violations, self.steps) = (what, violations, steps)
        }
    }

    private static let beginnings = [
        Case(
            "a buffer before all else",
            ["a buffer before stream-start", "a buffer before the segment", "a buffer before caps"]
        ) { $0.push(at: 0, isFirst: true) },
        Case("a buffer after stream-start alone", ["a buffer before the segment", "a buffer before caps"]) {
            $0.push(gst_event_new_stream_start("test"))
            $0.push(at: 0, isFirst: true)
        },
        Case("caps before all else", ["an event before stream-start"]) { $0.setCaps(Room.shape.caps) },
        Case("a gap, then caps, out of order", ["a gap before the segment", "first caps after the segment"]) {
            $0.push(gst_event_new_stream_start("test"))
            $0.push(gst_event_new_gap(0, frameDuration))
            $0.push(.time())
            $0.setCaps(Room.shape.caps)
        },
        Case("caps without a height", ["caps of raw video that say too little"]) {
            $0.push(gst_event_new_stream_start("test"))
            $0.setCaps("video/x-raw, format=(string)RGB, width=(int)64")
        },
        Case("an event whose seqnum is 0", ["an event without a seqnum"]) {
            let event = gst_event_new_stream_start("test")
            event?.pointee.seqnum = 0
            $0.push(event)
        },
        Case(
            "a buffer before its segment, one behind it and one in it",
            ["a buffer outside its segment", "a buffer outside its segment"]
        ) {
            $0.begin(.time(start: 1000 * millisecond, stop: 3000 * millisecond))
            for start in [0, 5000, 2000] as [GstClockTime] { $0.push(at: start * millisecond, isFirst: true) }
        },
        Case("a list of buffers, of which the second is outside its segment", ["a buffer outside its segment"]) {
            $0.begin(.time(start: 1000 * millisecond))
            $0.pushList(at: [1000 * millisecond, 0])
        },
    ]

    /// What a pad does that has sent stream-start, caps and a segment.
    private static let streams = [
        Case("a proper stream", []) {
            $0.push(at: 0, isFirst: true)
            $0.push(at: frameDuration)
            $0.push(gst_event_new_gap(2 * frameDuration, frameDuration))
            $0.setCaps(VideoShape("RGB", 32, 24).caps)
            $0.push(.time(start: 1000 * millisecond))
            $0.push(at: 1000 * millisecond)
            $0.push(gst_event_new_eos())
            $0.push(gst_event_new_flush_start())
            $0.push(gst_event_new_flush_stop(1))
            $0.push(.time())
            $0.push(at: 0, isFirst: true)
            $0.push(gst_event_new_eos())
            $0.push(gst_event_new_stream_start("another"))
        },
        Case("a buffer and an end after the end", ["a buffer after the end", "an event after the end"]) {
            $0.push(gst_event_new_eos())
            $0.push(at: 0, isFirst: true)
            $0.push(gst_event_new_eos())
        },
        Case(
            "no mark on the first buffer, nor on that after a flush",
            ["a first buffer without DISCONT", "a first buffer without DISCONT"]
        ) {
            $0.push(at: 0)
            $0.push(at: 0)
            $0.push(gst_event_new_flush_start())
            $0.push(gst_event_new_flush_stop(1))
            $0.push(.time())
            $0.push(at: 0)
        },
        Case("the same caps twice", ["the same caps again"]) { $0.setCaps(Room.shape.caps) },
        Case("a segment that stops before its start", ["a segment without meaning"]) {
            $0.push(.time(start: 2000 * millisecond, stop: 1000 * millisecond))
        },
        Case("flushes that are no pairs", ["a flush-stop without a flush-start", "a second flush-start"]) {
            $0.push(gst_event_new_flush_stop(1))
            $0.push(gst_event_new_flush_start())
            $0.push(gst_event_new_flush_start())
        },
        Case(
            "another seqnum than the seek's",
            ["a flush-start", "a flush-stop", "a segment", "an end"].map { "\($0) with another seqnum than the seek's" }
        ) { $0.seek { pad, _ in answer(on: pad, seqnum: 123_456) } },
        Case("the seek's seqnum", []) { $0.seek { pad, seqnum in answer(on: pad, seqnum: seqnum) } },
    ]

    /// Sends what a flushing seek brings.
    private static func answer(on pad: UnsafeMutablePointer<GstPad>, seqnum: guint32) {
        var segment = GstSegment.time()
        for event in [
            gst_event_new_flush_start(), gst_event_new_flush_stop(1), gst_event_new_segment(&segment),
            gst_event_new_eos(),
        ] {
            event?.pointee.seqnum = seqnum
            gst_pad_push_event(pad, event)
        }
    }

    @Test(arguments: beginnings) func `what is wrong with a stream's beginning is found`(_ row: Case) {
        let pad = WatchedPad()
        row.steps(pad)
        #expect(pad.violations == row.violations)
    }

    @Test(arguments: streams) func `what is wrong with a stream is found`(_ row: Case) {
        let pad = WatchedPad()
        pad.begin()
        row.steps(pad)
        #expect(pad.violations == row.violations)
    }

    @Test func `a pad for anything needs no caps`() {
        let pad = WatchedPad(caps: "ANY")
        pad.push(gst_event_new_stream_start("test"))
        pad.push(.time())
        pad.push(at: 0, isFirst: true)
        #expect(pad.violations == [])
    }

    @Test func `an element whose input has not had the seek's segment may send those from before`() {
        let pad = WatchedPad(hasInput: true)
        pad.take(.time(), seqnum: 123_456)
        pad.begin()
        let first = pad.seekWithFlush()
        pad.push(.time())
        pad.push(gst_event_new_eos())
        #expect(pad.violations == [])
        pad.take(.time(), seqnum: first)
        pad.push(gst_event_new_stream_start("another"))
        pad.push(.time())
        #expect(pad.violations == [], "a seek is forgotten with its stream")

        let second = pad.seekWithFlush()
        pad.push(.time())
        #expect(pad.violations == [])
        pad.take(.time(), seqnum: second)
        pad.push(.time())
        #expect(pad.violations == ["a segment with another seqnum than the seek's"])
    }

    @Test func `a transform passes on what comes, outside its segment and without a mark`() {
        let pad = WatchedPad(of: "identity")
        pad.begin(.time(start: 1000 * millisecond))
        pad.push(at: 0)
        #expect(pad.violations == [])
        pad.push(gst_event_new_eos())
        pad.push(at: 0)
        #expect(pad.violations == ["a buffer after the end"], "its other rules hold")
    }

    @Test(arguments: [(99, []), (101, ["a position beyond the duration"])])
    func `the position is not beyond the duration`(position: gint64, violations: [String]) {
        let pad = WatchedPad()
        pad.begin()
        #expect(pad.answer(position: position, duration: 100) == position)
        #expect(pad.violations == violations)
    }
}

/// A source pad of an element that says and sends whatever the test likes.
final class WatchedPad {
    private let element: UnsafeMutablePointer<GstElement>
    private let pad: UnsafeMutablePointer<GstPad>
    private let sink: UnsafeMutablePointer<GstPad>
    /// The element's sink pad, where it has one.
    private let input: UnsafeMutablePointer<GstPad>?

    init(of kind: String = "bin", hasInput: Bool = false, caps: String = "video/x-raw") {
        loadElements()
        guard let element = gst_element_factory_make(kind, nil), let allowed = gst_caps_from_string(caps),
            let template = gst_pad_template_new("src", GST_PAD_SRC, GST_PAD_ALWAYS, allowed),
            let pad = gst_pad_new_from_template(template, "watched"), let sink = gst_pad_new("sink", GST_PAD_SINK)
        else { preconditionFailure("no memory for a pad") }
        gst_caps_unref(allowed)
        gst_object_unref(template)
        gst_object_ref_sink(sink)
        gst_object_ref_sink(element)
        gst_pad_set_chain_function_full(
            sink,
            { _, _, buffer in
                if let buffer { _ = BufferRef(taking: buffer) }
                return GST_FLOW_OK
            }, nil, nil)
        gst_pad_set_event_function_full(
            sink,
            { _, _, event in
                gst_event_unref(event)
                return 1
            }, nil, nil)
        gst_element_add_pad(element, pad)
        gst_pad_set_active(pad, 1)
        gst_pad_set_active(sink, 1)
        gst_pad_link_full(pad, sink, GST_PAD_LINK_CHECK_NOTHING)
        stream_rules_keep(pad)
        input = hasInput ? gst_pad_new("sink", GST_PAD_SINK) : nil
        if let input {
            gst_element_add_pad(element, input)
            gst_pad_set_active(input, 1)
        }
        self.element = element
        self.pad = pad
        self.sink = sink
    }

    deinit {
        gst_pad_unlink(pad, sink)
        gst_object_unref(sink)
        gst_object_unref(element)
    }

    /// The violations found since the last call.
    var violations: [String] {
        (takeString(stream_rules_take(pad)) ?? "").split(separator: "; ").map { String($0) }
    }

    func begin(_ segment: GstSegment = .time()) {
        push(gst_event_new_stream_start("test"))
        setCaps(Room.shape.caps)
        push(segment)
    }

    func setCaps(_ text: String) {
        let caps = gst_caps_from_string(text)
        push(gst_event_new_caps(caps))
        gst_caps_unref(caps)
    }

    func push(_ segment: GstSegment) {
        var segment = segment
        push(gst_event_new_segment(&segment))
    }

    /// The element's sink pad gets a segment.
    func take(_ segment: GstSegment, seqnum: guint32) {
        guard let input else { preconditionFailure("the element has no sink pad") }
        var segment = segment
        guard let start = gst_event_new_stream_start("input"), let event = gst_event_new_segment(&segment) else {
            preconditionFailure("no memory for an event")
        }
        event.pointee.seqnum = seqnum
        gst_pad_store_sticky_event(input, start)
        gst_pad_store_sticky_event(input, event)
        gst_event_unref(start)
        gst_event_unref(event)
    }

    func push(_ event: UnsafeMutablePointer<GstEvent>?) { gst_pad_push_event(pad, event) }

    func push(at start: GstClockTime, isFirst: Bool = false) {
        gst_pad_push(pad, buffer(at: start, isFirst: isFirst).surrender())
    }

    func pushList(at starts: [GstClockTime]) {
        let list = gst_buffer_list_new_sized(guint(starts.count))
        for start in starts { gst_buffer_list_insert(list, -1, buffer(at: start, isFirst: true).surrender()) }
        gst_pad_push_list(pad, list)
    }

    private func buffer(at start: GstClockTime, isFirst: Bool) -> BufferRef {
        let buffer = guardedBuffer([0])
        buffer.timing = BufferRef.Timing(start: start, duration: frameDuration)
        if isFirst { buffer.pointer.pointee.mini_object.flags |= GST_BUFFER_FLAG_DISCONT.rawValue }
        return buffer
    }

    /// Sends a seek to the pad, which answers as `body` says: given the pad and the seek's seqnum.
    func seek(_ body: @escaping (UnsafeMutablePointer<GstPad>, guint32) -> Void) {
        let answer = Unmanaged.passRetained(Answer(body)).toOpaque()
        gst_pad_set_event_function_full(
            pad,
            { pad, _, event in
                guard let pad, let event, let data = pad.pointee.eventdata else { return 0 }
                Unmanaged<Answer>.fromOpaque(data).takeUnretainedValue().body(pad, event.pointee.seqnum)
                gst_event_unref(event)
                return 1
            }, answer, { if let data = $0 { Unmanaged<Answer>.fromOpaque(data).release() } })
        gst_pad_push_event(
            sink,
            gst_event_new_seek(
                1, GST_FORMAT_TIME, GST_SEEK_FLAG_FLUSH, GST_SEEK_TYPE_SET, 0, GST_SEEK_TYPE_NONE, 0))
    }

    /// Sends a seek to the pad, which answers with a flush alone.
    ///
    /// - Returns: the seek's seqnum.
    func seekWithFlush() -> guint32 {
        var sent: guint32 = 0
        seek { pad, seqnum in
            sent = seqnum
            for event in [flushStart(seqnum), flushStop(seqnum)] { gst_pad_push_event(pad, event) }
        }
        return sent
    }

    private final class Answer {
        let body: (UnsafeMutablePointer<GstPad>, guint32) -> Void

        init(_ body: @escaping (UnsafeMutablePointer<GstPad>, guint32) -> Void) { self.body = body }
    }

    /// Asks the pad for its position, and has it answer as told.
    func answer(position: gint64, duration: gint64) -> gint64 {
        let told = UnsafeMutablePointer<gint64>.allocate(capacity: 2)
        told[0] = position
        told[1] = duration
        gst_pad_set_query_function_full(
            pad,
            { pad, _, query in
                guard let query, let told = pad?.pointee.querydata?.assumingMemoryBound(to: gint64.self) else {
                    return 0
                }
                switch query.pointee.type {
                case GST_QUERY_POSITION: gst_query_set_position(query, GST_FORMAT_TIME, told[0])
                case GST_QUERY_DURATION: gst_query_set_duration(query, GST_FORMAT_TIME, told[1])
                default: return 0
                }
                return 1
            }, told, { $0?.deallocate() })
        var found: gint64 = -1
        gst_pad_query_position(pad, GST_FORMAT_TIME, &found)
        return found
    }
}
