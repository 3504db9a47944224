package import CGStreamer

/// The names of a source's pads and of their templates.
package protocol SourceRole: RawRepresentable<String>, CaseIterable, Hashable, Sendable {}

/// The stream of one pad. Used by the pad's thread, or by others while they hold its stream lock.
package protocol SourceStream<Role>: AnyObject {
    associatedtype Role: SourceRole
    var role: Role { get }
    var pad: PadPointer { get }
    /// True until the event with which a stream begins was pushed.
    var needsStreamStart: Bool { get set }
}

extension SourceStream {
    /// Pushes an event downstream, and takes it.
    package func push(_ event: EventPointer?, seqnum: guint32? = nil) {
        guard let event else { return }
        if let seqnum { gst_event_set_seqnum(event, seqnum) }
        gst_pad_push_event(pad, event)
    }

    fileprivate func start(in element: ElementPointer, _ group: () -> guint) {
        guard needsStreamStart else { return }
        needsStreamStart = false
        let id = takeString(gst_pad_create_stream_id(pad, element, role.rawValue)) ?? role.rawValue
        guard let event = gst_event_new_stream_start(id) else { return }
        gst_event_set_group_id(event, group())
        push(event)
    }
}

/// What the pads' threads share of a source's streams.
package struct SourceLinks<Role: SourceRole>: Sendable {
    /// Streams that stopped because their pad, or what is behind it, is not linked.
    package var unlinked: Set<Role> = []
    fileprivate let group = gst_util_group_id_next()

    package init() {}

    fileprivate var areNone: Bool { unlinked.count == Role.allCases.count }
}

/// A source element whose pads each run a thread of their own.
package protocol PushSource: Element {
    associatedtype Role: SourceRole
    associatedtype Stream: SourceStream<Role>

    typealias Pad = PadPointer

    /// One for each pad.
    var streams: [Stream] { get }

    /// True where the source has no data before it plays.
    var isLive: Bool { get }

    /// Changes the links under the lock that guards them. They are made anew in `prepare`. Any thread.
    func withLinks<Result: Sendable>(_ body: (inout SourceLinks<Role>) -> Result) -> Result

    /// READY to PAUSED, before any data.
    func prepare()

    /// PAUSED to PLAYING, after everything else.
    func play()

    /// PLAYING to PAUSED, before everything else.
    func pause()

    /// The pad becomes able to send, or no longer is. Its thread starts after this, or is stopped.
    func interrupt(_ stream: Stream, _ isInterrupted: Bool)

    /// Sends what is due next on the stream's thread, and is called again until it throws.
    func sendNext(_ stream: Stream) throws(FlowStop)

    /// Ends a stream after its last frame.
    ///
    /// - Parameter isRefused: true where downstream wants no more.
    func finish(_ stream: Stream, isRefused: Bool)

    func fail(_ stream: Stream, _ error: ElementError)

    /// A stream has stopped because its pad is not linked.
    func streamUnlinked(_ stream: Stream)

    /// The application's EOS ends all streams after the current frame.
    func endAll()

    /// Handles an event from downstream, on the sender's thread. Takes ownership: unref the event, or pass it to `parent`, which
    /// then owns it.
    func srcEvent(_ event: EventPointer, on pad: Pad, parent: EventHandler) -> Bool

    /// A query from downstream, on the asker's thread.
    func srcQuery(_ query: QueryPointer, on stream: Stream, parent: () -> Bool) -> Bool
}

extension PushSource {
    package func streamUnlinked(_ stream: Stream) {}
    package func srcEvent(_ event: EventPointer, on pad: Pad, parent: EventHandler) -> Bool { parent(event) }

    /// Makes and adds the source pads.
    ///
    /// - Parameter make: makes the stream of a pad.
    package func addStreams(_ make: (Role, Pad) -> Stream) -> [Stream] {
        // Bins send the application's EOS to the elements with this flag.
        instance.pointee.object.flags |= GST_ELEMENT_FLAG_SOURCE.rawValue
        return Role.allCases.compactMap { role in addSourcePad(role.rawValue).map { make(role, $0) } }
    }

