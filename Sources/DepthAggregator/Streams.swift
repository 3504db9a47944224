import CGStreamer
package import GstBridge
package import Synchronization

let noSeqnum = UInt32(GST_SEQNUM_INVALID)

/// The stored part of a `ReferencePadAggregator`.
package final class Streams {
    package init() {}

    // MARK: Any thread

    package let pads = SinkPads()
    let playGate = PlayGate()
    let lateness = Lateness()
    let padGuard = RecursiveLock()
    /// Set by a flush on an upstream thread; the streaming thread handles the flush and clears the flag.
    let wasFlushed = Atomic(false)
    let flushes = FlushRecord()
    /// The last seek, and its result: the same seek arrives several times where downstream has several branches.
    let lastSeek = Mutex<(seqnum: UInt32, isTaken: Bool)>((0, false))
    /// The seqnum of the last segment that the reference pad was done with: what other pads still bring of it is for no frame.
    let finishedSegment = Atomic<UInt32>(noSeqnum)
    /// The reason of the last refused caps, so that it is posted once. Written by upstream threads.
    let lastRefusal = Mutex<String?>(nil)

    /// The stand-in pad brought a buffer of the reference pad, on which no stream has begun since.
    let standInLeads = Atomic(false)
    /// The latency that the pipeline was last told of; NONE while there was none.
    let knownLatency = Atomic<GstClockTime>(noClockTime)
    /// From the first buffer of the stand-in pad that brings nothing of the reference pad.
    package let hasWarnedOfStandIn = Atomic(false)

    // MARK: Streaming thread, or while that is stopped

    /// Lasts from start to stop; `stop` replaces it. An access ends before a call into GStreamer, which may enter this object.
    package var state = StreamState()

    /// Drops the state, and what upstream threads noted for it.
    func stop() {
        state = StreamState()
        pads.forgetStreams()
        lateness.reset()
        finishedSegment.store(noSeqnum, ordering: .relaxed)
        standInLeads.store(false, ordering: .relaxed)
        hasWarnedOfStandIn.store(false, ordering: .relaxed)
        knownLatency.store(noClockTime, ordering: .relaxed)
    }
}

/// The position in the reference stream, and what was told downstream of it.
package struct StreamState {
    package var warnings = WarningLimiter()
    /// True once the reference pad has caps.
    var hasCaps = false
    /// Number of frames of the reference pad so far.
    var frameNumber: UInt64 = 0
    /// True where the current segment was sent downstream.
    var hasSentSegment = false
    /// True where the next output buffer is a discontinuity: it is the first, or frames were dropped before it.
    var isInterrupted = true
    /// The seqnum of the output's segment; nil before the first.
    var seqnum: UInt32?
    /// The seqnum of a refused seek whose flush has reset the output's segment, until that is sent again.
    var flushSeqnum: UInt32?
    /// Serialized events of the reference pad from before the first frame of its segment, to be sent with that frame.
    var laterEvents: [EventRef] = []
    /// The reference pad received SEGMENT_DONE, and no segment since.
    var isSegmentDone = false
    /// Secondary pads that received SEGMENT_DONE: the seqnum of that event, by the raw value of the pad's role.
    var doneInputs: [Int: UInt32] = [:]
    /// The buffer of a pad that the next picture is made from; set during "samples-selected".
    var selection: ((UnsafeMutablePointer<GstAggregatorPad>) -> BufferPointer?)?
    /// A reference frame without a timestamp, known by its address, and when it was first seen at the head of its pad.
    var untimedHead: (frame: BufferPointer, arrival: GstClockTime)?
    /// Frames that left and that did not, for QoS messages.
    var processed: UInt64 = 0
    var dropped: UInt64 = 0

    /// Drops what belongs to a stream that is over.
    mutating func forgetStream() {
        hasSentSegment = false
        isInterrupted = true
        flushSeqnum = nil
        laterEvents.removeAll { !$0.isSticky }
        untimedHead = nil
    }
}

/// A frame of the reference pad: its time, and how it is handled.
package struct Moment {
    /// Running time; nil where the frame has no timestamp. Of a gap, its last nanosecond.
    package let time: RunningTime?
    package let isLive: Bool
    /// Frames before it since the start.
    package let number: UInt64
    /// A gap of the reference stream. It consumes no buffers without timestamps.
    package var isGap = false
}
