/// Opacities that are worked on together; every row of an opacity map is a whole number of them.
typealias Lanes = SIMD16<Float>

/// How many opacities there are in a block.
let blockWidth = Lanes.scalarCount

/// Covers that are looked at together.
let coverGroup = 32

/// A picture of opacities, 0…1, at the depth map's size, with what is known of each block of it.
///
/// Only blocks that are mixed hold numbers: what the others stand for is never written nor read, as most of a matte is
/// plainly background or plainly person. Rows are padded to whole blocks; the padding repeats the last opacity of the
/// row, as the blur asks for at the edge.
@safe
struct OpacityMap {
    private let values: UnsafeMutablePointer<Float>
    private let covers: UnsafeMutablePointer<Cover>
    let width: Int
    let height: Int
    /// Blocks in a row.
    let blocks: Int
    /// Covers from one row to the next: there is room for whole vectors of them.
    let coverStride: Int

    init(values: UnsafeMutablePointer<Float>, covers: UnsafeMutablePointer<Cover>, width: Int, height: Int) {
        unsafe self.values = values
        unsafe self.covers = covers
        self.width = width
        self.height = height
        blocks = groups(of: blockWidth, in: width)
        coverStride = groups(of: coverGroup, in: blocks) &* coverGroup
    }

    /// Opacities in a row, with its padding.
    var paddedWidth: Int { blocks &* blockWidth }

    /// - Precondition: `0 <= y < height`.
    @inline(__always)
    func row(_ y: Int) -> UnsafeMutablePointer<Float> { unsafe values + y &* paddedWidth }

    /// What is known of each block of a row.
    ///
    /// - Precondition: `0 <= y < height`.
    @inline(__always)
    func coverRow(_ y: Int) -> UnsafeMutablePointer<Cover> { unsafe covers + y &* coverStride }

    /// The same as the numbers that the loops know them by.
    @inline(__always)
    func coverBytes(_ y: Int) -> UnsafeMutablePointer<UInt8> {
        unsafe UnsafeMutableRawPointer(coverRow(y)).assumingMemoryBound(to: UInt8.self)
    }

    /// Writes the opacities of a block elsewhere, whatever is known of it.
    ///
    /// - Precondition: the block is inside the map.
    @inline(__always)
    func copyBlock(_ block: Int, row y: Int, to target: UnsafeMutablePointer<Float>) {
        switch unsafe coverRow(y)[block] {
        case .mixed: unsafe storeLanes(loadLanes(row(y) + block &* blockWidth), to: target)
        case .clear: unsafe storeLanes(Lanes(repeating: 0), to: target)
        case .opaque: unsafe storeLanes(Lanes(repeating: 1), to: target)
        }
    }

    /// One opacity, whatever is known of its block.
    ///
    /// - Precondition: it is inside the map.
    @inline(__always)
    func opacity(x: Int, y: Int) -> Float {
        switch unsafe coverRow(y)[x / blockWidth] {
        case .mixed: unsafe row(y)[x]
        case .clear: 0
        case .opaque: 1
        }
    }

    /// The mean of all opacities.
    var meanOpacity: Double {
        var sum = 0.0
        for y in 0..<height {
            let covers = unsafe coverRow(y)
            var sumOfRow: Float = 0
            for index in 0..<blocks {
                switch unsafe covers[index] {
                case .clear: break
                case .opaque: sumOfRow += Float(blockWidth)
                case .mixed: unsafe sumOfRow += loadLanes(self.row(y) + index &* blockWidth).sum()
                }
            }
            for x in width..<paddedWidth { sumOfRow -= opacity(x: x, y: y) }
            sum += Double(sumOfRow)
        }
        return min(max(sum / Double(max(width * height, 1)), 0), 1)
    }
}

@inline(__always)
func loadLanes(_ source: UnsafePointer<Float>) -> Lanes {
    unsafe UnsafeRawPointer(source).loadUnaligned(as: Lanes.self)
}

@inline(__always)
func storeLanes(_ lanes: Lanes, to target: UnsafeMutablePointer<Float>) {
    unsafe UnsafeMutableRawPointer(target).storeBytes(of: lanes, as: Lanes.self)
}

/// The memory of an opacity map, kept from frame to frame.
struct OpacityStorage: ~Copyable {
    private var values = Scratch<Float>()
    private var covers = Scratch<Cover>()

    mutating func reserve(width: Int, height: Int) -> OpacityMap {
        let blocks = groups(of: blockWidth, in: width)
        let coverStride = groups(of: coverGroup, in: blocks) * coverGroup
        return unsafe OpacityMap(
            values: values.reserve(blocks * blockWidth * height, filler: 0),
            covers: covers.reserve(coverStride * height, filler: .clear), width: width, height: height)
    }
}
