import CDepthKernels

/// The stage that computes the evidence of color: the similarity of an open sample to the person's and to the room's
/// colors.
///
///     L = log((e^(−df/2v) + e^−6) / (e^(−db/2v) + e^−6))
///
/// df and db are squared distances to the nearest of six person colors and six room colors of the neighbourhood. The
/// colors are means over tiles of 16x16 samples, of those samples that depth alone classifies, taken from the nearest
/// tiles first and all different. v is a third of the median variance in a tile plus (5/255)². L is evidence as log
/// odds: 0 where colors are alike, and within ±6, since a color may be new.
///
/// Hair often has no depth at all: in the ellipse of a head, holes that were the person's in the last frame (T above
/// `learn`) give their colors to tiles without measured ones.
///
/// Source: stage 2 of the method (`Fusion`). Colors as a ratio of local models: Bai et al., "Video SnapCut", SIGGRAPH
/// 2009; Rother et al., "GrabCut", SIGGRAPH 2004.
struct ColorEvidence: ~Copyable {
    /// Palettes are collected from tiles up to the first distance, and where that gives no color up to the second.
    private static let (near, rings) = (2, 3)
    static let palette = 6
    /// The smallest number of samples for the color of a tile.
    private static let least: Float = 6
    /// The smallest number of samples for the variance of a tile.
    private static let leastForVariance: Float = 16
    /// The smallest variance of a color: (5/255)².
    private static let floor: Float = 4e-4
    /// The variance where no tile has one.
    private static let unknownVariance: Float = 3e-3
    private static let outlier: Float = 0.002_478_752  // e^−6
    /// Log odds of the last frame from which on hair without depth counts as the person's.
    private static let learn: Float = 3

    private var person = TileColors()
    private var room = TileColors()
    private var learnt = TileColors()
    private var variances = Scratch<Float>()
    private var hair = Scratch<UInt64>()
    private var evidence = Scratch<Float>()
    private var variance: Float = 0
    private let order = ColorEvidence.tilesNearestFirst()

    /// Sums up a frame's colors, which is to be done before the evidence.
    mutating func sum(_ colors: UnsafePointer<Float>, of sets: Classes.Sets, _ context: FusionContext) {
        let (grid, bands) = (context.grid, context.bands)
        let work = unsafe TileSums(
            person: person.sums(of: sets.body, colors, on: grid), room: room.sums(of: sets.room, colors, on: grid),
            loops: context.loops)
        bands.share(work, rows: grid.height, width: grid.width, rowAlignment: TileSet.size)
    }

    /// - Parameters:
    ///   - colors: three planes of the grid's size, whose sums are made.
    ///   - last: the log odds of the last frame; nil where there are none.
    /// - Returns: L of the open samples, undefined for others; the caller may change it. Valid until the next call.
    mutating func evidence(
        _ colors: UnsafePointer<Float>, _ sets: Classes.Sets, last: UnsafePointer<Float>?,
        _ context: FusionContext
    ) -> UnsafeMutablePointer<Float> {
        let (grid, bands, loops) = (context.grid, context.bands, context.loops)
        variance = ColorEvidence.floor + medianVariance() / 3
        if let last = unsafe last, let hair = unsafe findHair(sets, last, on: grid) {
            let tiles = unsafe learnt.sums(of: hair, colors, on: grid)
            for row in 0..<tiles.rows { tiles.sum(row: row, loops) }
            person.complete(by: &learnt, least: ColorEvidence.least)
        }
        let evidence = unsafe evidence.reserve(grid.count, filler: 0)
        let work = unsafe EvidenceRows(
            colors: colors, sets: sets, person: person.palettes, room: room.palettes, order: order, grid: grid,
            variance: variance, loops: loops, target: evidence)
        bands.share(work, rows: grid.height, width: grid.width, rowAlignment: TileSet.size)
        return unsafe evidence
    }

    /// The person's colors of the last evidence.
    var personColors: RoomEvidence.Person {
        mutating get { RoomEvidence.Person(palettes: person.palettes, order: order, variance: variance) }
    }

    /// Holes in the ellipses of heads that were the person's in the last frame; nil where there are none.
    private mutating func findHair(
        _ sets: Classes.Sets, _ last: UnsafePointer<Float>, on grid: WorkGrid
    ) -> SampleSet? {
        let set = unsafe sets.wide.placed(in: hair.reserve(sets.wide.wordCount, filler: 0))
        set.removeAll()
        var isAny = false
        for y in 0..<grid.height {
            for index in 0..<set.stride {
                let holes = sets.wide[index, y] & sets.head[index, y]
                holes.forEachBit { bit in
                    if unsafe last[y &* grid.width &+ index &* 64 &+ bit] > ColorEvidence.learn {
                        set[index, y] |= 1 &<< UInt64(truncatingIfNeeded: bit)
                        isAny = true
                    }
                }
            }
        }
        return isAny ? set : nil
    }

