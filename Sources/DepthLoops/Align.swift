package import CDepthKernels

extension LoopSet {
    /// Projects a row of samples into another camera's picture.
    ///
    /// A sample of m metres is the point m · ray + shift; it is seen at column x / z · fx + cx and row y / z · fy + cy, after the
    /// lens (`LensDistortion`): where it is distorted, x / z and y / z are distorted first. Samples that are not measured, points
    /// behind the camera, and those beyond the lens's radius get the distance 0.
    ///
    /// Fields and parameters:
    ///   - rays: x, y and z of all samples, in three rows `count` apart; NaN where there is none.
    ///   - is_inverse: true where the lens's formula maps the picture to the scene; then it is solved by repeated division.
    ///   - columns, rows, distances: the results.
    package static func alignProject(
        _ row: dm_lens_row, _ lens: dm_lens
    ) {
        let (metres, count) = unsafe (row.metres, row.count)
        let (columns, rows, distances) = unsafe (row.columns, row.rows, row.distances)
        let (raysX, raysY, raysZ) = unsafe (row.rays, row.rays + count, row.rays + 2 &* count)
        let (tx, ty, tz) = (lens.shift_x, lens.shift_y, lens.shift_z)
        let (fx, fy, cx, cy) = (lens.fx, lens.fy, lens.cx, lens.cy)
        guard lens.is_distorted else {
            for x in upTo(count) {
                let m = unsafe metres[x]
                let z = unsafe m * raysZ[x] + tz
                let inverse = 1 / z
                let column = unsafe (m * raysX[x] + tx) * inverse * fx + cx
                let row = unsafe (m * raysY[x] + ty) * inverse * fy + cy
                unsafe columns[x] = column
                unsafe rows[x] = row
                unsafe distances[x] = isSeen(m, z, column, row) ? z : 0
            }
            return
        }
        let (k1, k2, k3, k4, k5, k6) = (lens.k1, lens.k2, lens.k3, lens.k4, lens.k5, lens.k6)
        let (limit, p1, p2) = (lens.largest_radius_squared, lens.p1, lens.p2)
        @inline(__always)
        func distorted(_ px: Float, _ py: Float) -> (x: Float, y: Float, d: Float) {
            let r2 = px * px + py * py
            let d = (1 + r2 * (k1 + r2 * (k2 + r2 * k3))) / (1 + r2 * (k4 + r2 * (k5 + r2 * k6)))
            let xy = 2 * px * py
            return (px * d + p1 * xy + p2 * (r2 + 2 * px * px), py * d + p2 * xy + p1 * (r2 + 2 * py * py), d)
        }
        if lens.is_inverse {
            for x in upTo(count) {
                let m = unsafe metres[x]
                let z = unsafe m * raysZ[x] + tz
                let inverse = 1 / z
                let px = unsafe (m * raysX[x] + tx) * inverse
                let py = unsafe (m * raysY[x] + ty) * inverse
                var (dx, dy) = (px, py)
                var error: Float = 0
                for _ in 0..<12 {
                    let seen = distorted(dx, dy)
                    let (ex, ey) = (seen.x - px, seen.y - py)
                    error = ex * ex + ey * ey
                    dx -= ex / seen.d
                    dy -= ey / seen.d
                }
                let (column, row) = (dx * fx + cx, dy * fy + cy)
                unsafe columns[x] = column
                unsafe rows[x] = row
                let isSolved = error < 1e-7 && dx * dx + dy * dy <= limit
                unsafe distances[x] = isSeen(m, z, column, row) && isSolved ? z : 0
            }
            return
        }
        for x in upTo(count) {
            let m = unsafe metres[x]
            let z = unsafe m * raysZ[x] + tz
            let inverse = 1 / z
            let px = unsafe (m * raysX[x] + tx) * inverse
            let py = unsafe (m * raysY[x] + ty) * inverse
            let seen = distorted(px, py)
            let (column, row) = (seen.x * fx + cx, seen.y * fy + cy)
            unsafe columns[x] = column
            unsafe rows[x] = row
            unsafe distances[x] = isSeen(m, z, column, row) && px * px + py * py <= limit ? z : 0
        }
    }
}

/// True for a sample that was measured (`metres`) and lies before the color camera (`z` metres), at a place of sensible
/// size. NaN compares false.
@inline(__always)
private func isSeen(_ metres: Float, _ z: Float, _ column: Float, _ row: Float) -> Bool {
    metres > 0 && z > 0.001 && z < 1e6 && abs(column) < 1e6 && abs(row) < 1e6
}

extension LoopSet {
    /// Computes where the samples of a row end towards their neighbors: half way where both are on one surface, at their own angle
    /// elsewhere.
    ///
    /// Fields and parameters:
    ///   - places: columns or rows of the samples in the picture, and those of the neighbors.
    ///   - step: the share of the distance by which two samples of one surface may differ.
    ///   - half: half the angle of a sample in pixels, with the sign of the neighbor's side.
    package static func alignEdges(_ row: dm_edge_row, count: Int, into edges: UnsafeMutablePointer<Float>) {
        for x in upTo(count) {
            let (place, distance) = unsafe (row.places[x], row.distances[x])
            let middle = unsafe 0.5 * (place + row.neighbors[x])
            let difference = unsafe abs(distance - row.neighbor_distances[x])
            unsafe edges[x] = difference < row.step * distance ? middle : place + row.half
        }
    }

