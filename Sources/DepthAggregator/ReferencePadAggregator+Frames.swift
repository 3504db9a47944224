package import CGStreamer
package import GstBridge
import Synchronization

/// A frame's way: clip, wait, take, aggregate, push.
extension ReferencePadAggregator {
    package func clip(_ buffer: BufferPointer, on pad: Pad) -> BufferPointer? {
        // A buffer that waited for room while its segment was finished.
        let finished = streams.finishedSegment.load(ordering: .relaxed)
        if finished != noSeqnum, let role = role(of: pad), streams.pads[role]?.segment == finished {
            unref(buffer)
            return nil
        }
        guard buffer.pointee.pts != noClockTime else { return buffer }
        var segment = segment(of: pad)
        guard segment.format == GST_FORMAT_TIME else { return buffer }  // none has come
        let end = buffer.pointee.duration == noClockTime ? noClockTime : buffer.pointee.pts &+ buffer.pointee.duration
        guard gst_segment_clip(&segment, GST_FORMAT_TIME, buffer.pointee.pts, end, nil, nil) == 0 else { return buffer }
        unref(buffer)
        return nil
    }

    package func getNextTime() -> GstClockTime {
        guard let reference = referencePad, let head = headWhileLocked(of: reference.pad) else { return noClockTime }
        guard let time = runningTime(of: head.pointer, on: reference.pad) else { return arrival(of: head.pointer) }
        return GstClockTime(clamping: time)
    }

    /// When a frame without a timestamp was first seen: it waits for the other streams from then on.
    private func arrival(of frame: BufferPointer) -> GstClockTime {
        if let known = streams.state.untimedHead, known.frame == frame { return known.arrival }
        let now = gst_element_get_current_running_time(instance)
        if now != noClockTime { streams.state.untimedHead = (frame, now) }
        return now
    }

    package func aggregate(timedOut: Bool) throws(FlowStop) {
        handlePendingFlush()
        guard let reference = referencePad else { throw .endOfStream }
        guard let head = head(of: reference.pad) else {
            if hasEnded(reference.pad) { throw .endOfStream }
            throw .needData
        }
        let isGap = head.pointer.isGap
        if isGap && !streams.state.hasCaps { return discardGap(reference.pad) }
        syncControllers(to: head.pointer.pointee.pts, on: reference.pad)
        let settings = table.current
        let span = runningSpan(of: head.pointer, on: reference.pad)
        let start = runningTime(of: head.pointer, on: reference.pad)
        let moment = Moment(
            time: isGap ? span.map { max($0.upperBound &- 1, $0.lowerBound) } ?? start : start, isLive: followLatency(),
            number: streams.state.frameNumber, isGap: isGap)
        if !isGap, try !prepare(head.pointer, at: moment) {
            _ = try takeFrame(head, reference.pad)
            return countDropped()
        }
        try checkNegotiated()
        shiftTimes(settings)
        if moment.isLive && !streams.playGate.waitUntilPlaying() { throw .needData }
        if !isGap || moment.time != nil { try advanceInputs(to: moment, mayWait: !timedOut, settings) }
        if isGap { return try passGap(head, reference.pad) }
        streams.state.frameNumber &+= 1
        var frame = try takeFrame(head, reference.pad)
        if let span, streams.lateness.isTooLate(endingAt: span.upperBound) { return drop(frame, at: moment.time) }
        announce(frame, at: moment, settings)
        if try aggregateFrame(&frame, at: moment, settings) {
            streams.state.processed &+= 1
            try send(frame)
        } else {
            countDropped()
        }
    }

    private func countDropped() {
        streams.state.dropped &+= 1
        streams.state.isInterrupted = true
    }

    // MARK: Before it

    private func handlePendingFlush() {
        guard streams.wasFlushed.exchange(false, ordering: .acquiring) else { return }
        Self.log(GST_LEVEL_DEBUG, self) { "flushed: what came before is forgotten" }
        resetInputs()
        streams.state.forgetStream()
    }

    private func checkNegotiated() throws(FlowStop) {
        if isNegotiated { return }
        if streams.state.hasCaps { throw .refused(GST_FLOW_NOT_NEGOTIATED) }  // and why has been said
        throw .notNegotiated(
            ElementError(
                .core(GST_CORE_ERROR_NEGOTIATION),
                "The \(Role.reference) pad got data before their caps; set caps at an appsrc."))
    }

    /// Lets GstControllers set the properties that they drive.
    private func syncControllers(to stamp: GstClockTime, on pad: Pad) {
        var segment = segment(of: pad)
        guard segment.format == GST_FORMAT_TIME else { return }  // none has come
        let time = gst_segment_to_stream_time(&segment, GST_FORMAT_TIME, stamp)
        if time != noClockTime { gst_object_sync_values(object, time) }
    }

    private func shiftTimes(_ settings: Settings) {
        var number = 0
        while let role = Role(rawValue: number) {
            streams.pads[role]?.shift = timeShift(of: role, settings)
            number &+= 1
        }
    }