    private mutating func medianVariance() -> Float {
        let memory = unsafe variances.reserve(person.count + room.count, filler: 0)
        var count = 0
        for tile in 0..<person.count where person.samples(of: tile) > ColorEvidence.leastForVariance {
            unsafe memory[count] = person.variance(of: tile)
            count &+= 1
        }
        for tile in 0..<room.count where room.samples(of: tile) > ColorEvidence.leastForVariance {
            unsafe memory[count] = room.variance(of: tile)
            count &+= 1
        }
        return count > 0 ? unsafe Float(median(of: memory, count: count)) : ColorEvidence.unknownVariance
    }

    /// Offsets of the tiles of a neighbourhood, by their distance, then row by row.
    private static func tilesNearestFirst() -> [SIMD2<Int>] {
        var offsets: [SIMD2<Int>] = []
        for y in -rings...rings { for x in -rings...rings { offsets.append(SIMD2(x, y)) } }
        // The sort of the library is stable.
        return offsets.sorted { $0.x * $0.x + $0.y * $0.y < $1.x * $1.x + $1.y * $1.y }
    }

    /// Makes the evidence of rows of tiles.
    @safe
    private struct EvidenceRows: BandWork {
        let colors: UnsafePointer<Float>
        let sets: Classes.Sets
        let person: Palettes
        let room: Palettes
        let order: [SIMD2<Int>]
        let grid: WorkGrid
        let variance: Float
        let loops: Loops
        let target: UnsafeMutablePointer<Float>

        func work(_ rows: Range<Int>, _ memory: MatteMemory) {
            let size = TileSet.size
            let numbers = unsafe memory.line.reserve(6 * ColorEvidence.palette + 2 * size, filler: 0)
            let (personColors, roomColors) = unsafe (numbers, numbers + 3 &* ColorEvidence.palette)
            let scratch = unsafe roomColors + 3 &* ColorEvidence.palette
            for top in stride(from: rows.lowerBound, to: rows.upperBound, by: size) {
                let tileRows = top..<min(top &+ size, rows.upperBound)
                for left in stride(from: 0, to: grid.width, by: size) {
                    let columns = left..<min(left &+ size, grid.width)
                    guard tileRows.contains(where: { open(row: $0, columns) != 0 }) else { continue }
                    let apart = 3 * variance
                    let personCount = unsafe person.gather(
                        tileX: left / size, tileY: top / size, order, apart: apart, into: personColors)
                    let roomCount = unsafe room.gather(
                        tileX: left / size, tileY: top / size, order, apart: apart, into: roomColors)
                    for y in tileRows {
                        let open = open(row: y, columns)
                        guard open != 0 else { continue }
                        let half = size / 2
                        let isRight = open & 0xff == 0
                        let isHalf = columns.count == size && (isRight || open &>> 8 == 0)
                        let first = y &* grid.width &+ left &+ (isHalf && isRight ? half : 0)
                        unsafe loops.evidence(
                            .init(
                                colors: colors + first, stride: grid.count, person: personColors,
                                person_colors: personCount, room: roomColors, room_colors: roomCount,
                                factor: -0.5 / variance, outlier: ColorEvidence.outlier),
                            count: isHalf ? half : columns.count, memory: scratch, into: target + first)
                    }
                }
            }
        }

        /// The open samples of a row of a tile.
        private func open(row y: Int, _ columns: Range<Int>) -> UInt16 {
            let block = columns.lowerBound / TileSet.size
            let all = UInt16.max &>> UInt16(truncatingIfNeeded: TileSet.size &- columns.count)
            return ~(sets.person.bits(y)[block: block] | sets.room.bits(y)[block: block]) & all
        }
    }

    /// The colors of tiles, to gather palettes from.
    @safe
    struct Palettes {
        let tiles: UnsafePointer<TileColors.Tile>
        let columns: Int
        let rows: Int

