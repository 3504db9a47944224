import CGStreamer
package import GstBridge
import Synchronization

/// Events of the sink pads and of the source pad.
extension ReferencePadAggregator {
    package func sinkEventPreQueue(_ event: EventPointer, on pad: Pad) throws(FlowStop) {
        switch event.pointee.type {
        case GST_EVENT_SEGMENT: try checkSegment(event, on: pad)
        case GST_EVENT_CAPS: try checkCaps(event, on: pad)
        case GST_EVENT_GAP:
            guard let segment = gst_pad_get_sticky_event(pad.pad, GST_EVENT_SEGMENT, 0) else {
                throw .refused(GST_FLOW_ERROR)  // 1.22's base class would send it on without a segment
            }
            gst_event_unref(segment)
        default: break
        }
    }

    private func checkSegment(_ event: EventPointer, on pad: Pad) throws(FlowStop) {
        var segment: UnsafePointer<GstSegment>?
        gst_event_parse_segment(event, &segment)
        func fault(_ fault: String, _ details: String = "") -> FlowStop {
            .failed(
                ElementError(.stream(GST_STREAM_ERROR_FORMAT), "The \(padName(pad)) pad \(fault)", details: details))
        }
        guard let segment = segment?.pointee, segment.format == GST_FORMAT_TIME else {
            throw fault(
                "needs a stream in time format; set format=time at an appsrc, and put a parser or decoder before it "
                    + "otherwise.")
        }
        guard segment.rate.isFinite, segment.rate > 0 || segment.stop != noClockTime else {
            throw fault("got a segment that runs backwards and does not say from where.", "rate \(segment.rate)")
        }
    }

    /// Refuses caps on their sender's thread, so that the sender learns of it and the user reads why.
    private func checkCaps(_ event: EventPointer, on pad: Pad) throws(FlowStop) {
        guard let role = role(of: pad) else { return }
        do throws(CapsRefusal) {
            try withCaps(of: event) { caps throws(CapsRefusal) in try acceptCaps(caps, on: role) }
        } catch {
            let sentence = "On the \(padName(pad)) pad: \(error.reason)."
            // Refused caps come again with every buffer that their sender tries to push.
            let isNew = streams.lastRefusal.withLock { last in
                defer { last = sentence }
                return last != sentence
            }
            guard isNew else { throw .refused(GST_FLOW_NOT_NEGOTIATED) }
            throw .notNegotiated(ElementError(.core(GST_CORE_ERROR_NEGOTIATION), sentence))
        }
    }

    package func sinkEvent(_ event: EventPointer, on pad: Pad, parent: EventHandler) -> Bool {
        let role = role(of: pad)
        let isReference = role == leader
        if let role, event.pointee.type == GST_EVENT_STREAM_START || event.pointee.type == GST_EVENT_SEGMENT {
            streamRestarted(role)
            if role == .reference { streams.standInLeads.store(false, ordering: .relaxed) }
        }
        switch event.pointee.type {
        case GST_EVENT_CAPS:
            defer { gst_event_unref(event) }
            return takeCaps(event, on: pad, role)
        case GST_EVENT_SEGMENT:
            defer { streams.flushes.noteSegment(of: pad) }
            if isReference {
                followSegment(event)
            } else {
                role.flatMap { streams.pads[$0] }?.segment = event.pointee.seqnum
                resume { other, _ in other.rawValue == role?.rawValue }
            }
            return parent(withOutputSeqnum(event))
        case GST_EVENT_FLUSH_START:
            defer { seekWaiting() }
            streams.flushes.noteFlush(of: pad)
            return streams.playGate.withoutWaiting { streams.flushes.run { parent(event) } }
        case GST_EVENT_FLUSH_STOP:
            streams.wasFlushed.store(true, ordering: .releasing)
            streams.lateness.reset()
            defer { seekWaiting() }
            if let isHandled = streams.flushes.end(on: pad, { parent(event) }) { return isHandled }
            gst_event_unref(event)
            return false
        case GST_EVENT_GAP:
            if segment(of: pad).format == GST_FORMAT_TIME,
                let isHandled = streams.flushes.handleGap(of: pad, { parent(event) })
            {
                return isHandled
            }
            gst_event_unref(event)
            return true
        case GST_EVENT_SEGMENT_DONE where !isReference:
            defer { gst_event_unref(event) }
            // The reference pad may be in the next segment already, where this pad is waited for.
            let isOver = event.pointee.seqnum == streams.finishedSegment.load(ordering: .relaxed)
            if isOver && !streams.state.isSegmentDone { return true }
            if let role { streams.state.doneInputs[role.rawValue] = event.pointee.seqnum }
            endInput(pad)  // until the next segment
            return true
        case GST_EVENT_EOS where isReference:
            drain()
            let isHandled = parent(event)
            endOtherInputs()
            return isHandled
        case GST_EVENT_EOS, GST_EVENT_STREAM_START:
            if let role { streams.state.doneInputs[role.rawValue] = nil }
            return parent(event)
        default:
            if isReference { return forward(event, parent) }
            // Other events of secondary pads do not concern the output.
            gst_event_unref(event)
            return true
        }
    }

