package import CDepthKernels

extension LoopSet {
    /// The weighted sum of up to four rows of bytes, stored in a row or added to it.
    ///
    /// - Parameters:
    ///   - rows: the first byte of each row; unused ones repeat the last row.
    ///   - weights: in units of 1/256; those of unused rows are ignored.
    ///   - isFirst: true to store the sum, false to add it.
    package static func sumRows(
        _ rows: (UnsafePointer<UInt8>, UnsafePointer<UInt8>, UnsafePointer<UInt8>, UnsafePointer<UInt8>),
        weights: SIMD4<UInt16>, count: (rows: Int, bytes: Int), isFirst: Bool, into sums: UnsafeMutablePointer<UInt16>
    ) {
        @inline(__always)
        func sum(_ rowCount: Int, _ isFirst: Bool) {
            for x in upTo(count.bytes) {
                var sum = unsafe weights[0] &* UInt16(rows.0[x])
                if rowCount > 1 { unsafe sum &+= weights[1] &* UInt16(rows.1[x]) }
                if rowCount > 2 { unsafe sum &+= weights[2] &* UInt16(rows.2[x]) }
                if rowCount > 3 { unsafe sum &+= weights[3] &* UInt16(rows.3[x]) }
                unsafe sums[x] = isFirst ? sum : sums[x] &+ sum
            }
        }
        @inline(__always)
        func sum(isFirst: Bool) {
            switch count.rows {
            case 1: sum(1, isFirst)
            case 2: sum(2, isFirst)
            case 3: sum(3, isFirst)
            default: sum(4, isFirst)
            }
        }
        if isFirst { sum(isFirst: true) } else { sum(isFirst: false) }
    }

    /// Averages over contiguous intervals of a row, in groups in which `intervals` intervals cover exactly `pixels` pixels.
    ///
    /// - Parameters:
    ///   - weights: for each interval of a group, a weight for each pixel of the group.
    ///   - offset: added to each result.
    ///   - step: numbers from one pixel to the next.
    ///   - groups: the number of groups.
    /// - Returns: false, with nothing written, where there is no loop for these numbers.
    package static func averageGroups(
        _ line: UnsafePointer<UInt16>, _ groups: dm_interval_groups, weights: SIMD16<Float>,
        into target: UnsafeMutablePointer<Float>
    ) -> Bool {
        @inline(__always)
        func average(step: Int) -> Bool {
            switch (groups.pixels, groups.intervals) {
            case (1, 1): average(step, 1, 1)
            case (2, 1): average(step, 2, 1)
            case (3, 1): average(step, 3, 1)
            case (4, 1): average(step, 4, 1)
            case (6, 1): average(step, 6, 1)
            case (3, 2): average(step, 3, 2)
            default: return false
            }
            return true
        }
        @inline(__always)
        func average(_ step: Int, _ pixels: Int, _ intervals: Int) {
            for group in upTo(groups.groups) {
                let start = group &* pixels &* step
                var (first, second) = (groups.offset, groups.offset)
                for pixel in upTo(pixels) {
                    let value = unsafe Float(line[start &+ pixel &* step])
                    first += weights[pixel] * value
                    if intervals > 1 { second += weights[pixels &+ pixel] * value }
                }
                unsafe target[group &* intervals] = first
                if intervals > 1 { unsafe target[group &* intervals &+ 1] = second }
            }
        }
        return switch groups.step {
        case 1: average(step: 1)
        case 2: average(step: 2)
        case 3: average(step: 3)
        case 4: average(step: 4)
        default: false
        }
    }
}

/// Fetches numbers that are read later: short runs of long rows are not fetched ahead by themselves. There may be none.
@inline(__always)
func fetch(_ numbers: UnsafePointer<Float>, count: Int) {
    unsafe dm_prefetch_row(UnsafeRawPointer(numbers).assumingMemoryBound(to: UInt8.self), 4 &* count &+ 63)
}

