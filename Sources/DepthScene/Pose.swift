/// Where the person's movements are at one moment. All of them are sums of a few sines, so that any time can be asked
/// for on its own.
struct Pose {
    /// How far the body leans to the right, in frame heights.
    var sway: Float
    /// How far the chest is raised by the breath, 0…1.
    var breath: Float
    /// The head's tilt in turns, clockwise on the screen.
    var headTilt: Float
    /// How far the head moves on its own, in frame heights.
    var headShift: Point
    /// The forearm's turn about the elbow, in turns.
    var wave: Float
    /// The hand's turn about the wrist, in turns.
    var wrist: Float
    /// How far the fingers are spread, 0…1.
    var spread: Float
    /// How open the eyes are, 0…1.
    var eyesOpen: Float
    /// How much the mouth smiles, 0…1.
    var smile: Float
    /// Where the eyes look, in frame heights from straight ahead.
    var gaze: Point

    /// Seconds from one wave of the hand to the next.
    private static let wavePeriod = 0.92
    /// Seconds from one breath to the next.
    private static let breathPeriod = 3.9
    /// Seconds from one blink to the next, and what one takes.
    private static let blinkPeriod = 3.1
    private static let blinkLength = 0.22

    init(seed: UInt32, seconds: Double) {
        let clock = seconds.isFinite ? seconds : 0
        // Seed 0 starts where the first frame looks best; the others start somewhere else.
        let offset = seed == 0 ? 0 : Double(Hash.unit(Hash.mix(seed))) * 60
        let time = clock + offset
        func swing(_ period: Double, _ phase: Double = 0) -> Float {
            Numeric.sine(turns: Numeric.fraction(time / period) + phase)
        }
        let beat = swing(Pose.wavePeriod, 0.05)
        let lag = swing(Pose.wavePeriod, -0.13)
        let vigour = 0.8 + 0.2 * swing(7.3, 0.2)
        sway = 0.010 * swing(5.7) + 0.004 * swing(2.9, 0.3)
        breath = 0.5 + 0.5 * swing(Pose.breathPeriod)
        headTilt = 0.0075 * swing(4.7, 0.62) + 0.002 * swing(2.3)
        headShift = Point(0.004 * swing(4.7, 0.55), 0.003 * swing(3.3, 0.1))
        wave = 0.016 * beat * vigour
        wrist = 0.034 * lag * vigour
        spread = 0.5 + 0.5 * swing(3.7, 0.1)
        smile = 0.5 + 0.5 * swing(6.1, 0.15)
        gaze = Point(0.0022 * swing(6.7, 0.1), 0.0008 * swing(4.3))
        eyesOpen = 1 - Pose.blink(at: time)
    }

    /// How far the eyes are closed, 0…1: one smooth bump in each period.
    private static func blink(at time: Double) -> Float {
        let since = Numeric.fraction(time / blinkPeriod + 0.45) * blinkPeriod
        guard since < blinkLength else { return 0 }
        return 0.5 - 0.5 * Numeric.cosine(turns: since / blinkLength)
    }
}
