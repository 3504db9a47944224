/// Projects a row of samples into another camera's picture.
///
/// A sample of m metres is the point m · ray + shift; it is seen at column x / z · fx + cx and row y / z · fy + cy, after the
/// lens (`LensDistortion`): where `radial` has numbers, x / z and y / z are distorted first. Samples that are not measured, points
/// behind the camera, and those beyond the lens's radius get the distance 0.
///
/// - Parameters:
///   - rays: x, y and z of all samples, in three rows `count` apart; NaN where there is none.
///   - focus: fx, fy, cx, cy.
///   - radial: k1, k2, k3, 0, k4, k5, k6, largest radius squared; p1 and p2 in `tangential`. Nil without a lens.
///   - columns, rows, distances: the results.
package func alignProject(
    metres: UnsafePointer<Float>, count: Int, rays: UnsafePointer<Float>, shift: SIMD3<Float>, focus: SIMD4<Float>,
    radial: SIMD8<Float>?, tangential: SIMD2<Float>, columns: UnsafeMutablePointer<Float>,
    rows: UnsafeMutablePointer<Float>, distances: UnsafeMutablePointer<Float>
) {
    let (raysX, raysY, raysZ) = unsafe (rays, rays + count, rays + 2 &* count)
    let (tx, ty, tz) = (shift.x, shift.y, shift.z)
    let (fx, fy, cx, cy) = (focus.x, focus.y, focus.z, focus.w)
    guard let radial else {
        for x in 0..<count {
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
    let (k1, k2, k3, k4, k5, k6) = (radial[0], radial[1], radial[2], radial[4], radial[5], radial[6])
    let (limit, p1, p2) = (radial[7], tangential.x, tangential.y)
    for x in 0..<count {
        let m = unsafe metres[x]
        let z = unsafe m * raysZ[x] + tz
        let inverse = 1 / z
        let px = unsafe (m * raysX[x] + tx) * inverse
        let py = unsafe (m * raysY[x] + ty) * inverse
        let r2 = px * px + py * py
        let d = (1 + r2 * (k1 + r2 * (k2 + r2 * k3))) / (1 + r2 * (k4 + r2 * (k5 + r2 * k6)))
        let xy = 2 * px * py
        let column = (px * d + p1 * xy + p2 * (r2 + 2 * px * px)) * fx + cx
        let row = (py * d + p2 * xy + p1 * (r2 + 2 * py * py)) * fy + cy
        unsafe columns[x] = column
        unsafe rows[x] = row
        unsafe distances[x] = isSeen(m, z, column, row) && r2 <= limit ? z : 0
    }
}

/// NaN compares false.
@inline(__always)
private func isSeen(_ metres: Float, _ z: Float, _ column: Float, _ row: Float) -> Bool {
    metres > 0 && z > 0.001 && z < 1e6 && abs(column) < 1e6 && abs(row) < 1e6
}

/// Computes where the samples of a row end towards their neighbors: half way where both are on one surface, at their own angle
/// elsewhere.
///
/// - Parameters:
///   - places: columns or rows of the samples in the picture, and those of the neighbors.
///   - step: the share of the distance by which two samples of one surface may differ.
///   - half: half the angle of a sample in pixels, with the sign of the neighbor's side.
package func alignEdges(
    _ places: UnsafePointer<Float>, _ distances: UnsafePointer<Float>, _ neighbors: UnsafePointer<Float>,
    _ neighborDistances: UnsafePointer<Float>, count: Int, step: Float, half: Float,
    into edges: UnsafeMutablePointer<Float>
) {
    for x in 0..<count {
        let (place, distance) = unsafe (places[x], distances[x])
        let middle = unsafe 0.5 * (place + neighbors[x])
        let difference = unsafe abs(distance - neighborDistances[x])
        unsafe edges[x] = difference < step * distance ? middle : place + half
    }
}

/// Computes the first and the last pixel whose centers lie between two edges, clamped to the picture.
///
/// - Parameters:
///   - overlap: pixels by which both ends are extended.
///   - size: pixels of the picture; a range outside of it is empty.
package func alignBounds(
    _ one: UnsafePointer<Float>, _ other: UnsafePointer<Float>, count: Int, overlap: Float, size: Int32,
    first: UnsafeMutablePointer<Int32>, last: UnsafeMutablePointer<Int32>
) {
    // 1.5 · 2^23: a number added to it is rounded to a whole one in its last bits.
    let magic: Float = 12_582_912
    let bits: Int32 = 0x4b40_0000
    let most = Float(size)
    for x in 0..<count {
        let (a, b) = unsafe (one[x], other[x])
        var (low, high) = (a < b ? a : b, a < b ? b : a)
        low = low - overlap + 0.5
        high = high + overlap - 0.5
        low = low > 0 ? low : 0
        low = low < most ? low : most
        high = high < most - 1 ? high : most - 1
        high = high > -1 ? high : -1
        unsafe first[x] = Int32(bitPattern: (low + magic).bitPattern) &- bits
        unsafe last[x] = Int32(bitPattern: (high + magic).bitPattern) &- bits
    }
}

/// Fills each sample's rectangle of pixels with its distance, where nothing nearer is.
package func alignFill(
    _ distances: UnsafePointer<Float>, count: Int, firstColumns: UnsafePointer<Int32>,
    lastColumns: UnsafePointer<Int32>,
    firstRows: UnsafePointer<Int32>, lastRows: UnsafePointer<Int32>, width: Int,
    into output: UnsafeMutablePointer<Float>
) {
    for x in 0..<count {
        let distance = unsafe distances[x]
        let (left, right) = unsafe (Int(firstColumns[x]), Int(lastColumns[x]))
        let (top, bottom) = unsafe (Int(firstRows[x]), Int(lastRows[x]))
        if distance == 0 || left > right { continue }
        var y = top
        while y <= bottom {
            let row = unsafe output + y &* width
            var column = left
            while column <= right {
                let there = unsafe row[column]
                unsafe row[column] = distance < there ? distance : there
                column &+= 1
            }
            y &+= 1
        }
    }
}
