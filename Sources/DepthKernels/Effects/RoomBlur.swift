/// Blurs the room behind the person, without the person's colors.
///
/// A plain blur spreads the person's colors into the room around their outline: a halo. Here each pixel is weighted by
/// its share of room (normalised convolution: Knutsson and Westin, "Normalized and differential convolution", CVPR
/// 1993, doi:10.1109/CVPR.1993.341081):
///
///     blurred = G ∗ (w · video) / G ∗ w,   w = 255 − alpha,   G a Gaussian
///
/// Pixels beyond the picture have no weight, so its edges are not darkened. Where no room is within reach, the mean of
/// the whole room stands in; without any room the result is 0.
///
/// Goals, in order: no trace of the person, speed, the exact shape of the Gaussian. The means of square cells of 1…32
/// pixels are blurred and interpolated; the variances of cells and interpolation are subtracted from that of the
/// Gaussian. Every byte of a pixel is blurred by itself, whatever it means.
///
/// Keeps its memory between frames and allocates none in the steady state. Not for two threads at once.
package final class RoomBlur {
    private var scratch = Scratch<UInt32>()
    private var weights = Scratch<UInt8>()
    private var grids = Scratch<Float>()
    private var passes = Scratch<Float>()
    private var kernel = Scratch<Float>()
    private var rows = Scratch<UInt32>()
    private var line = Scratch<UInt8>()

    package init() {}

    /// Fills `target` with the blurred picture; both have the same layout and size.
    ///
    /// - Parameters:
    ///   - alpha: the person's share of each pixel; nil to blur the whole picture.
    ///   - sigma: standard deviation in pixels, clamped to 0…400. NaN counts as 400: a background that is to be blurred
    ///     must not be shown sharp.
    /// - Returns: false, with undefined contents of `target`, if a plane is missing or too small.
    package func blur(
        _ video: Planes<Plane>, into target: Planes<MutablePlane>, layout: PixelLayout, width: Int, height: Int,
        alpha: Plane?, sigma: Double
    ) -> Bool {
        guard layout.fits(video, width: width, height: height),
            layout.fits(target.readOnly, width: width, height: height)
        else { return false }
        if let alpha, alpha.rowBytes < width || alpha.rows < height { return false }
        let sigma = clamped(sigma, to: 0...400, orIfNaN: 400)
        let cell = [32, 16, 8, 4, 2].first { sigma >= Double($0) } ?? 1
        for (index, planeLayout) in layout.planes.enumerated() {
            guard let source = video[index], let plane = target[index] else { return false }
            ChannelGroup.forEach(of: planeLayout, width: width) { channels in
                let job = Job(
                    source: source, target: plane, channels: channels, rows: layout.rows(plane: index, height: height),
                    alpha: alpha, width: width, height: height, sigma: sigma, cell: cell)
                run(job)
            }
        }
        return true
    }

    /// One group of channels of one plane.
    private struct Job {
        let source: Plane
        let target: MutablePlane
        let channels: ChannelGroup
        let rows: Int
        let alpha: Plane?
        let width: Int
        let height: Int
        let sigma: Double
        let cell: Int

        /// Samples along each axis of a cell; powers of two.
        var cellWidth: Int { max(1, cell / channels.horizontal) }
        var cellHeight: Int { max(1, cell / channels.vertical) }
        var columns: Int { groups(of: cellWidth, in: channels.count) }
        var cellRows: Int { groups(of: cellHeight, in: rows) }
    }

    private func run(_ job: Job) {
        let size = job.columns * job.cellRows
        // One grid for the weights, then one for each channel.
        let grids = unsafe grids.reserve(size * (job.channels.channelCount + 1), filler: 0)
        for row in 0..<job.cellRows { unsafe fillCells(row: row, job, grids, size) }
        for index in 0...job.channels.channelCount {
            unsafe smooth(grids + (index &* size), job)
        }
        for channel in 0..<job.channels.channelCount {
            let values = unsafe grids + (channel &+ 1) &* size
            unsafe divide(values, by: grids, count: size)
            unsafe interpolate(values, channel: channel, job)
        }
    }

    // MARK: To cells

    /// Sums of weights and of weighted samples in one row of cells.
    private func fillCells(row: Int, _ job: Job, _ grids: UnsafeMutablePointer<Float>, _ size: Int) {
        let count = job.channels.count
        let sums = unsafe scratch.reserve(count * (job.channels.channelCount + 1), filler: 0)
        unsafe sums.update(repeating: 0, count: count &* (job.channels.channelCount &+ 1))
        let weights = unsafe weights.reserve(count, filler: 255)
        let first = row &* job.cellHeight
        for y in first..<min(first &+ job.cellHeight, job.rows) {
            unsafe fillWeights(row: y, job, into: weights)
            for x in 0..<count { unsafe sums[x] &+= UInt32(weights[x]) }
            for channel in 0..<job.channels.channelCount {
                let source = unsafe job.source.row(y).assumingMemoryBound(to: UInt8.self)
                unsafe add(
                    source + job.channels.offset(channel), step: job.channels.step, weights,
                    to: sums + (channel &+ 1) &* count, count: count)
            }
        }
        for index in 0...job.channels.channelCount {
            let from = unsafe sums + index &* count
            let into = unsafe grids + (index &* size &+ row &* job.columns)
            for column in 0..<job.columns {
                var sum: UInt32 = 0
                for x in (column &* job.cellWidth)..<min((column &+ 1) &* job.cellWidth, count) {
                    unsafe sum &+= from[x]
                }
                unsafe into[column] = Float(sum)
            }
        }
    }

    @inline(__always)
    private func add(
        _ source: UnsafePointer<UInt8>, step: Int, _ weights: UnsafePointer<UInt8>,
        to sums: UnsafeMutablePointer<UInt32>, count: Int
    ) {
        switch step {
        case 1: for x in 0..<count { unsafe sums[x] &+= UInt32(UInt16(weights[x]) &* UInt16(source[x])) }
        case 2: for x in 0..<count { unsafe sums[x] &+= UInt32(UInt16(weights[x]) &* UInt16(source[x &* 2])) }
        case 4: for x in 0..<count { unsafe sums[x] &+= UInt32(UInt16(weights[x]) &* UInt16(source[x &* 4])) }
        default: for x in 0..<count { unsafe sums[x] &+= UInt32(UInt16(weights[x]) &* UInt16(source[x &* step])) }
        }
    }

    /// Computes the weights, 255 − alpha, of a row of samples. A sample that several pixels share has the largest alpha
    /// among them; one that belongs to no pixel, at the end of a row of packed 4:2:2, has the weight 0.
    private func fillWeights(row y: Int, _ job: Job, into weights: UnsafeMutablePointer<UInt8>) {
        let (h, v) = (job.channels.horizontal, job.channels.vertical)
        guard let alpha = job.alpha else {
            for x in 0..<job.channels.count { unsafe weights[x] = x &* h < job.width ? 255 : 0 }
            return
        }
        let upper = unsafe alpha.row(min(y &* v, job.height &- 1)).assumingMemoryBound(to: UInt8.self)
        let lower = unsafe alpha.row(min(y &* v &+ v &- 1, job.height &- 1)).assumingMemoryBound(to: UInt8.self)
        let inside = min(job.channels.count, job.width / h)
        if h == 1 {
            for x in 0..<inside { unsafe weights[x] = 255 &- max(upper[x], lower[x]) }
        } else {
            for x in 0..<inside {
                let left = unsafe max(upper[x &* h], lower[x &* h])
                let right = unsafe max(upper[x &* h &+ h &- 1], lower[x &* h &+ h &- 1])
                unsafe weights[x] = 255 &- max(left, right)
            }
        }
        let last = job.width &- 1
        for x in inside..<job.channels.count {
            unsafe weights[x] = x &* h <= last ? 255 &- max(upper[last], lower[last]) : 0
        }
    }

    // MARK: Blur

    /// Convolves a grid with a Gaussian, along rows and columns; cells beyond the grid count as 0.
    private func smooth(_ grid: UnsafeMutablePointer<Float>, _ job: Job) {
        let (columns, rows) = (job.columns, job.cellRows)
        let other = unsafe passes.reserve(columns * rows, filler: 0)
        let across = sigma(job.sigma / Double(job.channels.horizontal), cell: job.cellWidth)
        let down = sigma(job.sigma / Double(job.channels.vertical), cell: job.cellHeight)
        let rowTaps = unsafe taps(sigma: across)
        for y in 0..<rows {
            let from = unsafe grid + y &* columns
            let into = unsafe other + y &* columns
            for x in 0..<columns { unsafe into[x] = from[x] * rowTaps.first[0] }
            for tap in unsafe 1..<max(rowTaps.count, 1) {
                let weight = unsafe rowTaps.first[tap]
                for x in 0..<max(columns &- tap, 0) { unsafe into[x] += from[x &+ tap] * weight }
                for x in min(tap, columns)..<columns { unsafe into[x] += from[x &- tap] * weight }
            }
        }
        let columnTaps = unsafe taps(sigma: down)
        for y in 0..<rows {
            let into = unsafe grid + y &* columns
            let center = unsafe other + y &* columns
            for x in 0..<columns { unsafe into[x] = center[x] * columnTaps.first[0] }
            for tap in unsafe 1..<max(columnTaps.count, 1) {
                let weight = unsafe columnTaps.first[tap]
                if y &+ tap < rows {
                    let from = unsafe other + (y &+ tap) &* columns
                    for x in 0..<columns { unsafe into[x] += from[x] * weight }
                }
                if y >= tap {
                    let from = unsafe other + (y &- tap) &* columns
                    for x in 0..<columns { unsafe into[x] += from[x] * weight }
                }
            }
        }
    }

    /// The standard deviation, in cells, that remains for the Gaussian: the variances of box cells, (d² − 1) / 12, and
    /// of linear interpolation, d² / 6, are subtracted.
    private func sigma(_ sigma: Double, cell: Int) -> Double {
        guard cell > 1 else { return sigma }
        let d = Double(cell)
        return max(0, sigma * sigma - (d * d - 1) / 12 - d * d / 6).squareRoot() / d
    }

    /// The right half of a Gaussian of four sigmas, the middle first. It is not normalised: the convolution is divided
    /// by that of the weights.
    private func taps(sigma: Double) -> (first: UnsafePointer<Float>, count: Int) {
        let count = ceilIndex(4 * sigma, in: 0...2048) + 1
        let first = unsafe kernel.reserve(2049, filler: 0)
        for tap in 0..<count {
            let place = Double(tap)
            unsafe first[tap] = tap == 0 ? 1 : Float(exponential(-place * place / (2 * sigma * sigma)))
        }
        return unsafe (UnsafePointer(first), count)
    }

    /// Divides sums of weighted samples by the sums of their weights.
    private func divide(
        _ values: UnsafeMutablePointer<Float>, by weights: UnsafeMutablePointer<Float>, count: Int
    ) {
        var (sum, weight) = (0.0, 0.0)
        for index in 0..<count {
            unsafe sum += Double(values[index])
            unsafe weight += Double(weights[index])
        }
        let mean = Float(weight > 0 ? sum / weight : 0)
        for index in 0..<count {
            unsafe values[index] = weights[index] > leastWeight ? min(values[index] / weights[index], 255) : mean
        }
    }

    // MARK: Back to samples

    /// Interpolates between the cells' centers, and stores one channel.
    private func interpolate(_ cells: UnsafeMutablePointer<Float>, channel: Int, _ job: Job) {
        let (columns, dx, dy) = (job.columns, job.cellWidth, job.cellHeight)
        let length = columns &+ 2
        let mixedRow = unsafe rows.reserve(length, filler: 0)
        let line = unsafe line.reserve((columns + 1) * dx, filler: 0)
        let shift = UInt32(truncatingIfNeeded: 8 &+ (2 &* dx).trailingZeroBitCount &+ (2 &* dy).trailingZeroBitCount)
        let half: UInt32 = 1 << (shift &- 1)
        for y in 0..<job.rows {
            let place = 2 &* y &+ 1 &+ dy
            let above = max(place / (2 &* dy) &- 1, 0)
            let below = min(place / (2 &* dy), job.cellRows &- 1)
            let share = dy > 1 ? UInt32(truncatingIfNeeded: place % (2 &* dy)) : 0
            let rest = UInt32(truncatingIfNeeded: 2 &* dy) &- share
            let upper = unsafe cells + min(above, job.cellRows &- 1) &* columns
            let lower = unsafe cells + below &* columns
            for x in 0..<columns {
                let mixed = unsafe fixed(upper[x]) &* rest &+ fixed(lower[x]) &* share
                unsafe mixedRow[x &+ 1] = mixed
            }
            unsafe mixedRow[0] = mixedRow[1]
            unsafe mixedRow[columns &+ 1] = mixedRow[columns]
            if dx == 1 {
                for x in 0..<columns {
                    unsafe line[x] = UInt8(truncatingIfNeeded: (mixedRow[x &+ 1] &* 2 &+ half) >> shift)
                }
            } else {
                for cell in 0...columns {
                    let (left, right) = unsafe (mixedRow[cell], mixedRow[cell &+ 1])
                    let into = unsafe line + cell &* dx
                    for x in 0..<dx {
                        let share = UInt32(truncatingIfNeeded: 2 &* x &+ 1)
                        let mixed = left &* (UInt32(truncatingIfNeeded: 2 &* dx) &- share) &+ right &* share
                        unsafe into[x] = UInt8(truncatingIfNeeded: (mixed &+ half) >> shift)
                    }
                }
            }
            let source = unsafe line + dx / 2
            let target = unsafe job.target.row(y).assumingMemoryBound(to: UInt8.self) + job.channels.offset(channel)
            let step = job.channels.step
            if step == 1 {
                unsafe target.update(from: source, count: job.channels.count)
            } else {
                for x in 0..<job.channels.count { unsafe target[x &* step] = source[x] }
            }
        }
    }

    /// 8.8 bits; `value` is within 0…255.
    @inline(__always)
    private func fixed(_ value: Float) -> UInt32 { floorWhole(value * 256) }
}

/// The smallest sum of weights that gives a mean: about that of one pixel of room at the far end of a Gaussian.
private let leastWeight: Float = 0.05