extension LoopSet {
    /// The means of contiguous squares of numbers.
    ///
    /// - Parameters:
    ///   - stride: numbers from one row to the next.
    ///   - side: 2 or 4.
    package static func averageSquares(
        _ rows: UnsafePointer<Float>, stride: Int, side: Int, count: Int, into target: UnsafeMutablePointer<Float>
    ) {
        guard side == 4 else {
            for index in upTo(count) {
                let (left, right) = (2 &* index, 2 &* index &+ 1)
                let sum = unsafe (rows[left] + rows[stride &+ left]) + (rows[right] + rows[stride &+ right])
                unsafe target[index] = sum * (1 / 4)
            }
            return
        }
        for row in 4..<8 { unsafe fetch(rows + row &* stride, count: 4 &* count) }
        for index in upTo(count) {
            var sum: Float = 0
            for pixel in 0..<4 {
                let x = 4 &* index &+ pixel
                unsafe sum += (rows[x] + rows[stride &+ x]) + (rows[2 &* stride &+ x] + rows[3 &* stride &+ x])
            }
            unsafe target[index] = sum * (1 / 16)
        }
    }

    /// The smallest and the largest number of contiguous squares, 2 or 4 numbers wide.
    package static func boundSquares(
        _ rows: UnsafePointer<Float>, stride: Int, side: Int, count: Int,
        into bounds: (low: UnsafeMutablePointer<Float>, high: UnsafeMutablePointer<Float>)
    ) {
        let (low, high) = unsafe bounds
        @inline(__always)
        func bound(_ side: Int) {
            for index in upTo(count) {
                var (least, most) = unsafe (rows[side &* index], rows[side &* index])
                for row in upTo(side) {
                    for column in upTo(side) {
                        let number = unsafe rows[row &* stride &+ side &* index &+ column]
                        (least, most) = (number < least ? number : least, number > most ? number : most)
                    }
                }
                unsafe (low[index], high[index]) = (least, most)
            }
        }
        if side == 4 { bound(4) } else { bound(2) }
    }

    /// Averages over contiguous intervals of a row.
    ///
    /// - Parameters:
    ///   - first: the first number of each interval.
    ///   - weights: `taps` rows of a weight for each interval.
    ///   - step: numbers from one pixel to the next.
    package static func averageIntervals(
        _ line: UnsafePointer<Float>, _ taps: dm_interval_taps, into target: UnsafeMutablePointer<Float>
    ) {
        @inline(__always)
        func average(_ count: Int) {
            for index in unsafe upTo(taps.count) {
                let start = unsafe line + Int(taps.first[index])
                var sum: Float = 0
                for tap in upTo(count) {
                    unsafe sum += taps.weights[tap &* taps.count &+ index] * start[tap &* taps.step]
                }
                unsafe target[index] = sum
            }
        }
        switch unsafe taps.taps {
        case 1: average(1)
        case 2: average(2)
        case 3: average(3)
        case 4: average(4)
        default: unsafe average(taps.taps)
        }
    }

    /// Interpolates between two rows: `upper + share · (lower − upper)`.
    package static func interpolate(
        _ upper: UnsafePointer<Float>, _ lower: UnsafePointer<Float>, share: Float, columns: Range<Int>,
        into target: UnsafeMutablePointer<Float>
    ) {
        for x in each(columns) { unsafe target[x] = upper[x] + share * (lower[x] - upper[x]) }
    }
}

extension LoopSet {
    /// Upsamples a row linearly.
    ///
    /// Fields and parameters:
    ///   - starts: for each sample, the first pixel between it and the next one; one more at the end.
    ///   - share: for each pixel, the weight of the next sample.
    ///   - first, end: the samples before the columns, from the first one up to the end.
    ///   - step: 1; 0 for a single sample.
    ///   - target: has room for seven numbers more than the columns, as `share` has.
    package static func enlarge(
        _ line: UnsafePointer<Float>, _ taps: dm_linear_taps, columns: Range<Int>,
        into target: UnsafeMutablePointer<Float>
    ) {
        let (starts, share) = unsafe (taps.starts, taps.share)
        for sample in unsafe upTo(taps.end, from: taps.first) {
            let begin = unsafe max(Int(starts[sample]), columns.lowerBound)
            let end = unsafe min(Int(starts[sample &+ 1]), columns.upperBound)
            let left = unsafe line[sample]
            let difference = unsafe line[sample &+ taps.step] - left
            var x = begin
            while x < end {
                // The last vector of an interval may overrun it; the next interval overwrites the rest.
                let pixels = unsafe Eight(repeating: left) + eight(share + x) * difference
                unsafe store(pixels, target + x)
                x &+= 8
            }
        }
    }

