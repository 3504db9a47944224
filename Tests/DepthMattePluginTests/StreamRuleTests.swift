import CGStreamer
import CStreamRules
import GstBridge
import GstTestSupport
import Testing

/// The watch over every element's pads, seen to bark.
@Suite struct StreamRuleTests {
    private static let caps = Room.shape.caps

    @Test func `a proper stream breaks no rule`() {
        let pad = WatchedPad()
        pad.begin()
        pad.push(at: 0, isFirst: true)
        pad.push(at: frameDuration)
        pad.push(gst_event_new_gap(2 * frameDuration, frameDuration))
        pad.setCaps(VideoShape("RGB", 32, 24).caps)
        pad.push(.time(start: 1000 * millisecond))
        pad.push(at: 1000 * millisecond)
        pad.push(gst_event_new_eos())
        pad.push(gst_event_new_flush_start())
        pad.push(gst_event_new_flush_stop(1))
        pad.push(.time())
        pad.push(at: 0, isFirst: true)
        pad.push(gst_event_new_eos())
        pad.push(gst_event_new_stream_start("another"))
        #expect(pad.violations == "")
    }

    @Test func `a buffer needs stream-start, caps and a segment before it`() {
        let pad = WatchedPad()
        pad.push(at: 0, isFirst: true)
        #expect(
            pad.violations
                == "a buffer before stream-start; a buffer before the segment; a buffer before caps")
        pad.push(gst_event_new_stream_start("test"))
        pad.push(at: 0, isFirst: true)
        #expect(pad.violations == "a buffer before the segment; a buffer before caps")
    }

    @Test func `a pad for anything needs no caps`() {
        let pad = WatchedPad(caps: "ANY")
        pad.push(gst_event_new_stream_start("test"))
        pad.push(.time())
        pad.push(at: 0, isFirst: true)
        #expect(pad.violations == "")
    }

    @Test func `events come in order`() {
        let pad = WatchedPad()
        pad.setCaps(StreamRuleTests.caps)
        #expect(pad.violations == "an event before stream-start")
        let other = WatchedPad()
        other.push(gst_event_new_stream_start("test"))
        other.push(gst_event_new_gap(0, frameDuration))
        #expect(other.violations == "a gap before the segment")
        other.push(.time())
        other.setCaps(StreamRuleTests.caps)
        #expect(other.violations == "first caps after the segment")
    }

    @Test func `nothing comes after the end`() {
        let pad = WatchedPad()
        pad.begin()
        pad.push(gst_event_new_eos())
        pad.push(at: 0, isFirst: true)
        #expect(pad.violations == "a buffer after the end")
        pad.push(gst_event_new_eos())
        #expect(pad.violations == "an event after the end")
    }

    @Test(arguments: [(0, 1000), (5000, 3000)])
    func `a buffer lies in its segment`(start: GstClockTime, stop: GstClockTime) {
        let pad = WatchedPad()
        pad.begin(.time(start: 1000 * millisecond, stop: 3000 * millisecond))
        pad.push(at: start * millisecond, isFirst: true)
        #expect(pad.violations == "a buffer outside its segment")
        pad.push(at: 2000 * millisecond)
        #expect(pad.violations == "")
    }

    @Test func `the first buffer, and the first after a flush, are marked`() {
        let pad = WatchedPad()
        pad.begin()
        pad.push(at: 0)
        #expect(pad.violations == "a first buffer without DISCONT")
        pad.push(at: 0)
        #expect(pad.violations == "")
        pad.push(gst_event_new_flush_start())
        pad.push(gst_event_new_flush_stop(1))
        pad.push(.time())
        pad.push(at: 0)
        #expect(pad.violations == "a first buffer without DISCONT")
    }

    @Test func `the buffers of a list are looked at one by one`() {
        let pad = WatchedPad()
        pad.begin(.time(start: 1000 * millisecond))
        pad.pushList(at: [1000 * millisecond, 0])
        #expect(pad.violations == "a buffer outside its segment")
    }

    @Test func `caps are not repeated`() {
        let pad = WatchedPad()
        pad.begin()
        pad.setCaps(StreamRuleTests.caps)
        #expect(pad.violations == "the same caps again")
    }

    @Test func `caps of raw video say all that a reader needs`() {
        let pad = WatchedPad()
        pad.push(gst_event_new_stream_start("test"))
        pad.setCaps("video/x-raw, format=(string)RGB, width=(int)64")
        #expect(pad.violations == "caps of raw video that say too little")
    }

    @Test func `a segment has a meaning`() {
        let pad = WatchedPad()
        pad.begin()
        pad.push(.time(start: 2000 * millisecond, stop: 1000 * millisecond))
        #expect(pad.violations == "a segment without meaning")
    }

    @Test func `an event has a seqnum`() {
        let pad = WatchedPad()
        let event = gst_event_new_stream_start("test")
        event?.pointee.seqnum = 0
        pad.push(event)
        #expect(pad.violations == "an event without a seqnum")
    }

    @Test func `flushes come in pairs`() {
        let pad = WatchedPad()
        pad.begin()
        pad.push(gst_event_new_flush_stop(1))
        #expect(pad.violations == "a flush-stop without a flush-start")
        pad.push(gst_event_new_flush_start())
        pad.push(gst_event_new_flush_start())
        #expect(pad.violations == "a second flush-start")
    }

    @Test func `one seek has one seqnum, to its end`() {
        let pad = WatchedPad()
        pad.begin()
        let wrong = { (event: UnsafeMutablePointer<GstEvent>?) in event?.pointee.seqnum = 123_456 }
        pad.seek { pad, seqnum in
            let (start, stop, end) = (gst_event_new_flush_start(), gst_event_new_flush_stop(1), gst_event_new_eos())
            for event in [start, stop, end] { wrong(event) }
            gst_pad_push_event(pad, start)
            gst_pad_push_event(pad, stop)
            var segment = GstSegment.time()
            gst_pad_push_event(pad, gst_event_new_segment(&segment))
            gst_pad_push_event(pad, end)
        }
        #expect(
            pad.violations
                == ["flush-start", "flush-stop", "segment", "end"]
                .map { "\($0 == "end" ? "an" : "a") \($0) with another seqnum than the seek's" }.joined(separator: "; ")
        )
        pad.seek { pad, seqnum in
            var segment = GstSegment.time()
            for event in [
                gst_event_new_flush_start(), gst_event_new_flush_stop(1), gst_event_new_segment(&segment),
                gst_event_new_eos(),
            ] {
                event?.pointee.seqnum = seqnum
                gst_pad_push_event(pad, event)
            }
        }
        #expect(pad.violations == "")
    }

    @Test func `an element whose input has not had the seek's segment may send those from before`() {
        let pad = WatchedPad(hasInput: true)
        pad.take(.time(), seqnum: 123_456)
        pad.begin()
        let first = pad.seekWithFlush()
        pad.push(.time())
        pad.push(gst_event_new_eos())
        #expect(pad.violations == "")
        pad.take(.time(), seqnum: first)
        pad.push(gst_event_new_stream_start("another"))
        pad.push(.time())
        #expect(pad.violations == "", "a seek is forgotten with its stream")

        let second = pad.seekWithFlush()
        pad.push(.time())
        #expect(pad.violations == "")
        pad.take(.time(), seqnum: second)
        pad.push(.time())
        #expect(pad.violations == "a segment with another seqnum than the seek's")
    }

    @Test func `a transform passes on what comes, outside its segment and without a mark`() {
        let pad = WatchedPad(of: "identity")
        pad.begin(.time(start: 1000 * millisecond))
        pad.push(at: 0)
        #expect(pad.violations == "")
        pad.push(gst_event_new_eos())
        pad.push(at: 0)
        #expect(pad.violations == "a buffer after the end", "its other rules hold")
    }

    @Test(arguments: [(99, ""), (101, "a position beyond the duration")])
    func `the position is not beyond the duration`(position: gint64, violation: String) {
        let pad = WatchedPad()
        pad.begin()
        #expect(pad.answer(position: position, duration: 100) == position)
        #expect(pad.violations == violation)
    }
}

/// A source pad of an element that says and sends whatever the test likes.
private final class WatchedPad {
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
    var violations: String { takeString(stream_rules_take(pad)) ?? "" }

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
