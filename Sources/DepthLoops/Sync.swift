// The loops of the sync estimate over the cells of a frame and the points of an outline.

extension LoopSet {
    /// How many of each cell's samples were measured and lie up to a distance; of a cell of one sample four times as many.
    ///
    /// - Parameters:
    ///   - metres: the first row of the cells'; 0 = not measured.
    ///   - stride: numbers from one row to the next.
    ///   - side: samples along a cell's side, 1 or 2.
    package static func coverCells(
        _ metres: UnsafePointer<Float>, stride: Int, side: Int, cutoff: Float, count: Int,
        into target: UnsafeMutablePointer<UInt16>
    ) {
        guard side == 2 else {
            for x in upTo(count) { unsafe target[x] = near(metres[x], cutoff) &<< 2 }
            return
        }
        let lower = unsafe metres + stride
        for x in upTo(count) {
            let (left, right) = (2 &* x, 2 &* x &+ 1)
            let upper = unsafe near(metres[left], cutoff) &+ near(metres[right], cutoff)
            unsafe target[x] = upper &+ near(lower[left], cutoff) &+ near(lower[right], cutoff)
        }
    }

    /// The mean of each cell's samples, −0.08…1.25, times 3060, plus 256: video of limited range has luma beyond black and white.
    ///
    /// - Parameters:
    ///   - stride: numbers from one row to the next.
    ///   - side: samples along a cell's side, 1 or 2.
    package static func shadeCells(
        _ samples: UnsafePointer<Float>, stride: Int, side: Int, count: Int, into target: UnsafeMutablePointer<UInt16>
    ) {
        guard side == 2 else {
            for x in upTo(count) {
                unsafe target[x] = UInt16(truncatingIfNeeded: nearestWhole(samples[x] * 3060 + 256))
            }
            return
        }
        let lower = unsafe samples + stride
        for x in upTo(count) {
            let (left, right) = (2 &* x, 2 &* x &+ 1)
            let sum = unsafe (samples[left] + lower[left]) + (samples[right] + lower[right])
            unsafe target[x] = UInt16(truncatingIfNeeded: nearestWhole(sum * 765 + 256))
        }
    }

    /// The sums of a row of cells weighted by [1 2 1] along both axes; beyond the ends the last cell counts again.
    ///
    /// - Parameters:
    ///   - rows: numbers up to 4095.
    ///   - line: memory for `count` + 2 numbers.
    package static func sumNeighbors(
        _ rows: (upper: UnsafePointer<UInt16>, middle: UnsafePointer<UInt16>, lower: UnsafePointer<UInt16>), count: Int,
        line: UnsafeMutablePointer<UInt16>, into target: UnsafeMutablePointer<UInt16>
    ) {
        guard count > 0 else { return }
        let (upper, middle, lower) = unsafe rows
        for x in upTo(count) { unsafe line[x &+ 1] = upper[x] &+ middle[x] &<< 1 &+ lower[x] }
        unsafe (line[0], line[count &+ 1]) = (line[1], line[count])
        for x in upTo(count) { unsafe target[x] = line[x] &+ line[x &+ 1] &<< 1 &+ line[x &+ 2] }
    }

    /// The gradient of a row of cells by central differences, a quarter of them: two numbers of 16 bits in one of 32, the x part
    /// low.
    ///
    /// - Parameter rows: the middle one with a readable number before its first and after its last.
    package static func gradientCells(
        _ rows: (upper: UnsafePointer<UInt16>, middle: UnsafePointer<UInt16>, lower: UnsafePointer<UInt16>), count: Int,
        into target: UnsafeMutablePointer<Int32>
    ) {
        let (upper, middle, lower) = unsafe rows
        for x in upTo(count) {
            let gx = unsafe Int32(middle[x &+ 1]) &- Int32(middle[x &- 1])
            let gy = unsafe Int32(lower[x]) &- Int32(upper[x])
            unsafe target[x] = (gx &+ 2) &>> 2 & 0xffff | ((gy &+ 2) &>> 2) &<< 16
        }
    }

    /// Counts the lengths of a row of gradients, rounded down; those from the last bin on are in that one.
    package static func countLengths(
        _ gradients: UnsafePointer<Int32>, count: Int, lengths: UnsafeMutablePointer<Int32>, bins: Int,
        into histogram: UnsafeMutablePointer<Int32>
    ) {
        let last = Float(bins &- 1)
        for x in upTo(count) {
            let (gx, gy) = unsafe (low(gradients[x]), high(gradients[x]))
            let length = (gx * gx + gy * gy).squareRoot()
            unsafe lengths[x] = nearestWhole((length < last ? length : last) - 0.499)
        }
        for x in upTo(count) { unsafe histogram[Int(lengths[x])] &+= 1 }
    }

    package static func gatherCells(
        _ picture: UnsafePointer<Int32>, _ indices: UnsafePointer<Int32>, count: Int,
        into target: UnsafeMutablePointer<Int32>
    ) {
        for index in upTo(count) { unsafe target[index] = picture[Int(indices[index])] }
    }

    /// How well the outline lies on edges, at 24 shifts of each point along its normal n: the sums over groups of points of
    /// |g · n| / (|g · n| + g0).
    ///
    /// - Parameters:
    ///   - gradients: 24 for each point.
    ///   - normals: x and y of each point.
    ///   - ends: of the groups, the first point that is not in them.
    ///   - damping: g0, in units of the gradients.
    ///   - sums: 24 for each group.
    package static func sumMatches(
        _ gradients: UnsafePointer<Int32>, normals: UnsafePointer<Float>, ends: UnsafePointer<Int32>, groups: Int,
        damping: Float, into sums: UnsafeMutablePointer<Float>
    ) {
        var point = 0
        for group in upTo(groups) {
            let end = unsafe Int(ends[group])
            var (first, second, third) = (Eight(), Eight(), Eight())
            while point < end {
                let (x, y) = unsafe (normals[2 &* point], normals[2 &* point &+ 1])
                let row = unsafe UnsafeRawPointer(gradients + 24 &* point)
                unsafe first += match(row, x, y, damping)
                unsafe second += match(row + 32, x, y, damping)
                unsafe third += match(row + 64, x, y, damping)
                point &+= 1
            }
            let target = unsafe sums + 24 &* group
            unsafe store(first, target)
            unsafe store(second, target + 8)
            unsafe store(third, target + 16)
        }
    }
}

@inline(__always)
private func near(_ metres: Float, _ cutoff: Float) -> UInt16 { (metres > 0 ? 1 : 0) & (metres <= cutoff ? 1 : 0) }

@inline(__always)
private func low(_ packed: Int32) -> Float { Float((packed &<< 16) &>> 16) }

@inline(__always)
private func high(_ packed: Int32) -> Float { Float(packed &>> 16) }

@inline(__always)
private func match(_ gradients: UnsafeRawPointer, _ x: Float, _ y: Float, _ damping: Float) -> Eight {
    let packed = unsafe gradients.loadUnaligned(as: SIMD8<Int32>.self)
    let (gx, gy) = (float((packed &<< 16) &>> 16), float(packed &>> 16))
    let dot = gx * x + gy * y
    let length = dot.replacing(with: -dot, where: dot .< 0)
    return length / (length + damping)
}

/// Whole numbers between −2²² and 2²².
@inline(__always)
private func float(_ numbers: SIMD8<Int32>) -> Eight {
    let bias = SIMD8<Int32>(repeating: Int32(bitPattern: roundingBias.bitPattern))
    return unsafe unsafeBitCast(numbers &+ bias, to: Eight.self) - roundingBias
}
