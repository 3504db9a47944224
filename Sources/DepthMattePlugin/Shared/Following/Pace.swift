import CGStreamer
import GstBridge
import Synchronization

/// How far an element has come along the stream that leads it, and who may hold it up.
final class Pace {
    // MARK: Any thread

    let playGate = PlayGate()
    let lateness = Lateness()
    let padGuard = PadGuard()
    /// A flush came on an upstream thread; the streaming thread obeys and clears the mark.
    let wasFlushed = Atomic(false)
    let flushes = FlushRecord()
    let latencies = InputLatencies()
    /// The last seek, and its answer: one seek arrives several times where downstream has several branches.
    let lastSeek = Mutex<(seqnum: UInt32, isTaken: Bool)>((0, false))
    /// Why caps were refused last, so that it is said once. Written by upstream threads.
    let lastRefusal = Mutex<String?>(nil)

    // MARK: Streaming thread, or while that is stopped

    var warnings = WarningGate()
    /// The leading stream has said what it is.
    var hasCaps = false
    /// Counts the leading stream's frames, to tell them apart.
    var frameNumber: UInt64 = 0
    /// Downstream knows the segment that the leading stream is in.
    var hasSentSegment = false
    /// The next frame that leaves does not continue the last: it is the first, or frames were dropped before it.
    var isInterrupted = true
    /// The seqnum of the output's segment; nil before the first.
    var seqnum: UInt32?
    /// The seqnum of a refused seek whose flush has reset the output's segment, until that is sent again.
    var flushSeqnum: UInt32?
    /// What the leading stream said before the first frame of its segment, to be sent with that.
    var laterEvents: [EventRef] = []
    /// The leading pad received SEGMENT_DONE, and no segment since.
    var isSegmentDone = false
    /// Followed pads that received SEGMENT_DONE: the seqnum of that event, by the raw value of the pad's role.
    var doneInputs: [Int: UInt32] = [:]
    /// The buffer of a pad that the next picture is made from; set during "samples-selected".
    var selection: ((UnsafeMutablePointer<GstAggregatorPad>) -> BufferPointer?)?
    /// The latency that the pipeline was last told of; nil while there was none.
    var knownLatency: GstClockTime?
    /// A leading frame without a timestamp, known by its address, and when it was first seen at the head of its pad.
    var untimedHead: (frame: BufferPointer, arrival: GstClockTime)?
    /// Frames that left and that did not, for QoS messages.
    var processed: UInt64 = 0
    var dropped: UInt64 = 0

    /// What came before is of a stream that is over.
    func forgetStream() {
        hasSentSegment = false
        isInterrupted = true
        flushSeqnum = nil
        laterEvents.removeAll { !$0.isSticky }
        untimedHead = nil
    }

    /// Back to how it began. What other threads read stays what it is, but for the lateness.
    func reset() {
        lateness.reset()
        latencies.forget()
        warnings = WarningGate()
        hasCaps = false
        frameNumber = 0
        forgetStream()
        seqnum = nil
        laterEvents.removeAll()
        isSegmentDone = false
        doneInputs = [:]
        knownLatency = nil
        processed = 0
        dropped = 0
    }
}

/// When and as what a frame of the leading stream is worked on.
struct Moment {
    /// Nil where the frame has no timestamp. Of a gap, the last moment.
    let time: RunningTime?
    let isLive: Bool
    /// Frames before it since the start.
    let number: UInt64
    /// A gap of the leading stream. It consumes no buffers without timestamps.
    var isGap = false
}
