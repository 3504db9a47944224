package import CGStreamer
import GstBridge

/// The events and buffers that a source pad sends, in order.
package final class PadLog {
    private let probe: PadProbe
    private let record: Monitor<[Item]>

    /// Times are in nanoseconds.
    package enum Item: @unchecked Sendable {  // guard: values; only the reserved fields of GstSegment are pointers
        case frame(Frame)
        case segment(GstSegment, seqnum: guint32)
        case segmentDone(Bus.SegmentDone)
        /// Another event, by the name of its type.
        case event(String, seqnum: guint32)
    }

    package struct Frame {
        package let start: GstClockTime
        package let end: GstClockTime
        /// By the segment before it.
        package let runningTime: GstClockTime
        package let isDiscontinuous: Bool
    }

    package init(_ element: UnsafeMutablePointer<GstElement>, pad name: String) {
        let pad = staticPad(name, of: element)
        let record = Monitor<[Item]>([])
        self.record = record
        probe = PadProbe(
            pad, GST_PAD_PROBE_TYPE_BUFFER, GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM, GST_PAD_PROBE_TYPE_EVENT_FLUSH
        ) { pad, info in
            let item =
                info.isOfBuffer
                ? gst_pad_probe_info_get_buffer(info).map { Item($0, on: pad) }
                : gst_pad_probe_info_get_event(info).map { Item($0) }
            if let item { record.withLock { $0.append(item) } }
        }
    }

    /// The items sent so far, in memory of their own: the record's is written to when the next one comes.
    package var items: [Item] { record.withLock { $0.map { $0 } } }

    /// The frames sent so far.
    package var frames: [Frame] { items.compactMap { if case .frame(let frame) = $0 { frame } else { nil } } }

    /// The segments that were sent so far, each with the frames after it.
    package var segments: [(segment: GstSegment, seqnum: guint32, frames: [Frame])] {
        var all: [(segment: GstSegment, seqnum: guint32, frames: [Frame])] = []
        for item in items {
            if case .segment(let segment, let seqnum) = item { all.append((segment, seqnum, [])) }
            if case .frame(let frame) = item, !all.isEmpty { all[all.count - 1].frames.append(frame) }
        }
        return all
    }

    /// The ends of segments that were sent so far.
    package var segmentsDone: [Bus.SegmentDone] {
        items.compactMap { if case .segmentDone(let done) = $0 { done } else { nil } }
    }

    /// How many events of a type were sent so far.
    package func count(of type: String) -> Int {
        items.count { if case .event(type, _) = $0 { true } else { false } }
    }
}

extension PadLog.Item {
    fileprivate init(_ buffer: UnsafeMutablePointer<GstBuffer>, on pad: UnsafeMutablePointer<GstPad>) {
        let (start, flags) = (buffer.pointee.pts, buffer.pointee.mini_object.flags)
        var runningTime = noClockTime
        if let event = gst_pad_get_sticky_event(pad, GST_EVENT_SEGMENT, 0) {
            var segment: UnsafePointer<GstSegment>?
            gst_event_parse_segment(event, &segment)
            runningTime = gst_segment_to_running_time(segment, GST_FORMAT_TIME, start)
            gst_event_unref(event)
        }
        self = .frame(
            PadLog.Frame(
                start: start, end: start + buffer.pointee.duration, runningTime: runningTime,
                isDiscontinuous: flags & GST_BUFFER_FLAG_DISCONT.rawValue != 0))
    }

    fileprivate init(_ event: UnsafeMutablePointer<GstEvent>) {
        let seqnum = gst_event_get_seqnum(event)
        var segment: UnsafePointer<GstSegment>?
        var position: gint64 = -1
        switch event.pointee.type {
        case GST_EVENT_SEGMENT:
            gst_event_parse_segment(event, &segment)
            self = .segment(segment?.pointee ?? GstSegment(), seqnum: seqnum)
        case GST_EVENT_SEGMENT_DONE:
            gst_event_parse_segment_done(event, nil, &position)
            self = .segmentDone(Bus.SegmentDone(seqnum: seqnum, position: position))
        default: self = .event(String(cString: gst_event_type_get_name(event.pointee.type)), seqnum: seqnum)
        }
    }
}