    /// Forwards another event of the reference pad, in its place among the frames.
    private func forward(_ event: EventPointer, _ parent: EventHandler) -> Bool {
        let isSerialized = event.pointee.type.rawValue & GST_EVENT_TYPE_SERIALIZED.rawValue != 0
        guard isSerialized else { return parent(event) }
        // The end of a segment leaves even where no frame of it did.
        if event.pointee.type == GST_EVENT_SEGMENT_DONE {
            streams.state.isSegmentDone = true
            finishSegment(event.pointee.seqnum)
            if streams.state.hasCaps && !isNegotiated { gst_aggregator_negotiate(aggregator) }
            if isNegotiated { _ = beginSegment() }
        }
        if streams.state.hasSentSegment { return gst_pad_push_event(sourcePad, event) != 0 }
        // It must not overtake the segment, which leaves with the first frame.
        streams.state.laterEvents.append(EventRef(taking: event))
        if streams.state.laterEvents.count > mostLaterEvents { streams.state.laterEvents.removeFirst() }
        return true
    }

    /// Lets the secondary pads come to the end of the segment too: what they bring beyond the last frame would wait for a next
    /// one, and their sources with it.
    private func finishSegment(_ seqnum: UInt32) {
        streams.finishedSegment.store(seqnum, ordering: .releasing)
        for (_, input) in inputs where input.segment == seqnum {
            while let late = pop(input.pad) { _ = consume late }
        }
    }

    package func bufferArrives(_ buffer: BufferPointer, on pad: Pad) {
        guard let standIn = Role.standIn, role(of: pad) == standIn, leader == standIn,
            let reference = streams.pads[Role.reference], bringsReference(buffer), !hasEnded(reference.pad)
        else { return }
        streams.standInLeads.store(true, ordering: .relaxed)
        endInput(reference.pad)  // nothing is waited for there
    }

    package func admitsBuffer(on pad: Pad) -> Bool {
        let finished = streams.finishedSegment.load(ordering: .acquiring)
        guard finished != noSeqnum, let role = role(of: pad), role != leader,
            let segment = gst_pad_get_sticky_event(pad.pad, GST_EVENT_SEGMENT, 0)
        else { return true }
        defer { gst_event_unref(segment) }
        return segment.pointee.seqnum != finished
    }

    private func takeCaps(_ event: EventPointer, on pad: Pad, _ role: Role?) -> Bool {
        guard let role, let input = streams.pads[role], input.pad == pad else { return true }
        do throws(CapsRefusal) {
            try withCaps(of: event) { caps throws(CapsRefusal) in
                if let known = input.caps, gst_caps_is_equal(known.pointer, caps) != 0 { return }
                streamRestarted(role)
                Self.log(GST_LEVEL_DEBUG, self) { "\(role) caps: \(caps.text)" }
                try setCaps(caps, on: role)
                input.caps = CapsRef(sharing: caps)
                if role == leader { streams.state.hasCaps = true }
            }
            return true
        } catch {
            return false  // `acceptCaps` has let nothing through that gets here, unless max-pixels shrank meanwhile
        }
    }

    /// The reference stream's end is the output's: it must not wait for a stream that has gone silent.
    private func endOtherInputs() {
        for (role, other) in inputs where role != leader { endInput(other.pad) }
    }

    /// The output's timeline is the reference stream's.
    private func followSegment(_ event: EventPointer) {
        streams.lateness.reset()
        streams.state.seqnum = streams.state.flushSeqnum ?? event.pointee.seqnum
        streams.state.laterEvents.removeAll(where: \.isSegmentDone)  // of the segment before
        if event.pointee.seqnum == streams.finishedSegment.load(ordering: .relaxed) {
            streams.finishedSegment.store(noSeqnum, ordering: .relaxed)
        }
        // The new segment leaves with the next frame, and nothing may leave before it.
        streams.state.hasSentSegment = false
        var segment: UnsafePointer<GstSegment>?
        gst_event_parse_segment(event, &segment)
        if let segment { gst_aggregator_update_segment(aggregator, segment) }
        // An input whose segment was done earlier is done with this one, where it belongs to the same seek.
        if streams.state.isSegmentDone { resume { _, seqnum in seqnum != event.pointee.seqnum } }
        streams.state.isSegmentDone = false
    }

    /// Waits again for inputs whose last segment was done.
    private func resume(where isOver: (Role, _ seqnum: UInt32) -> Bool) {
        for role in Role.allCases {
            guard let seqnum = streams.state.doneInputs[role.rawValue], isOver(role, seqnum) else { continue }
            streams.state.doneInputs[role.rawValue] = nil
            if let input = streams.pads[role] { resumeInput(input.pad) }
        }
    }

    /// GstAggregator gives what it sends the seqnum of the last segment on any pad; it should be the reference pad's.
    private func withOutputSeqnum(_ event: EventPointer) -> EventPointer {
        guard let seqnum = streams.state.seqnum, seqnum != event.pointee.seqnum, let copy = gst_event_copy(event) else {
            return event
        }
        gst_event_unref(event)
        gst_event_set_seqnum(copy, seqnum)
        return copy
    }

    private func noteLateness(_ event: EventPointer) {
        var delay: GstClockTimeDiff = 0
        var time: GstClockTime = 0
        gst_event_parse_qos(event, nil, nil, &delay, &time)
        if time != noClockTime { streams.lateness.note(RunningTime(clamping: time), delay: Int64(delay)) }
    }

    package func srcEvent(_ event: EventPointer, parent: EventHandler) -> Bool {
        switch event.pointee.type {
        case GST_EVENT_RECONFIGURE: downstreamReconfigured()
        case GST_EVENT_QOS:
            // Not forwarded: an input that drops late frames by itself would be waited for. They are dropped here.
            noteLateness(event)
            gst_event_unref(event)
            return true
        case GST_EVENT_NAVIGATION: return navigationEvent(event)
        case GST_EVENT_SEEK: return seek(event, parent: parent)
        default: break
        }
        return parent(event)
    }
}

/// So that a stream of which no frame ever leaves does not pile them up.
private let mostLaterEvents = 256
