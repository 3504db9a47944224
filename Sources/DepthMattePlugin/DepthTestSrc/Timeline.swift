import CGStreamer
import DepthAggregator
import GstBridge

/// The segment that all streams of a source play, and how far each has come in it.
///
/// The source has one segment and one position, as a GstBaseSrc has. The position is that of the stream which is farthest
/// ahead. A seek without a flush goes on in running time from there: running time goes back on no pad, and a stream time
/// has the same running time on all of them. Streams that were behind leave out the frames in between.
struct Timeline: @unchecked Sendable {  // guard: a value; only the reserved fields of GstSegment are pointers
    private(set) var segment = GstSegment()
    /// The seqnum of the seek that made the segment. Each segment has another.
    private(set) var seqnum: guint32
    /// Streams that have sent SEGMENT_DONE.
    private(set) var finished: Set<DepthTestSrc.PadRole> = []
    /// Streams that have sent EOS, after which only a flush lets them go on.
    private(set) var ended: Set<DepthTestSrc.PadRole> = []
    private var positions: [DepthTestSrc.PadRole: GstClockTime] = [:]
    private var report = Report.none

    /// Which message about a SEGMENT seek's segment is next. The start has to come before the end, however soon the
    /// streams are there.
    private enum Report { case none, start, end }

    init(seqnum: guint32) {
        self.seqnum = seqnum
        gst_segment_init(&segment, GST_FORMAT_TIME)
    }

    /// True for a segment seek: the application plays a larger segment piece by piece.
    var isPiece: Bool { segment.flags.rawValue & GST_SEGMENT_FLAG_SEGMENT.rawValue != 0 }

    // MARK: Progress

    /// The end of the last frame that the farthest stream has sent, in nanoseconds of stream time.
    var position: GstClockTime { positions.values.max() ?? segment.position }

    /// The end of the last frame that the stream has sent, in nanoseconds of stream time.
    func position(of role: DepthTestSrc.PadRole) -> GstClockTime { positions[role] ?? segment.position }

    mutating func move(_ role: DepthTestSrc.PadRole, to time: GstClockTime) {
        positions[role] = max(time, segment.position)
    }

    /// The stream sends no more.
    ///
    /// - Parameter isForGood: whether it ends with EOS, whatever the segment.
    mutating func finish(_ role: DepthTestSrc.PadRole, isForGood: Bool) {
        if isForGood || !isPiece { ended.insert(role) } else { finished.insert(role) }
    }

    /// True once no stream sends any more.
    ///
    /// - Parameter unlinked: streams that cannot.
    func isOver(without unlinked: Set<DepthTestSrc.PadRole>) -> Bool {
        finished.union(ended).union(unlinked).count == DepthTestSrc.PadRole.allCases.count
    }

    // MARK: Messages

    /// True while SEGMENT_START is to be posted.
    var isStartDue: Bool { report == .start }

    mutating func noteStart() {
        if report == .start { report = .end }
    }

    /// True once, when SEGMENT_DONE is to be posted.
    mutating func takeEnd(without unlinked: Set<DepthTestSrc.PadRole>) -> Bool {
        guard report == .end, isOver(without: unlinked) else { return false }
        report = .none
        return true
    }

    // MARK: Seeks

    /// The timeline that a seek leads to; nil where the seek cannot be done.
    ///
    /// - Parameter length: where all streams end, in nanoseconds of stream time; nil where they do not.
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
