/// Horizontal planes of the scene: the floor, the top of a desk, the seat of a sofa.
///
/// A plane is linear in inverse depth, whatever the lens: 1/z = a·x + b·y + c. Square tiles whose samples lie on such a
/// plane, and on one that comes nearer downwards, propose it; the proposal that most tiles share is fitted to them by
/// least squares. The search is deterministic.
///
/// - Samples are on a plane where |1 − z·(a·x + b·y + c)|, their height above it relative to the camera's, is within
///   four standard deviations of the residual noise of its own tiles, and within two tiles of one of them: the plane
///   of a desk continues through the person who sits behind it.
/// - A plane is wider than the lap of a person who sits, and no part of it is on the head or the shoulders: those slope
///   as floors do, seen from above.
///
/// Source: Labayrade, Aubert, Tarel, "Real time obstacle detection in stereovision on non flat road geometry through
/// V-disparity representation", IV 2002, for the linearity; tiles in place of its histogram allow a camera that leans.
struct FloorPlanes: ~Copyable {
    private static let most = 3
    /// Of the part of the normal that points down, 0…1: a camera may look down by 45 degrees.
    private static let leastSlope = 0.7
    /// Residual of a tile on its own plane, in 1/m, and as a share of its mean.
    private static let noise = (constant: 0.006, share: 0.01)
    private static let proposals = 12
    private static let leastTiles = 8
    /// Metres.
    private static let leastWidth = 0.6
    /// Metres below the face, where the plane is as far away: laps, seats and desks are no floor.
    private static let leastDrop = 0.85
    private static let deviations = 4.0
    private static let largestTolerance = 0.03
    /// Tiles about one on the plane in which samples may be on it.
    private static let reach = 2
    /// Of the tolerance, for a sample that was the person's in the last frame.
    private static let loyalty: Float = 0.67

    private var tiles = ScratchList<Tile>()
    private var marks = Scratch<UInt8>()
    private var line = Scratch<Float>()
    private var bits = Scratch<UInt64>()

    /// 1/z = a·x + b·y + c, in samples from the middle of the grid.
    private struct Surface: BitwiseCopyable {
        var a = 0.0
        var b = 0.0
        var c = 0.0

        @inline(__always)
        func inverseDepth(_ x: Double, _ y: Double) -> Double { a * x + b * y + c }

        /// Metres from a point of the grid down to the plane at its distance.
        func drop(below point: (x: Double, y: Double, metres: Double), on grid: WorkGrid) -> Double {
            let (x, y) = (point.x - Double(grid.width) / 2, point.y - Double(grid.height) / 2)
            return ((1 / point.metres - c - a * x) / b - y) * point.metres / grid.focal
        }
    }

    /// A square of samples on a plane.
    private struct Tile {
        let column: Int
        let row: Int
        let x: Double
        let y: Double
        /// Mean inverse depth.
        let mean: Double
        /// Standard deviation from the tile's own plane.
        let residual: Double
        let plane: Surface
        var isTaken = false

        @inline(__always)
        func deviation(from plane: Surface) -> Double { abs(mean - plane.inverseDepth(x, y)) / mean }
    }

    /// Marks the samples on horizontal planes.
    ///
    /// - Parameters:
    ///   - face: samples and metres; nil marks nothing.
    ///   - farthest: metres; samples beyond are not used to find planes.
    ///   - past: the person's samples in the last frame.
    ///   - spared: samples that are never marked.
    ///   - floor: receives the samples.
    mutating func find(
        _ field: DepthField, farthest: Double, past: SampleSet, sparing spared: SampleSet,
        below face: (x: Double, y: Double, metres: Double)?, into floor: SampleSet, _ loops: Loops
    ) {
        let (grid, size) = (field.grid, FloorPlanes.tileSize(of: field.grid))
        floor.removeAll()
        let focal = grid.focal
        readTiles(of: field, size: size, farthest: Float(farthest), sparing: spared)
        for _ in 0..<FloorPlanes.most {
            guard let found = takeLargest(focal: focal) else { break }
            let drop = face.map { found.plane.drop(below: $0, on: grid) } ?? 0
            if found.width >= FloorPlanes.leastWidth, drop >= FloorPlanes.leastDrop {
                mark(size: size, on: grid)
                add(found, field, past: past, into: floor, loops)
                break
            }
            tiles.removeAll { $0.isTaken }
        }
        floor.fill { unsafe floor.words[$0] & ~(spared.words[$0] | field.hole.words[$0]) }
    }

    // MARK: Tiles

    /// Samples along an edge.
    private static func tileSize(of grid: WorkGrid) -> Int { grid.width >= 480 ? 16 : 8 }

