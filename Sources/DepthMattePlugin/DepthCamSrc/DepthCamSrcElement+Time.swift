import CGStreamer
import DepthCameras
import GstBridge
import Synchronization

extension DepthCamSrcElement {
    /// Nanoseconds by which the pipeline's clock may leave the host's before timestamps follow it.
    private static let clockTolerance: Int64 = 1_000_000
    /// Exposures whose timestamps are remembered: as many as one pad may be ahead of the other.
    private static let rememberedStamps = 4 * CaptureSession.queueLength
    /// The measured delay is rounded up to a multiple of this, in nanoseconds, so that small changes post no LATENCY message.
    private static let latencyStep: GstClockTime = 10_000_000
    /// The longest delay that is reported, in nanoseconds. A frame that waited longer in the host's queues tells nothing about
    /// later frames.
    private static let mostLatency: GstClockTime = 500_000_000
    /// The longest lag of depth that is corrected, in nanoseconds.
    private static let mostLag: UInt64 = 1_000_000_000
    /// Microseconds between two corrections of that; longer than depthmatte remembers what it measured before one.
    private static let lagInterval: Int64 = 30_000_000
    /// Nanoseconds that two clocks take to be read.
    private static let longestReading: Int64 = 200_000

    /// Returns the running time of an exposure, in nanoseconds; nil while the pipeline has no clock.
    ///
    /// - Parameter time: of `CaptureSession.Frame`.
    func timestamp(of time: Int64) -> Int64? {
        guard isLive else { return time }
        guard let clock = gst_element_get_clock(instance) else { return nil }
        defer { gst_object_unref(clock) }
        let offset = offset(of: clock)
        let base = Int64(clamping: gst_element_get_base_time(instance))
        return shared.withLock { shared in
            if let known = shared.stamps.first(where: { $0.time == time }) { return known.stamp }
            if shared.clockOffset.map({ abs($0 &- offset) > DepthCamSrcElement.clockTolerance }) ?? true {
                shared.clockOffset = offset
            }
            let stamp = time &+ (shared.clockOffset ?? offset) &- base
            shared.stamps.append((time, stamp))
            if shared.stamps.count > DepthCamSrcElement.rememberedStamps { shared.stamps.removeFirst() }
            return stamp
        }
    }

    /// The time of a clock less that of the host's monotonic clock, in nanoseconds.
    private func offset(of clock: UnsafeMutablePointer<GstClock>) -> Int64 {
        var best: (span: Int64, offset: Int64) = (.max, 0)
        for _ in 0..<3 {
            let before = Int64(g_get_monotonic_time()) &* 1000
            let time = Int64(clamping: gst_clock_get_time(clock))
            let after = Int64(g_get_monotonic_time()) &* 1000
            if after &- before < best.span { best = (after &- before, time &- (before &+ after) / 2) }
            // The thread may have been interrupted between the two clocks.
            if best.span < DepthCamSrcElement.longestReading { break }
        }
        return best.offset
    }

    /// Posts a LATENCY message where frames arrive later than the pipeline was told.
    func updateLatency(_ session: CaptureSession) {
        guard isLive else { return }
        let latency = latency(session)
        let isNew = shared.withLock { shared in
            guard shared.latency != 0, latency > shared.latency else { return false }
            shared.latency = latency
            return true
        }
        if isNew { post(gst_message_new_latency(object)) }
    }

    /// The latency to report: the longest delay so far between a frame's timestamp and its arrival, capped at `mostLatency` and
    /// rounded up to a multiple of `latencyStep`. It is at least one frame's duration, in which the camera reads a picture out.
    private func latency(_ session: CaptureSession) -> GstClockTime {
        let seen = min(GstClockTime(clamping: session.counts.longestDelay), DepthCamSrcElement.mostLatency)
        let steps = (seen &+ DepthCamSrcElement.latencyStep &- 1) / DepthCamSrcElement.latencyStep
        return max(longestFrame(session), steps &* DepthCamSrcElement.latencyStep)
    }

    // MARK: The lag of depth

    /// Nanoseconds by which the depth maps are of earlier moments than their times say.
    var depthLag: Int64 { table.current.depthSync == .measured ? shared.withLock { $0.depthLag.nanoseconds } : 0 }

    /// Takes the lag that depthmatte measured. Several may measure the same one: those that do soon after are to measure again.
    func takeLag(_ query: QueryPointer) -> Bool {
        guard isLive, table.current.depthSync == .measured, case .lag(let lag)? = SyncFault(query) else { return false }
        let now = Int64(g_get_monotonic_time())
        let (isCorrected, isNew) = shared.withLock { shared -> (Bool, Bool) in
            let (sum, isBeyond) = shared.depthLag.nanoseconds.addingReportingOverflow(lag)
            guard !isBeyond, sum.magnitude <= DepthCamSrcElement.mostLag else { return (false, false) }
            if let last = shared.depthLag.changed, now &- last < DepthCamSrcElement.lagInterval { return (true, false) }
            (shared.depthLag.nanoseconds, shared.depthLag.changed) = (sum, now)
            return (true, true)
        }
        if isNew {
            Self.log(GST_LEVEL_INFO, self) { "the timestamps of depth are earlier by \(depthLag) ns from now on" }
            post(gst_message_new_latency(object))
        }
        if isCorrected { SyncFault.markCorrected(query) }
        return isCorrected
    }

    /// The duration of a frame of the slower stream, in nanoseconds.
    private func longestFrame(_ session: CaptureSession) -> GstClockTime {
        let streams = session.lastStreams
        // An array would take memory in each frame.
        let longest = max(streams?.video?.interval ?? 0, streams?.depth?.interval ?? 0)
        return longest == 0 ? frameDuration((30, 1)) : GstClockTime(clamping: longest)
    }

    func answerLatency(_ query: QueryPointer, _ stream: CameraStream) -> Bool {
        guard let session, isLive else {
            gst_query_set_latency(query, gboolean(isLive), 0, noClockTime)
            return true
        }
        let latency = latency(session)
        shared.withLock { $0.latency = latency }
        let queue = longestFrame(session) &* GstClockTime(CaptureSession.queueLength)
        let lag = stream.role == .depth ? GstClockTime(clamping: depthLag) : 0
        gst_query_set_latency(query, 1, latency &+ lag, latency &+ lag &+ queue)
        return true
    }

    func structure(_ property: String) -> StructurePointer? {
        guard let structure = gst_structure_new_empty("stats") else { return nil }
        let counts = session?.counts ?? CaptureSession.Counts()
        structure.set("video", to: counts.video)
        structure.set("depth", to: counts.depth)
        structure.set("lost", to: counts.lost)
        structure.set("reconnects", to: counts.reconnects)
        structure.set("clock-drift", to: counts.drift * 1e6)
        structure.set("clock-error", to: UInt64(clamping: counts.clockError ?? 0))
        structure.set("clock-jumps", to: UInt64(clamping: counts.clockJumps))
        structure.set("latency", to: UInt64(shared.withLock { $0.latency }))
        structure.set("depth-lag", to: depthLag)
        return structure
    }
}

/// The duration of a frame, in nanoseconds; GST_CLOCK_TIME_NONE for a rate of 0.
func frameDuration(_ rate: (numerator: Int, denominator: Int)) -> GstClockTime {
    guard rate.numerator > 0, rate.denominator > 0 else { return noClockTime }
    return gst_util_uint64_scale(1_000_000_000, guint64(clamping: rate.denominator), guint64(clamping: rate.numerator))
}
