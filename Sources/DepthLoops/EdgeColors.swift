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

    /// Computes the reciprocals of the weights of known colors, and the strength of the correction of each sample.
    ///
    /// Fields and parameters:
    ///   - alpha: 0…255.
    ///   - little: the weight at which half of the correction is done.
    ///   - gain: `strength` where both colors are known and the sample is mixed, else 0.
    package static func prepareEdge(_ weights: dm_edge_weights, count: Int, into gain: UnsafeMutablePointer<Float>) {
        let (person, room) = unsafe (weights.person, weights.room)
        for x in upTo(count) {
            let (p, r, a) = unsafe (person[x], room[x], weights.alpha[x])
            let known = unsafe p / (p + weights.little) * (r / (r + weights.little)) * weights.strength
            unsafe gain[x] = a > 0 && a < 255 ? known : 0
            unsafe person[x] = 1 / max(p, 1e-20)
            unsafe room[x] = 1 / max(r, 1e-20)
        }
    }

    /// Removes the room's color from mixed samples, in place (`EdgeColors`).
    ///
    /// Fields and parameters:
    ///   - samples: 0…255.
    ///   - person: sums of the person's colors; `person_share` is the reciprocal of their weight. `room` likewise.
    package static func decontaminate(_ samples: UnsafeMutablePointer<Float>, _ edge: dm_edge_colors, count: Int) {
        for x in upTo(count) {
            let (sample, a) = unsafe (samples[x], edge.alpha[x] * (1 / 255))
            let (f, b) = unsafe (edge.person[x] * edge.person_share[x], edge.room[x] * edge.room_share[x])
            let color = min(max(f + a * (sample - a * f - (1 - a) * b), 0), 255)
            unsafe samples[x] = sample + edge.gain[x] * (color - sample)
        }
    }

    /// Blends the background's light over samples, in place, by the share of the neighbourhood that is not the person.
    ///
    /// Fields and parameters:
    ///   - alpha: 0…255.
    ///   - light: weighted sums of the background's colors; `cover` is that of alpha, and `weight` the sum of the weights.
    package static func wrapLight(_ samples: UnsafeMutablePointer<Float>, _ edge: dm_edge_light, count: Int) {
        for x in upTo(count) {
            let share = unsafe 1 / max(edge.weight[x], 1e-20)
            let clear = unsafe min(max(1 - edge.cover[x] * share * (1 / 255), 0), 1)
            let gain = unsafe edge.alpha[x] > 0 ? clear * edge.strength : 0
            unsafe samples[x] += gain * (edge.light[x] * share - samples[x])
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

    /// Writes samples as bytes, rounded to nearest.
    ///
    /// - Parameters:
    ///   - samples: 0…255.
    ///   - step: bytes from one sample to the next.
    package static func storeSamples(
        _ samples: UnsafePointer<Float>, count: Int, into bytes: UnsafeMutablePointer<UInt8>, step: Int
    ) {
        switch step {
        case 1: for x in upTo(count) { unsafe bytes[x] = nearestByte(samples[x]) }
        case 2: for x in upTo(count) { unsafe bytes[x &* 2] = nearestByte(samples[x]) }
        case 4: for x in upTo(count) { unsafe bytes[x &* 4] = nearestByte(samples[x]) }
        default: for x in upTo(count) { unsafe bytes[x &* step] = nearestByte(samples[x]) }
        }
    }
}
