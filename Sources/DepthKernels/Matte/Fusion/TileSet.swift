/// A set of tiles of 16x16 samples of a grid: a word for each row of tiles.
@safe
struct TileSet {
    /// Samples along each side of a tile.
    static let size = 16
    /// The largest number of tiles in a row.
    static let mostColumns = 64

    let words: UnsafeMutablePointer<UInt64>

    init(_ words: UnsafeMutablePointer<UInt64>) { unsafe self.words = words }

    @inline(__always)
    subscript(row: Int) -> UInt64 {
        get { unsafe words[row] }
        nonmutating set { unsafe words[row] = newValue }
    }

    /// Calls `body` for each run of neighbouring members of a row, as columns of samples.
    static func forEachRun(of row: UInt64, on grid: WorkGrid, _ body: (Range<Int>) -> Void) {
        var rest = row
        while rest != 0 {
            let start = rest.trailingZeroBitCount
            let count = (~(rest &>> UInt64(truncatingIfNeeded: start))).trailingZeroBitCount
            body((start &* size)..<min((start &+ count) &* size, grid.width))
            rest &= start &+ count == 64 ? 0 : UInt64.max &<< UInt64(truncatingIfNeeded: start &+ count)
        }
    }

    /// All tiles of a row.
    static func all(on grid: WorkGrid) -> UInt64 {
        UInt64.max &>> UInt64(truncatingIfNeeded: mostColumns &- groups(of: size, in: grid.width))
    }

    /// The tiles of a row all of whose samples are members.
    ///
    /// - Parameter bits: the intersection of all rows of the tile.
    static func full(_ bits: UnsafePointer<UInt64>, on grid: WorkGrid) -> UInt64 {
        var tiles: UInt64 = 0
        for tile in 0..<groups(of: size, in: grid.width) {
            let members = unsafe UInt16(
                truncatingIfNeeded: bits[tile &>> 2] &>> UInt64(truncatingIfNeeded: tile & 3 &* 16))
            let samples = min(size, grid.width &- tile &* size)
            let wanted = UInt16.max &>> UInt16(truncatingIfNeeded: size &- samples)
            if members & wanted == wanted {
                tiles |= 1 &<< UInt64(truncatingIfNeeded: tile)
            }
        }
        return tiles
    }
}
