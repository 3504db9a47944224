import CGStreamer
import DepthAggregator
import DepthKernels
import GstBridge

/// The counters of one `depthmatte` since it started: the property `stats` and the element message "stats".
///
/// Every video frame is counted once among `paired`, `reused`, `covered`, `passed` and `dropped`.
struct Statistics: Sendable, Equatable {
    enum Outcome: Equatable, Sendable {
        /// Matted with depth of its time; `skew` is depth time minus video time, in nanoseconds.
        case paired(skew: RunningTime)
        /// Matted with older depth, or with the previous frame's matte.
        case reused(skew: RunningTime)
        /// The background alone was output.
        case covered
        /// The video was output unchanged.
        case passed
        /// Nothing was output.
        case dropped
    }

    var frames: UInt64 = 0
    var paired: UInt64 = 0
    var reused: UInt64 = 0
    var covered: UInt64 = 0
    var passed: UInt64 = 0
    var dropped: UInt64 = 0
    /// Depth time minus video time of the last matted frame, in nanoseconds.
    var lastSkew: RunningTime = 0
    /// The largest absolute skew, in nanoseconds.
    var largestSkew: UInt64 = 0
    /// Of the last matte.
    var report = Matte.Report()
    /// Nanoseconds of work on all frames together.
    var workTime: UInt64 = 0

    /// Running time of the frame with the last message.
    private var lastMessage: RunningTime?

    mutating func count(_ outcome: Outcome, workTime: UInt64) {
        frames &+= 1
        self.workTime &+= workTime
        switch outcome {
        case .paired(let skew):
            paired &+= 1
            note(skew)
        case .reused(let skew):
            reused &+= 1
            note(skew)
        case .covered: covered &+= 1
        case .passed: passed &+= 1
        case .dropped: dropped &+= 1
        }
    }

    private mutating func note(_ skew: RunningTime) {
        lastSkew = skew
        largestSkew = max(largestSkew, skew.magnitude)
    }

    /// Returns true if a message is due with the frame at `time`, and schedules the next one interval later.
    ///
    /// - Parameter interval: nanoseconds; 0 = never.
    mutating func isMessageDue(at time: RunningTime?, interval: GstClockTime) -> Bool {
        guard interval > 0, let time else { return false }
        if let lastMessage, time >= lastMessage, time &- lastMessage < RunningTime(clamping: interval) { return false }
        defer { lastMessage = time }
        return lastMessage != nil
    }

    /// Returns the counters as a structure, which the caller owns.
    func structure() -> StructurePointer? {
        guard let structure = gst_structure_new_empty("stats") else { return nil }
        for (name, value) in [
            ("frames", frames), ("paired", paired), ("reused", reused), ("covered", covered), ("passed", passed),
            ("dropped", dropped), ("skew-max", largestSkew), ("time-per-frame", frames == 0 ? 0 : workTime / frames),
        ] { structure.set(name, to: value) }
        structure.set("skew", to: lastSkew)
        structure.set("room-forgotten", to: UInt64(clamping: report.room.forgotten))
        for (name, value) in [
            ("cutoff", report.cutoff), ("anchor-depth", report.anchorDistance),
            ("head-depth", report.head?.distance ?? 0), ("head-confidence", report.head?.confidence ?? 0),
            ("coverage", report.coverage), ("invalid-share", report.unmeasured), ("room-known", report.room.known),
            ("room-agree", report.room.agree), ("room-used", report.room.used),
            ("depth-shift-x", report.sync.x.pixels), ("depth-shift-y", report.sync.y.pixels),
            ("outline-match", report.sync.match),
        ] { structure.set(name, to: value) }
        for (name, value) in [("depth-lag", report.sync.lag), ("depth-lag-error", report.sync.lagError)] {
            structure.set(name, to: value)
        }
        for (name, value) in [
            ("depth-lag-known", report.sync.isLagKnown), ("depth-shift-x-known", report.sync.x.isKnown),
            ("depth-shift-y-known", report.sync.y.isKnown),
        ] { structure.set(name, to: value) }
        structure.set("present", to: report.isPresent)
        structure.set("detail", to: report.detail.map { "\($0)" } ?? "none")
        return structure
    }
}

extension Pairing {
    /// The outcome of a frame at `time` that was matted with this depth.
    func outcome(at time: RunningTime?) -> Statistics.Outcome {
        switch self {
        case .paired(let choice): .paired(skew: skew(choice, time))
        case .reused(let choice): .reused(skew: skew(choice, time))
        case .missing: .covered
        }
    }

    /// Depth time minus video time in nanoseconds; 0 where either has no timestamp.
    private func skew(_ choice: Choice, _ time: RunningTime?) -> RunningTime {
        guard let chosen = choice.time, let time else { return 0 }
        return chosen &- time
    }
}