        /// Collects the palette of a tile, three numbers for each color.
        ///
        /// - Parameter apart: the smallest squared distance between two colors of a palette.
        /// - Returns: the number of colors.
        func gather(
            tileX: Int, tileY: Int, _ order: [SIMD2<Int>], apart: Float, into target: UnsafeMutablePointer<Float>
        ) -> Int {
            let side = 2 * ColorEvidence.near + 1
            var count = 0
            for (index, offset) in order.enumerated() where count < ColorEvidence.palette {
                if index >= side * side, count > 0 { break }
                let (x, y) = (tileX &+ offset.x, tileY &+ offset.y)
                guard x >= 0, x < columns, y >= 0, y < rows else { continue }
                let tile = unsafe tiles[y &* columns &+ x]
                guard tile.samples >= ColorEvidence.least else { continue }
                var isNew = true
                for index in 0..<count {
                    let d =
                        unsafe tile.color - SIMD3(target[3 &* index], target[3 &* index &+ 1], target[3 &* index &+ 2])
                    if (d * d).sum() <= apart { isNew = false }
                }
                guard isNew else { continue }
                for channel in 0..<3 { unsafe target[3 &* count &+ channel] = tile.color[channel] }
                count &+= 1
            }
            return count
        }
    }
}

/// Sums up the colors of the person's samples and of the room's.
struct TileSums: BandWork {
    fileprivate let person: TileColors.Sums
    fileprivate let room: TileColors.Sums
    let loops: Loops

    func work(_ rows: Range<Int>, _ memory: MatteMemory) {
        for row in (rows.lowerBound / TileSet.size)..<groups(of: TileSet.size, in: rows.upperBound) {
            person.sum(row: row, loops)
            room.sum(row: row, loops)
        }
    }
}

/// Count, mean and variance of the colors of some samples in each tile of a grid.
// Not private: the debug compiler of Swift 6.3.1 crashes over a private type of this kind in another file's property.
struct TileColors: ~Copyable {
    struct Tile: BitwiseCopyable {
        var samples: Float = 0
        var color = SIMD3<Float>()
        /// Mean squared distance to the mean.
        var variance: Float = 0
    }

    private var tiles = Scratch<Tile>()
    private var columns = 0
    private var rows = 0

    var count: Int { columns &* rows }

    var palettes: ColorEvidence.Palettes {
        mutating get { unsafe ColorEvidence.Palettes(tiles: UnsafePointer(memory), columns: columns, rows: rows) }
    }

    private var memory: UnsafeMutablePointer<Tile> {
        mutating get { unsafe tiles.reserve(0, filler: Tile()) }
    }

    mutating func samples(of tile: Int) -> Float { unsafe memory[tile].samples }
    mutating func variance(of tile: Int) -> Float { unsafe memory[tile].variance }

    mutating func sums(of set: SampleSet, _ colors: UnsafePointer<Float>, on grid: WorkGrid) -> Sums {
        columns = groups(of: TileSet.size, in: grid.width)
        rows = groups(of: TileSet.size, in: grid.height)
        return unsafe Sums(
            set: set, colors: colors, grid: grid, tiles: tiles.reserve(count, filler: Tile()), columns: columns,
            rows: rows)
    }

    /// Sums up the colors of a set.
    @safe
    struct Sums {
        let set: SampleSet
        /// Three planes of the grid's size.
        let colors: UnsafePointer<Float>
        let grid: WorkGrid
        let tiles: UnsafeMutablePointer<Tile>
        let columns: Int
        let rows: Int

        /// Sums up the tiles of a row.
        func sum(row tileY: Int, _ loops: Loops) {
            let size = TileSet.size
            let top = tileY &* size
            for tileX in 0..<columns {
                var sums = dm_tile_sums()
                unsafe loops.sumTile(
                    .init(
                        colors: colors + (top &* grid.width &+ tileX &* size), stride: grid.count,
                        width: grid.width,
                        columns: min(size, grid.width &- tileX &* size),
                        rows: min(size, grid.height &- top),
                        bits: set.row(top) + tileX / 4, bits_stride: set.stride,
                        shift: UInt64(truncatingIfNeeded: (tileX & 3) &* size)), into: &sums)
                let color = SIMD3(sums.y, sums.u, sums.v) / (sums.samples + 1e-6)
                unsafe tiles[tileY &* columns &+ tileX] = Tile(
                    samples: sums.samples, color: color,
                    variance: max(sums.squares / (sums.samples + 1e-6) - (color * color).sum(), 0))
            }
        }
    }

    /// Fills tiles without colors with those of another set of tiles.
    mutating func complete(by other: inout TileColors, least: Float) {
        let (mine, others) = unsafe (memory, other.memory)
        for tile in 0..<count where unsafe mine[tile].samples < least {
            unsafe mine[tile].samples = others[tile].samples
            unsafe mine[tile].color = others[tile].color
        }
    }
}
