package import CDepthKernels

extension LoopSet {
    /// Accumulates the AND (`all`) and the OR (`any`) of the rows, for each column.
    package static func accumulateBits(
        _ row: UnsafePointer<UInt8>, count: Int, all: UnsafeMutablePointer<UInt8>, any: UnsafeMutablePointer<UInt8>
    ) {
        for x in upTo(count) {
            unsafe all[x] &= row[x]
            unsafe any[x] |= row[x]
        }
    }

    /// Adds a row of samples to one sum for each column.
    ///
    /// - Parameter step: bytes from one sample to the next.
    package static func addSamples(
        _ bytes: UnsafePointer<UInt8>, step: Int, count: Int, into sums: UnsafeMutablePointer<UInt16>
    ) {
        switch step {
        case 1: for x in upTo(count) { unsafe sums[x] &+= UInt16(bytes[x]) }
        case 2: for x in upTo(count) { unsafe sums[x] &+= UInt16(bytes[x &* 2]) }
        case 4: for x in upTo(count) { unsafe sums[x] &+= UInt16(bytes[x &* 4]) }
        default: for x in upTo(count) { unsafe sums[x] &+= UInt16(bytes[x &* step]) }
        }
    }

    /// Adds the samples of a row whose alpha has the value of `cover`.
    package static func addSamples(
        _ bytes: UnsafePointer<UInt8>, step: Int, of cover: (alpha: UnsafePointer<UInt8>, value: UInt8), count: Int,
        into sums: UnsafeMutablePointer<UInt16>
    ) {
        let (alpha, cover) = unsafe cover
        switch step {
        case 1: for x in upTo(count) { unsafe sums[x] &+= UInt16(bytes[x]) & (alpha[x] == cover ? .max : 0) }
        case 2: for x in upTo(count) { unsafe sums[x] &+= UInt16(bytes[x &* 2]) & (alpha[x] == cover ? .max : 0) }
        case 4: for x in upTo(count) { unsafe sums[x] &+= UInt16(bytes[x &* 4]) & (alpha[x] == cover ? .max : 0) }
        default: for x in upTo(count) { unsafe sums[x] &+= UInt16(bytes[x &* step]) & (alpha[x] == cover ? .max : 0) }
        }
    }

    /// Counts the samples of a row whose alpha is `cover`.
    package static func countSamples(
        _ alpha: UnsafePointer<UInt8>, cover: UInt8, count: Int, into sums: UnsafeMutablePointer<UInt16>
    ) {
        for x in upTo(count) { unsafe sums[x] &+= alpha[x] == cover ? 1 : 0 }
    }

    /// Sums the columns of each cell; the last cell may have fewer columns.
    package static func sumCells(
        _ columns: UnsafePointer<UInt16>, count: Int, cellWidth: Int, into cells: UnsafeMutablePointer<Float>
    ) {
        var (start, cell) = (0, 0)
        while start < count {
            let end = min(start &+ cellWidth, count)
            var sum: UInt32 = 0
            for x in upTo(end, from: start) { unsafe sum &+= UInt32(columns[x]) }
            unsafe cells[cell] = Float(sum)
            (start, cell) = (end, cell &+ 1)
        }
    }

    /// Convolves a column of cells with a symmetric kernel of five: row 0 with the weight 1, and those before and after it.
    package static func convolveVertically(
        _ row: (Int) -> UnsafePointer<Float>, nearWeight: Float, farWeight: Float, count: Int,
        into target: UnsafeMutablePointer<Float>
    ) {
        let (above2, above, middle, below, below2) = unsafe (row(-2), row(-1), row(0), row(1), row(2))
        for x in upTo(count) {
            unsafe target[x] = middle[x] + nearWeight * (above[x] + below[x]) + farWeight * (above2[x] + below2[x])
        }
    }

    /// The same along a row, which has two cells of padding at each end.
    package static func convolveHorizontally(
        _ row: UnsafePointer<Float>, nearWeight: Float, farWeight: Float, count: Int,
        into target: UnsafeMutablePointer<Float>
    ) {
        for x in upTo(count) {
            let near = unsafe row[x &- 1] + row[x &+ 1]
            let far = unsafe row[x &- 2] + row[x &+ 2]
            unsafe target[x] = row[x] + nearWeight * near + farWeight * far
        }
    }

    /// Upsamples a row of cells linearly, from the center of the first cell to that of the last one.
    ///
    /// - Parameters:
    ///   - cells: one more than there are intervals.
    ///   - size: samples of a cell, and so of an interval.
    package static func enlargeCells(
        _ cells: UnsafePointer<Float>, intervals: Int, size: Int, into target: UnsafeMutablePointer<Float>
    ) {
        let factor = 1 / Float(size)
        for interval in upTo(intervals) {
            let left = unsafe cells[interval]
            let slope = unsafe (cells[interval &+ 1] - left) * factor
            let line = unsafe target + interval &* size
            for x in upTo(size) { unsafe line[x] = left + slope * (Float(Int32(truncatingIfNeeded: x)) + 0.5) }
        }
    }

