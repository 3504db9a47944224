/// The person's movements at one moment. All of them are sums of a few sines, so that the pose at any time can
/// be computed on its own.
struct Pose {
    /// The body's lean to the right, in frame heights.
    let sway: Float
    /// The phase of breathing: 0 exhaled, 1 inhaled.
    let breath: Float
    /// The head's tilt in turns, clockwise on the screen.
    let headTilt: Float
    /// The head's own movement, in frame heights.
    let headShift: Point
    /// The forearm's turn about the elbow, in turns.
    let wave: Float
    /// The hand's turn about the wrist, in turns.
    let wrist: Float
    /// The spread of the fingers, 0…1.
    let spread: Float
    /// 0 for closed eyes, 1 for open ones.
    let eyesOpen: Float
    /// 0 for a straight mouth, 1 for a smile.
    let smile: Float
    /// The direction of the eyes, in frame heights from straight ahead.
    let gaze: Point

    /// Seconds from one wave of the hand to the next, and from one blink to the next.
    private static let (wavePeriod, blinkPeriod) = (0.92, 3.1)
    /// Seconds that a blink takes.
    private static let blinkLength = 0.22

    init(seed: UInt32, seconds: Double) {
        let clock = seconds.isFinite ? seconds : 0
        // Seed 0 starts where the first frame looks best; the others start somewhere else.
        let time = clock + (seed == 0 ? 0 : Double(Hash.unit(Hash.mix(seed))) * 60)
        /// The part of a period that has passed.
        func fraction(_ periods: Double) -> Double { periods - periods.rounded(.down) }
        func swing(_ period: Double, _ phase: Double = 0) -> Float {
            Numeric.sine(turns: fraction(time / period) + phase)
        }
        let vigour = 0.8 + 0.2 * swing(7.3, 0.2)
        sway = 0.010 * swing(5.7) + 0.004 * swing(2.9, 0.3)
        breath = 0.5 + 0.5 * swing(3.9)
        headTilt = 0.0075 * swing(4.7, 0.62) + 0.002 * swing(2.3)
        headShift = [0.004 * swing(4.7, 0.55), 0.003 * swing(3.3, 0.1)]
        wave = 0.016 * swing(Pose.wavePeriod, 0.05) * vigour
        wrist = 0.034 * swing(Pose.wavePeriod, -0.13) * vigour
        spread = 0.5 + 0.5 * swing(3.7, 0.1)
        smile = 0.5 + 0.5 * swing(6.1, 0.15)
        gaze = [0.0022 * swing(6.7, 0.1), 0.0008 * swing(4.3)]
        // One smooth bump in each period.
        let since = fraction(time / Pose.blinkPeriod + 0.45) * Pose.blinkPeriod
        let closed = since < Pose.blinkLength ? 0.5 - 0.5 * Point.onCircle(turns: since / Pose.blinkLength).x : 0
        eyesOpen = 1 - closed
    }
}