    private mutating func readTiles(
        of field: DepthField, size: Int, farthest: Float, sparing spared: SampleSet
    ) {
        let (depth, grid) = unsafe (field.metres, field.grid)
        let rowLength = spared.stride &* 64
        tiles.removeAll(most: grid.height / size * (grid.width / size))
        for row in 0..<(grid.height / size) {
            for column in 0..<(grid.width / size) {
                if spared.bits(row &* size &+ size / 2).contains(column &* size &+ size / 2) { continue }
                let first = unsafe depth + row &* size &* rowLength + column &* size
                guard let sums = unsafe Sums(first, rowLength: rowLength, size: size, farthest: farthest) else {
                    continue
                }
                let step = Double(size / 8)
                let (mean, a, b, residual) = (sums.mean, sums.a / step, sums.b / step, sums.residual)
                guard mean > 0, residual < FloorPlanes.noise.constant + FloorPlanes.noise.share * mean else {
                    continue
                }
                let middle = 3.5 * step
                let x = Double(column * size) + middle - Double(grid.width) / 2
                let y = Double(row * size) + middle - Double(grid.height) / 2
                let plane = Surface(a: a, b: b, c: mean - a * x - b * y)
                guard FloorPlanes.isHorizontal(plane, focal: grid.focal) else { continue }
                tiles.append(
                    Tile(column: column, row: row, x: x, y: y, mean: mean, residual: residual, plane: plane))
            }
        }
    }

    /// The plane 1/z = a·x + b·y + c of 8x8 samples of a tile, by least squares.
    private struct Sums {
        /// Inverse depth in the middle of the tile.
        let mean: Double
        let a: Double
        let b: Double
        /// The standard deviation from the plane.
        let residual: Double

        /// - Returns: nil where less than a quarter was measured, or where they determine no plane.
        init?(_ first: UnsafePointer<Float>, rowLength: Int, size: Int, farthest: Float) {
            typealias Eight = SIMD8<Float>
            let x = Eight(-3.5, -2.5, -1.5, -0.5, 0.5, 1.5, 2.5, 3.5)
            var (n, ny, nyy) = (Eight.zero, Eight.zero, Eight.zero)
            var (v, vy, vv) = (Eight.zero, Eight.zero, Eight.zero)
            for row in 0..<8 {
                let place = unsafe UnsafeRawPointer(first + row &* (size / 8) &* rowLength)
                let z =
                    size == 16
                    ? unsafe place.loadUnaligned(as: SIMD16<Float>.self).evenHalf
                    : unsafe place.loadUnaligned(as: Eight.self)
                let isMeasured = (z .> 0) .& (z .< farthest)
                let one = Eight.zero.replacing(with: 1, where: isMeasured)
                let inverse = Eight.zero.replacing(with: 1 / z, where: isMeasured)
                let y = Float(row) - 3.5
                (n, ny, nyy) = (n + one, ny + one * y, nyy + one * (y * y))
                (v, vy, vv) = (v + inverse, vy + inverse * y, vv + inverse * inverse)
            }
            let count = Double(n.sum())
            guard count >= 16 else { return nil }
            func average(_ sum: Eight) -> Double { Double(sum.sum()) / count }
            let (xMean, yMean, vMean) = (average(n * x), average(ny), average(v))
            let xx = average(n * x * x) - xMean * xMean
            let (xy, yy) = (average(ny * x) - xMean * yMean, average(nyy) - yMean * yMean)
            let (xv, yv) = (average(v * x) - xMean * vMean, average(vy) - yMean * vMean)
            let determinant = xx * yy - xy * xy
            guard determinant > 0.01 else { return nil }
            (a, b) = ((xv * yy - yv * xy) / determinant, (yv * xx - xv * xy) / determinant)
            mean = vMean - a * xMean - b * yMean
            residual = max(average(vv) - vMean * vMean - a * xv - b * yv, 0).squareRoot()
        }
    }

    private static func isHorizontal(_ plane: Surface, focal: Double) -> Bool {
        let (across, down) = (plane.a * focal, plane.b * focal)
        return down > 0 && down * down >= leastSlope * leastSlope * (across * across + down * down + plane.c * plane.c)
    }

    // MARK: Planes

    /// A plane, the share by which samples on it deviate at most, and its width in metres.
    private typealias Found = (plane: Surface, tolerance: Float, width: Double)

    /// The plane of most tiles. Marks its tiles as taken.
    private mutating func takeLargest(focal: Double) -> Found? {
        guard tiles.count >= FloorPlanes.leastTiles else { return nil }
        var best: (plane: Surface, count: Int)?
        for index in stride(from: 0, to: tiles.count, by: max(tiles.count / FloorPlanes.proposals, 1)) {
            guard let plane = fitted(near: tiles[index].plane, within: 0.06) else { continue }
            let count = tiles.elements.reduce(0) { $0 + ($1.deviation(from: plane) < 0.03 ? 1 : 0) }
            if count > best?.count ?? 0 { best = (plane, count) }
        }
        guard let best, let near = fitted(near: best.plane, within: 0.03), let plane = fitted(near: near, within: 0.02)
        else { return nil }
        guard FloorPlanes.isHorizontal(plane, focal: focal) else { return nil }

        var (count, squares) = (0, 0.0)
        var (left, right) = (Double.infinity, -Double.infinity)
        for index in tiles.indices {
            let tile = tiles[index]
            let deviation = tile.deviation(from: plane)
            guard deviation < 0.02 else { continue }
            tiles[index].isTaken = true
            count += 1
            let residual = tile.residual / tile.mean
            squares += residual * residual + deviation * deviation
            let place = tile.x / (focal * tile.mean)
            (left, right) = (min(left, place), max(right, place))
        }
        guard count >= FloorPlanes.leastTiles else { return nil }
        let tolerance = FloorPlanes.deviations * (squares / Double(count)).squareRoot()
        return (plane, Float(min(tolerance, FloorPlanes.largestTolerance)), right - left)
    }