    /// True where the pipeline is live. Posts a LATENCY message where its latency is another than the last, as when a
    /// slower source has joined.
    private func followLatency() -> Bool {
        let latency = gst_aggregator_get_latency(aggregator)
        guard latency != noClockTime else { return false }
        let known = streams.knownLatency.exchange(latency, ordering: .relaxed)
        if known != noClockTime && known != latency { post(gst_message_new_latency(object)) }
        return true
    }

    /// Takes the head off its pad, so that it is ours alone if it was upstream's alone.
    private func takeFrame(_ peeked: consuming OwnedBuffer, _ pad: Pad) throws(FlowStop) -> OwnedBuffer {
        let expected = peeked.surrender()
        unref(expected)
        // Another buffer is there only after a flush: what was followed was not meant for it.
        streams.state.untimedHead = nil
        guard let frame = pop(pad), frame.pointer == expected else { throw .needData }
        return frame
    }

    // MARK: After it

    private func drop(_ frame: borrowing OwnedBuffer, at time: RunningTime?) {
        Self.log(GST_LEVEL_DEBUG, self) { "frame at \(time.map(String.init) ?? "no time") comes too late" }
        countDropped()
        frameDropped()
        let stamp = frame.pointer.pointee
        var segment = outputSegment
        let streamTime = gst_segment_to_stream_time(&segment, GST_FORMAT_TIME, stamp.pts)
        guard
            let message = gst_message_new_qos(
                object, gboolean(isLive), guint64(clamping: time ?? 0), streamTime, stamp.pts, stamp.duration)
        else { return }
        gst_message_set_qos_stats(
            message, GST_FORMAT_BUFFERS, guint64(streams.state.processed), guint64(streams.state.dropped))
        post(message)
    }

    /// Drops a gap that precedes the caps.
    private func discardGap(_ pad: Pad) {
        streams.state.untimedHead = nil
        _ = pop(pad)
    }

    /// Forwards a gap, on which a sink prerolls as on a frame.
    private func passGap(_ head: consuming OwnedBuffer, _ pad: Pad) throws(FlowStop) {
        let gap = try takeFrame(head, pad)
        let (start, duration) = (gap.pointer.pointee.pts, gap.pointer.pointee.duration)
        guard start != noClockTime, beginSegment(), let event = gst_event_new_gap(start, duration) else { return }
        if gst_buffer_get_custom_meta(gap.pointer, "GstAggregatorMissingDataMeta") != nil {
            gst_event_set_gap_flags(event, GST_GAP_FLAG_MISSING_DATA)
        }
        gst_pad_push_event(sourcePad, event)
        notePosition(start, duration)
    }

    /// Sends the segment, and the events kept for it, unless they were sent already.
    ///
    /// - Returns: false during a flush.
    package func beginSegment() -> Bool {
        if streams.state.hasSentSegment { return true }
        guard sendMandatoryEvents() else { return false }
        streams.state.hasSentSegment = true
        streams.state.flushSeqnum = nil
        // Sticky events that a flush rejects are sent after it.
        let events = streams.state.laterEvents
        streams.state.laterEvents = []
        streams.state.laterEvents.insert(contentsOf: events.filter { !pushEvent($0) && sourcePad.isFlushing }, at: 0)
        return true
    }

    private func send(_ picture: consuming OwnedBuffer) throws(FlowStop) {
        let stamp = picture.pointer.pointee
        if streams.state.isInterrupted { picture.pointer.markDiscontinuity() }
        streams.state.isInterrupted = false
        _ = beginSegment()
        try finishBuffer(picture.surrender())
        notePosition(stamp.pts, stamp.duration)
    }

    private func notePosition(_ start: GstClockTime, _ duration: GstClockTime) {
        guard start != noClockTime else { return }
        let runsForward = outputSegment.rate > 0
        setPosition(duration == noClockTime || !runsForward ? start : start &+ duration)
    }

    // MARK: Selected samples

    /// Emits "samples-selected" for the buffers that the frame's picture is made from.
    private func announce(_ frame: borrowing OwnedBuffer, at moment: Moment, _ settings: Settings) {
        let reference = frame.pointer
        if hasSampleListener {
            streams.state.selection = { [self] pad in
                guard let role = role(of: pad) else { return nil }
                return role == leader ? reference : selectedBuffer(role, at: moment, settings)
            }
        }
        emitSelectedSamples(for: reference)
        streams.state.selection = nil
    }

    package func peekNextSample(of pad: Pad) -> OpaquePointer? {
        guard let buffer = streams.state.selection?(pad) else { return nil }
        let caps = gst_pad_get_current_caps(pad.pad)
        defer { if let caps { gst_caps_unref(caps) } }
        var segment = segment(of: pad)
        return gst_sample_new(buffer, caps, &segment, nil)
    }
}
