import CDepthKernels

/// The layout of a buffer of keys (a z-buffer) for the picture and a margin about it.
///
/// In memory: `spare` places for points that are not shown; then the rows, from one above the margin to one below it,
/// each with one extra place on the left and two on the right.
struct CloudGrid: Equatable {
    let width: Int
    let height: Int
    let radius: Int
    let spare: Int
    let background: UInt32

    var columns: Int { width &+ 2 &* radius }
    var rows: Int { height &+ 2 &* radius }
    var stride: Int { columns &+ 3 }
    /// The place of column 0 of row 0.
    var origin: Int { spare &+ stride &+ 1 }
    var places: Int { spare &+ stride &* (rows &+ 2) }
    /// The key of an empty place, farther than every point.
    var emptyKey: Double { Double(bitPattern: 0x7fef_ffff_0000_0000 | UInt64(background)) }
    /// Rows of keys that the discs of one row of the picture share with those of the next.
    var rowsShared: Int { 2 &* radius }

    /// The rows that contain a range of places.
    func rows(ofPlaces places: ClosedRange<Int>) -> Range<Int> {
        let (first, last) = ((places.lowerBound &- spare) / stride &- 1, (places.upperBound &- spare) / stride &- 1)
        return min(max(first, 0), rows)..<max(min(last &+ 1, rows), 0)
    }
}

/// Scratch memory of one worker, and its buffer of keys.
final class CloudMemory: BandMemory {
    var metres = DepthMetres()
    var colors = CloudColors()
    /// Keys of the points of two rows of the map, and their places in the buffer.
    var pointKeys = Scratch<Double>()
    var pointPlaces = Scratch<Int32>()
    /// Scratch memory of `drawDiscs`.
    var columns = Scratch<Double>()
    /// A row that is written but never read.
    var emptied = Scratch<Double>()
    /// Rows of the buffer that hold keys of this frame.
    var touched = 0..<0
    private var buffer = Scratch<Double>()
    /// The layout that the buffer was cleared for. The buffer is empty between two frames.
    private var emptyFor: CloudGrid?

    func touch(_ rows: Range<Int>) {
        touched =
            touched.isEmpty ? rows : min(touched.lowerBound, rows.lowerBound)..<max(touched.upperBound, rows.upperBound)
    }

    /// The first place of the buffer.
    func keys(for grid: CloudGrid) -> UnsafeMutablePointer<Double> {
        // Padding: `drawDiscs` reads four columns at a time.
        let count = grid.places &+ 4
        let keys = unsafe buffer.reserve(count, filler: grid.emptyKey)
        if grid != emptyFor {
            unsafe keys.update(repeating: grid.emptyKey, count: count)
            emptyFor = grid
        }
        return unsafe keys
    }
}

/// Projects the points of some rows of the depth map into the worker's buffer.
@safe
struct CloudProjectionPass: BandWork {
    let depth: DepthImage
    let scale: DepthScale
    let picture: CloudPicture
    let opaque: UInt32
    let projection: CloudProjection
    let rays: UnsafePointer<Float>
    /// Allocated length of a row.
    let room: Int
    let grid: CloudGrid
    let loops: Loops

    func work(_ rows: Range<Int>, _ memory: CloudMemory) {
        let points = unsafe dm_point_grid(
            rays: rays, rays_stride: room, opaque: opaque, origin: Int32(clamping: grid.origin),
            stride: Int32(clamping: grid.stride), columns: Float(grid.columns), rows: Float(grid.rows),
            nearest: Float(CloudSensor.nearest))
        let buffer = unsafe memory.keys(for: grid)
        let keys = unsafe memory.pointKeys.reserve(2 * room, filler: 0)
        let places = unsafe memory.pointPlaces.reserve(2 * room, filler: 0)
        // While a row is projected, the keys of the row before are stored. The first row has none before it: spare
        // places.
        var (row, before) = (0, room)
        for index in 0..<room { unsafe places[before &+ index] = Int32(index) }
        for y in rows {
            let metres = unsafe memory.metres.row(y, of: depth, scale: scale, loops)
            let colors = unsafe memory.colors.row(y, of: picture)
            let reached = unsafe loops.projectRow(
                dm_point_row(
                    metres: metres, colors: colors, count: depth.width, keys: keys + row, places: places + row,
                    keys_before: keys + before, places_before: places + before),
                points, start: projection.start(row: y), shift: projection.shift, in: buffer)
            if reached[1] >= grid.spare { memory.touch(grid.rows(ofPlaces: Int(reached[0])...Int(reached[1]))) }
            swap(&row, &before)
        }
        unsafe loops.keepNearest(keys: keys + before, places: places + before, count: depth.width, in: buffer)
    }
}

/// A worker's buffer of keys.
@safe
struct CloudKeyBuffer: BitwiseCopyable {
    /// Column 0 of row 0.
    let first: UnsafeMutablePointer<Double>
    private let start: Int
    private let end: Int

    init(first: UnsafeMutablePointer<Double>, touched: Range<Int>) {
        unsafe self.first = first
        (start, end) = (touched.lowerBound, touched.upperBound)
    }

    /// Rows that hold keys of this frame.
    var touched: Range<Int> { start..<end }
}

/// Merges the rows of all buffers: each row ends up in one of the buffers that have keys in it.
@safe
struct CloudMergePass: BandWork {
    let buffers: UnsafePointer<CloudKeyBuffer>
    let count: Int
    let grid: CloudGrid
    /// The first key of each merged row; initially that of the first buffer.
    let rows: UnsafeMutablePointer<UnsafeMutablePointer<Double>>
    let loops: Loops

    func work(_ band: Range<Int>, _: CloudMemory) {
        let own = unsafe buffers[0]
        for index in 1..<count {
            let buffer = unsafe buffers[index]
            for y in buffer.touched.clamped(to: band) {
                let offset = y &* grid.stride
                let isFirst = unsafe !own.touched.contains(y) && rows[y] == own.first + offset
                if isFirst {
                    unsafe rows[y] = buffer.first + offset
                } else {
                    unsafe loops.moveNearest(
                        from: buffer.first + offset, count: grid.columns, empty: grid.emptyKey, into: rows[y])
                }
            }
        }
    }
}

/// Draws the discs of some lines of the picture, and clears the keys behind itself.
@safe
struct CloudDiscPass: BandWork {
    /// Column 0 of each row of keys.
    let keys: UnsafePointer<UnsafeMutablePointer<Double>>
    let grid: CloudGrid
    let heights: UnsafePointer<Int>
    let target: MutablePlane
    let loops: Loops

    func work(_ lines: Range<Int>, _ memory: CloudMemory) {
        let columns = unsafe memory.columns.reserve((grid.radius + 2) * (grid.columns + 8), filler: 0)
        let nowhere = unsafe memory.emptied.reserve(grid.stride + 4, filler: 0)
        // The rows that the band above reads too.
        let shared = lines.lowerBound == 0 ? 0..<0 : lines.lowerBound..<(lines.lowerBound &+ grid.rowsShared)
        for y in stride(from: lines.lowerBound, to: lines.upperBound, by: 2) {
            let count = min(lines.upperBound &- y, 2)
            // The same as the first where the band has an odd number of lines.
            let next = y &+ count &- 1
            unsafe loops.drawDiscs(
                dm_disc_lines(
                    rows: keys + y, lines: count, emptied: shared.contains(y) ? nowhere : keys[y],
                    also_emptied: shared.contains(next) ? nowhere : keys[next], empty: grid.emptyKey,
                    radius: grid.radius, heights: heights, width: grid.width, scratch: columns, stride: target.stride),
                into: target.row(y))
        }
    }
}
