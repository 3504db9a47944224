import CGStreamer
import GstBridge

/// The content of a seek event.
struct SeekRequest {
    let rate: Double
    let flags: GstSeekFlags
    let start: Edge
    let stop: Edge
    let seqnum: guint32

    /// The start or stop of a segment. Times are nanoseconds of stream time.
    enum Edge {
        case unchanged
        case at(GstClockTime)
        /// A time before the end of all streams.
        case beforeEnd(GstClockTime)

        /// - Parameter none: the time that an offset of -1 stands for.
        init?(_ type: GstSeekType, _ offset: gint64, none: GstClockTime) {
            switch type {
            case GST_SEEK_TYPE_NONE: self = .unchanged
            case GST_SEEK_TYPE_SET: self = .at(offset == -1 ? none : GstClockTime(clamping: offset))
            case GST_SEEK_TYPE_END: self = .beforeEnd(offset < 0 ? offset.magnitude : 0)
            default: return nil
            }
        }

        /// Returns the absolute time, at most `latest`; nil if it counts from the end of an endless stream.
        func time(unchanged: GstClockTime, length: GstClockTime?, latest: GstClockTime? = nil) -> GstClockTime? {
            switch self {
            case .unchanged: unchanged
            case .at(let time): min(time, latest ?? time)
            case .beforeEnd(let span): length.map { $0 > span ? $0 - span : 0 }
            }
        }

        var absoluteType: GstSeekType {
            if case .unchanged = self { GST_SEEK_TYPE_NONE } else { GST_SEEK_TYPE_SET }
        }
    }

    /// Returns nil for a seek that the source does not support.
    init?(_ event: EventPointer) {
        var rate = 1.0
        var format = GST_FORMAT_TIME
        var flags = GST_SEEK_FLAG_NONE
        var (startType, stopType) = (GST_SEEK_TYPE_NONE, GST_SEEK_TYPE_NONE)
        var (startOffset, stopOffset): (gint64, gint64) = (0, 0)
        gst_event_parse_seek(event, &rate, &format, &flags, &startType, &startOffset, &stopType, &stopOffset)
        guard format == GST_FORMAT_TIME, rate > 0, rate.isFinite,
            flags.rawValue & GST_SEEK_FLAG_INSTANT_RATE_CHANGE.rawValue == 0,
            let start = Edge(startType, startOffset, none: 0),
            let stop = Edge(stopType, stopOffset, none: noClockTime)
        else { return nil }
        (self.rate, self.flags, self.start, self.stop) = (rate, flags, start, stop)
        seqnum = gst_event_get_seqnum(event)
    }

    var isFlushing: Bool { flags.rawValue & GST_SEEK_FLAG_FLUSH.rawValue != 0 }
}
