/// Opacities that are worked on together; every row of an opacity map is a whole number of them.
typealias Lanes = SIMD16<Float>

/// How many opacities there are in a block.
let blockWidth = Lanes.scalarCount

/// A picture of opacities, 0…1, at the depth map's size, with what is known of each block of it.
///
/// Rows are padded to whole blocks; the padding repeats the last opacity of the row, as the blur asks for at the edge.
@safe
struct OpacityMap {
    private let values: UnsafeMutablePointer<Float>
    private let covers: UnsafeMutablePointer<Cover>
    let width: Int
    let height: Int
    /// Blocks in a row.
    let blocks: Int

    init(values: UnsafeMutablePointer<Float>, covers: UnsafeMutablePointer<Cover>, width: Int, height: Int) {
        unsafe self.values = values
        unsafe self.covers = covers
        self.width = width
        self.height = height
        blocks = groups(of: blockWidth, in: width)
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
    func coverRow(_ y: Int) -> UnsafeMutablePointer<Cover> { unsafe covers + y &* blocks }

    /// - Precondition: the block is inside the map.
    @inline(__always)
    func block(_ block: Int, row y: Int) -> Lanes { unsafe loadLanes(row(y) + block &* blockWidth) }

    /// - Precondition: the block is inside the map.
    @inline(__always)
    func setBlock(_ block: Int, row y: Int, to lanes: Lanes) {
        unsafe storeLanes(lanes, to: row(y) + block &* blockWidth)
    }

    /// Repeats the last opacity in the padding, and notes what the blocks of the row hold.
    func finishRow(_ y: Int) {
        let row = unsafe row(y)
        for x in width..<paddedWidth { unsafe row[x] = row[width &- 1] }
        let covers = unsafe coverRow(y)
        for block in 0..<blocks {
            unsafe covers[block] = cover(of: row + block &* blockWidth)
        }
    }

    /// The mean of all opacities; the padding of the last block of a row counts with it.
    var meanOpacity: Double {
        var sum = 0.0
        for y in 0..<height {
            let covers = unsafe coverRow(y)
            var row: Float = 0
            for index in 0..<blocks {
                switch unsafe covers[index] {
                case .clear: break
                case .opaque: row += Float(blockWidth)
                case .mixed: row += block(index, row: y).sum()
                }
            }
            sum += Double(row)
        }
        return min(sum / Double(max(paddedWidth * height, 1)), 1)
    }

    /// Looks at one block.
    @inline(__always)
    private func cover(of block: UnsafeMutablePointer<Float>) -> Cover {
        // 0 and 1 are the only opacities that a step makes, so the ends are compared as bits, without branches.
        let one = Float(1).bitPattern
        var any: UInt32 = 0
        var differs: UInt32 = 0
        for lane in 0..<blockWidth {
            let bits = unsafe block[lane].bitPattern
            any |= bits
            differs |= bits ^ one
        }
        if any == 0 { return .clear }
        return differs == 0 ? .opaque : .mixed
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
        let blocks = groups(of: blockWidth, in: width) * height
        return unsafe OpacityMap(
            values: values.reserve(blocks * blockWidth, filler: 0), covers: covers.reserve(blocks, filler: .mixed),
            width: width, height: height)
    }
}
