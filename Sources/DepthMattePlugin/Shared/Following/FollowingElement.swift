import CGStreamer
import GstBridge
import Synchronization

/// An element that is led by one stream and follows others along it: each buffer of the leading pad becomes one that
/// leaves, with its timing, and the other pads, which come and go on request, say what it is made with.
///
/// Streams, events, queries, waiting, lateness and flushes are the same for all such elements and are dealt with here; an
/// element adds what its caps mean, what it takes from the pads it follows, and how it draws. Its stored part is `pace`.
///
/// Threads. Properties are set on any thread and copied once a frame. The functions below run on the source pad's
/// streaming thread, or while that is stopped, unless they say otherwise. A flush arrives on an upstream thread and
/// leaves only a mark, which the streaming thread obeys.
///
/// Locks. None of ours is held over a call into GStreamer that can come back, and none while another of ours is taken, but
/// for these three. From the outermost in:
/// 1. `Pace.padGuard` (recursive), over taking a pad's buffer and over a pad's release; then GstAggregator's own locks.
/// 2. `FlushRecord.handleGap`, over putting a gap in its place in GstAggregator's queue; then GstAggregator's own locks.
/// 3. `CloudHands`, over a change of the settings; then the settings' own lock.
protocol FollowingElement: Aggregator {
    associatedtype Role: PadRole
    associatedtype Settings: FollowingSettings

    static var log: LogCategory { get }

    var pace: Pace { get }
    var table: Properties<Settings> { get }

    /// READY to PAUSED, on the application's thread, before any data.
    func begin() throws(ElementError)

    /// The pipeline plays no longer, on the application's thread: nothing may keep the streaming thread waiting.
    func interrupt()

    /// Refuses caps that the element cannot work with, on their sender's thread.
    func check(_ caps: UnsafeMutablePointer<GstCaps>, on role: Role) throws(CapsRefusal)

    /// Takes caps that `check` let through, in their place among the buffers.
    func take(_ caps: UnsafeMutablePointer<GstCaps>, on role: Role) throws(CapsRefusal)

    /// A STREAM_START, SEGMENT or CAPS event has reached the head of a pad: what came before it may not be continued.
    func streamRestarted(_ role: Role, by event: GstEventType)

    /// Downstream would take other caps now, or would have others, on its thread.
    func downstreamChanged()

    /// What a user did on the picture that leaves, on the sink's thread. The event is ours to give back or hand on;
    /// by default it goes to whoever makes the leading stream.
    func navigate(_ event: UnsafeMutablePointer<GstEvent>) -> Bool

    /// Whether the caps that leave are agreed.
    var isNegotiated: Bool { get }

    /// Brings the followed pads up to the moment.
    ///
    /// - Parameter mayWait: whether this may throw `needData`, to be called again when more has come.
    func follow(to moment: Moment, mayWait: Bool, _ settings: Settings) throws(FlowStop)

    /// The buffer of a followed pad that a frame of the leading stream is made with, once `follow` is done.
    func partner(_ role: Role, at moment: Moment, _ settings: Settings) -> BufferPointer?

    /// Makes a frame of the leading stream the one that leaves; false where none is to leave.
    func draw(_ frame: inout OwnedBuffer, at moment: Moment, _ settings: Settings) throws(FlowStop) -> Bool

    /// A frame came so late that it was dropped before it was drawn.
    func noteLateFrame()

    /// The leading stream has ended, and its end leaves next: what was begun beside the stream is to be done by then.
    func finishWork()

    /// Forgets what the followed pads brought: it is of streams that are over.
    func forgetInputs()

    /// PAUSED to READY, on the application's thread, after the streaming thread has ended.
    func end()
}

/// What such an element must be told.
protocol FollowingSettings: Sendable {
    /// Pictures with more pixels are refused.
    var maxPixels: UInt32 { get }
}

