import CGStreamer
import DepthKernels
import GstBridge
import Synchronization

/// One `depthmatte`, led by its video.
///
/// Threads: see `FollowingElement`. Everything under "Streaming state" is touched by the source pad's streaming thread
/// alone, or while that is stopped.
final class DepthMatteElement: FollowingElement {
    static let log = LogCategory(name: DepthMatte.factory, description: "Matting of video by its depth")

    let instance: UnsafeMutablePointer<GstElement>
    let table = Properties(DepthMatteProperties.all, initial: DepthMatteSettings())
    let pace = Pace()
    let backgroundFile: BackgroundFile
    let probe = DepthProbe()
    let pointer = PointerTracker()
    let thermal = ThermalWatch()
    /// Written by the streaming thread, read by any.
    let statistics = Mutex(Statistics())

    // MARK: Streaming state

    /// What the video's caps say; nil until they came.
    var input: (format: StreamFormat, caps: CapsRef)?
    /// What the agreed output is; nil until there is one.
    var compositor: Compositor?
    /// What of our own keeps the output from being agreed.
    var negotiationFault: ElementError?
    var inputs = DepthMatteInputs()
    var maker = MatteMaker()
    let background = Background()
    let room = RoomPicture()

    init(_ instance: UnsafeMutablePointer<GstElement>) {
        self.instance = instance
        backgroundFile = BackgroundFile { [table] in table.current.background }
        addLeadingPad()
    }

    func propertyChanged(_ name: String) {
        switch name {
        case "background":
            backgroundFile.replace(for: self)
        case "background-mode":
            // The output may gain or lose its alpha channel, and the video's format with it.
            renegotiate()
            askUpstreamToReconfigure()
        case "thermal":
            thermal.setWanted(table.current.thermal != .ignore, for: self)
        default: break
        }
    }

    // MARK: Start

    func begin() throws(ElementError) {
        statistics.withLock { $0 = Statistics() }
        try backgroundFile.start(for: self, maxPixels: maxPixels)
        thermal.start(table.current.thermal != .ignore, for: self)
    }

    func interrupt() { backgroundFile.interrupt() }

    // MARK: What is told

    /// Tells the user of what they most likely forgot: the pictures alone do not say why there is nothing in them.
    func noteWhatIsMissing(_ settings: DepthMatteSettings) {
        let needsDepth = settings.view != .original && settings.onMissingDepth != .pass
        if !inputs.depth.isThere && needsDepth {
            warnOfSettings("There is no depth pad, so every frame counts as without depth. Link a depth stream to it.")
        }
        if settings.backgroundMode == .image && settings.background == nil {
            warnOfSettings("background-mode=image shows the file that background names, and none is named.")
        }
        if settings.backgroundMode == .stream && !inputs.background.isThere {
            warnOfSettings("background-mode=stream shows the background pad, and there is none.")
        }
    }

    private func warnOfSettings(_ sentence: String) {
        warn(ElementError(.resource(GST_RESOURCE_ERROR_SETTINGS), sentence))
    }

    func noteLateFrame() { statistics.withLock { $0.count(.dropped, workTime: 0) } }

    /// Keeps the books, and tells the application when that is due.
    func account(
        _ outcome: Statistics.Outcome, at time: RunningTime?, since start: gint64, interval: GstClockTime
    ) {
        let work = UInt64(clamping: g_get_monotonic_time() &- start) &* 1000
        let (seen, invalidShare) = (maker.report, maker.invalidShare)
        let message = statistics.withLock { statistics -> Statistics? in
            statistics.count(outcome, workTime: work)
            statistics.cutoff = seen.cutoff
            statistics.anchorDepth = seen.anchorDistance
            statistics.coverage = seen.coverage
            statistics.invalidShare = invalidShare
            statistics.detail = seen.detail
            return statistics.isMessageDue(at: time, interval: interval) ? statistics : nil
        }
        guard let structure = message?.structure(), let posted = gst_message_new_element(object, structure) else {
            return
        }
        gst_element_post_message(instance, posted)
    }

    func structure(_ property: String) -> UnsafeMutablePointer<GstStructure>? {
        statistics.withLock { $0 }.structure()
    }

    // MARK: What is over

    /// The background has no part in the matte. Caps may say again what is known; another stream or segment shows another
    /// scene.
    func streamRestarted(_ role: DepthMatte.PadRole, by event: GstEventType) {
        switch role {
        case .background: break
        case .video,
            .depth where event != GST_EVENT_CAPS:
            maker.forgetPast()
        default: maker.forgetMatte()
        }
    }

    func forgetInputs() {
        inputs.reset()
        maker.reset()
        probe.forget()
    }

    func end() {
        thermal.stop()
        backgroundFile.stop()
        input = nil
        compositor = nil
        negotiationFault = nil
        inputs = DepthMatteInputs()
        maker = MatteMaker()
        background.reset()
        room.reset()
        probe.forget()
        pointer.letGo()
        probe.letGo()
    }
}
