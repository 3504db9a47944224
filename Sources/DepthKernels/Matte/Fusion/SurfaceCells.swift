/// The nearest surface of the depth map on square cells, with what tells one surface from another: normals and colors.
///
/// Planes are linear in inverse depth, whatever the lens: 1/z = a·X + b·Y + c, where X and Y are a point's offsets from the
/// camera's axis as shares of its depth. Least squares over 3x3 cells give each cell its plane, and so its normal.
///
/// Source: least squares of the range image's inverse depth, Badino et al., "Fast and accurate computation of surface normals
/// from range images", ICRA 2011.
struct SurfaceCells: ~Copyable {
    /// Metres behind the second nearest sample of a cell, constant + square·z², up to which samples are of the same surface.
    static let layer: (constant: Float, square: Float) = (0.04, 0.01)
    /// Metres over which a surface is continued that was not measured there.
    private static let gap: Float = 0.05
    /// The least share of a cell's samples that must be measured on the surface; with less, the cell has no depth.
    private static let leastShare: Float = 0.3
    /// Metres, constant + square·z²: the deviation of a window's cells from their plane that is flat.
    private static let flatness: (constant: Float, square: Float) = (0.004, 0.0025)
    /// Measured cells of a window, of nine: more are flat.
    private static let leastCells: Float = 5.4
    /// The cosine of the angle between a normal and the ray to it, from which on the area of a cell grows.
    private static let leastSlant: Float = 0.15

    private var memory = Scratch<Float>()
    private var line = Scratch<Float>()

    /// Cells by their index y·stride + x. A row of cells without depth lies before the first and after the last, and at least
    /// one such cell after the last of each row, so that every cell has four neighbours.
    @safe
    struct Map {
        /// Samples along a side of a cell.
        let side: Int
        let width: Int
        let height: Int
        /// Cells from one row to the next: whole vectors.
        let stride: Int
        /// The distance of two cells as a share of their depth, and the offset of the first cell.
        let pitch: Float
        let first: (x: Float, y: Float)
        fileprivate let arrays: UnsafeMutablePointer<Float>

        /// Cells of all rows, with those behind the rows' ends.
        var count: Int { height &* stride }
        /// Cells of an array, with those around them.
        var arraySize: Int { (height &+ 2) &* stride &+ 2 &* blockWidth }
        /// The index of the first cell of an array.
        var start: Int { 0 &- stride &- blockWidth }
        private func array(_ index: Int) -> UnsafeMutablePointer<Float> { unsafe arrays + index &* arraySize }
        /// Metres; 0 where no surface was measured.
        var depth: UnsafeMutablePointer<Float> { unsafe array(0) }
        /// 1/depth, or 0.
        var inverse: UnsafeMutablePointer<Float> { unsafe array(1) }
        /// The normal towards the camera, and the length of (a, b, c).
        var normal: (x: UnsafeMutablePointer<Float>, y: UnsafeMutablePointer<Float>, z: UnsafeMutablePointer<Float>) {
            unsafe (array(2), array(3), array(4))
        }
        var length: UnsafeMutablePointer<Float> { unsafe array(5) }
        /// Square metres of the surface.
        var area: UnsafeMutablePointer<Float> { unsafe array(6) }
        /// 1 where the surface about the cell is flat, else 0.
        var flat: UnsafeMutablePointer<Float> { unsafe array(7) }
        /// Y'UV.
        func color(_ channel: Int) -> UnsafeMutablePointer<Float> { unsafe array(8 &+ channel) }

        @inline(__always)
        func x(_ column: Int) -> Float { first.x + pitch * Float(column) }
        @inline(__always)
        func y(_ row: Int) -> Float { first.y + pitch * Float(row) }
        /// The X (see `SurfaceCells`) of the cells of one SIMD vector, from a column on.
        @inline(__always)
        func xs(from column: Int) -> Lanes { Map.steps * pitch + x(column) }

        /// Calls `body` with the place of each vector of cells.
        @inline(__always)
        func forEachVector(_ body: (_ index: Int, _ x: Int, _ y: Int) -> Void) {
            for y in 0..<height {
                for x in Swift.stride(from: 0, to: stride, by: blockWidth) { body(y &* stride &+ x, x, y) }
            }
        }

        /// The columns whose middles are at most so far from a place; samples.
        func columns(_ middle: Double, _ half: Double) -> Range<Int> {
            places(from: middle - half, to: middle + half, count: width)
        }

        func rows(from first: Double, to last: Double) -> Range<Int> { places(from: first, to: last, count: height) }

        private func places(from first: Double, to last: Double, count: Int) -> Range<Int> {
            let shift = Double(side - 1) / 2
            let start = ceilIndex((first - shift) / Double(side), in: 0...count)
            return start..<max(start, floorIndex((last - shift) / Double(side), in: -1...(count - 1)) + 1)
        }

        /// - Parameter colors: three planes of the grid's size.
        func readColors(_ colors: UnsafePointer<Float>, _ grid: WorkGrid, _ loops: Loops) {
            for channel in 0..<3 {
                for y in 0..<height {
                    unsafe loops.averageSquares(
                        colors + channel &* grid.count + y &* side &* grid.width, stride: grid.width, side: side,
                        count: width, into: color(channel) + y &* stride)
                }
            }
        }

