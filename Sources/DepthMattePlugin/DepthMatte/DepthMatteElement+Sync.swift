import CGStreamer
import DepthAggregator
import DepthKernels
import GstBridge
import Synchronization

/// A value of the property `depth-sync`: the use of lag and offset of depth as the pictures show them.
enum DepthSync: Int, PropertyEnum {
    case timestamps, report, measured

    static let typeName = "GstDepthMatteDepthSync"

    var blurb: String {
        switch self {
        case .timestamps: "Nothing is measured; timestamps and offsets are right"
        case .report: "Measure, tell it in stats, and warn where depth is late or beside the video"
        case .measured:
            "As report, and correct it: a lag after two reports, at most every 10 s; no property is written"
        }
    }
}

/// The corrections and warnings that followed from the reports.
struct SyncState {
    /// The settings that the corrections belong to.
    fileprivate var key: Key?
    /// The last report.
    fileprivate var last = SyncReport()
    fileprivate var warnings = (lag: Warning(), x: Warning(), y: Warning())
    /// Video pixels that are added to the offsets, and those that they are on the way to.
    fileprivate var shift = SIMD2(0.0, 0.0)
    fileprivate var wantedShift = SIMD2(0.0, 0.0)
    /// When the lag was corrected last.
    fileprivate var correction: RunningTime?

    fileprivate struct Key: Equatable {
        let sync: DepthSync
        let timeOffset: Int64
        let reading: DepthReading
    }

    /// A fault that is warned of once, and again after a change.
    fileprivate struct Warning {
        /// The value that was warned of.
        private var told: Double?

        /// - Parameters:
        ///   - step: the least change of the value that counts.
        /// - Returns: true where a warning is due.
        mutating func isDue(_ isFault: Bool, isRight: Bool, _ value: Double, step: Double) -> Bool {
            if isRight { told = nil }
            guard isFault, told.map({ abs($0 - value) >= step }) ?? true else { return false }
            told = value
            return true
        }
    }
}

/// The reports of lag and offset: warnings, and corrections.
extension DepthMatteElement {
    /// Nanoseconds between two corrections of the lag.
    private static let correctionInterval: RunningTime = 10_000_000_000

    /// Adds the corrections of the offset to a frame's settings. Other settings end what was measured with those before.
    func applySync(to settings: inout DepthMatteSettings) {
        let key = SyncState.Key(
            sync: settings.depthSync, timeOffset: settings.depthTimeOffset, reading: settings.depth)
        if key != state.sync.key {
            let isFirst = state.sync.key == nil
            state.sync = SyncState()
            state.sync.key = key
            if !isFirst { state.maker.forgetSync() }
            setMeasuredTimeOffset(0)
        }
        let way = state.sync.wantedShift - state.sync.shift
        state.sync.shift += way.clamped(lowerBound: SIMD2(repeating: -1), upperBound: SIMD2(repeating: 1))
        settings.depth.offsetX += state.sync.shift.x
        settings.depth.offsetY += state.sync.shift.y
    }

    /// Acts on a new report. A fault counts when two reports show it.
    func followSync(_ job: Job) {
        let (report, last) = (state.maker.report.sync, state.sync.last)
        guard report.number != last.number else { return }
        state.sync.last = report
        Self.log(GST_LEVEL_DEBUG, self) { "sync: \(report)" }
        let isLate = report.isLate && last.isLate
        let isBeside = (x: report.x.isBeside && last.x.isBeside, y: report.y.isBeside && last.y.isBeside)
        if job.settings.depthSync == .measured {
            // The map on a video buffer is of its frame, whatever its time.
            if isLate, state.inputs.depth.exists { correctLag(report, job) }
            if report.x.isMoved && last.x.isMoved { state.sync.wantedShift.x += report.x.pixels }
            if report.y.isMoved && last.y.isMoved { state.sync.wantedShift.y += report.y.pixels }
            // Two reports of the new place decide about the next step.
            if state.sync.wantedShift != state.sync.shift { state.sync.last = SyncReport(number: report.number) }
            return
        }
        let lagStep = max(15e6, 3 * Double(report.lagError))
        let isLagRight = report.isLagKnown && !report.isLate
        if state.sync.warnings.lag.isDue(isLate, isRight: isLagRight, Double(report.lag), step: lagStep) {
            if isCorrectedUpstream(report, job) {
                state.sync.warnings.lag = SyncState.Warning()
                return beginSync(after: report)
            }
            warnOfLag(report, job.settings)
        }
        let (x, y, offset) = (report.x, report.y, job.settings.depth)
        if state.sync.warnings.x.isDue(isBeside.x, isRight: x.isKnown && !x.isBeside, x.pixels, step: 2 * x.cell) {
            warnOfShift(x, offset.offsetX, "depth-offset-x") { .right(-$0) }
        }
        if state.sync.warnings.y.isDue(isBeside.y, isRight: y.isKnown && !y.isBeside, y.pixels, step: 2 * y.cell) {
            warnOfShift(y, offset.offsetY, "depth-offset-y") { .down(-$0) }
        }
    }