    /// Changes samples of a component in rows that lie between two rows of centers of cells, in place (`EdgeColors`).
    ///
    /// Fields and parameters:
    ///   - bytes: the first sample; samples are `step` bytes apart, their rows `stride` bytes.
    ///   - alpha: of the samples, in rows `alpha_stride` bytes apart.
    ///   - person, room: the weights of the known colors, at each column of samples in the upper row of centers; those in the
    ///     lower one are `below` numbers further on. Seven numbers after the last one must be readable.
    ///   - person_color, room_color: the weighted sums of those colors.
    ///   - light, cover, weight: the weighted sums of the background's colors and of alpha, and the sum of the weights.
    ///   - first_share, share_step: the weight of the lower row of centers in the first row of samples, and its growth from
    ///     one row to the next.
    ///   - little: the weight at which half of the correction is done.
    ///   - strength, wrap: of the correction and of the light, 0…1; where `wrap` is 0 there is no light.
    package static func drawEdge(_ bytes: UnsafeMutablePointer<UInt8>, _ block: dm_edge_block) {
        for x in stride(from: 0, to: unsafe block.columns, by: 8) {
            let count = unsafe min(block.columns &- x, 8)
            let person = unsafe Lines(block.person + x, block.below)
            let personColor = unsafe Lines(block.person_color + x, block.below)
            let room = unsafe Lines(block.room + x, block.below)
            let roomColor = unsafe Lines(block.room_color + x, block.below)
            for row in unsafe upTo(block.rows) {
                let opacities = unsafe eightBytes(block.alpha + (row &* block.alpha_stride &+ x), step: 1, count)
                // All bits of 0 are alike, and so are those of 255.
                let mixed = (opacities ^ (opacities &<< 1)) & 0xfefe_fefe_fefe_fefe
                if unsafe (block.wrap > 0 ? opacities : mixed) == 0 { continue }
                let target = unsafe bytes + (row &* block.stride &+ x &* block.step)
                var samples = unsafe numbers(eightBytes(target, step: block.step, count))
                let alpha = numbers(opacities)
                let share = unsafe block.first_share + Float(Int32(truncatingIfNeeded: row)) * block.share_step

                let (p, r, a) = (person.at(share), room.at(share), alpha * (1 / 255))
                let both = p * r
                let reciprocal = 1 / greatest(both, Eight(repeating: 1e-20))
                let (f, b) = (personColor.at(share) * (r * reciprocal), roomColor.at(share) * (p * reciprocal))
                // An opaque sample's color is its own.
                let color = clip(f + a * (samples - a * f - (1 - a) * b), to: 255)
                let known = unsafe both / ((p + block.little) * (r + block.little)) * block.strength
                let isTouched = least(alpha, Eight(repeating: 1))
                samples += isTouched * known * (color - samples)
                if unsafe block.wrap > 0 {
                    let weight = unsafe Lines(block.weight + x, block.below).at(share)
                    let mean = 1 / greatest(weight, Eight(repeating: 1e-20))
                    let cover = unsafe Lines(block.cover + x, block.below).at(share) * mean
                    let light = unsafe Lines(block.light + x, block.below).at(share) * mean
                    let clear = clip(1 - cover * (1 / 255), to: 1)
                    samples += unsafe isTouched * clear * block.wrap * (light - samples)
                }
                unsafe store(samples, into: target, step: block.step, count)
            }
        }
    }

    /// Converts shares of 0…1 to the opacities of two layers (`RoomDistance`): one falls over the first half, one over the
    /// second.
    package static func splitShares(
        _ shares: UnsafePointer<Float>, count: Int, first: UnsafeMutablePointer<UInt8>,
        second: UnsafeMutablePointer<UInt8>
    ) {
        for x in upTo(count) {
            let place = unsafe shares[x] * 510
            unsafe first[x] = nearestByte(max(255 - place, 0))
            unsafe second[x] = nearestByte(min(max(510 - place, 0), 255))
        }
    }
}

/// Eight columns of two lines of numbers.
private struct Lines {
    private let upper: Eight
    private let slope: Eight

    /// - Parameter below: numbers from the upper line to the lower one.
    @inline(__always)
    init(_ line: UnsafePointer<Float>, _ below: Int) {
        unsafe upper = eight(line)
        unsafe slope = eight(line, below) - upper
    }

    /// Those of a line between the two.
    @inline(__always)
    func at(_ share: Float) -> Eight { upper + share * slope }
}

@inline(__always)
private func clip(_ numbers: Eight, to most: Float) -> Eight {
    least(greatest(numbers, Eight.zero), Eight(repeating: most))
}

/// Up to eight bytes, the first one first in memory; then zeros.
@inline(__always)
private func eightBytes(_ bytes: UnsafePointer<UInt8>, step: Int, _ count: Int) -> UInt64 {
    if step == 1, count == 8 { return unsafe UnsafeRawPointer(bytes).loadUnaligned(as: UInt64.self) }
    var word: UInt64 = 0
    for index in upTo(count) {
        unsafe word |= UInt64(bytes[index &* step]) &<< UInt64(truncatingIfNeeded: 8 &* index)
    }
    return word.littleEndian
}

@inline(__always)
private func numbers(_ bytes: UInt64) -> Eight {
    unsafe Eight(SIMD8<Int32>(truncatingIfNeeded: unsafeBitCast(bytes, to: SIMD8<UInt8>.self)))
}

/// Writes numbers of 0…255 as bytes, rounded to nearest.
@inline(__always)
private func store(_ numbers: Eight, into bytes: UnsafeMutablePointer<UInt8>, step: Int, _ count: Int) {
    let whole = unsafe unsafeBitCast(numbers + roundingBias, to: SIMD8<UInt32>.self)
    let word = unsafe unsafeBitCast(SIMD8<UInt8>(truncatingIfNeeded: whole), to: UInt64.self)
    if step == 1, count == 8 { return unsafe UnsafeMutableRawPointer(bytes).storeBytes(of: word, as: UInt64.self) }
    for index in upTo(count) {
        unsafe bytes[index &* step] = UInt8(
            truncatingIfNeeded: word.littleEndian &>> UInt64(truncatingIfNeeded: 8 &* index))
    }
}
