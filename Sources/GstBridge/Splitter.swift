package import CGStreamer
import Synchronization

/// An element with one sink pad, whose buffers become those of several source pads, on upstream's thread.
///
/// Caps, tags and a segment are held back until the first buffer, because tags that come before it decide the caps. Functions run on
/// the streaming thread unless they say otherwise.
package protocol Splitter: Element {
    associatedtype Role: SourceRole

    var split: Split<Role> { get }

    /// The caps fields that the first source pad has of the sink pad, so that downstream of it limits them.
    static var sharedFields: [String] { get }

    /// Takes the input's caps.
    func setCaps(_ caps: CapsPointer) throws(CapsRefusal)

    /// A stream begins: what was said of the last one no longer holds.
    func streamStarted()

    /// Takes a comment on the stream; false where it is not about this element's work, and goes on downstream.
    func take(comment: String) -> Bool

    /// The caps of a source pad. Asked for every pad, in their order, before a buffer of which caps or comments are new, and after
    /// `renegotiate`. Ownership passes to the caller.
    func sourceCaps(_ role: Role) throws(FlowStop) -> CapsPointer?

    /// Chooses how a source pad's buffers are made, from what downstream offers.
    func decideAllocation(_ query: QueryPointer, on role: Role)

    /// Sends what an input buffer holds, by `push`.
    func split(_ buffer: BufferPointer) throws(FlowStop)

    /// READY to PAUSED, before any data.
    func start() throws(ElementError)

    /// PAUSED to READY, after the last data.
    func stop()
}

/// The pads of a splitter, and what its streaming thread holds back.
package final class Split<Role: SourceRole> {
    fileprivate struct Source {
        let role: Role
        let pad: PadPointer
        /// Of the last push.
        var result = GST_FLOW_OK
    }

    fileprivate var sources: [Source] = []
    /// Serialized events that wait for caps. Streaming thread, or while that is stopped.
    fileprivate var waiting: [EventRef] = []
    fileprivate var hasCaps = false
    /// True where the source pads' caps are to be decided. Any thread.
    fileprivate let isDue = Atomic(true)

    package init() {}

    package func isLinked(_ role: Role) -> Bool { sources.contains { $0.role == role && $0.pad.isLinked } }

    fileprivate func reset() {
        (waiting, hasCaps) = ([], false)
        begin()
    }

    fileprivate func begin() {
        for number in sources.indices { sources[number].result = GST_FLOW_OK }
        isDue.store(true, ordering: .relaxed)
    }

    /// The answer to upstream: a fault of any pad; that all have ended or are not linked; else that more may come.
    fileprivate var result: GstFlowReturn {
        var (isWanted, hasEnded) = (false, false)
        for source in sources where source.pad.isLinked {
            switch source.result {
            case GST_FLOW_OK: isWanted = true
            case GST_FLOW_EOS: hasEnded = true
            case GST_FLOW_NOT_LINKED: break
            default: return source.result
            }
        }
        return isWanted ? GST_FLOW_OK : hasEnded ? GST_FLOW_EOS : GST_FLOW_NOT_LINKED
    }
}

extension Splitter {
    package func start() throws(ElementError) {}

