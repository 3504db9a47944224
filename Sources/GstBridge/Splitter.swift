package import CGStreamer
import Synchronization

/// An element with one sink pad, whose buffers become those of several source pads, on upstream's thread.
///
/// Caps, tags and a segment that come before a buffer are held back until that: only then the element may know what it sends.
/// Functions run on the streaming thread unless they say otherwise.
package protocol Splitter: Element {
    associatedtype Role: SourceRole

    typealias Pad = PadPointer

    var split: Split<Role> { get }

    /// Takes the input's caps.
    func setCaps(_ caps: CapsPointer) throws(CapsRefusal)

    /// The comments of the stream; none where a stream begins.
    func setComments(_ comments: [String])

    /// The caps of each source pad, before a buffer of which caps or tags are new, and after `renegotiate`. Ownership passes to the caller.
    func sourceCaps(_ role: Role) throws(FlowStop) -> CapsPointer?

    /// Sends what an input buffer holds, by `push`.
    func split(_ buffer: BufferPointer) throws(FlowStop)

    /// A flush has ended, or a stream begins: what comes does not continue what was before.
    func streamRestarted()

    /// READY to PAUSED, before any data.
    func start() throws(ElementError)

    /// PAUSED to READY, after the last data.
    func stop()
}

/// The pads of a splitter, and what its streaming thread holds back.
package final class Split<Role: SourceRole> {
    fileprivate(set) var sink: PadPointer?
    package fileprivate(set) var sources: [(role: Role, pad: PadPointer)] = []
    /// Serialized events that wait for caps. Streaming thread, or while that is stopped.
    fileprivate var waiting: [EventRef] = []
    fileprivate var hasCaps = false
    /// True where the source pads' caps are to be decided. Any thread.
    fileprivate let isDue = Atomic(true)
    /// The flow result of each source pad. Streaming thread.
    fileprivate var results: [GstFlowReturn] = []

    package init() {}

    package func pad(_ role: Role) -> PadPointer? { sources.first { $0.role == role }?.pad }

    fileprivate func reset() {
        (waiting, hasCaps, results) = ([], false, sources.map { _ in GST_FLOW_OK })
        isDue.store(true, ordering: .relaxed)
    }
}

extension Splitter {
    package func start() throws(ElementError) {}
    package func streamRestarted() {}

    /// Makes and adds the pads. Called once, in the element's initializer.
    package func addPads() {
        if let template = padTemplate("sink"), let pad = gst_pad_new_from_template(template, "sink") {
            gst_pad_set_chain_function_full(pad, chainInput, nil, nil)
            gst_pad_set_event_function_full(pad, inputEvent, nil, nil)
            pad.pointee.object.flags |= GST_PAD_FLAG_ACCEPT_INTERSECT.rawValue
            gst_element_add_pad(instance, pad)
            split.sink = pad
        }
        for role in Role.allCases {
            guard let template = padTemplate(role.rawValue),
                let pad = gst_pad_new_from_template(template, role.rawValue)
            else { continue }
            gst_pad_use_fixed_caps(pad)
            gst_element_add_pad(instance, pad)
            split.sources.append((role, pad))
        }
        split.reset()
    }

    package func changeState(_ transition: GstStateChange, parent: () -> GstStateChangeReturn) -> GstStateChangeReturn {
        if transition == GST_STATE_CHANGE_READY_TO_PAUSED {
            guard succeeds({ () throws(ElementError) in try start() }) else { return GST_STATE_CHANGE_FAILURE }
            split.reset()
        }
        let result = parent()
        if transition == GST_STATE_CHANGE_PAUSED_TO_READY {
            stop()
            split.reset()
        }
        return result
    }

    /// Has the source pads' caps decided anew before the next buffer. Any thread.
    package func renegotiate() { split.isDue.store(true, ordering: .relaxed) }

    /// Pushes a buffer on a source pad. A pad that is not linked is no fault while another one is.
    package func push(_ buffer: consuming OwnedBuffer, on role: Role) throws(FlowStop) {
        guard let number = split.sources.firstIndex(where: { $0.role == role }) else { return }
        let result = gst_pad_push(split.sources[number].pad, buffer.surrender())
        split.results[number] = result
        switch result {
        case GST_FLOW_OK: break
        case GST_FLOW_NOT_LINKED, GST_FLOW_EOS:
            // Until all are.
            if split.results.allSatisfy({ $0 == GST_FLOW_NOT_LINKED || $0 == GST_FLOW_EOS }) { throw .refused(result) }
        default: throw .refused(result)
        }
    }

    // MARK: Streaming

