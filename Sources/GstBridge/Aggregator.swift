package import CGStreamer
import CGStreamerShims

/// An element with several inputs and one output, on GstAggregator.
///
/// The functions below are its virtual functions, in order of life. Unless one says otherwise it runs on the source
/// pad's streaming thread, or while that is stopped, so what only they touch needs no lock.
package protocol Aggregator: Element {
    typealias Pad = UnsafeMutablePointer<GstAggregatorPad>

    /// Keeps a pad's release away from whoever looks at the pad's buffers.
    ///
    /// GstAggregator 1.22 gives back the buffer that was looked at last when a pad is released, without the lock that
    /// looking takes, so that the buffer could be given back twice. Later versions take it. Recursive, because taking a
    /// buffer may emit "buffer-consumed", whose handler may release a pad.
    var padGuard: RecursiveLock { get }

    /// READY to PAUSED, on the application's thread, before any data.
    func start() throws(ElementError)

    /// Makes the pad that the application asked for, on its thread; nil refuses.
    func createNewPad(_ template: TemplatePointer, name: String?) -> Pad?

    /// Gives a request pad back, on the application's thread. `parent` removes it from the element; `padGuard` is to be held
    /// over that.
    func releasePad(_ pad: Pad, parent: () -> Void)

    /// A query from upstream that may not have to wait for what was sent before it, on the asker's thread; nil leaves
    /// it to `sinkQuery`, after that wait.
    func sinkQueryPreQueue(_ query: QueryPointer, on pad: Pad) -> Bool?

    /// A query from upstream, on the asker's thread unless it is serialized.
    func sinkQuery(_ query: QueryPointer, on pad: Pad, parent: () -> Bool) -> Bool

    /// Queries a pad's upstream latency in place of GstAggregator, which treats the pipeline as not live where one query
    /// fails, or where one input's maximum is below another's minimum.
    ///
    /// - Returns: false where upstream does not answer.
    func queryPeerLatency(_ query: QueryPointer, of pad: Pad) -> Bool

    /// A query from downstream, on the asker's thread.
    func srcQuery(_ query: QueryPointer, parent: () -> Bool) -> Bool

    /// Returns false to drop a buffer from upstream, before it waits for room on its pad. On the sender's thread.
    func admitsBuffer(on pad: Pad) -> Bool

    /// A buffer from upstream, or the first of a list, before it waits for room on its pad. On the sender's thread.
    func bufferArrives(_ buffer: BufferPointer, on pad: Pad)

    /// The caps to send, out of what downstream takes; nil while they are not known. Ownership passes to the caller.
    func updateSrcCaps(downstream: CapsPointer) throws(FlowStop) -> CapsPointer?

    /// Downstream takes nothing that this element could send.
    func negotiationFailed()

    /// Chooses how output buffers are made, from what downstream offers.
    func decideAllocation(_ query: QueryPointer) -> Bool

    /// Tells upstream what buffers this pad takes best.
    func proposeAllocation(_ query: QueryPointer, on pad: Pad) -> Bool

    /// Looks at a serialized event on the sender's thread, before it is queued.
    func sinkEventPreQueue(_ event: EventPointer, on pad: Pad) throws(FlowStop)

    /// Handles an event that reached the head of its pad's queue; flushes come on the sender's thread. Takes ownership: unref the
    /// event, or pass it to `parent`, which then owns it.
    func sinkEvent(_ event: EventPointer, on pad: Pad, parent: EventHandler) -> Bool

    /// Handles an event from downstream, on the sender's thread. Takes ownership: unref the event, or pass it to `parent`, which
    /// then owns it.
    func srcEvent(_ event: EventPointer, parent: EventHandler) -> Bool

    /// A buffer about to become the head of its pad: returns it, or nil after unreffing it. Runs under the pad's
    /// lock, so nothing here may call GStreamer's pads or the bus.
    func clip(_ buffer: BufferPointer, on pad: Pad) -> BufferPointer?

    /// The running time that a live pipeline waits for before it goes on without the missing pads.
    func getNextTime() -> GstClockTime

    /// Every pad holds a buffer or has ended, or, when `timedOut`, the time to wait is over.
    func aggregate(timedOut: Bool) throws(FlowStop)

    /// The sample of a pad that the next picture is made from. Called by handlers of "samples-selected". Ownership passes to
    /// the caller.
    func peekNextSample(of pad: Pad) -> OpaquePointer?

    /// A flush on all pads has ended.
    func flush()

    /// PAUSED to READY, on the application's thread, after the streaming thread has ended.
    func stop()
}

extension Aggregator {
    package var aggregator: UnsafeMutablePointer<GstAggregator> { instance.cast(to: GstAggregator.self) }

