import DepthKernels
import GstBridge

/// The distance that the cutoff hangs on, followed through time.
///
/// The low-pass is one of time, not of frames, so that the frame rate does not change how it looks:
///
///     anchor += (measured − anchor) · (1 − exp(−Δt / τ))
struct AnchorTracker {
    /// Metres; nil while nothing was ever measured.
    private(set) var distance: Double?
    private var lastTime: RunningTime?

    /// Takes a measurement of the frame at running time `time`; nil holds the last.
    mutating func follow(_ measured: Double?, at time: RunningTime?, timeConstant: Double) {
        guard let measured else { return }
        defer { lastTime = time }
        guard let previous = distance, timeConstant > 0, let time, let lastTime, time > lastTime else {
            // The first measurement, no smoothing, or no telling how much time has passed: jump.
            if distance == nil || timeConstant <= 0 || time == nil || time != lastTime { distance = measured }
            return
        }
        let elapsed = Double(time &- lastTime) / 1e9
        distance = previous + (measured - previous) * (1 - exponential(-elapsed / timeConstant))
    }
}

/// A face box in video pixels and how far away it is.
struct MeasuredFace {
    let box: Box
    /// Metres.
    let distance: Double
}

extension FaceSelect {
    /// Whether a face seen later sets the cutoff rather than the one chosen so far.
    func prefers(_ later: MeasuredFace, to chosen: MeasuredFace) -> Bool {
        switch self {
        case .largest: area(later.box) > area(chosen.box)
        case .nearest: later.distance < chosen.distance
        case .first: false
        case .all: later.distance > chosen.distance
        }
    }

    private func area(_ box: Box) -> Double { box.width * box.height }
}
