package import CGStreamer
package import GstBridge

/// The downstream side of a source pad: everything that leaves it, in order.
package final class Recorder {
    package let pad: UnsafeMutablePointer<GstPad>
    private let source: UnsafeMutablePointer<GstPad>
    private let queue: OpaquePointer
    /// Events that came so far, by name, with the frames between them as "frame".
    package private(set) var story: [String] = []
    /// The caps that hold now.
    package private(set) var caps: String?
    package private(set) var segment: GstSegment?
    package private(set) var hasEnded = false

    /// The output frame.
    package struct Frame {
        package let buffer: BufferRef
        package let caps: String

        package init(buffer: BufferRef, caps: String) { (self.buffer, self.caps) = (buffer, caps) }

        package var bytes: [UInt8] { buffer.bytes }
        package var timing: BufferRef.Timing { buffer.timing }
    }

    /// A pad linked to `source`, which this takes over.
    ///
    /// - Parameters:
    ///   - caps: what it accepts.
    ///   - readsMetas: whether it says that it looks at GstVideoMeta.
    init(_ source: UnsafeMutablePointer<GstPad>, caps: String, readsMetas: Bool) {
        guard let queue = g_async_queue_new(), let allowed = gst_caps_from_string(caps),
            let template = gst_pad_template_new("sink", GST_PAD_SINK, GST_PAD_ALWAYS, allowed)
        else { preconditionFailure("bad caps: \(caps)") }
        gst_caps_unref(allowed)
        guard let pad = gst_pad_new_from_template(template, "recorder") else {
            preconditionFailure("no memory for a pad")
        }
        gst_object_unref(template)
        self.queue = queue
        self.source = source
        self.pad = pad
        gst_object_ref_sink(pad)
        gst_pad_set_chain_function_full(pad, record, UnsafeMutableRawPointer(queue), nil)
        gst_pad_set_event_function_full(pad, recordEvent, UnsafeMutableRawPointer(queue), nil)
        if readsMetas { gst_pad_set_query_function_full(pad, answerAllocation, nil, nil) }
        let isLinked = gst_pad_link_full(source, pad, GST_PAD_LINK_CHECK_NOTHING) == GST_PAD_LINK_OK
        precondition(isLinked && gst_pad_set_active(pad, 1) != 0, "the pad cannot be linked")
    }

    deinit {
        gst_pad_set_active(pad, 0)
        gst_pad_unlink(source, pad)
        while let item = g_async_queue_try_pop(queue) {
            gst_mini_object_unref(item.assumingMemoryBound(to: GstMiniObject.self))
        }
        gst_object_unref(source)
        gst_object_unref(pad)
        g_async_queue_unref(queue)
    }

    /// The next frame; nil at the end of the stream, or where none comes for a long while.
    package func next() -> Frame? {
        while !hasEnded, let item = pop() {
            if case .buffer(let buffer) = item { return Frame(buffer: buffer, caps: caps ?? "") }
        }
        return nil
    }

    /// All frames up to the end of the stream.
    package func rest() -> [Frame] {
        var frames: [Frame] = []
        while let frame = next() { frames.append(frame) }
        return frames
    }

    /// Frames that are there already; right only while nothing is on its way.
    package func present() -> [Frame] {
        var frames: [Frame] = []
        while g_async_queue_length(queue) > 0, let item = pop() {
            if case .buffer(let buffer) = item { frames.append(Frame(buffer: buffer, caps: caps ?? "")) }
        }
        return frames
    }

    /// Reads on until an event of the type came; its text as GStreamer prints it.
    package func event(_ type: GstEventType) -> String? {
        while let item = pop() {
            if case .event(let kind, let text) = item, kind == type { return text }
        }
        return nil
    }

    /// Forgets the story, so that a long test does not pile it up.
    package func forgetStory() { story.removeAll(keepingCapacity: true) }

    // MARK: Reading the record

    private enum Item {
        case buffer(BufferRef)
        case event(GstEventType, String)
    }

    private func pop() -> Item? {
        guard let item = g_async_queue_timeout_pop(queue, patience) else { return nil }
        if item.assumingMemoryBound(to: GstMiniObject.self).pointee.type == gst_buffer_get_type() {
            story.append("frame")
            return .buffer(BufferRef(taking: item.assumingMemoryBound(to: GstBuffer.self)))
        }
        let event = item.assumingMemoryBound(to: GstEvent.self)
        defer { gst_event_unref(event) }
        note(event)
        let structure = gst_event_get_structure(event).flatMap { takeString(gst_structure_to_string($0)) } ?? ""
        return .event(event.pointee.type, structure)
    }

    private func note(_ event: UnsafeMutablePointer<GstEvent>) {
        story.append(String(cString: gst_event_type_get_name(event.pointee.type)))
        switch event.pointee.type {
        case GST_EVENT_CAPS: withCaps(of: event) { caps = $0.text }
        case GST_EVENT_SEGMENT:
            var pointer: UnsafePointer<GstSegment>?
            gst_event_parse_segment(event, &pointer)
            segment = pointer?.pointee
        case GST_EVENT_EOS: hasEnded = true
        case GST_EVENT_STREAM_START: hasEnded = false
        case GST_EVENT_FLUSH_STOP:
            segment = nil
            hasEnded = false
        default: break
        }
    }
}

// MARK: - The pad's functions, on the element's thread

private let record:
    @convention(c) (UnsafeMutablePointer<GstPad>?, UnsafeMutablePointer<GstObject>?, UnsafeMutablePointer<GstBuffer>?)
        ->
        GstFlowReturn = { pad, _, buffer in
            guard let queue = pad?.pointee.chaindata else { return GST_FLOW_ERROR }
            g_async_queue_push(OpaquePointer(queue), buffer)
            return GST_FLOW_OK
        }

private let recordEvent:
    @convention(c) (UnsafeMutablePointer<GstPad>?, UnsafeMutablePointer<GstObject>?, UnsafeMutablePointer<GstEvent>?) ->
        gboolean = { pad, _, event in
            guard let queue = pad?.pointee.eventdata else { return 0 }
            g_async_queue_push(OpaquePointer(queue), event)
            return 1
        }

private let answerAllocation:
    @convention(c) (UnsafeMutablePointer<GstPad>?, UnsafeMutablePointer<GstObject>?, UnsafeMutablePointer<GstQuery>?) ->
        gboolean = { pad, parent, query in
            guard let query, query.pointee.type == GST_QUERY_ALLOCATION else {
                return gst_pad_query_default(pad, parent, query)
            }
            gst_query_add_allocation_meta(query, gst_video_meta_api_get_type(), nil)
            return 1
        }