    package var sourcePad: PadPointer { aggregator.pointee.srcpad }

    /// Pushes a buffer downstream, taking it.
    package func finishBuffer(_ buffer: BufferPointer) throws(FlowStop) {
        let result = gst_aggregator_finish_buffer(aggregator, buffer)
        // GstAggregator would take downstream's answer for its own NEED_DATA, which is the same number, and go on.
        if result == GSTSHIMS_AGGREGATOR_FLOW_NEED_DATA { throw .refused(GST_FLOW_ERROR) }
        guard result == GST_FLOW_OK else { throw .refused(result) }
    }

    /// Sends the stream-start, caps and segment that are due, as `finishBuffer` does before a buffer.
    ///
    /// GstAggregator (before 1.28) sends them only with buffers. An empty buffer list makes it do so; a probe drops the list.
    ///
    /// - Returns: false during a flush.
    package func sendMandatoryEvents() -> Bool {
        var isSent = false
        withUnsafeMutablePointer(to: &isSent) { isSent in
            let probe = gst_pad_add_probe(
                sourcePad, GST_PAD_PROBE_TYPE_BUFFER_LIST,
                { _, info, isSent in
                    guard let list = info?.pointee.data.map({ OpaquePointer($0) }), gst_buffer_list_length(list) == 0
                    else { return GST_PAD_PROBE_OK }
                    isSent?.assumingMemoryBound(to: Bool.self).pointee = true
                    return GST_PAD_PROBE_DROP
                }, isSent, nil)
            gst_aggregator_finish_buffer_list(aggregator, gst_buffer_list_new())
            gst_pad_remove_probe(sourcePad, probe)
        }
        return isSent
    }

    /// Pushes an event downstream; false where it was refused.
    package func pushEvent(_ event: EventRef) -> Bool { gst_pad_push_event(sourcePad, event.shared()) != 0 }

    /// True where "samples-selected" has a handler.
    package var hasSampleListener: Bool { g_signal_has_handler_pending(instance, samplesSelected, 0, 0) != 0 }

    /// Emits "samples-selected". Its handlers get the samples by `peekNextSample`.
    package func emitSelectedSamples(for frame: BufferPointer) {
        let stamp = frame.pointee
        gst_aggregator_selected_samples(aggregator, stamp.pts, stamp.dts, stamp.duration, nil)
    }

    /// Makes a pad of the template's kind with the given name.
    package func newPad(_ template: TemplatePointer, name: String) -> Pad? {
        guard let pad = gst_pad_new_from_template(template, name) else { return nil }
        gst_pad_add_probe(pad, sinkPadProbe, inspectSinkPadData, nil, nil)
        return pad.cast(to: GstAggregatorPad.self)
    }

    /// Makes and adds the sink pad of an always template, which GstAggregator does not do by itself.
    package func addAlwaysPad(_ name: String) -> Pad? {
        guard let template = padTemplate(name), let pad = newPad(template, name: name) else { return nil }
        // Caps that leave a field open which ours fix are as good as any: appsrc and old demuxers send such.
        pad.pointee.parent.object.flags |= GST_PAD_FLAG_ACCEPT_INTERSECT.rawValue
        gst_element_add_pad(instance, pad.cast(to: GstPad.self))
        return pad
    }

    package func padName(_ pad: Pad) -> String { objectName(UnsafeMutableRawPointer(pad)) }

    /// Treats a sink pad as if its stream had ended, so that nothing waits for it. Streaming thread, or where nothing is linked.
    package func endInput(_ pad: Pad) { take(gst_event_new_eos(), on: pad) }

    /// Sets the seqnum that GstAggregator gives the segment and the EOS that it sends before another segment comes: without it
    /// GStreamer 1.22 sends an EOS with an invalid seqnum. To be called while nothing streams, on any sink pad; the pad's
    /// segment is put back afterwards.
    ///
    /// - Parameter seqnum: nil takes a new one.
    package func setSeqnum(_ seqnum: UInt32? = nil, on pad: Pad) {
        let before = segment(of: pad)
        take(newSegmentInTime(), seqnum, on: pad)
        pad.withSegment { $0 = before }
    }

    /// Notes how far the output has come, for POSITION queries.
    package func setPosition(_ time: GstClockTime) {
        sourcePad.cast(to: GstAggregatorPad.self).withSegment { $0.position = time }
    }

    /// The output's segment as it is now.
    package var outputSegment: GstSegment { segment(of: sourcePad.cast(to: GstAggregatorPad.self)) }

    /// Restarts the streaming thread after a seek that GstAggregator has stopped it for and that was refused.
    package func restartStreaming() {
        guard gst_pad_is_active(sourcePad) != 0, let activate = sourcePad.pointee.activatemodefunc else { return }
        _ = activate(sourcePad, object, GST_PAD_MODE_PUSH, 1)
    }