    fileprivate func chain(_ buffer: BufferPointer) -> GstFlowReturn {
        let input = OwnedBuffer(taking: buffer)
        return flow { () throws(FlowStop) in
            try sendWaiting()
            guard split.hasCaps else {
                throw .notNegotiated(ElementError(.core(GST_CORE_ERROR_NEGOTIATION), "Data came before caps."))
            }
            try split(input.pointer)
        }
    }

    /// Sends the caps that are due, and then what waited for them.
    private func sendWaiting() throws(FlowStop) {
        if split.hasCaps && split.isDue.exchange(false, ordering: .relaxed) {
            for (role, pad) in split.sources {
                guard let caps = OwnedCaps(taking: try sourceCaps(role)) else { continue }
                if let current = OwnedCaps(taking: gst_pad_get_current_caps(pad)),
                    gst_caps_is_equal(current.pointer, caps.pointer) != 0
                {
                    continue
                }
                guard gst_pad_push_event(pad, gst_event_new_caps(caps.pointer)) != 0 || !pad.isLinked else {
                    throw pad.refusal
                }
            }
        }
        let events = split.waiting
        split.waiting = []
        for event in events { send(event) }
    }

    private func send(_ event: EventRef) {
        for (_, pad) in split.sources { gst_pad_push_event(pad, event.shared()) }
    }

    // MARK: Events

    fileprivate func handle(_ event: EventPointer, on pad: Pad, parent: EventHandler) -> Bool {
        switch event.pointee.type {
        case GST_EVENT_STREAM_START:
            begin(event)
            gst_event_unref(event)
            return true
        case GST_EVENT_CAPS:
            let event = EventRef(taking: event)
            return takeCaps(event.pointer)
        case GST_EVENT_TAG:
            // One without a comment takes none back.
            let comments = event.comments
            if !comments.isEmpty {
                setComments(comments)
                renegotiate()
            }
        case GST_EVENT_FLUSH_STOP:
            split.waiting.removeAll { !$0.isSticky }
            split.results = split.sources.map { _ in GST_FLOW_OK }
            streamRestarted()
            return parent(event)
        default: break
        }
        guard event.pointee.type.rawValue & GST_EVENT_TYPE_SERIALIZED.rawValue != 0 else { return parent(event) }
        split.waiting.append(EventRef(taking: event))
        let mayWait = [GST_EVENT_TAG, GST_EVENT_SEGMENT].contains(event.pointee.type)
        // What nobody follows must not wait for a buffer that does not come.
        guard !mayWait else { return true }
        return flow { () throws(FlowStop) in try sendWaiting() } == GST_FLOW_OK
    }

    private func begin(_ event: EventPointer) {
        setComments([])
        streamRestarted()
        split.waiting = []
        renegotiate()
        split.results = split.sources.map { _ in GST_FLOW_OK }
        var group: guint = 0
        let hasGroup = gst_event_parse_group_id(event, &group) != 0
        for (role, pad) in split.sources {
            let id = takeString(gst_pad_create_stream_id(pad, instance, role.rawValue)) ?? role.rawValue
            guard let start = gst_event_new_stream_start(id) else { continue }
            if hasGroup { gst_event_set_group_id(start, group) }
            gst_event_set_seqnum(start, event.pointee.seqnum)
            gst_pad_push_event(pad, start)
        }
    }

    private func takeCaps(_ event: EventPointer) -> Bool {
        do throws(CapsRefusal) {
            try withCaps(of: event) { caps throws(CapsRefusal) in try setCaps(caps) }
            split.hasCaps = true
            renegotiate()
            return true
        } catch {
            split.hasCaps = false
            post(ElementError(.core(GST_CORE_ERROR_NEGOTIATION), "Caps not supported: \(error.reason)."))
            return false
        }
    }
}

// MARK: - The C side

private func splitter(_ parent: UnsafeMutablePointer<GstObject>?) -> (any Splitter)? {
    swiftElement(parent) as? any Splitter
}

private let chainInput: GstPadChainFunction = { _, parent, buffer in
    guard let buffer else { return GST_FLOW_ERROR }
    guard let element = splitter(parent) else {
        gst_buffer_unref(buffer)
        return GST_FLOW_ERROR
    }
    return element.chain(buffer)
}

private let inputEvent: GstPadEventFunction = { pad, parent, event in
    guard let pad, let event else { return 0 }
    let callDefault = { (event: EventPointer) in gst_pad_event_default(pad, parent, event) != 0 }
    return gboolean(splitter(parent)?.handle(event, on: pad, parent: callDefault) ?? callDefault(event))
}
