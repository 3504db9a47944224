/// Knowledge of several neighbouring opacities without a look at each.
///
/// Most of a matte is plainly background or plainly person; the arithmetic is for the rest.
enum Cover: UInt8, BitwiseCopyable {
    /// Every opacity is exactly 0.
    case clear
    /// Every opacity is exactly 1 (255 as a byte).
    case opaque
    /// Anything else.
    case mixed
}

/// Pixels `start..<end` of some neighbouring rows, with the same cover in all of them.
struct AlphaRun: BitwiseCopyable {
    var cover: Cover
    var start: Int
    var end: Int
}

/// The runs of some rows, from left to right, each starting where the one before ends. Valid until the next rows are read.
@safe
struct AlphaRuns {
    private let first: UnsafePointer<AlphaRun>?
    let count: Int

    static var none: AlphaRuns { unsafe AlphaRuns(first: nil, count: 0) }

    init(first: UnsafePointer<AlphaRun>?, count: Int) {
        unsafe self.first = first
        self.count = count
    }

    /// - Precondition: `0 <= index < count`.
    @inline(__always)
    subscript(index: Int) -> AlphaRun { unsafe first.unsafelyUnwrapped[index] }

    var isAnyMixed: Bool {
        for index in 0..<count where self[index].cover == .mixed { return true }
        return false
    }

    @inline(__always)
    func forEachMixed(_ body: (AlphaRun) -> Void) {
        for index in 0..<count where self[index].cover == .mixed { body(self[index]) }
    }
}

/// Builds runs from left to right.
@safe
struct AlphaRunList {
    private let memory: UnsafeMutablePointer<AlphaRun>
    private let width: Int
    private let alignment: Int
    private var count = 0
    private var end = 0

    /// - Parameters:
    ///   - memory: room for all runs.
    ///   - alignment: runs end at multiples of this many pixels, a power of two, or at the width.
    init(_ memory: UnsafeMutablePointer<AlphaRun>, width: Int, alignment: Int) {
        unsafe self.memory = memory
        self.width = width
        self.alignment = alignment
    }

    var runs: AlphaRuns { unsafe AlphaRuns(first: memory, count: count) }

    /// Adds a run up to `end`. Where it meets another it ends at a multiple of the alignment inside the one that is plain.
    mutating func append(_ cover: Cover, to end: Int) {
        var end = end
        if end < width { end = (cover == .mixed ? end &+ alignment &- 1 : end) & ~(alignment &- 1) }
        end = min(end, width)
        guard end > self.end else { return }
        if count > 0, unsafe memory[count &- 1].cover == cover {
            unsafe memory[count &- 1].end = end
        } else {
            unsafe memory[count] = AlphaRun(cover: cover, start: self.end, end: end)
            count &+= 1
        }
        self.end = end
    }
}