    private func addSourcePad(_ name: String) -> Pad? {
        guard let template = padTemplate(name), let pad = gst_pad_new_from_template(template, name) else { return nil }
        gst_pad_set_activatemode_function_full(pad, activateMode, nil, nil)
        gst_pad_set_event_function_full(pad, sourceEvent, nil, nil)
        gst_pad_set_query_function_full(pad, sourceQuery, nil, nil)
        gst_element_add_pad(instance, pad)
        return pad
    }

    package func changeState(_ transition: GstStateChange, parent: () -> GstStateChangeReturn) -> GstStateChangeReturn {
        changeStreams(transition, parent)
    }

    /// The part of `changeState` that every source has, for those that have a part of their own.
    package func changeStreams(
        _ transition: GstStateChange, _ parent: () -> GstStateChangeReturn
    ) -> GstStateChangeReturn {
        switch transition {
        case GST_STATE_CHANGE_READY_TO_PAUSED: prepare()
        case GST_STATE_CHANGE_PLAYING_TO_PAUSED: pause()
        default: break
        }
        let result = parent()
        guard result != GST_STATE_CHANGE_FAILURE else { return result }
        switch transition {
        case GST_STATE_CHANGE_PAUSED_TO_PLAYING: play()
        case GST_STATE_CHANGE_READY_TO_PAUSED, GST_STATE_CHANGE_PLAYING_TO_PAUSED:
            if isLive { return GST_STATE_CHANGE_NO_PREROLL }
        default: break
        }
        return result
    }

    package func sendEvent(_ event: EventPointer, parent: EventHandler) -> Bool {
        guard event.pointee.type == GST_EVENT_EOS else { return parent(event) }
        gst_event_unref(event)
        endAll()
        return true
    }

    // MARK: The pads' threads

    /// Starts or resumes the stream's thread.
    package func start(_ stream: Stream) { if gst_pad_is_active(stream.pad) != 0 { _ = startTask(stream.pad) } }

    private func startTask(_ pad: Pad) -> Bool {
        gst_pad_start_task(pad, runStep, UnsafeMutableRawPointer(pad), nil) != 0
    }

    /// Starts the stream of a pad that was linked late.
    private func revive(_ stream: Stream) {
        if withLinks({ $0.unlinked.remove(stream.role) != nil }) { start(stream) }
    }

    /// Pushes the event with which a stream begins, unless it was pushed already.
    package func sendStreamStart(_ stream: Stream) { stream.start(in: instance) { withLinks { $0.group } } }

    package func stream(of pad: Pad) -> Stream? {
        let streams = streams
        // An iterator of an array of some type takes memory, in each frame.
        return streams.indices.first { streams[$0].pad == pad }.map { streams[$0] }
    }

    fileprivate func activate(_ pad: Pad, _ isActive: Bool) -> Bool {
        guard let stream = stream(of: pad) else { return false }
        interrupt(stream, !isActive)
        return isActive ? startTask(pad) : gst_pad_stop_task(pad) != 0
    }

    fileprivate func step(_ pad: Pad) {
        guard let stream = stream(of: pad) else { return }
        do throws(FlowStop) {
            try sendNext(stream)
        } catch {
            gst_pad_pause_task(pad)
            switch error {
            case .refused(GST_FLOW_FLUSHING), .needData: break
            case .endOfStream: finish(stream, isRefused: false)
            case .refused(GST_FLOW_EOS): finish(stream, isRefused: true)
            case .refused(GST_FLOW_NOT_LINKED): noteUnlinked(stream)
            case .refused(let reason): fail(stream, streamError(reason))
            case .notNegotiated(let error), .failed(let error): fail(stream, error)
            }
        }
    }

