package import CGStreamer
package import GstBridge
import Synchronization

/// The base of elements with a reference pad and secondary pads: each buffer of the reference pad becomes one that leaves,
/// with its timestamp; the secondary pads, which come and go on request, bring what it is made with.
///
/// The virtual functions of GstAggregator keep their names (`Aggregator`): `sinkEvent`, `sinkEventPreQueue`, `sinkQuery`,
/// `srcEvent`, `srcQuery`, `updateSrcCaps`, `aggregate`, `flush`, `getNextTime`. This base implements streams, events,
/// queries, waiting, lateness, seeks and flushes, in extensions by subject. An element implements
///
/// - `acceptCaps` and `setCaps`: the meaning of the caps of its sink pads; `updateSrcCaps`: those of its source pad
/// - `advanceInputs` and `selectedBuffer`: the buffers of the secondary pads for a frame
/// - `aggregateFrame`: the picture
/// - `start` and `stop`, which call `startStreams` and `stopStreams`, as a C element chains up
///
/// and stores `streams`.
///
/// Threads. Properties are set on any thread and copied once a frame. The functions below run on the source pad's
/// streaming thread, or while that is stopped, unless they say otherwise. A flush arrives on an upstream thread and only
/// sets a flag, which the streaming thread handles.
///
/// Locks. None of ours is held over a call into GStreamer that can come back, and none while another of ours is taken, with
/// three exceptions. From the outermost in:
/// 1. `Streams.padGuard` (recursive), over taking a pad's buffer and over a pad's release; then GstAggregator's own locks.
/// 2. `FlushRecord.handleGap`, over putting a gap in its place in GstAggregator's queue; then GstAggregator's own locks.
/// 3. `CloudNavigation`, over a change of the settings; then the settings' own lock.
package protocol ReferencePadAggregator: Aggregator {
    associatedtype Role: PadRole
    associatedtype Settings: AggregatorSettings

    static var log: LogCategory { get }

    var streams: Streams { get }
    var table: Properties<Settings> { get }

    /// Interrupts what keeps the streaming thread waiting: PAUSED to READY, on the application's thread.
    func unlock()

    /// Refuses the caps of a CAPS event that the element cannot work with, on their sender's thread. The ACCEPT_CAPS query is
    /// answered by `sinkQuery`.
    func acceptCaps(_ caps: CapsPointer, on role: Role) throws(CapsRefusal)

    /// Takes caps that `acceptCaps` let through, in their place among the buffers.
    func setCaps(_ caps: CapsPointer, on role: Role) throws(CapsRefusal)

    /// Handles a STREAM_START, SEGMENT or CAPS event at the head of a pad: what follows may not continue what came before it.
    /// Caps that repeat the last ones do not count.
    func streamRestarted(_ role: Role)

    /// Handles a RECONFIGURE event, on downstream's thread.
    func downstreamReconfigured()

    /// Handles a NAVIGATION event on the sink's thread, and takes it. By default it goes upstream on the reference pad.
    func navigationEvent(_ event: EventPointer) -> Bool

    /// True where the source pad's caps are negotiated.
    var isNegotiated: Bool { get }

    /// Nanoseconds to be added to the timestamps of a secondary pad before its buffers are paired. Any thread.
    func timeShift(of role: Role, _ settings: Settings) -> Int64

    /// Advances the secondary pads to a frame's time.
    ///
    /// - Parameter mayWait: true where this may throw `needData`, to be called again when more data has come.
    func advanceInputs(to moment: Moment, mayWait: Bool, _ settings: Settings) throws(FlowStop)

    /// True where a buffer of the stand-in pad brings one of the reference pad. Called on its sender's thread.
    func bringsReference(_ buffer: BufferPointer) -> Bool

    /// Takes what a frame of the leading pad brings with it, before caps are negotiated; may be called again for the same frame.
    ///
    /// - Returns: false where the frame is to be dropped.
    func prepare(_ frame: BufferPointer, at moment: Moment) throws(FlowStop) -> Bool

    /// The buffer of a secondary pad that a frame is made with, after `advanceInputs`.
    func selectedBuffer(_ role: Role, at moment: Moment, _ settings: Settings) -> BufferPointer?

    /// Turns a frame of the reference pad into the output; false drops it.
    func aggregateFrame(_ frame: inout OwnedBuffer, at moment: Moment, _ settings: Settings) throws(FlowStop) -> Bool

    /// Counts a frame that came too late and was dropped before work was done on it.
    func frameDropped()

    /// Finishes work beside the stream, before EOS is sent.
    func drain()

    /// Drops the buffers of the secondary pads, after a flush.
    func resetInputs()
}

/// The settings that the base reads.
package protocol AggregatorSettings: Sendable {
    /// Pictures with more pixels are refused.
    var maxPixels: UInt32 { get }
}