    /// Undoes `endInput`. Streaming thread only.
    package func resumeInput(_ pad: Pad) { take(gst_event_new_stream_start(""), on: pad) }

    /// Flushes an unlinked pad, which gets no flush events of a seek.
    package func flushInput(_ pad: Pad, seqnum: UInt32) {
        for event in [gst_event_new_flush_start(), gst_event_new_flush_stop(1)] { take(event, seqnum, on: pad) }
    }

    /// Gives GstAggregator an event as if it had come from upstream.
    private func take(_ event: EventPointer?, _ seqnum: UInt32? = nil, on pad: Pad) {
        guard let event else { return }
        if let seqnum { gst_event_set_seqnum(event, seqnum) }
        _ = parent(aggregator)?.sink_event?(aggregator, pad, event)
    }

    /// Asks for caps and allocation to be agreed anew before the next frame. Any thread.
    package func markReconfigure() { gst_pad_mark_reconfigure(sourcePad) }
}

extension UnsafeMutablePointer<GstAggregatorPad> {
    package var pad: PadPointer { cast(to: GstPad.self) }

    /// Reads or changes the pad's segment, under its lock.
    package func withSegment<Result>(_ body: (inout GstSegment) -> Result) -> Result {
        g_mutex_lock(&pointee.parent.object.lock)
        defer { g_mutex_unlock(&pointee.parent.object.lock) }
        return body(&pointee.segment)
    }
}

extension PadPointer {
    /// Queries the pad's peer; false where there is none, or it does not answer.
    package func queryPeer(_ query: QueryPointer) -> Bool {
        guard let peer = gst_pad_get_peer(self) else { return false }
        defer { gst_object_unref(peer) }
        return gst_pad_query(peer, query) != 0
    }

    package var isLinked: Bool { gst_pad_is_linked(self) != 0 }
}

// MARK: - The C side: one closure per virtual function, all of one shape

private typealias AggregatorPointer = UnsafeMutablePointer<GstAggregator>

/// GstAggregator's own virtual functions.
private func parent(_ instance: AggregatorPointer) -> GstAggregatorClass? {
    parentClass(instance)?.assumingMemoryBound(to: GstAggregatorClass.self).pointee
}

private let samplesSelected = g_signal_lookup("samples-selected", gst_aggregator_get_type())

/// Selects buffers that upstream pushes to a sink pad, and queries that the pad sends to its peer.
private let sinkPadProbe = GstPadProbeType(
    rawValue: GST_PAD_PROBE_TYPE_BUFFER.rawValue | GST_PAD_PROBE_TYPE_BUFFER_LIST.rawValue
        | GST_PAD_PROBE_TYPE_QUERY_UPSTREAM.rawValue | GST_PAD_PROBE_TYPE_PUSH.rawValue)

private let inspectSinkPadData: GstPadProbeCallback = { pad, info, _ in
    guard let pad, let info, let parent = gst_pad_get_parent_element(pad) else { return GST_PAD_PROBE_OK }
    defer { gst_object_unref(parent) }
    guard let element = swiftAggregator(parent) else { return GST_PAD_PROBE_OK }
    let sinkPad = pad.cast(to: GstAggregatorPad.self)
    guard info.pointee.type.rawValue & GST_PAD_PROBE_TYPE_QUERY_UPSTREAM.rawValue != 0 else {
        // Asked for the other kind, these complain.
        let isList = info.pointee.type.rawValue & GST_PAD_PROBE_TYPE_BUFFER_LIST.rawValue != 0
        let buffer =
            isList
            ? gst_pad_probe_info_get_buffer_list(info).flatMap {
                gst_buffer_list_length($0) > 0 ? gst_buffer_list_get($0, 0) : nil
            }
            : gst_pad_probe_info_get_buffer(info)
        if let buffer { element.bufferArrives(buffer, on: sinkPad) }
        return element.admitsBuffer(on: sinkPad) ? GST_PAD_PROBE_OK : GST_PAD_PROBE_DROP
    }
    guard let query = info.pointee.data?.assumingMemoryBound(to: GstQuery.self),
        query.pointee.type == GST_QUERY_LATENCY
    else { return GST_PAD_PROBE_OK }
    return element.queryPeerLatency(query, of: sinkPad) ? GST_PAD_PROBE_HANDLED : GST_PAD_PROBE_DROP
}