    /// Least squares of the relative deviation over the tiles near a plane.
    private func fitted(near plane: Surface, within limit: Double) -> Surface? {
        var (count, xx, xy, yy, xc, yc, cc, x1, y1, c1) = (0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
        for tile in tiles.elements where tile.deviation(from: plane) < limit {
            let (x, y, c) = (tile.x / tile.mean, tile.y / tile.mean, 1 / tile.mean)
            count += 1
            (xx, xy, yy) = (xx + x * x, xy + x * y, yy + y * y)
            (xc, yc, cc) = (xc + x * c, yc + y * c, cc + c * c)
            (x1, y1, c1) = (x1 + x, y1 + y, c1 + c)
        }
        guard count >= FloorPlanes.leastTiles else { return nil }
        let (k0, k1, k2) = (yy * cc - yc * yc, xc * yc - xy * cc, xy * yc - xc * yy)
        let determinant = xx * k0 + xy * k1 + xc * k2
        guard determinant > 1e-9 * xx * yy * cc else { return nil }
        let (k11, k12, k22) = (xx * cc - xc * xc, xy * xc - xx * yc, xx * yy - xy * xy)
        return Surface(
            a: (k0 * x1 + k1 * y1 + k2 * c1) / determinant, b: (k1 * x1 + k11 * y1 + k12 * c1) / determinant,
            c: (k2 * x1 + k12 * y1 + k22 * c1) / determinant)
    }

    // MARK: Samples

    /// Marks the blocks of 16 samples of each row of tiles that are near a taken tile.
    private mutating func mark(size: Int, on grid: WorkGrid) {
        let (columns, rows) = (groups(of: blockWidth, in: grid.width), groups(of: size, in: grid.height))
        let marks = unsafe marks.reserve(columns * rows, filler: 0)
        for index in 0..<(columns * rows) { unsafe marks[index] = 0 }
        for tile in tiles.elements where tile.isTaken {
            let reach = FloorPlanes.reach
            let left = max(tile.column - reach, 0) * size / blockWidth
            let right = min(((tile.column + reach + 1) * size - 1) / blockWidth, columns - 1)
            for row in max(tile.row - reach, 0)...min(tile.row + reach, rows - 1) {
                for column in left...right { unsafe marks[row &* columns &+ column] = 1 }
            }
        }
    }

    private mutating func add(
        _ found: Found, _ field: DepthField, past: SampleSet, into floor: SampleSet, _ loops: Loops
    ) {
        let (plane, tolerance) = (found.plane, found.tolerance)
        let (depth, grid, size) = unsafe (field.metres, field.grid, FloorPlanes.tileSize(of: field.grid))
        let columns = groups(of: blockWidth, in: grid.width)
        let line = unsafe line.reserve(floor.stride * 64, filler: 0)
        let bits = unsafe bits.reserve(2 * floor.stride, filler: 0)
        let (surely, beyond) = unsafe (bits, bits + floor.stride)
        let marks = unsafe marks.reserve(columns * groups(of: size, in: grid.height), filler: 0)
        let steps = Lanes(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15) * Float(plane.a)
        for y in 0..<grid.height {
            let row = unsafe depth + y &* floor.stride &* 64
            let marks = unsafe marks + y / size &* columns
            for index in 0..<floor.stride { unsafe (surely[index], beyond[index]) = (0, .max) }
            for block in 0..<columns where unsafe marks[block] != 0 {
                let first = Float(
                    plane.inverseDepth(
                        Double(block * blockWidth) - Double(grid.width) / 2, Double(y) - Double(grid.height) / 2))
                let share = unsafe 1 - loadLanes(row + block &* blockWidth) * (steps + first)
                unsafe storeLanes(share.replacing(with: -share, where: share .< 0), to: line + block &* blockWidth)
                unsafe loops.classify(
                    line + block &* blockWidth, blocks: block..<(block &+ 1),
                    clear: FloorPlanes.loyalty * tolerance, opaque: tolerance, into: (clear: surely, opaque: beyond))
            }
            let (target, past) = unsafe (floor.row(y), past.row(y))
            for index in 0..<floor.stride {
                unsafe target[index] |= surely[index] | ~(beyond[index] | past[index])
            }
        }
        floor.trim()
    }
}