    /// Evaluates a linear model of three channels, whose coefficients are upsampled linearly (`enlarge`).
    ///
    ///     q = b + Σ a · channel
    ///
    /// Fields and parameters:
    ///   - model: four rows of coefficients, a for each channel and b, `model_stride` numbers apart.
    ///   - channels: three rows, `stride` numbers apart.
    package static func evaluate(
        _ model: dm_linear_model, _ taps: dm_linear_taps, columns: Range<Int>, into target: UnsafeMutablePointer<Float>
    ) {
        let (stride, channels) = unsafe (model.model_stride, model.channels)
        let (starts, share, line0) = unsafe (taps.starts, taps.share, model.model)
        let (line1, line2, line3) = unsafe (line0 + stride, line0 + 2 &* stride, line0 + 3 &* stride)
        let (channel1, channel2) = unsafe (channels + model.stride, channels + 2 &* model.stride)
        for sample in unsafe upTo(taps.end, from: taps.first) {
            let begin = unsafe max(Int(starts[sample]), columns.lowerBound)
            let end = unsafe min(Int(starts[sample &+ 1]), columns.upperBound)
            if begin >= end { continue }
            let next = unsafe sample &+ taps.step
            let (a0, a1, a2, b) = unsafe (line0[sample], line1[sample], line2[sample], line3[sample])
            let (d0, d1, d2, d3) = unsafe (line0[next] - a0, line1[next] - a1, line2[next] - a2, line3[next] - b)
            var x = begin
            while x < end {
                let share = unsafe eight(share + x)
                let first = unsafe (Eight(repeating: a0) + share * d0) * eight(channels + x)
                let second = unsafe (Eight(repeating: a1) + share * d1) * eight(channel1 + x)
                let third = unsafe (Eight(repeating: a2) + share * d2) * eight(channel2 + x)
                unsafe store((Eight(repeating: b) + share * d3 + first) + (second + third), target + x)
                x &+= 8
            }
        }
    }
}

extension LoopSet {
    /// Converts a channel of some pixels to floating point.
    ///
    /// - Parameters:
    ///   - step: bytes from one sample to the next.
    ///   - shift: binary logarithm of the number of pixels that share a sample.
    package static func widen(
        _ bytes: UnsafePointer<UInt8>, step: Int, shift: Int, columns: Range<Int>,
        into target: UnsafeMutablePointer<Float>
    ) {
        switch (step, shift) {
        case (1, 0): for x in each(columns) { unsafe target[x] = Float(bytes[x]) }
        case (4, 0): for x in each(columns) { unsafe target[x] = Float(bytes[4 &* x]) }
        case (1, 1), (2, 1):
            var x = columns.lowerBound
            if x & 1 == 1 {
                unsafe target[x] = Float(bytes[(x &>> 1) &* step])
                x &+= 1
            }
            let (first, end) = (x &>> 1, columns.upperBound &>> 1)
            if first < end {
                for sample in upTo(end, from: first) {
                    let value = unsafe Float(bytes[sample &* step])
                    unsafe target[2 &* sample] = value
                    unsafe target[2 &* sample &+ 1] = value
                }
                x = 2 &* end
            }
            if x < columns.upperBound { unsafe target[x] = Float(bytes[(x &>> 1) &* step]) }
        default: for x in each(columns) { unsafe target[x] = Float(bytes[(x &>> shift) &* step]) }
        }
    }

    /// Convolves a row with the kernel (`side`, `middle`, `side`).
    package static func smooth(
        _ line: UnsafePointer<Float>, columns: Range<Int>, middle: Float, side: Float,
        into target: UnsafeMutablePointer<Float>
    ) {
        for x in each(columns) { unsafe target[x] = middle * line[x] + side * (line[x &- 1] + line[x &+ 1]) }
    }