        private static var steps: Lanes { Lanes(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15) }
    }

    /// - Parameters:
    ///   - farthest: metres; what is farther has no cells.
    /// - Returns: the cells, still without colors, valid until the next call.
    mutating func read(_ field: DepthField, farthest: Float, _ loops: Loops) -> Map {
        let grid = field.grid
        let side = max(grid.width, grid.height) > 480 ? 4 : 2
        let (width, height) = (grid.width / side, grid.height / side)
        let stride = groups(of: blockWidth, in: width + 1) * blockWidth
        let size = (height + 2) * stride + 2 * blockWidth
        let pitch = Double(side) / grid.focal
        func offset(_ samples: Int) -> Float { Float((Double(side - 1) - Double(samples)) / 2 / grid.focal) }
        let map = unsafe Map(
            side: side, width: width, height: height, stride: stride, pitch: Float(pitch),
            first: (offset(grid.width), offset(grid.height)),
            arrays: memory.reserve(11 * size, filler: 0) + stride + blockWidth)
        readDepth(of: field, map, farthest: farthest, loops)
        for y in 0..<height { SurfaceCells.findNormals(row: y, map) }
        return map
    }

    // MARK: Depth

    private mutating func readDepth(of field: DepthField, _ map: Map, farthest: Float, _ loops: Loops) {
        let length = field.rowLength
        let line = unsafe line.reserve(2 * map.width, filler: 0)
        let (lows, highs) = unsafe (line, line + map.width)
        unsafe (map.depth + map.start).update(repeating: 0, count: map.arraySize)
        for y in 0..<map.height {
            let target = unsafe map.depth + y &* map.stride
            let rows = unsafe field.metres + y &* map.side &* length
            unsafe loops.averageSquares(rows, stride: length, side: map.side, count: map.width, into: target)
            unsafe loops.boundSquares(
                rows, stride: length, side: map.side, count: map.width, into: (low: lows, high: highs))
            for x in 0..<map.width {
                let (low, high) = unsafe (lows[x], highs[x])
                let isOne = low > 0 && high <= SurfaceCells.end(ofLayerAt: low) || low == 0 && high == 0
                let z = unsafe isOne ? target[x] : nearest(rows + x &* map.side, length, map.side)
                unsafe target[x] = z < farthest ? z : 0
            }
        }
        for y in 0..<map.height {
            unsafe SurfaceCells.closeGaps(map.depth + y &* map.stride, count: map.width, step: 1, map.pitch)
        }
        for x in 0..<map.width {
            unsafe SurfaceCells.closeGaps(map.depth + x, count: map.height, step: map.stride, map.pitch)
        }
        for index in map.start..<(map.start &+ map.arraySize) {
            let z = unsafe map.depth[index]
            unsafe map.inverse[index] = z > 0 ? 1 / z : 0
        }
    }

    /// Continues a surface over what was not measured of it along a line of cells, as at a dark belt.
    private static func closeGaps(_ depth: UnsafeMutablePointer<Float>, count: Int, step: Int, _ pitch: Float) {
        var last = -1
        for place in 0..<count {
            let z = unsafe depth[place &* step]
            guard z > 0 else { continue }
            defer { last = place }
            guard last >= 0, last &+ 1 < place else { continue }
            let before = unsafe depth[last &* step]
            guard Float(place &- last &- 1) * pitch * z <= gap, abs(z - before) < SideMemory.limit(z) else { continue }
            for hole in (last &+ 1)..<place { unsafe depth[hole &* step] = (z + before) / 2 }
        }
    }

    /// Metres up to which samples are of the same surface as one.
    private static func end(ofLayerAt z: Float) -> Float { z + layer.constant + layer.square * z * z }

    /// The mean depth of the nearest surface of a cell in which not all samples are of one; 0 where it is small.
    private func nearest(_ samples: UnsafePointer<Float>, _ length: Int, _ side: Int) -> Float {
        var (first, second) = (Float.infinity, Float.infinity)
        for index in 0..<(side &* side) {
            let z = unsafe samples[index / side &* length &+ index % side]
            guard z > 0, z < second else { continue }
            (first, second) = (min(first, z), max(first, z))
        }
        let limit = SurfaceCells.end(ofLayerAt: second)
        var (sum, count) = (Float(0), Float(0))
        for index in 0..<(side &* side) {
            let z = unsafe samples[index / side &* length &+ index % side]
            if z > 0, z <= limit { (sum, count) = (sum + z, count + 1) }
        }
        return second < .infinity && count >= SurfaceCells.leastShare * Float(side &* side) ? sum / count : 0
    }

    // MARK: Normals

