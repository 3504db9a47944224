/// The stage that adds the output of a segmentation network to the evidence of the open samples.
///
///     L += weight · log(p / (1 − p)), 0.02 ≤ p ≤ 0.98
///
/// p is the picture at the sample's center, interpolated bilinearly; samples beyond the picture get its edge. Samples
/// that depth alone classifies are not changed: a wrong segmentation does not show the room that was measured.
///
/// Integer arithmetic and a table make the result the same on every processor. Source: the log odds of independent
/// evidence add up (`Fusion`). The limits bound the influence of the network: its term is at most 3.9, below that of
/// color (6).
struct SegmentationEvidence: ~Copyable {
    private static let leastProbability = 0.02
    /// Binary logarithm of the interpolation steps between two pixels.
    private static let shareBits = 8
    /// Binary logarithm of the table entries for each step of a byte.
    private static let levelBits = 4
    private static let levels = 255 << levelBits + 1

    private var columns = Scratch<Tap>()
    private var table = Scratch<Float>()
    private var hasTable = false

    /// Adds to the evidence of the open samples.
    mutating func add(
        _ picture: Plane, weight: Float, to evidence: UnsafeMutablePointer<Float>, _ sets: Classes.Sets,
        _ context: FusionContext
    ) {
        let grid = context.grid
        let placement = grid.placement
        let columns = unsafe columns.reserve(grid.width, filler: (0, 0, 0))
        let across = Axis(
            start: placement.left, length: placement.width, samples: grid.width, video: placement.videoWidth,
            picture: picture.rowBytes)
        for x in 0..<grid.width { unsafe columns[x] = across.tap(x) }
        let down = Axis(
            start: placement.top, length: placement.height, samples: grid.height, video: placement.videoHeight,
            picture: picture.rows)
        let work = unsafe Rows(
            picture: picture, columns: UnsafePointer(columns), down: down, logOdds: logOddsTable(), weight: weight,
            sets: sets, grid: grid, evidence: evidence)
        context.bands.share(work, rows: grid.height, width: grid.width)
    }

    /// Log odds of the probabilities 0…1, in equal steps.
    private mutating func logOddsTable() -> UnsafePointer<Float> {
        let table = unsafe table.reserve(SegmentationEvidence.levels, filler: 0)
        if !hasTable {
            let least = SegmentationEvidence.leastProbability
            for level in 0..<SegmentationEvidence.levels {
                let share = Double(level) / Double(SegmentationEvidence.levels - 1)
                let p = min(max(share, least), 1 - least)
                unsafe table[level] = Float(logarithm(p / (1 - p)))
            }
            hasTable = true
        }
        return unsafe UnsafePointer(table)
    }

    /// The two pixels of a row or column between which a sample lies, and the weight of the second.
    private typealias Tap = (first: Int, second: Int, share: Int)

    /// The mapping of samples of the grid to the picture along one axis.
    private struct Axis {
        /// Start and length of the grid on the video, in pixels.
        let start: Double
        let length: Double
        let samples: Int
        /// The video's size along this axis, in pixels.
        let video: Int
        /// The picture's size along this axis, in pixels.
        let picture: Int

        func tap(_ sample: Int) -> Tap {
            let point = start + (Double(sample) + 0.5) * length / Double(samples)
            // The center of the first pixel is 0.5.
            let position = point * Double(picture) / Double(video) - 0.5
            let one = 1 << SegmentationEvidence.shareBits
            let fixed = nearestIndex(position * Double(one), in: 0...(picture - 1) * one)
            let first = fixed >> SegmentationEvidence.shareBits
            return (first, min(first + 1, picture - 1), fixed & (one - 1))
        }
    }

    @safe
    private struct Rows: BandWork {
        let picture: Plane
        let columns: UnsafePointer<Tap>
        let down: Axis
        let logOdds: UnsafePointer<Float>
        let weight: Float
        let sets: Classes.Sets
        let grid: WorkGrid
        let evidence: UnsafeMutablePointer<Float>

        func work(_ rows: Range<Int>, _ memory: MatteMemory) {
            let one = 1 << SegmentationEvidence.shareBits
            for y in rows {
                let tap = down.tap(y)
                let (upper, lower) = unsafe (picture.row(tap.first), picture.row(tap.second))
                sets.forEachOpen(row: y, 0..<grid.width) { x in
                    let column = unsafe columns[x]
                    func mix(_ row: UnsafeRawPointer) -> Int {
                        let first = unsafe Int(row.load(fromByteOffset: column.first, as: UInt8.self))
                        let second = unsafe Int(row.load(fromByteOffset: column.second, as: UInt8.self))
                        return first &* (one &- column.share) &+ second &* column.share
                    }
                    let sum = unsafe mix(upper) &* (one &- tap.share) &+ mix(lower) &* tap.share
                    let level = sum &>> (2 * SegmentationEvidence.shareBits - SegmentationEvidence.levelBits)
                    unsafe evidence[y &* grid.width &+ x] += weight * logOdds[level]
                }
            }
        }
    }
}
