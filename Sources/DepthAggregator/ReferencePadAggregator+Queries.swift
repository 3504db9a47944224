import CGStreamer
package import GstBridge
import Synchronization

extension QueryPointer {
    fileprivate var isSerialized: Bool { pointee.type.rawValue & GST_QUERY_TYPE_SERIALIZED.rawValue != 0 }
}

/// Queries of upstream, downstream and the application.
extension ReferencePadAggregator {
    package func sinkQueryPreQueue(_ query: QueryPointer, on pad: Pad) -> Bool? {
        // Caps or none: GstAggregator would not answer before there are any. And where a flush overtakes a query that
        // waits, 1.22's answers it after it is gone.
        if query.pointee.type == GST_QUERY_ALLOCATION { return proposeAllocation(query, on: pad) }
        // Behind a buffer of a finished segment it would wait for the next segment.
        return query.isSerialized && !admitsBuffer(on: pad) ? false : nil
    }

    package func proposeAllocation(_ query: QueryPointer, on pad: Pad) -> Bool {
        gst_query_add_allocation_meta(query, gst_video_meta_api_get_type(), nil)
        return true
    }

    package func srcQuery(_ query: QueryPointer, parent: () -> Bool) -> Bool {
        switch query.pointee.type {
        case GST_QUERY_LATENCY:
            return answerLatency(query, parent: parent)
        case GST_QUERY_SEEKING:
            return answerSeeking(query)
        case GST_QUERY_DURATION, GST_QUERY_SEGMENT, GST_QUERY_CONVERT:
            // The output is as long as the reference stream, and goes where that can go.
            guard let reference = referencePad else { return parent() }
            return gst_pad_peer_query(reference.pad.pad, query) != 0
        case GST_QUERY_POSITION:
            return answerPosition(query) || parent()
        default:
            return parent()
        }
    }

    /// Reports every input's maximum latency as unlimited to GstAggregator: the pads' queues hold early buffers for as long
    /// as the latency requires. An input that does not answer counts as not live where another is live. One whose buffers are
    /// shifted to earlier times brings them later by as much.
    package func queryPeerLatency(_ query: QueryPointer, of pad: Pad) -> Bool {
        let role = role(of: pad)
        let input = role.flatMap { streams.pads[$0] }
        guard pad.pad.queryPeer(query) else {
            input?.latency.withLock { $0 = nil }
            guard !liveLatencies.isEmpty else { return false }
            gst_query_set_latency(query, 0, 0, noClockTime)
            return true
        }
        var (isLive, least, most): (gboolean, GstClockTime, GstClockTime) = (0, 0, 0)
        gst_query_parse_latency(query, &isLive, &least, &most)
        input?.latency.withLock { $0 = SinkPad.Latency(isLive: isLive != 0, least: least, most: most) }
        gst_query_set_latency(query, isLive, least &+ GstClockTime(clamping: role.map(delay) ?? 0), noClockTime)
        return true
    }

    /// By how much the buffers of a pad come later than their shifted timestamps say.
    private func delay(of role: Role) -> Int64 { role == leader ? 0 : max(0, 0 &- timeShift(of: role, table.current)) }

    /// Asks the inputs anew for their latencies, after a change of a pad's shift, and posts a LATENCY message where that
    /// changes the output's. Any thread.
    package func timeShiftChanged() {
        let before = gst_aggregator_get_latency(aggregator)
        guard before != noClockTime, let query = gst_query_new_latency() else { return }
        defer { gst_query_unref(query) }
        let isAnswered = gst_pad_query(sourcePad, query) != 0
        let latency = gst_aggregator_get_latency(aggregator)
        guard isAnswered, latency != noClockTime, latency != before else { return }
        streams.knownLatency.store(latency, ordering: .relaxed)  // the streaming thread need not tell it again
        post(gst_message_new_latency(object))
    }

    /// As GstAggregator, which forgets (in 1.22) that an application can make it live.
    private func answerLatency(_ query: QueryPointer, parent: () -> Bool) -> Bool {
        guard parent() else { return false }
        var (isLive, least): (gboolean, GstClockTime) = (0, 0)
        gst_query_parse_latency(query, &isLive, &least, nil)
        if gst_aggregator_get_force_live(aggregator) != 0 { isLive = 1 }
        gst_query_set_latency(query, isLive, least, mostLatency(least))
        return true
    }

    /// The latencies of the live inputs, as far as they answered.
    private var liveLatencies: [SinkPad.Latency] {
        inputs.compactMap { $0.input.latency.withLock { $0 } }.filter(\.isLive)
    }

    /// The maximum latency of the output.
    ///
    /// - Parameter least: the minimum latency of the output: the inputs' and ours.
    private func mostLatency(_ least: GstClockTime) -> GstClockTime {
        let live = liveLatencies
        let limits = live.map(\.most).filter { $0 != noClockTime }
        guard let lowest = limits.min(), let slowest = live.map(\.least).max() else { return noClockTime }
        let ours = least > slowest ? least &- slowest : 0
        let (most, isBeyond) = lowest.addingReportingOverflow(ours)
        return isBeyond ? noClockTime : max(most, least)
    }

    private func answerPosition(_ query: QueryPointer) -> Bool {
        var format = GST_FORMAT_UNDEFINED
        gst_query_parse_position(query, &format, nil)
        var segment = outputSegment
        guard format == GST_FORMAT_TIME, segment.format == GST_FORMAT_TIME, segment.position != noClockTime else {
            return false
        }
        let time = gst_segment_to_stream_time(&segment, GST_FORMAT_TIME, segment.position)
        guard time != noClockTime else { return false }
        gst_query_set_position(query, format, gint64(clamping: time))
        return true
    }
}
