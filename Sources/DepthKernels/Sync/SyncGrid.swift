/// The numbers of the sync estimate; those of `Tests/quality/sync_estimate.py`.
enum Sync {
    /// Cells of the grid's longer side, about.
    static let longest = 320.0
    /// Points of the outline, at most.
    static let points = 300
    /// Cells that are looked at to both sides of the outline.
    static let reach = 10
    /// Numbers of a row of shifts: those of −`reach`…`reach`, and three more so that the row is whole vectors.
    static let row = 24
    /// Cells: the largest offset and the largest fatness that are tried.
    static let shift = 8
    static let fat = 2
    /// The cost of a hypothesis, for each squared cell.
    static let prior: Float = 0.0005
    /// Video frames that are looked at before and after a depth map.
    static let lags = 8
    static let frames = 2 * lags + 1
    /// Directions of the normal: 0 right, 2 down, 4 left, 6 up.
    static let directions = 8
    /// A side of the picture has so many tiles.
    static let tiles = 8
    /// Frames in a piece of time, and pieces that are remembered: 24 s.
    static let piece = 8
    static let pieces = 90
    /// The share of the tiles' sums that each look keeps: half of it is 6 s old.
    static let keep: Float = 0.992
    /// Cells per frame below which a piece of outline stands.
    static let still: Float = 0.25
    /// Behind an outline it is so many times as far.
    static let jump: Float = 1.08
    /// An unmeasured margin up to this share of the picture is the map's end, not an outline.
    static let rim = 0.1

    // A lag is known from so many pieces in which a tenth of the points moves, when t against every lag 2 frames and more away is
    // above `sure` and the error below `error`, in frames; `late` are the frames to warn of.
    static let busyPieces = 6
    static let sure: Float = 3.5
    static let error = 0.25
    static let late = 0.75

    // An offset is known when estimates are within `agree` cells of each other, also with each fatness whose score is within `alike`
    // of the best, which is above `score`. Worth a warning are `beside` cells where t against none is above `better` and the score
    // grows by `gain`.
    static let agree: Float = 1
    static let alike: Float = 0.01
    static let score: Float = 0.45
    static let beside: Float = 2
    static let better: Float = 3
    static let gain: Float = 0.04

    /// Frames from one report to the next.
    static let reportInterval = 30

    /// True for 16 of 55 frames, in steps of 2, 3 and 5. 34 and 55 are Fibonacci numbers: so the frames are spread as evenly as possible over
    /// any period, that of a motion that repeats and that of maps that come twice or thrice.
    static func isLookedAt(_ number: Int) -> Bool { number &* 34 % 55 < 16 }
}

/// The grid on which the sync estimate compares video and depth: cells of one or four samples of the fusion's grid.
struct SyncGrid: Equatable {
    let samples: WorkGrid
    /// Samples along a cell's side.
    let side: Int
    let width: Int
    let height: Int

    /// - Returns: nil for maps that are too small for an outline.
    init?(_ samples: WorkGrid) {
        self.samples = samples
        side = nearestIndex(Double(max(samples.width, samples.height)) / Sync.longest, in: 1...2)
        (width, height) = (samples.width / side, samples.height / side)
        guard min(width, height) >= 8 else { return nil }
    }

    var count: Int { width * height }
}

/// Vectors of a row of shifts.
typealias ShiftLanes = SIMD8<Float>

/// Adds a multiple of one row of shifts to another.
@inline(__always)
func addShifts(_ row: UnsafePointer<Float>, times factor: Float = 1, to target: UnsafeMutablePointer<Float>) {
    for index in stride(from: 0, to: Sync.row, by: ShiftLanes.scalarCount) {
        let sum =
            unsafe UnsafeRawPointer(target + index).loadUnaligned(as: ShiftLanes.self)
            + UnsafeRawPointer(row + index).loadUnaligned(as: ShiftLanes.self) * factor
        unsafe UnsafeMutableRawPointer(target + index).storeBytes(of: sum, as: ShiftLanes.self)
    }
}