func installAggregatorFunctions(_ table: UnsafeMutablePointer<GstAggregatorClass>) {
    table.pointee.start = { instance in
        guard let element = swiftAggregator(instance) else { return 0 }
        return gboolean(element.succeeds { () throws(ElementError) in try element.start() })
    }
    table.pointee.stop = { instance in
        swiftAggregator(instance)?.stop()
        return 1
    }
    table.pointee.flush = { instance in
        swiftAggregator(instance)?.flush()
        return GST_FLOW_OK
    }
    table.pointee.create_new_pad = { instance, template, name, _ in
        guard let template else { return nil }
        return swiftAggregator(instance)?.createNewPad(template, name: name.map { String(cString: $0) })
    }
    table.pointee.parent_class.release_pad = { instance, pad in
        guard let instance, let pad else { return }
        let release = {
            _ = parent(instance.cast(to: GstAggregator.self))?.parent_class.release_pad?(instance, pad)
        }
        guard let element = swiftAggregator(instance) else { return release() }
        element.releasePad(pad.cast(to: GstAggregatorPad.self), parent: release)
    }
    table.pointee.sink_event_pre_queue = { instance, pad, event in
        guard let instance, let pad, let event, let element = swiftAggregator(instance) else { return GST_FLOW_ERROR }
        let verdict = element.flow { () throws(FlowStop) in try element.sinkEventPreQueue(event, on: pad) }
        guard verdict == GST_FLOW_OK else {
            gst_event_unref(event)
            return verdict
        }
        return parent(instance)?.sink_event_pre_queue?(instance, pad, event) ?? GST_FLOW_ERROR
    }
    table.pointee.sink_event = { instance, pad, event in
        guard let instance, let pad, let event, let element = swiftAggregator(instance) else { return 0 }
        return gboolean(
            element.sinkEvent(event, on: pad) { parent(instance)?.sink_event?(instance, pad, $0) ?? 0 != 0 })
    }
    table.pointee.sink_query_pre_queue = { instance, pad, query in
        guard let instance, let pad, let query, let element = swiftAggregator(instance) else { return 0 }
        if let isAnswered = element.sinkQueryPreQueue(query, on: pad) { return gboolean(isAnswered) }
        return parent(instance)?.sink_query_pre_queue?(instance, pad, query) ?? 0
    }
    table.pointee.sink_query = { instance, pad, query in
        guard let instance, let pad, let query, let element = swiftAggregator(instance) else { return 0 }
        return gboolean(
            element.sinkQuery(query, on: pad) { parent(instance)?.sink_query?(instance, pad, query) ?? 0 != 0 })
    }
    table.pointee.src_event = { instance, event in
        guard let instance, let event, let element = swiftAggregator(instance) else { return 0 }
        return gboolean(element.srcEvent(event) { parent(instance)?.src_event?(instance, $0) ?? 0 != 0 })
    }
    table.pointee.src_query = { instance, query in
        guard let instance, let query, let element = swiftAggregator(instance) else { return 0 }
        return gboolean(element.srcQuery(query) { parent(instance)?.src_query?(instance, query) ?? 0 != 0 })
    }
    table.pointee.negotiate = { instance in
        guard let instance, let element = swiftAggregator(instance) else { return 0 }
        if parent(instance)?.negotiate?(instance) ?? 0 != 0 { return 1 }
        if !element.sourcePad.isFlushing { element.negotiationFailed() }
        return 0
    }
    table.pointee.update_src_caps = { instance, downstream, result in
        guard let downstream, let result, let element = swiftAggregator(instance) else { return GST_FLOW_ERROR }
        return element.flow { () throws(FlowStop) in
            guard let caps = try element.updateSrcCaps(downstream: downstream) else { throw .needData }
            result.pointee = caps
        }
    }
    table.pointee.decide_allocation = { instance, query in
        guard let query, let element = swiftAggregator(instance) else { return 0 }
        return gboolean(element.decideAllocation(query))
    }
    table.pointee.propose_allocation = { instance, pad, _, query in
        guard let pad, let query, let element = swiftAggregator(instance) else { return 0 }
        return gboolean(element.proposeAllocation(query, on: pad))
    }
    table.pointee.clip = { instance, pad, buffer in
        guard let pad, let buffer, let element = swiftAggregator(instance) else { return buffer }
        return element.clip(buffer, on: pad)
    }
    table.pointee.peek_next_sample = { instance, pad in
        pad.flatMap { swiftAggregator(instance)?.peekNextSample(of: $0) }
    }
    table.pointee.get_next_time = { instance in swiftAggregator(instance)?.getNextTime() ?? noClockTime }
    table.pointee.aggregate = { instance, timedOut in
        guard let element = swiftAggregator(instance) else { return GST_FLOW_ERROR }
        return element.flow { () throws(FlowStop) in try element.aggregate(timedOut: timedOut != 0) }
    }
}
