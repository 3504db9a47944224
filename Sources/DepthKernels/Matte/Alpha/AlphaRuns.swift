/// A classification of several neighbouring opacities.
///
/// Most of a matte is entirely background or entirely person; only the rest needs arithmetic.
enum Cover: UInt8, BitwiseCopyable {
    /// Every opacity is exactly 0.
    case clear
    /// Every opacity is exactly 1 (255 as a byte).
    case opaque
    /// Any values.
    case mixed
}

/// Pixels `start..<end`, which have the same cover in each of several neighbouring rows.
struct AlphaRun: BitwiseCopyable {
    var cover: Cover
    var start: Int
    var end: Int
}

/// The runs of some rows, contiguous from left to right. Valid until the next rows are read.
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
    ///   - alignment: runs end at multiples of this many pixels, a power of two, or at `width`.
    init(_ memory: UnsafeMutablePointer<AlphaRun>, width: Int, alignment: Int) {
        unsafe self.memory = memory
        self.width = width
        self.alignment = alignment
    }

    var runs: AlphaRuns { unsafe AlphaRuns(first: memory, count: count) }

    /// Appends a run up to `end`, which is rounded to the alignment in favour of mixed runs: those grow, others shrink.
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