    /// Computes a row of alpha (`Drawing`).
    ///
    /// Fields and parameters:
    ///   - line: q, smoothed along the rows; `above` and `below` are the rows next to it.
    ///   - plain: above 0.99 for all person, below −0.99 for all room.
    ///   - keep: the weight of the old alpha, which is overwritten.
    package static func finishAlpha(
        _ lines: dm_alpha_lines, columns: Range<Int>, into alpha: UnsafeMutablePointer<UInt8>
    ) {
        for x in each(columns) {
            let q = unsafe lines.middle * lines.line[x] + lines.side * (lines.above[x] + lines.below[x])
            let ramp = unsafe min(max((q - 0.5) * lines.slope + 0.5, 0), 1) * 255
            let drawn = unsafe lines.plain[x] > 0.99 ? 255 : lines.plain[x] < -0.99 ? 0 : ramp
            let new = nearestWhole(drawn)
            let old = unsafe Int32(alpha[x])
            // The contribution of the old alpha is rounded towards 0, so that the new one is reached in the end.
            let left = unsafe lines.keep[x] * Float(old &- new)
            let whole = nearestWhole(max(abs(left) - 0.499_97, 0))
            unsafe alpha[x] = UInt8(truncatingIfNeeded: left < 0 ? new &- whole : new &+ whole)
        }
    }
}

// MARK: - Guided filter

extension LoopSet {
    /// Adds a row, times a weight, to another, or stores it.
    package static func addRow(
        _ row: UnsafePointer<Float>, weight: Float, isFirst: Bool, count: Int, into target: UnsafeMutablePointer<Float>
    ) {
        if isFirst {
            for x in upTo(count) { unsafe target[x] = weight * row[x] }
        } else {
            for x in upTo(count) { unsafe target[x] += weight * row[x] }
        }
    }

    /// Sums means of cells, and their products, over windows along a row (`GuidedFilter`).
    ///
    /// Fields of a run and parameters:
    ///   - first, end: the cells, in a row of `width`.
    ///   - stride: numbers from one line to the next. Up to seven behind the last cell are overwritten.
    ///   - radius: half the window.
    ///   - rows: those of the window.
    ///   - columns: the cells that stand in for those of the row and half a window before and after it.
    ///   - factor: the reciprocal of the number of cells of a window.
    ///   - lines: color and P of the run, and of half a window before and after it.
    ///   - target: 13 lines: the color and P, then the color's products with itself and with P.
    package static func sumProducts(
        _ lines: UnsafeMutablePointer<Float>, _ run: dm_cell_run, into target: UnsafeMutablePointer<Float>
    ) {
        unsafe sumModels(lines, run, into: target)
        let stride = unsafe run.stride
        unsafe forEachVector(run.first, run.end) { x in
            var sums = unsafe target + 4 &* stride + x
            for one in 0..<3 {
                for other in upTo(4, from: one) {
                    let (a, b) = unsafe (lines + one &* stride + x, lines + other &* stride + x)
                    unsafe store(sum(run.radius) { unsafe eight(a + $0) * eight(b + $0) }, sums)
                    unsafe sums += stride
                }
            }
        }
    }

    /// Solves the least squares of a guided filter from the sums of a window, and sums a and b over windows along the row.
    ///
    /// - Parameters:
    ///   - sums: 13 lines for each row (`sumProducts`).
    ///   - lines: scratch memory for four lines.
    ///   - target: four lines.
    package static func solveModels(
        _ sums: UnsafePointer<Float>, _ run: dm_cell_run, epsilon: Float, lines: UnsafeMutablePointer<Float>,
        into target: UnsafeMutablePointer<Float>
    ) {
        let (stride, radius) = unsafe (run.stride, run.radius)
        let next = unsafe sums + (Int(run.rows[2 &* radius]) &+ 1) &* 13 &* stride + run.first
        for line in 0..<13 { unsafe fetch(next + line &* stride, count: run.end &- run.first) }
        unsafe forEachVector(max(run.first &- radius, 0), min(run.end &+ radius, run.width)) { x in
            @inline(__always)
            func mean(_ line: Int) -> Eight { unsafe average(sums + line &* stride + x, run, lines: 13) }
            let (y, u, v, p) = (mean(0), mean(1), mean(2), mean(3))
            let (s00, s01, s02) = (mean(4) - y * y + epsilon, mean(5) - y * u, mean(6) - y * v)
            let (s11, s12, s22) = (mean(8) - u * u + epsilon, mean(9) - u * v, mean(11) - v * v + epsilon)
            let (c0, c1, c2) = (mean(7) - y * p, mean(10) - u * p, mean(12) - v * p)
            // The cofactors of the symmetric matrix.
            let (k00, k01, k02) = (s11 * s22 - s12 * s12, s02 * s12 - s01 * s22, s01 * s12 - s02 * s11)
            let (k11, k12, k22) = (s00 * s22 - s02 * s02, s01 * s02 - s00 * s12, s00 * s11 - s01 * s01)
            let determinant = s00 * k00 + s01 * k01 + s02 * k02
            let a0 = (k00 * c0 + k01 * c1 + k02 * c2) / determinant
            let a1 = (k01 * c0 + k11 * c1 + k12 * c2) / determinant
            let a2 = (k02 * c0 + k12 * c1 + k22 * c2) / determinant
            let line = unsafe lines + x
            unsafe store(a0, line)
            unsafe store(a1, line + stride)
            unsafe store(a2, line + 2 &* stride)
            unsafe store(p - a0 * y - a1 * u - a2 * v, line + 3 &* stride)
        }
        unsafe sumModels(lines, run, into: target)
    }