    /// Makes and adds the pads. Called once, in the element's initializer.
    package func addPads() {
        if let template = padTemplate("sink"), let pad = gst_pad_new_from_template(template, "sink") {
            gst_pad_set_chain_function_full(pad, chainInput, nil, nil)
            gst_pad_set_event_function_full(pad, inputEvent, nil, nil)
            gst_pad_set_query_function_full(pad, inputQuery, nil, nil)
            pad.pointee.object.flags |= GST_PAD_FLAG_ACCEPT_INTERSECT.rawValue | GST_PAD_FLAG_ACCEPT_TEMPLATE.rawValue
            gst_element_add_pad(instance, pad)
        }
        for role in Role.allCases {
            guard let template = padTemplate(role.rawValue),
                let pad = gst_pad_new_from_template(template, role.rawValue)
            else { continue }
            gst_pad_use_fixed_caps(pad)
            gst_element_add_pad(instance, pad)
            split.sources.append(.init(role: role, pad: pad))
        }
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

    /// Pushes a buffer on a source pad. What downstream answers is told to upstream when the input is done with.
    package func push(_ buffer: consuming OwnedBuffer, on role: Role) {
        guard let number = split.sources.firstIndex(where: { $0.role == role }) else { return }
        let result = gst_pad_push(split.sources[number].pad, buffer.surrender())
        split.sources[number].result = result
    }

    /// Pushes an event on all source pads. One that stays in force, and that a pad refuses while it is flushed, is kept for later.
    package func push(_ event: EventRef) {
        for source in split.sources {
            let isTaken = gst_pad_push_event(source.pad, event.shared()) != 0
            if !isTaken, event.isSticky, source.pad.isFlushing { split.waiting.append(event) }
        }
    }

    // MARK: Streaming

    fileprivate func chain(_ buffer: BufferPointer) -> GstFlowReturn {
        let input = OwnedBuffer(taking: buffer)
        return flow { () throws(FlowStop) in
            guard split.hasCaps else {
                let sentence = "The sink pad got data before their caps; set caps at an appsrc."
                throw .notNegotiated(ElementError(.core(GST_CORE_ERROR_NEGOTIATION), sentence))
            }
            for source in split.sources where gst_pad_check_reconfigure(source.pad) != 0 { renegotiate() }
            try sendWaiting()
            try split(input.pointer)
            let result = split.result
            if result != GST_FLOW_OK { throw .refused(result) }
        }
    }

    /// Sends the caps that are due, and then what waited for them.
    private func sendWaiting() throws(FlowStop) {
        if split.hasCaps && split.isDue.exchange(false, ordering: .relaxed) {
            do throws(FlowStop) {
                for source in split.sources { try negotiate(source.role, source.pad) }
            } catch {
                renegotiate()
                throw error
            }
        }
        let events = split.waiting
        split.waiting = []
        for event in events { push(event) }
    }

    private func negotiate(_ role: Role, _ pad: PadPointer) throws(FlowStop) {
        guard let caps = OwnedCaps(taking: try sourceCaps(role)) else { return }
        var isNew = true
        if let current = OwnedCaps(taking: gst_pad_get_current_caps(pad)) {
            isNew = gst_caps_is_equal(current.pointer, caps.pointer) == 0
        }
        if isNew, gst_pad_push_event(pad, gst_event_new_caps(caps.pointer)) == 0, pad.isLinked {
            if pad.isFlushing { throw .refused(GST_FLOW_FLUSHING) }
            let sentence =
                "Downstream of the pad \(role.rawValue) does not accept its format. Put videoconvert behind it."
            throw .notNegotiated(
                ElementError(.core(GST_CORE_ERROR_NEGOTIATION), sentence, details: caps.pointer.text))
        }
        guard let query = gst_query_new_allocation(caps.pointer, 1) else { return }
        defer { gst_query_unref(query) }
        _ = pad.queryPeer(query)
        decideAllocation(query, on: role)
    }

    // MARK: Events and queries

    fileprivate func answer(_ query: QueryPointer, on pad: PadPointer) -> Bool {
        switch query.pointee.type {
        case GST_QUERY_CAPS:
            guard let first = split.sources.first?.pad else { return false }
            return query.answer(pad, limitedBy: first, in: Self.sharedFields)
        case GST_QUERY_ALLOCATION:
            // Planes are read where a meta says that they lie.
            gst_query_add_allocation_meta(query, gst_video_meta_api_get_type(), nil)
            return true
        default: return false
        }
    }

    fileprivate func handle(_ event: EventPointer, parent: EventHandler) -> Bool {
        let isSerialized = event.pointee.type.rawValue & GST_EVENT_TYPE_SERIALIZED.rawValue != 0
        if event.pointee.type == GST_EVENT_FLUSH_STOP {
            split.waiting.removeAll { !$0.isSticky || $0.pointer.pointee.type == GST_EVENT_SEGMENT }
            split.begin()
        }
        guard isSerialized, event.pointee.type != GST_EVENT_FLUSH_STOP else { return parent(event) }
        let event = EventRef(taking: event)
        switch event.pointer.pointee.type {
        case GST_EVENT_STREAM_START: begin(event.pointer)
        case GST_EVENT_CAPS: return takeCaps(event.pointer)
        case GST_EVENT_TAG:
            let comments = event.pointer.comments
            let others = comments.filter { !take(comment: $0) }
            if others.count == comments.count {
                split.waiting.append(event)
            } else {
                renegotiate()
                if let rest = event.pointer.withComments(others) { split.waiting.append(rest) }
            }
        case GST_EVENT_SEGMENT: split.waiting.append(event)
        default:
            // What nobody follows must not wait for a buffer that does not come.
            let result = flow { () throws(FlowStop) in try sendWaiting() }
            push(event)
            return result == GST_FLOW_OK
        }
        return true
    }

    private func begin(_ event: EventPointer) {
        streamStarted()
        split.waiting = []
        split.begin()
        var group: guint = 0
        let hasGroup = gst_event_parse_group_id(event, &group) != 0
        for source in split.sources {
            let name = source.role.rawValue
            let id = takeString(gst_pad_create_stream_id(source.pad, instance, name)) ?? name
            guard let start = gst_event_new_stream_start(id) else { continue }
            if hasGroup { gst_event_set_group_id(start, group) }
            gst_event_set_seqnum(start, event.pointee.seqnum)
            gst_pad_push_event(source.pad, start)
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
    return gboolean(splitter(parent)?.handle(event, parent: callDefault) ?? callDefault(event))
}

private let inputQuery: GstPadQueryFunction = { pad, parent, query in
    guard let pad, let query else { return 0 }
    return gboolean(splitter(parent)?.answer(query, on: pad) == true || gst_pad_query_default(pad, parent, query) != 0)
}
