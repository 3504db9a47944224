import CGStreamer
import GstBridge
import GstTestSupport
import Synchronization
import TestSupport
import Testing

/// The streams of a soak run: where they are in time, how they are sought, stopped and begun anew, and what is left of them
/// at the end. While one of the functions here is called, nothing is on its way.
final class SoakStreams {
    let bench: Bench
    private let leading: String
    private let seed: UInt64
    /// The last events, for the message of a failure.
    private var history: [String] = []
    /// The segment that all streams are in.
    private(set) var segment = GstSegment.time()
    /// Frames of the segment that were sent.
    private(set) var position = 0
    /// The caps of each stream.
    private(set) var caps: [String: String] = [:]
    var counts = Counts()
    private let seekAnswer = SeekAnswer()
    private let gone: Counter
    private let buffers: LiveBuffers

    /// What has happened, for the log.
    struct Counts {
        var frames = 0
        var seeks = 0
        var seeksWithoutFlush = 0
        var capsChanges = 0
        var propertyChanges = 0
        var dropouts = 0
        var faultyBuffers = 0
        var padChanges = 0
        var restarts = 0
        var refusals = 0
        var warnings = 0
    }

    /// - Parameters:
    ///   - seed: what the events follow from, for messages.
    ///   - gone: counts the element and its pads.
    ///   - buffers: counts what goes in and what comes out.
    init(_ bench: Bench, leading: String, seed: UInt64, _ gone: Counter, _ buffers: LiveBuffers) {
        (self.bench, self.leading, self.seed, self.gone, self.buffers) = (bench, leading, seed, gone, buffers)
        gone.watch(bench.element)
        answerSeeks(leading)
    }

    /// The pads that are there.
    var pads: [String] { Array(caps.keys).sorted() }

    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    func note(_ event: String) {
        history.append("\(counts.frames): \(event)")
        if history.count > 40 { history.removeFirst(20) }
    }

    /// A failure by this, with what is needed to see it again.
    func failure(_ text: String) -> Failure {
        let flows = pads.map { "\($0) \(bench[$0].settle().rawValue)" }
        return Failure(
            description:
                "\(text); flows \(flows), seed \(seed), frame \(counts.frames), caps \(caps), \(bench.bus.takeFaults()), "
                + "after \(history)")
    }

    // MARK: Pads

    /// Sends the first events of a stream.
    func start(_ pad: String, _ text: String) {
        caps[pad] = text
        bench[pad].start(text, segment)
        settle(pad)
    }

    func request(_ pad: String, _ text: String) {
        bench.request(pad)
        answerSeeks(pad)
        start(pad, text)
        counts.padChanges += 1
    }

    func release(_ pad: String) {
        caps[pad] = nil
        bench.release(pad)
        counts.padChanges += 1
    }

    func setCaps(_ pad: String, _ text: String) {
        caps[pad] = text
        bench[pad].setCaps(text)
        settle(pad)
        counts.capsChanges += 1
    }

    private func answerSeeks(_ pad: String) {
        let feed = bench[pad]
        gone.watch(feed.target)
        feed.takeSeeks { [seekAnswer, source = feed.pad] seqnum in seekAnswer.answer(seqnum, on: source) }
    }

    /// Waits until a pad has taken what was sent.
    func settle(_ pad: String) {
        #expect(bench[pad].hasSettled, "the \(pad) pad takes nothing, after \(history)")
        let flow = bench[pad].takeFlow()
        #expect(flow == GST_FLOW_OK, "the \(pad) pad refuses, after \(history)")
    }

    // MARK: Time

    /// When a frame of the segment begins, `number` frames after those that were sent.
    func start(ofNext number: Int) -> GstClockTime {
        segment.rate > 0
            ? segment.start + time(ofFrame: position + number)
            : segment.stop - time(ofFrame: position + number + 1)
    }

    /// True where a frame of the segment has left.
    private(set) var hasPlayed = false

    /// The frames that are left of the segment.
    var left: Int { segment.rate > 0 ? .max : Int((segment.stop - segment.start) / frameDuration) - position - 2 }

    func runningTime(of stamp: GstClockTime) -> Int64 {
        Int64(gst_segment_to_running_time(&segment, GST_FORMAT_TIME, stamp))
    }

    /// From when to when something is shown. Backwards, its end is shown first.
    func runningSpan(of start: GstClockTime, _ duration: GstClockTime) -> Range<Int64> {
        let first = runningTime(of: start)
        let last = runningTime(of: start + duration)
        return min(first, last)..<max(first, last)
    }