    /// The means of a and b over windows, from their sums along the rows.
    package static func averageModels(
        _ sums: UnsafePointer<Float>, _ run: dm_cell_run, into target: UnsafeMutablePointer<Float>
    ) {
        for line in 0..<4 {
            let place = unsafe line &* run.stride
            unsafe forEachVector(run.first, run.end) { x in
                unsafe store(average(sums + place + x, run, lines: 4), target + place + x)
            }
        }
    }

    /// Sums four lines over windows along a row.
    @inline(__always)
    private static func sumModels(
        _ lines: UnsafeMutablePointer<Float>, _ run: dm_cell_run, into target: UnsafeMutablePointer<Float>
    ) {
        for index in 0..<4 {
            let (line, sums) = unsafe (lines + index &* run.stride, target + index &* run.stride)
            for offset in unsafe upTo(run.radius) {
                let (left, right) = unsafe (-1 &- offset, run.width &+ offset)
                unsafe line[left] = line[Int(run.columns[left])]
                unsafe line[right] = line[Int(run.columns[right])]
            }
            unsafe forEachVector(run.first, run.end) { x in
                unsafe store(sum(run.radius) { unsafe eight(line + x + $0) }, sums + x)
            }
        }
    }
}

@inline(__always)
private func forEachVector(_ first: Int, _ end: Int, _ body: (Int) -> Void) {
    var x = first
    while x < end {
        body(x)
        x &+= Eight.scalarCount
    }
}

@inline(__always)
private func sum(_ radius: Int, _ numbers: (Int) -> Eight) -> Eight {
    var sum = numbers(0 &- radius)
    for offset in upTo(radius &+ 1, from: 1 &- radius) { sum += numbers(offset) }
    return sum
}

/// The means of the rows of a window.
@inline(__always)
private func average(_ sums: UnsafePointer<Float>, _ run: dm_cell_run, lines: Int) -> Eight {
    let pitch = unsafe lines &* run.stride
    var sum = unsafe run.factor * eight(sums + Int(run.rows[0]) &* pitch)
    for row in unsafe upTo(2 &* run.radius &+ 1, from: 1) {
        unsafe sum += run.factor * eight(sums + Int(run.rows[row]) &* pitch)
    }
    return sum
}

// MARK: - Sets

extension LoopSet {
    /// Dilates a set of bits by a distance: each bit is set `distance` before and after it too. The result has no gaps if
    /// runs have at least `distance` bits.
    ///
    /// - Parameters:
    ///   - words: with one word of padding before and after them.
    ///   - distance: 1 to 63.
    package static func dilateWords(
        _ words: UnsafePointer<UInt64>, count: Int, by distance: Int, into target: UnsafeMutablePointer<UInt64>
    ) {
        let shift = UInt64(truncatingIfNeeded: distance)
        let rest = 64 &- shift
        for index in upTo(count) {
            let word = unsafe words[index]
            let (before, after) = unsafe (words[index &- 1] &>> rest, words[index &+ 1] &<< rest)
            unsafe target[index] = word | word &<< shift | word &>> shift | before | after
        }
    }

    /// Adds the bits of a row of words to another.
    package static func orWords(_ words: UnsafePointer<UInt64>, count: Int, into target: UnsafeMutablePointer<UInt64>) {
        for index in upTo(count) { unsafe target[index] |= words[index] }
    }
}
