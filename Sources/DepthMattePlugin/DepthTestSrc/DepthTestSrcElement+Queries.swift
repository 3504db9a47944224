import CGStreamer
import GstBridge

extension DepthTestSrcElement {
    func srcQuery(_ query: QueryPointer, on stream: TestStream, parent: () -> Bool) -> Bool {
        let settings = table.current
        var format = GST_FORMAT_TIME
        switch query.pointee.type {
        case GST_QUERY_LATENCY:
            gst_query_set_latency(query, gboolean(settings.isLive), 0, noClockTime)
            return true
        case GST_QUERY_SEEKING:
            gst_query_parse_seeking(query, &format, nil, nil, nil)
            let isSeekable = format == GST_FORMAT_TIME && !settings.isLive
            gst_query_set_seeking(
                query, format, gboolean(isSeekable), 0, length(settings).map { gint64(clamping: $0) } ?? -1)
            return true
        case GST_QUERY_DURATION:
            gst_query_parse_duration(query, &format, nil)
            guard format == GST_FORMAT_TIME, let length = length(settings) else { return false }
            gst_query_set_duration(query, format, gint64(clamping: length))
            return true
        case GST_QUERY_POSITION:
            gst_query_parse_position(query, &format, nil)
            guard format == GST_FORMAT_TIME else { return false }
            let position = shared.withLock { $0.timeline.position(of: stream.role) }
            gst_query_set_position(query, format, gint64(clamping: position))
            return true
        default:
            return parent()
        }
    }
}
