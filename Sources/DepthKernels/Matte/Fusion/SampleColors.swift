/// The colours of the samples: the video averaged over the rectangle of each.
///
/// Source: stage 0 of the method (`Fusion`); the numbers are those of `cv2.resize` with `INTER_AREA`.
struct SampleColors: ~Copyable {
    private var sums = Scratch<Float>()
    private var channels: [Channel] = []
    private var key: Key?

    private struct Key: Equatable {
        let grid: WorkGrid
        let colors: VideoColors
        let width: Int
        let height: Int
    }

    /// The stretches of one component.
    private struct Channel {
        let columns: AreaTaps
        let rows: AreaTaps
    }

    /// - Parameter target: three planes of the grid's size, one behind the other.
    mutating func average(
        _ guide: Guide, on grid: WorkGrid, into target: UnsafeMutablePointer<Float>, _ bands: MatteBands,
        _ loops: Loops
    ) {
        let key = Key(grid: grid, colors: guide.colors, width: guide.width, height: guide.height)
        if key != self.key {
            self.key = key
            channels = guide.colors.components.map { component in
                Channel(
                    columns: SampleColors.taps(
                        grid.width, guide.width, component.shiftX, grid.placement.left, grid.placement.width,
                        step: component.step),
                    rows: SampleColors.taps(
                        grid.height, guide.height, component.shiftY, grid.placement.top, grid.placement.height))
            }
        }
        let work = unsafe Rows(guide: guide, channels: channels, grid: grid, target: target, loops: loops)
        bands.share(work, rows: grid.height, width: guide.width)
    }

    private static func taps(
        _ samples: Int, _ pixels: Int, _ shift: Int, _ first: Double, _ size: Double, step: Int = 1
    ) -> AreaTaps {
        let shared = Double(1 << shift)
        return AreaTaps(
            count: samples, pixels: (pixels - 1) >> shift + 1, first: first / shared,
            size: size / Double(samples) / shared, step: step)
    }

    @safe
    private struct Rows: BandWork {
        let guide: Guide
        let channels: [Channel]
        let grid: WorkGrid
        let target: UnsafeMutablePointer<Float>
        let loops: Loops

        func work(_ rows: Range<Int>, _ memory: MatteMemory) {
            let map = guide.map
            for y in rows {
                let line = unsafe target + y &* grid.width
                for index in 0..<3 {
                    unsafe average(index, row: y, into: line + index &* grid.count, memory)
                }
                unsafe map.apply(to: line, stride: grid.count, count: grid.width)
            }
        }

        private func average(_ index: Int, row y: Int, into target: UnsafeMutablePointer<Float>, _ memory: MatteMemory)
        {
            guard index < channels.count, let plane = guide.plane(of: guide.colors.components[index]) else {
                return unsafe target.update(repeating: 0, count: grid.width)
            }
            let (channel, component) = (channels[index], guide.colors.components[index])
            let sums = unsafe memory.filter.line.reserve(plane.rowBytes, filler: 0)
            // Components of one plane have the same sums.
            if index == 0 || component.plane != guide.colors.components[index &- 1].plane {
                for tap in 0..<channel.rows.taps {
                    let weight = channel.rows.weight(of: y, tap: tap)
                    if weight == 0 && tap > 0 { continue }
                    let row = unsafe plane.row(Int(channel.rows.first[y]) &+ tap).assumingMemoryBound(to: UInt8.self)
                    unsafe loops.accumulate(
                        row, count: plane.rowBytes, weight: weight, isFirst: tap == 0, into: sums)
                }
            }
            unsafe channel.columns.average(sums + component.offset, into: target, loops)
        }
    }
}

/// Averages over neighbouring stretches of a row or column, by the share of each pixel that lies in a stretch.
struct AreaTaps {
    /// For each stretch, the place of its first pixel.
    let first: [Int32]
    /// A row of weights for each pixel of a stretch.
    private let weights: [Float]
    /// Pixels of a stretch.
    let taps: Int
    private let step: Int

    /// - Parameters:
    ///   - count: stretches.
    ///   - pixels: pixels of the row; the first and last are repeated without end.
    ///   - first: the edge where the first stretch begins, in pixels.
    ///   - size: pixels of a stretch.
    ///   - step: numbers from one pixel to the next.
    init(count: Int, pixels: Int, first: Double, size: Double, step: Int = 1) {
        var taps = min(ceilIndex(size, in: 1...pixels) + 1, pixels)
        var starts: [Int] = []
        var shares: [[Float]] = []
        for index in 0..<count {
            let (start, end) = (first + Double(index) * size, first + Double(index + 1) * size)
            let pixel = floorIndex(start, in: 0...(pixels - taps))
            var parts = (0..<taps).map { tap in
                // The outermost pixels reach on beyond the frame.
                let low = pixel + tap == 0 ? -Double.infinity : Double(pixel + tap)
                let high = pixel + tap == pixels - 1 ? Double.infinity : Double(pixel + tap + 1)
                return max(min(high, end) - max(low, start), 0)
            }
            let sum = parts.reduce(0, +)
            if sum > 0 { parts = parts.map { $0 / sum } } else { parts[0] = 1 }
            starts.append(pixel)
            shares.append(parts.map { Float($0) })
        }
        // Stretches of whole pixels need one less.
        while taps > 1, shares.allSatisfy({ $0[taps - 1] < 1e-6 }) { taps -= 1 }
        self.first = starts.map { Int32(truncatingIfNeeded: $0 * step) }
        weights = (0..<taps).flatMap { tap in shares.map { $0[tap] } }
        self.taps = taps
        self.step = step
    }

    @inline(__always)
    func weight(of index: Int, tap: Int) -> Float { weights[tap &* first.count &+ index] }

    /// - Precondition: `line` has the pixels, `target` room for every stretch.
    func average(_ line: UnsafePointer<Float>, into target: UnsafeMutablePointer<Float>, _ loops: Loops) {
        unsafe first.withUnsafeBufferPointer { first in
            unsafe weights.withUnsafeBufferPointer { weights in
                guard let firsts = first.baseAddress, let weights = weights.baseAddress else { return }
                unsafe loops.averageStretches(
                    line, step: step, first: firsts, weights: weights, taps: taps, count: first.count, into: target)
            }
        }
    }
}