    /// That is no error, unless no other pad is linked either.
    private func noteUnlinked(_ stream: Stream) {
        let isLast = withLinks { links in
            links.unlinked.insert(stream.role)
            return links.areNone
        }
        // The RECONFIGURE event came too early to start it.
        if stream.pad.isLinkedAnew { return revive(stream) }
        // Another one may have been linked meanwhile.
        if isLast && withLinks({ $0.areNone }) { post(streamError(GST_FLOW_NOT_LINKED)) }
        streamUnlinked(stream)
    }

    private func streamError(_ reason: GstFlowReturn) -> ElementError {
        ElementError(
            .stream(GST_STREAM_ERROR_FAILED), "Internal data stream error.",
            details: "streaming stopped, reason \(String(cString: gst_flow_get_name(reason)))")
    }

    // MARK: Events and queries

    fileprivate func handle(_ event: EventPointer, on pad: Pad, parent: EventHandler) -> Bool {
        let isReconfigured = event.pointee.type == GST_EVENT_RECONFIGURE
        defer { if isReconfigured, let stream = stream(of: pad) { revive(stream) } }
        return srcEvent(event, on: pad, parent: parent)
    }

    fileprivate func answer(_ query: QueryPointer, on pad: Pad, parent: () -> Bool) -> Bool {
        guard let stream = stream(of: pad) else { return parent() }
        return srcQuery(query, on: stream, parent: parent)
    }
}

extension Element {
    func padTemplate(_ name: String) -> TemplatePointer? {
        guard let ownClass = instance.cast(to: GTypeInstance.self).pointee.g_class else { return nil }
        return gst_element_class_get_pad_template(ownClass.cast(to: GstElementClass.self), name)
    }
}

extension PadPointer {
    /// True where the pad, or something behind it, was linked since the pad was last checked for RECONFIGURE.
    package var isLinkedAnew: Bool { isLinked && gst_pad_needs_reconfigure(self) != 0 }

    package var isFlushing: Bool { pointee.object.flags & GST_PAD_FLAG_FLUSHING.rawValue != 0 }

    /// The meaning of an event of caps that was refused.
    package var refusal: FlowStop { .refused(isFlushing ? GST_FLOW_FLUSHING : GST_FLOW_NOT_NEGOTIATED) }

    /// Runs while nothing else can be sent on the pad.
    package func withStreamLock<Result>(_ body: () -> Result) -> Result {
        g_rec_mutex_lock(&pointee.stream_rec_lock)
        defer { g_rec_mutex_unlock(&pointee.stream_rec_lock) }
        return body()
    }
}

// MARK: - The C side

private func source(_ parent: UnsafeMutablePointer<GstObject>?) -> (any PushSource)? {
    swiftElement(parent) as? any PushSource
}

private let activateMode: GstPadActivateModeFunction = { pad, parent, mode, isActive in
    guard let pad, mode == GST_PAD_MODE_PUSH, let element = source(parent) else { return 0 }
    return gboolean(element.activate(pad, isActive != 0))
}

private let runStep: GstTaskFunction = { data in
    guard let pad = data?.cast(to: GstPad.self), let parent = gst_pad_get_parent_element(pad) else { return }
    defer { gst_object_unref(parent) }
    (swiftElement(parent) as? any PushSource)?.step(pad)
}

private let sourceEvent: GstPadEventFunction = { pad, parent, event in
    guard let pad, let event else { return 0 }
    let callDefault = { (event: EventPointer) in gst_pad_event_default(pad, parent, event) != 0 }
    return gboolean(source(parent)?.handle(event, on: pad, parent: callDefault) ?? callDefault(event))
}

private let sourceQuery: GstPadQueryFunction = { pad, parent, query in
    guard let pad, let query else { return 0 }
    let callDefault = { gst_pad_query_default(pad, parent, query) != 0 }
    return gboolean(source(parent)?.answer(query, on: pad, parent: callDefault) ?? callDefault())
}
