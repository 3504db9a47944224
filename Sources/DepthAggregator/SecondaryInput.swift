import CGStreamer
import GstBridge

/// A secondary pad along the reference stream's timeline: the buffer that is valid at its time, and the one after.
///
/// Streaming thread only.
struct SecondaryInput: ~Copyable {
    struct Entry: ~Copyable {
        let buffer: OwnedBuffer
        /// Nil for a buffer without a timestamp: such buffers are paired in order.
        let time: RunningTime?
    }

    private let sinkPad: SinkPad
    var pad: UnsafeMutablePointer<GstAggregatorPad> { sinkPad.pad }
    /// The newest buffer at or before the reference stream's time.
    private var current: Entry?
    /// The oldest buffer after it, still on the pad; nil where none has come yet.
    private var next: Entry?
    /// The reference frame that buffers without timestamps were last taken for.
    private var servedFrame: UInt64?
    /// True where there is a current buffer that has a time.
    private var currentHasTime: Bool { currentChoice?.time != nil }
    /// True where a gap leaves the current buffer valid, as with a picture that does not move.
    private let holdsThroughGaps: Bool

    init(_ pad: SinkPad, holdsThroughGaps: Bool = false) {
        sinkPad = pad
        self.holdsThroughGaps = holdsThroughGaps
    }

    /// True while the pad has brought nothing for the moment and has not ended.
    func isEmpty(in element: any Aggregator, at moment: Moment) -> Bool {
        if servedFrame == moment.number || isCurrentExactly(at: moment.time) { return false }
        return !element.hasBuffer(pad) && !element.hasEnded(pad)
    }

    /// Takes the buffers before a moment off the pad, and leaves what is at it or after it. Throws `needData` while the pad is empty
    /// and has not ended.
    mutating func approach(_ moment: Moment, in element: any Aggregator) throws(FlowStop) {
        guard let time = moment.time, servedFrame != moment.number, !isCurrentExactly(at: time) else { return }
        while let head = element.head(of: pad) {
            guard let headTime = due(head, in: element), headTime < time else { return }
            if head.pointer.isGap, let span = span(head, in: element), span.contains(time) { return }
            take(from: element, time: headTime)
        }
        if !element.hasEnded(pad) { throw .needData }
    }

    /// Brings the input up to a moment. Of several buffers with one timestamp the first counts: the others may not have come
    /// yet.
    ///
    /// - Parameter mayWait: true where results may depend on data still to come. Then this throws `needData` until a
    ///   buffer past the moment, or one exactly at it, or the end of the stream has been seen.
    mutating func advance(in element: any Aggregator, to moment: Moment, mayWait: Bool) throws(FlowStop) {
        next = nil
        let time = moment.time
        if !moment.isGap {
            if servedFrame == moment.number { return }
            if time == nil || !currentHasTime { current = nil }  // paired in order: each serves one frame
        }
        while let head = element.head(of: pad) {
            let headTime = due(head, in: element)
            if let time, head.pointer.isGap, let span = span(head, in: element), span.contains(time) {
                // It stays on the pad: GstAggregator calls nobody while a pad is empty.
                if !holdsThroughGaps { current = nil }
                return
            }
            if let time, let headTime, headTime > time {
                if !head.pointer.isGap { next = Entry(buffer: head, time: headTime) }
                return
            }
            if moment.isGap && headTime == nil { return }
            take(from: element, time: headTime)
            if time == nil || headTime == nil {
                servedFrame = moment.number
                return
            }
        }
        let isSettled = isCurrentExactly(at: time) || element.hasEnded(pad)
        if mayWait && !isSettled { throw .needData }
    }

    /// When the head of the pad is due, with the pad's shift; nil where it has no timestamp.
    private func due(_ head: borrowing OwnedBuffer, in element: any Aggregator) -> RunningTime? {
        element.runningTime(of: head.pointer, on: pad, shift: sinkPad.shift)
    }

    /// From when to when the head of the pad is shown, with the pad's shift.
    private func span(_ head: borrowing OwnedBuffer, in element: any Aggregator) -> Range<RunningTime>? {
        element.runningSpan(of: head.pointer, on: pad, shift: sinkPad.shift)
    }

    /// The newest buffer at or before the reference stream's time, until the next `advance`.
    var currentChoice: Pairing.Choice? { Pairing.Choice(current) }

    /// The oldest buffer after it, until the next `advance`.
    var nextChoice: Pairing.Choice? { Pairing.Choice(next) }

    /// True where the current buffer has exactly this time.
    private func isCurrentExactly(at time: RunningTime?) -> Bool { time != nil && currentChoice?.time == time }

    /// Forgets what was taken: it belongs to a stream that is over.
    mutating func reset() {
        current = nil
        next = nil
        servedFrame = nil
    }

    /// Takes the head off the pad; a gap says that nothing holds from here on.
    private mutating func take(from element: any Aggregator, time: RunningTime?) {
        guard let buffer = element.pop(pad) else { return }
        if !buffer.pointer.isGap {
            if isCurrentExactly(at: time) { return }
            current = Entry(buffer: buffer, time: time)
        } else if !holdsThroughGaps {
            current = nil
        }
    }
}
