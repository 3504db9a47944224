import CGStreamer
import DepthAggregator
import DepthKernels
import GstBridge

/// The counters of one `depthmatte` since it started: the property `stats` and the element message "stats".
///
/// Every video frame is counted once among `paired`, `reused`, `covered`, `passed` and `dropped`.
struct Statistics: Sendable, Equatable {
    /// The outcome of one video frame.
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
    /// Metres; 0 while there is none.
    var cutoff = 0.0
    var anchorDepth = 0.0
    /// Of the head that is followed in the depth map: metres, and 0…1; 0 where none is seen.
    var headDepth = 0.0
    var headConfidence = 0.0
    /// Mean of the matte, 0…1.
    var coverage = 0.0
    /// Share of the depth samples that were not measured, 0…1.
    var invalidShare = 0.0
    /// The resolution of the last fused matte; nil if the last matte was not fused.
    var detail: MatteDetail?
    /// Nanoseconds of work on all frames together.
    var workTime: UInt64 = 0

    /// Running time of the frame with the last message.
    private var lastMessage: RunningTime?

    /// Counts one frame.
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
    func structure() -> UnsafeMutablePointer<GstStructure>? {
        guard let structure = gst_structure_new_empty("stats") else { return nil }
        for (name, value) in [
            ("frames", frames), ("paired", paired), ("reused", reused), ("covered", covered), ("passed", passed),
            ("dropped", dropped), ("skew-max", largestSkew), ("time-per-frame", frames == 0 ? 0 : workTime / frames),
        ] { structure.set(name, to: value) }
        structure.set("skew", to: lastSkew)
        for (name, value) in [
            ("cutoff", cutoff), ("anchor-depth", anchorDepth), ("head-depth", headDepth),
            ("head-confidence", headConfidence), ("coverage", coverage), ("invalid-share", invalidShare),
        ] { structure.set(name, to: value) }
        structure.set("detail", to: detail.map { "\($0)" } ?? "none")
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