    /// Computes the first and the last pixel whose centers lie between two edges, clamped to the picture.
    ///
    /// Fields and parameters:
    ///   - overlap: pixels by which both ends are extended.
    ///   - size: pixels of the picture; a range outside of it is empty.
    package static func alignCoveredPixels(
        _ edges: dm_edge_pair, count: Int, first: UnsafeMutablePointer<Int32>, last: UnsafeMutablePointer<Int32>
    ) {
        let (overlap, size) = unsafe (edges.overlap, edges.size)
        // 1.5 · 2^23: a number added to it is rounded to a whole one in its last bits. Larger numbers, and NaN, give some whole
        // number; all are clamped as whole numbers.
        let magic: Float = 12_582_912
        let bits: Int32 = 0x4b40_0000
        let (inward, outward) = (0.5 - overlap, overlap - 0.5)
        for x in upTo(count) {
            let (a, b) = unsafe (edges.one[x], edges.other[x])
            let firsts = (
                Int32(bitPattern: (a + inward + magic).bitPattern), Int32(bitPattern: (b + inward + magic).bitPattern)
            )
            let lasts = (
                Int32(bitPattern: (a + outward + magic).bitPattern), Int32(bitPattern: (b + outward + magic).bitPattern)
            )
            let low = (firsts.0 < firsts.1 ? firsts.0 : firsts.1) &- bits
            let high = (lasts.0 > lasts.1 ? lasts.0 : lasts.1) &- bits
            let start = low > 0 ? low : 0
            let end = high < size &- 1 ? high : size &- 1
            unsafe first[x] = start < size ? start : size
            unsafe last[x] = end > -1 ? end : -1
        }
    }

    /// Fills each sample's rectangle of pixels with its distance, where nothing nearer is.
    ///
    /// Fields and parameters:
    ///   - distances: in counts; `UInt16.max` where there is no sample.
    ///   - output: rows of `width` counts.
    package static func alignFill(
        _ distances: UnsafePointer<UInt16>, _ rectangles: dm_rectangles, into output: UnsafeMutablePointer<UInt16>
    ) {
        unsafe fill(distances, .max, rectangles, output)
    }

    /// The same in metres; infinite where there is no sample.
    package static func alignFill(
        _ distances: UnsafePointer<Float>, _ rectangles: dm_rectangles, into output: UnsafeMutablePointer<Float>
    ) {
        unsafe fill(distances, .infinity, rectangles, output)
    }
}

@inline(__always)
private func fill<Distance: Comparable>(
    _ distances: UnsafePointer<Distance>, _ none: Distance, _ rectangles: dm_rectangles,
    _ output: UnsafeMutablePointer<Distance>
) {
    let width = unsafe rectangles.width
    for x in unsafe upTo(rectangles.count) {
        let distance = unsafe distances[x]
        let (left, right) = unsafe (Int(rectangles.first_columns[x]), Int(rectangles.last_columns[x]))
        let (top, bottom) = unsafe (Int(rectangles.first_rows[x]), Int(rectangles.last_rows[x]))
        if distance == none || left > right || top > bottom { continue }
        let (first, last) = (top &* width, bottom &* width)
        if right &- left <= 1 && bottom &- top <= 1 {
            // Most rectangles: their corners are all their pixels, without a branch on their size, which is hard to predict.
            // Corners may be one pixel: all are read before one is written, so that no read waits for a write.
            let corners = SIMD4(first &+ left, first &+ right, last &+ left, last &+ right)
            let (a, b) = unsafe (output[corners.x], output[corners.y])
            let (c, d) = unsafe (output[corners.z], output[corners.w])
            unsafe output[corners.x] = distance < a ? distance : a
            unsafe output[corners.y] = distance < b ? distance : b
            unsafe output[corners.z] = distance < c ? distance : c
            unsafe output[corners.w] = distance < d ? distance : d
            continue
        }
        var row = first
        while row <= last {
            var column = left
            while column <= right {
                let there = unsafe output[row &+ column]
                unsafe output[row &+ column] = distance < there ? distance : there
                column &+= 1
            }
            row &+= width
        }
    }
}

extension LoopSet {
    /// Converts the distances of a row to counts: at least 1 and at most 65534; 65535 where there is no sample.
    ///
    /// - Parameters:
    ///   - distances: metres; 0 where there is no sample.
    ///   - scale: counts per metre.
    package static func alignCounts(
        _ distances: UnsafePointer<Float>, count: Int, scale: Float, into counts: UnsafeMutablePointer<UInt16>
    ) {
        // 2^23: a number added to it is rounded to a whole one in its last bits.
        let magic: Float = 8_388_608
        for x in upTo(count) {
            let distance = unsafe distances[x]
            var scaled = distance * scale
            scaled = scaled > 1 ? scaled : 1
            scaled = scaled < 65534 ? scaled : 65534
            scaled = distance > 0 ? scaled : 65535
            unsafe counts[x] = UInt16(truncatingIfNeeded: (scaled + magic).bitPattern)
        }
    }
}