extension FollowingElement {
    func begin() throws(ElementError) {}
    func interrupt() {}
    func streamRestarted(_ role: Role, by event: GstEventType) {}
    func downstreamChanged() {}
    func navigate(_ event: UnsafeMutablePointer<GstEvent>) -> Bool { pushUpstream(event, on: .leading) }
    func noteLateFrame() {}
    func finishWork() {}
    func end() {}
}

// MARK: - Pads and life

extension FollowingElement {
    var properties: any PropertyAccess { table }
    var padGuard: PadGuard { pace.padGuard }
    var maxPixels: Int { Int(table.current.maxPixels) }

    var leadingPad: SinkPad? { sinkPad(Role.leading.name) }

    func role(of pad: Pad) -> Role? { pad.pad.pointee.padtemplate.flatMap { Role($0) } }

    /// To be called once, when the element is made.
    func addLeadingPad() { _ = addAlwaysPad(Role.leading.description) }

    func makePad(_ template: UnsafeMutablePointer<GstPadTemplate>, name: String?) -> Pad? {
        guard let role = Role(template), !role.isLeading, sinkPad(role.name) == nil else { return nil }
        return newPad(template, name: role.description)
    }

    func start() throws(ElementError) {
        pace.lastRefusal.withLock { $0 = nil }
        pace.flushes.forgetWaiting()
        if let leading = leadingPad { setSeqnum(on: leading.pad) }
        try begin()
    }

    func sendEvent(
        _ event: UnsafeMutablePointer<GstEvent>, parent: (UnsafeMutablePointer<GstEvent>) -> Bool
    ) -> Bool {
        guard event.pointee.type == GST_EVENT_SEEK, !isSeekInTime(event) else { return parent(event) }
        gst_event_unref(event)
        return false
    }

    func changeState(
        _ transition: GstStateChange, parent: () -> GstStateChangeReturn
    ) -> GstStateChangeReturn {
        switch transition {
        case GST_STATE_CHANGE_READY_TO_PAUSED: pace.playGate.state = .paused
        case GST_STATE_CHANGE_PAUSED_TO_PLAYING: pace.playGate.state = .playing
        case GST_STATE_CHANGE_PLAYING_TO_PAUSED: pace.playGate.state = .paused
        case GST_STATE_CHANGE_PAUSED_TO_READY:
            pace.playGate.state = .stopping
            interrupt()
        default: break
        }
        return parent()
    }

    func flush() { forgetInputs() }

    func stop() {
        end()
        pace.reset()
    }
}

// MARK: - Small services

extension FollowingElement {
    var noMemoryForCaps: ElementError {
        ElementError(.resource(GST_RESOURCE_ERROR_NO_SPACE_LEFT), "There is no memory to agree on caps.")
    }

    /// Tells the user, not too often, what is wrong with a frame.
    ///
    /// - Parameter consequence: what becomes of the picture, as a clause.
    func report(_ fault: FrameFault, of what: String, _ consequence: String) {
        Self.log.info(self) { "\(what): \(fault)" }
        if pace.warnings.admits("\(what) \(fault.cause)") { warn(ElementError(fault, in: what, consequence)) }
    }

    /// Runs what draws a frame that must leave; what is wrong with it ends the stream.
    ///
    /// - Parameter what: is drawn, as a noun.
    func drawingLast<Result: ~Copyable>(
        _ what: String, _ body: () throws(FrameFault) -> Result
    ) throws(FlowStop) -> Result {
        do throws(FrameFault) {
            return try body()
        } catch {
            throw .failed(ElementError(error, in: what, "the stream cannot go on"))
        }
    }

    /// Asks whoever makes the leading stream to agree on caps anew.
    func askUpstreamToReconfigure() {
        if let event = gst_event_new_reconfigure() { _ = pushUpstream(event, on: .leading) }
    }

    /// Hands an event to whoever feeds a pad.
    func pushUpstream(_ event: UnsafeMutablePointer<GstEvent>, on role: Role) -> Bool {
        guard let pad = sinkPad(role.name) else {
            gst_event_unref(event)
            return false
        }
        return gst_pad_push_event(pad.pad.pad, event) != 0
    }
}