    func advance(_ frames: Int) {
        position += frames
        counts.frames += frames
    }

    func push(_ buffer: BufferRef, on pad: String, at start: GstClockTime) {
        buffers.watch(buffer.pointer)
        bench[pad].push(buffer, at: start)
    }

    /// A gap over some of the next frames.
    ///
    /// - Returns: its timestamp and duration.
    @discardableResult
    func pushGap(over frames: Range<Int>, on pad: String) -> (start: GstClockTime, duration: GstClockTime) {
        let (one, other) = (start(ofNext: frames.lowerBound), start(ofNext: frames.upperBound - 1))
        let (start, end) = (min(one, other), max(one, other) + frameDuration)
        bench[pad].gap(at: start, end - start)
        return (start, end - start)
    }

    /// The next frame that leaves; nil where none comes.
    func next() -> Recorder.Frame? {
        let frame = bench.output.next()
        if let frame {
            buffers.watch(frame.buffer.pointer)
            hasPlayed = true
        }
        return frame
    }

    // MARK: Seeks and states

    /// Seeks from downstream; all streams go on in the new segment.
    func seek(flushing isFlushing: Bool, to start: GstClockTime, rate: Double) {
        let flags = isFlushing ? GST_SEEK_FLAG_FLUSH : GST_SEEK_FLAG_NONE
        let stop = rate < 0 ? start + time(ofFrame: 2000) : noClockTime
        let event = gst_event_new_seek(
            rate, GST_FORMAT_TIME, flags, GST_SEEK_TYPE_SET, gint64(start), GST_SEEK_TYPE_SET,
            stop == noClockTime ? -1 : gint64(stop))
        let seqnum = gst_event_get_seqnum(event)
        let base = isFlushing ? 0 : position == 0 ? segment.base : endOfRunningTime
        seekAnswer.isFlushing = isFlushing
        #expect(gst_pad_push_event(bench.output.pad, event) != 0, "a seek to \(start) was refused")
        segment = .time(rate: rate, start: start, stop: stop, base: base)
        if rate < 0 { segment.position = stop }
        (position, hasPlayed) = (0, false)
        for pad in pads {
            bench[pad].push(segment, seqnum: seqnum)
            settle(pad)
        }
        if isFlushing { counts.seeks += 1 } else { counts.seeksWithoutFlush += 1 }
    }

    /// The running time at which the frames that were sent end. Backwards, their last moment is theirs.
    private var endOfRunningTime: GstClockTime {
        let end = GstClockTime(runningSpan(of: start(ofNext: -1), frameDuration).upperBound)
        return segment.rate < 0 ? end + 1 : end
    }

    func stop(_ state: GstState) {
        #expect(gst_element_set_state(bench.element, state) == GST_STATE_CHANGE_SUCCESS)
        for pad in pads { settle(pad) }
    }

    /// Plays again after a stop; all streams begin anew.
    func play() {
        #expect(gst_element_set_state(bench.element, GST_STATE_PLAYING) == GST_STATE_CHANGE_SUCCESS)
        segment = .time()
        (position, hasPlayed) = (0, false)
        for pad in pads { start(pad, caps[pad] ?? "") }
        counts.restarts += 1
    }

    /// Everything read so far is forgotten, so that a long run does not pile it up.
    func forget() { bench.output.forgetStory() }
}

/// How a feed's source takes seeks: each pad is flushed, if that is asked for.
private final class SeekAnswer: @unchecked Sendable {  // guard: set and read on the thread that seeks
    var isFlushing = false

    func answer(_ seqnum: UInt32, on pad: UnsafeMutablePointer<GstPad>) -> Bool {
        guard isFlushing else { return true }
        gst_pad_push_event(pad, flushStart(seqnum))
        gst_pad_push_event(pad, flushStop(seqnum))
        return true
    }
}

/// Counts buffers that are still alive.
final class LiveBuffers: Sendable {
    private let alive = Atomic(0)

    var count: Int { alive.load(ordering: .acquiring) }

    func watch(_ buffer: BufferPointer) {
        alive.add(1, ordering: .relaxed)
        gst_mini_object_weak_ref(
            UnsafeMutableRawPointer(buffer).assumingMemoryBound(to: GstMiniObject.self),
            { data, _ in
                guard let data else { return }
                Unmanaged<LiveBuffers>.fromOpaque(data).takeRetainedValue().alive.subtract(1, ordering: .releasing)
            }, Unmanaged.passRetained(self).toOpaque())
    }
}