    /// Corrects the lag in one step. The latency of a live pipeline is never lowered.
    private func correctLag(_ report: SyncReport, _ job: Job) {
        let (time, before) = (job.moment.time ?? 0, measuredTimeOffset.load(ordering: .relaxed))
        // After a seek the running time begins anew.
        if let last = state.sync.correction, time >= last, time &- last < DepthMatteElement.correctionInterval {
            return
        }
        let after = before &- report.lag
        let property = job.settings.depthTimeOffset
        if isCorrectedUpstream(report, job) {
            Self.log(GST_LEVEL_INFO, self) { "depth is late by \(report.lag) ns; its source corrects that" }
        } else if job.moment.isLive && min(property &+ after, 0) > min(property &+ before, 0) {
            return
        } else {
            Self.log(GST_LEVEL_INFO, self) { "depth is late by \(report.lag) ns; corrected by \(after) ns from now on" }
            setMeasuredTimeOffset(after)
        }
        state.sync.correction = time
        beginSync(after: report)
    }

    private func setMeasuredTimeOffset(_ offset: Int64) {
        let before = measuredTimeOffset.exchange(offset, ordering: .relaxed)
        if before != offset { timeShiftChanged() }
    }

    private func warnOfLag(_ report: SyncReport, _ settings: DepthMatteSettings) {
        let milliseconds = wholeNumber(Double(report.lag) / 1e6)
        let error = wholeNumber((Double(report.lagError) / 1e6).rounded(.up))
        let (before, offset) = (settings.depthTimeOffset, settings.depthTimeOffset &- milliseconds &* 1_000_000)
        let latency = (min(before, 0) &- min(offset, 0)) / 1_000_000
        let cost = latency > 0 ? "; a live pipeline gets \(latency) ms more latency" : ""
        let fault =
            milliseconds > 0
            ? "Depth shows what the video showed \(milliseconds) ms before (+-\(error) ms)."
            : "The video is late: it shows what depth showed \(milliseconds.magnitude) ms before (+-\(error) ms)."
        let cure = state.inputs.depth.exists ? "Set" : "Link the source's depth pad to this element's too, and set"
        warnOfSettings("\(fault) \(cure) depth-ts-offset to \(offset)\(cost).")
    }

    /// - Parameters:
    ///   - offset: the value of the property.
    ///   - fault: that of a map which has to be moved by so many pixels.
    private func warnOfShift(
        _ shift: SyncReport.Shift, _ offset: Double, _ property: String, _ fault: (Double) -> SyncFault
    ) {
        // Of what comes in the property is no part.
        let needed = offset + shift.pixels
        if abs(needed) >= 2 * shift.cell { _ = tell(fault(needed)) }
        guard let sentence = fault(shift.pixels).sentence else { return }
        warnOfSettings("\(sentence). Set \(property) to \(wholeNumber(needed)).")
    }

    /// A lag is the source's where this element shifts no time itself.
    private func isCorrectedUpstream(_ report: SyncReport, _ job: Job) -> Bool {
        guard job.settings.depthTimeOffset == 0, measuredTimeOffset.load(ordering: .relaxed) == 0,
            tell(.lag(report.lag))
        else { return false }
        timeShiftChanged()
        return true
    }

    /// Tells a fault to the elements upstream of the depth pad.
    ///
    /// - Returns: true where one of them corrects it.
    private func tell(_ fault: SyncFault) -> Bool {
        guard let input = streams.pads[DepthMatte.PadRole.depth] else { return false }
        return withExtendedLifetime(input) { fault.askUpstream(of: input.pad.pad) }
    }

    /// Forgets what was measured before a correction.
    private func beginSync(after report: SyncReport) {
        state.sync.last = SyncReport(number: report.number)
        state.maker.forgetSync()
    }
}