    /// Finds normal, flatness and area of each cell of a row, from the plane through the 3x3 cells about it.
    private static func findNormals(row y: Int, _ map: Map) {
        let one = Lanes(repeating: 1)
        for x in Swift.stride(from: 0, to: map.stride, by: blockWidth) {
            let index = y &* map.stride &+ x
            let z = unsafe loadLanes(map.depth + index)
            let fit = WindowFit(about: index, map)
            let (xs, share) = (map.xs(from: x), fit.share)
            let (slopeX, slopeY) = (fit.a * (1 / map.pitch), fit.b * (1 / map.pitch))
            let offset = fit.mean - (fit.a * fit.sx + fit.b * fit.sy) * share - slopeX * xs - slopeY * map.y(y)
            let length = squareRoots(slopeX * slopeX + slopeY * slopeY + offset * offset)
            let inverse = -one / length.replacing(with: Lanes(repeating: 1e-9), where: length .< 1e-9)
            let (nx, ny, nz) = (slopeX * inverse, slopeY * inverse, offset * inverse)
            unsafe storeLanes(nx, to: map.normal.x + index)
            unsafe storeLanes(ny, to: map.normal.y + index)
            unsafe storeLanes(nz, to: map.normal.z + index)
            unsafe storeLanes(length, to: map.length + index)
            let deviation = squareRoots(fit.rest.replacing(with: Lanes.zero, where: fit.rest .< 0) * share) * z
            let limit = fit.mean * (z * z * flatness.square + flatness.constant)
            let isFlat = (z .> 0) .& (fit.n .> leastCells) .& (deviation .< limit)
            unsafe storeLanes(Lanes.zero.replacing(with: one, where: isFlat), to: map.flat + index)
            let ray = squareRoots(xs * xs + (map.y(y) * map.y(y) + 1))
            var slant = -(nx * xs + ny * map.y(y) + nz) / ray
            slant.replace(with: Lanes(repeating: leastSlant), where: slant .< leastSlant)
            let edge = z * map.pitch
            unsafe storeLanes(edge * edge / slant, to: map.area + index)
        }
    }

    /// The planes v = a · dx + b · dy + c through the inverse depths of windows of 3x3 cells, by least squares.
    private struct WindowFit {
        /// Added to determinants, which are 0 for cells in one line, and 36 for a whole window.
        private static let least: Float = 1e-4

        /// Measured cells of the window, the inverse of their number, and sums of their places.
        private(set) var (n, sx, sy) = (Lanes(), Lanes(), Lanes())
        let (share, a, b): (Lanes, Lanes, Lanes)
        /// The mean of the inverse depths, and the sum of the squares of what is off the plane.
        let (mean, rest): (Lanes, Lanes)

        @inline(__always)
        init(about index: Int, _ map: Map) {
            let one = Lanes(repeating: 1)
            let middle = unsafe loadLanes(map.inverse + index)
            // Sums over the measured cells of the window, of inverse depths less that of the middle.
            var (sxx, sxy, syy) = (Lanes(), Lanes(), Lanes())
            var (sv, sxv, syv, svv) = (Lanes(), Lanes(), Lanes(), Lanes())
            for down in -1...1 {
                for across in -1...1 {
                    let v = unsafe loadLanes(map.inverse + (index &+ down &* map.stride &+ across))
                    let isMeasured = v .> 0
                    let count = Lanes.zero.replacing(with: one, where: isMeasured)
                    let rise = Lanes.zero.replacing(with: v - middle, where: isMeasured)
                    let (dx, dy) = (Float(across), Float(down))
                    (n, sx, sy) = (n + count, sx + count * dx, sy + count * dy)
                    (sxx, sxy, syy) = (sxx + count * (dx * dx), sxy + count * (dx * dy), syy + count * (dy * dy))
                    (sv, sxv, syv, svv) = (sv + rise, sxv + rise * dx, syv + rise * dy, svv + rise * rise)
                }
            }
            share = one / n.replacing(with: one, where: n .< one)
            (sxx, sxy, syy) = (sxx - sx * sx * share, sxy - sx * sy * share, syy - sy * sy * share)
            (sxv, syv, svv) = (sxv - sx * sv * share, syv - sy * sv * share, svv - sv * sv * share)
            let determinant = one / (sxx * syy - sxy * sxy + WindowFit.least)
            (a, b) = ((sxv * syy - syv * sxy) * determinant, (syv * sxx - sxv * sxy) * determinant)
            mean = middle + sv * share
            rest = svv - a * sxv - b * syv
        }
    }
}

extension ScratchList<Int32> {
    /// Grows a list of cells: tries each neighbour of each cell in it, and appends those that `take` accepts.
    ///
    /// - Parameters:
    ///   - isDiagonal: true where cells that touch at a corner are neighbours too.
    ///   - take: must return false for a cell that is in the list. Also called for the empty cells about the map.
    mutating func grow(over cells: SurfaceCells.Map, isDiagonal: Bool, take: (_ from: Int, _ to: Int) -> Bool) {
        var next = 0
        while next < count {
            let here = Int(self[next])
            for row in -1...1 {
                for column in -1...1 where isDiagonal || row == 0 || column == 0 {
                    let other = here &+ row &* cells.stride &+ column
                    if take(here, other) { append(Int32(truncatingIfNeeded: other)) }
                }
            }
            next &+= 1
        }
    }
}
