import CGStreamer
import DepthAggregator
import GstBridge

/// The segment of all streams of a source, and each stream's position in it.
///
/// The source has one segment and one position, as a GstBaseSrc has. The position is that of the stream farthest ahead. A
/// seek without a flush continues in running time from there, so running time never decreases on a pad, and a stream time
/// has the same running time on all pads. Streams that were behind skip the frames in between.
struct Timeline: @unchecked Sendable {  // guard: a value; only the reserved fields of GstSegment are pointers
    private(set) var segment = GstSegment()
    /// The seqnum of the seek that made the segment, different for each segment.
    private(set) var seqnum: guint32
    /// Streams that have sent SEGMENT_DONE.
    private(set) var finished: Set<DepthTestSrc.PadRole> = []
    /// Streams that have sent EOS and can restart only after a flush.
    private(set) var ended: Set<DepthTestSrc.PadRole> = []
    private var positions: [DepthTestSrc.PadRole: GstClockTime] = [:]
    private var report = Report.none

    /// The next message of a segment seek. SEGMENT_START has to precede SEGMENT_DONE, however fast the streams are.
    private enum Report { case none, start, end }

    init(seqnum: guint32) {
        self.seqnum = seqnum
        gst_segment_init(&segment, GST_FORMAT_TIME)
    }

    /// True for a segment seek (GST_SEEK_FLAG_SEGMENT).
    var isPiece: Bool { segment.flags.rawValue & GST_SEGMENT_FLAG_SEGMENT.rawValue != 0 }

    // MARK: Progress

    /// The end of the last frame that the farthest stream has sent, in nanoseconds of stream time.
    var position: GstClockTime { positions.values.max() ?? segment.position }

    /// The end of the last frame that the stream has sent, in nanoseconds of stream time.
    func position(of role: DepthTestSrc.PadRole) -> GstClockTime { positions[role] ?? segment.position }

    mutating func move(_ role: DepthTestSrc.PadRole, to time: GstClockTime) {
        positions[role] = max(time, segment.position)
    }

    /// Marks a stream as finished.
    ///
    /// - Parameter isForGood: true if it ends with EOS even in a segment seek.
    mutating func finish(_ role: DepthTestSrc.PadRole, isForGood: Bool) {
        if isForGood || !isPiece { ended.insert(role) } else { finished.insert(role) }
    }

    /// Returns true when all streams have finished.
    ///
    /// - Parameter unlinked: streams that cannot send, and count as finished.
    func isOver(without unlinked: Set<DepthTestSrc.PadRole>) -> Bool {
        finished.union(ended).union(unlinked).count == DepthTestSrc.PadRole.allCases.count
    }

    // MARK: Messages

    /// True while SEGMENT_START has to be posted.
    var isStartDue: Bool { report == .start }

    mutating func noteStart() {
        if report == .start { report = .end }
    }

    /// Returns true once, when SEGMENT_DONE has to be posted.
    mutating func takeEnd(without unlinked: Set<DepthTestSrc.PadRole>) -> Bool {
        guard report == .end, isOver(without: unlinked) else { return false }
        report = .none
        return true
    }

    // MARK: Seeks

    /// Returns the timeline after a seek; nil if the seek is not possible.
    ///
    /// - Parameter length: the end of all streams, in nanoseconds of stream time; nil for no end.
    func after(_ seek: SeekRequest, length: GstClockTime?) -> Timeline? {
        guard seek.isFlushing || ended.isEmpty,
            let start = seek.start.time(unchanged: position, length: length, latest: length),
            let stop = seek.stop.time(unchanged: segment.stop, length: length), start <= stop
        else { return nil }
        var next = Timeline(seqnum: seek.seqnum)
        next.segment = segment
        next.segment.position = position
        gst_segment_do_seek(
            &next.segment, seek.rate, GST_FORMAT_TIME, seek.flags, seek.start.absoluteType, start,
            seek.stop.absoluteType, stop, nil)
        next.report = next.isPiece ? .start : .none
        return next
    }
}
