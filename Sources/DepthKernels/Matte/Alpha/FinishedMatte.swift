/// The alpha of a frame, valid until its engine renders the next one.
package struct FinishedMatte {
    /// A byte for each pixel, `width` in each of `height` rows.
    package let alpha: Plane
    /// The parts that are known to be opaque or clear; nil where nothing is known.
    let covers: AlphaCovers?
    /// True where the alpha is estimated from the video's colors too, so that its edges follow those of the video.
    let followsVideo: Bool
    /// The workers that share the frame.
    let bands: MatteBands

    package var width: Int { alpha.rowBytes }
    package var height: Int { alpha.rows }
}

/// The alpha of frames without a person: 0 everywhere.
struct ClearMatte: ~Copyable {
    // Nothing but their fillers is ever written.
    private var alpha = Scratch<UInt8>()
    private var covers = Scratch<Cover>()
    /// The one strip of all rows.
    private var stripOfRow: [Int32] = []

    mutating func matte(width: Int, height: Int, _ bands: MatteBands) -> FinishedMatte {
        let alpha = unsafe MutablePlane(
            packed: alpha.reserve(width * height, filler: 0), width: width, height: height)
        let covers = unsafe covers.reserve(AlphaCovers.segments(width: width), filler: .clear)
        if stripOfRow.count != height { stripOfRow = [Int32](repeating: 0, count: height) }
        return unsafe FinishedMatte(
            alpha: alpha.readOnly, covers: AlphaCovers(covers, width: width, stripOfRow: stripOfRow),
            followsVideo: false, bands: bands)
    }
}

/// The value that several neighbouring opacities share.
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

/// The covers of an alpha plane: one for each segment of 32 pixels of a strip of rows.
@safe
package struct AlphaCovers {
    /// A multiple of every horizontal subsampling, so that a run never starts inside a chroma sample.
    static let segmentWidth = 32

    /// A row of segments for each strip.
    private let covers: UnsafeMutablePointer<Cover>
    /// Pixels.
    private let width: Int
    /// The strip of each row of pixels.
    private let stripOfRow: [Int32]

    init(_ covers: UnsafeMutablePointer<Cover>, width: Int, stripOfRow: [Int32]) {
        unsafe self.covers = covers
        self.width = width
        self.stripOfRow = stripOfRow
    }

    static func segments(width: Int) -> Int { groups(of: segmentWidth, in: width) }

    /// The covers of a strip's segments, from left to right.
    @inline(__always)
    func strip(_ strip: Int) -> UnsafeMutablePointer<Cover> {
        unsafe covers + strip &* AlphaCovers.segments(width: width)
    }

    /// The pixels of a run of segments.
    func pixels(_ segments: Range<Int>) -> Range<Int> {
        (segments.lowerBound &* AlphaCovers.segmentWidth)..<min(segments.upperBound &* AlphaCovers.segmentWidth, width)
    }

    /// Finds the runs of pixels that have the same cover in all of some rows, from left to right.
    ///
    /// - Parameters:
    ///   - covers: nil where there are none; then all pixels are one run, `whole`.
    ///   - runs: room for as many runs as a row has segments.
    static func findRuns(
        of rows: Range<Int>, in covers: AlphaCovers?, orAll whole: AlphaRun, into runs: UnsafeMutablePointer<AlphaRun>
    ) -> AlphaRuns {
        if let covers { return unsafe covers.findRuns(of: rows, into: runs) }
        unsafe runs.pointee = whole
        return unsafe AlphaRuns(first: runs, count: 1)
    }

    private func findRuns(of rows: Range<Int>, into runs: UnsafeMutablePointer<AlphaRun>) -> AlphaRuns {
        let strips = Int(stripOfRow[rows.lowerBound])...Int(stripOfRow[rows.upperBound &- 1])
        var count = 0
        for segment in 0..<AlphaCovers.segments(width: width) {
            var cover = unsafe strip(strips.lowerBound)[segment]
            for next in strips where unsafe strip(next)[segment] != cover { cover = .mixed }
            let end = min((segment &+ 1) &* AlphaCovers.segmentWidth, width)
            if count > 0, unsafe runs[count &- 1].cover == cover {
                unsafe runs[count &- 1].end = end
            } else {
                unsafe runs[count] = AlphaRun(cover: cover, start: segment &* AlphaCovers.segmentWidth, end: end)
                count &+= 1
            }
        }
        return unsafe AlphaRuns(first: runs, count: count)
    }
}

/// Pixels `start..<end`, which have the same cover in each of several neighbouring rows.
struct AlphaRun: BitwiseCopyable {
    var cover: Cover
    var start: Int
    var end: Int
}

/// The runs of some rows, from left to right. Valid until runs are found in the same memory again.
@safe
struct AlphaRuns {
    private let first: UnsafeMutablePointer<AlphaRun>
    let count: Int

    init(first: UnsafeMutablePointer<AlphaRun>, count: Int) {
        unsafe self.first = first
        self.count = count
    }

    /// - Precondition: `0 <= index < count`.
    @inline(__always)
    subscript(index: Int) -> AlphaRun { unsafe first[index] }

    @inline(__always)
    func forEachMixed(_ body: (AlphaRun) -> Void) {
        for index in 0..<count where self[index].cover == .mixed { body(self[index]) }
    }

    /// The same runs with other covers, in the same memory.
    func map(_ cover: (AlphaRun) -> Cover) -> AlphaRuns {
        for index in 0..<count { unsafe first[index].cover = cover(self[index]) }
        return self
    }
}