extension ReferencePadAggregator {
    package func unlock() {}
    package func streamRestarted(_ role: Role) {}
    package func downstreamReconfigured() {}
    package func navigationEvent(_ event: EventPointer) -> Bool { pushUpstream(event, on: leader) }
    package func bringsReference(_ buffer: BufferPointer) -> Bool { false }
    package func timeShift(of role: Role, _ settings: Settings) -> Int64 { 0 }
    package func prepare(_ frame: BufferPointer, at moment: Moment) throws(FlowStop) -> Bool { true }
    package func frameDropped() {}
    package func drain() {}
}

// MARK: - Pads and life

extension ReferencePadAggregator {
    package var properties: any PropertyAccess { table }
    package var padGuard: RecursiveLock { streams.padGuard }
    package var maxPixels: Int { Int(table.current.maxPixels) }

    /// The pad whose buffers become those that leave: the reference pad, or its stand-in while that alone has a stream.
    package var leader: Role {
        guard let standIn = Role.standIn, streams.pads[standIn]?.isLinked == true,
            let reference = streams.pads[Role.reference],
            streams.standInLeads.load(ordering: .relaxed) || !reference.isLinked
        else { return .reference }
        return standIn
    }

    package var referencePad: SinkPad? { streams.pads[leader] }

    /// The sink pads that there are now, and their roles.
    var inputs: [(role: Role, input: SinkPad)] {
        Role.allCases.compactMap { role in streams.pads[role].map { (role, $0) } }
    }

    package func role(of pad: Pad) -> Role? { pad.pad.pointee.padtemplate.flatMap { Role($0) } }

    /// Adds the reference pad. Called once, in the element's initializer.
    package func addReferencePad() {
        if let pad = addAlwaysPad(Role.reference.description) { _ = streams.pads.add(pad, as: Role.reference) }
    }

    package func createNewPad(_ template: TemplatePointer, name: String?) -> Pad? {
        guard let role = Role(template), role != .reference, let pad = newPad(template, name: role.description) else {
            return nil
        }
        guard streams.pads.add(pad, as: role) else {
            gst_object_unref(pad)  // there is one already
            return nil
        }
        return pad
    }

    package func releasePad(_ pad: Pad, parent: () -> Void) {
        streams.pads.remove(pad)
        streams.flushes.forget(pad)
        padGuard.withLock(parent)
    }

    package func start() throws(ElementError) { startStreams() }

    /// The base's part of `start`, for elements that have a part of their own.
    package func startStreams() {
        streams.lastRefusal.withLock { $0 = nil }
        streams.flushes.forgetWaiting()
        guard let reference = referencePad else { return }
        setSeqnum(on: reference.pad)
        // This may be right: demuxers link late.
        if !reference.isLinked {
            Self.log(GST_LEVEL_WARNING, self) { "pad \(Role.reference) is not linked; nothing is output until it is" }
        }
    }

    package func sendEvent(_ event: EventPointer, parent: EventHandler) -> Bool {
        guard event.pointee.type == GST_EVENT_SEEK, !isSeekInTime(event) else { return parent(event) }
        gst_event_unref(event)
        return false
    }

    package func changeState(_ transition: GstStateChange, parent: () -> GstStateChangeReturn) -> GstStateChangeReturn {
        switch transition {
        case GST_STATE_CHANGE_READY_TO_PAUSED:
            streams.playGate.state = .paused
            streams.flushes.allowStarts(true)
        case GST_STATE_CHANGE_PAUSED_TO_PLAYING: streams.playGate.state = .playing
        case GST_STATE_CHANGE_PLAYING_TO_PAUSED: streams.playGate.state = .paused
        case GST_STATE_CHANGE_PAUSED_TO_READY:
            streams.playGate.state = .stopping
            unlock()
            streams.flushes.allowStarts(false)
        default: break
        }
        return parent()
    }

    package func flush() { resetInputs() }

    package func stop() { stopStreams() }

    /// The base's part of `stop`, for elements that have a part of their own.
    package func stopStreams() { streams.stop() }
}

// MARK: - Small services

extension ReferencePadAggregator {
    package var noMemoryForCaps: ElementError {
        ElementError(.resource(GST_RESOURCE_ERROR_NO_SPACE_LEFT), "Out of memory while negotiating caps.")
    }

    /// Posts a warning about a faulty frame, at most one a second for each cause.
    ///
    /// - Parameters:
    ///   - what: the frame, as a noun with its pad.
    ///   - consequence: the effect on the output, as a clause.
    package func report(_ fault: FrameFault, of what: String, _ consequence: String) {
        Self.log(GST_LEVEL_INFO, self) { "\(what): \(fault)" }
        if streams.state.warnings.admits("\(what) \(fault.cause)") { warn(ElementError(fault, in: what, consequence)) }
    }

    /// Sends RECONFIGURE upstream on the reference pad.
    package func askUpstreamToReconfigure() {
        if let event = gst_event_new_reconfigure() { _ = pushUpstream(event, on: leader) }
    }

    /// Pushes an event upstream on a sink pad, and takes it.
    package func pushUpstream(_ event: EventPointer, on role: Role) -> Bool {
        guard let pad = streams.pads[role] else {
            gst_event_unref(event)
            return false
        }
        return gst_pad_push_event(pad.pad.pad, event) != 0
    }
}
