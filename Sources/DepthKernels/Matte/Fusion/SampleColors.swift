import CDepthKernels

/// The colors of the samples: the mean of the video over the rectangle of each.
///
/// Source: stage 0 of the method (`Fusion`); the numbers are those of `cv2.resize` with `INTER_AREA`.
struct SampleColors: ~Copyable {
    private var sums = Scratch<Float>()
    private var channels: [Channel] = []
    /// What the channels were made for.
    private var made: (grid: WorkGrid, colors: VideoColors, width: Int, height: Int)?

    /// The taps of one component. (A tuple of them would be retained and released for each row.)
    private struct Channel {
        let component: VideoColors.Component
        let columns: AreaTaps
        let rows: AreaTaps
    }

    /// Begins the averages, which are there when `bands` have finished.
    ///
    /// - Parameters:
    ///   - target: three planes of the grid's size, contiguous.
    mutating func begin(_ guide: Guide, into target: UnsafeMutablePointer<Float>, _ context: FusionContext) {
        let grid = context.grid
        let wanted = (grid: grid, colors: guide.colors, width: guide.width, height: guide.height)
        if made.map({ $0 == wanted }) != true {
            made = wanted
            channels = guide.colors.components.map { SampleColors.channel($0, guide, on: grid) }
        }
        let work = unsafe Rows(guide: guide, channels: channels, grid: grid, target: target, loops: context.loops)
        context.bands.begin(
            work, rows: grid.height, width: guide.width * guide.height / max(grid.height, 1), rowAlignment: TileSet.size
        )
    }

    private static func channel(_ component: VideoColors.Component, _ guide: Guide, on grid: WorkGrid) -> Channel {
        /// - Parameter span: the first pixel and the number of those that the samples cover.
        func taps(_ count: Int, _ pixels: Int, shift: Int, _ span: (Double, Double), step: Int) -> AreaTaps {
            let shared = Double(1 << shift)
            return AreaTaps(
                count: count, pixels: (pixels - 1) >> shift + 1, first: span.0 / shared,
                size: span.1 / Double(count) / shared, step: step)
        }
        let place = grid.placement
        return Channel(
            component: component,
            columns: taps(
                grid.width, guide.width, shift: component.shiftX, (place.left, place.width), step: component.step),
            rows: taps(grid.height, guide.height, shift: component.shiftY, (place.top, place.height), step: 1))
    }

    @safe
    private struct Rows: BandWork {
        let guide: Guide
        let channels: [Channel]
        let grid: WorkGrid
        let target: UnsafeMutablePointer<Float>
        let loops: Loops

        func work(_ rows: Range<Int>, _ memory: MatteMemory) {
            let (diagonal, memory) = (guide.map.diagonal, memory.part(SampleMemory.self))
            for top in stride(from: rows.lowerBound, to: rows.upperBound, by: TileSet.size) {
                let rows = top..<min(top &+ TileSet.size, rows.upperBound)
                for index in 0..<3 { average(index, rows, diagonal, memory) }
                if diagonal == nil {
                    unsafe guide.map.apply(
                        to: target + top &* grid.width, stride: grid.count, count: rows.count &* grid.width)
                }
            }
        }

        private func average(_ index: Int, _ rows: Range<Int>, _ diagonal: SIMD3<Float>?, _ memory: SampleMemory) {
            let target = unsafe target + index &* grid.count
            guard index < channels.count, let plane = guide.plane(of: channels[index].component) else {
                unsafe (target + rows.lowerBound &* grid.width).update(repeating: 0, count: rows.count &* grid.width)
                return
            }
            let channel = channels[index]
            let (factors, offset) = (diagonal ?? SIMD3(repeating: 1), diagonal == nil ? SIMD3() : guide.map.offset)
            let sums = unsafe memory.sums.reserve(TileSet.size * plane.rowBytes, filler: 0)
            // Components of one plane have the same sums.
            let isSummed = index > 0 && channels[index &- 1].component.plane == channel.component.plane
            for y in rows {
                let line = unsafe sums + (y &- rows.lowerBound) &* plane.rowBytes
                if !isSummed {
                    channel.rows.prefetch(intervalAt: y &+ 2, of: plane)
                    unsafe channel.rows.sum(of: y, in: plane, into: line, loops)
                }
                unsafe channel.columns.average(
                    line + channel.component.offset, factor: factors[index], offset: offset[index],
                    into: target + y &* grid.width, memory, loops)
            }
        }
    }
}

/// Scratch memory of one worker for colors.
private final class SampleMemory: MatteMemoryPart {
    var sums = Scratch<UInt16>()
    var line = Scratch<Float>()
}

/// Box filter along a row or column: means over contiguous intervals, in which pixels count by the part that lies
/// inside.
struct AreaTaps {
    /// For each interval, the index of its first pixel.
    let first: [Int32]
    /// A row of weights for each pixel of an interval.
    private let weights: [Float]
    /// For each interval, the weights of its pixels in units of 1/256: `rowsAtATime` at once, zeros after the last one.
    private let wholeWeights: [SIMD4<UInt16>]
    /// Pixels that an interval overlaps, at most.
    let taps: Int
    /// Numbers from one pixel to the next.
    private let step: Int
    /// Numbers from the first pixel to the last.
    private let reach: Int
    private let groups: Groups?

    /// Intervals of which one or two cover a whole number of pixels.
    private struct Groups {
        let pixels: Int
        let intervals: Int
        /// For each interval, a weight for each pixel.
        let weights: SIMD16<Float>
    }

    private static let whole = 256.0
    private static let rowsAtATime = 4

    /// - Parameters:
    ///   - count: the number of intervals.
    ///   - pixels: pixels of the row; the first and the last one are replicated.
    ///   - first: the start of the first interval, in pixels.
    ///   - size: the length of an interval, in pixels.
    ///   - step: numbers from one pixel to the next.
    init(count: Int, pixels: Int, first: Double, size: Double, step: Int = 1) {
        var taps = min(ceilIndex(size, in: 1...pixels) + 1, pixels)
        var starts: [Int] = []
        var shares: [[Double]] = []
        for index in 0..<count {
            let (start, end) = (first + Double(index) * size, first + Double(index + 1) * size)
            let pixel = floorIndex(start, in: 0...(pixels - taps))
            var parts = (0..<taps).map { tap in
                // The outermost pixels extend beyond the frame.
                let low = pixel + tap == 0 ? -Double.infinity : Double(pixel + tap)
                let high = pixel + tap == pixels - 1 ? Double.infinity : Double(pixel + tap + 1)
                return max(min(high, end) - max(low, start), 0)
            }
            let sum = parts.reduce(0, +)
            if sum > 0 { parts = parts.map { $0 / sum } } else { parts[0] = 1 }
            starts.append(pixel)
            shares.append(parts)
        }
        // Intervals of whole pixels need one tap less.
        while taps > 1, shares.allSatisfy({ $0[taps - 1] < 1e-6 }) { taps -= 1 }
        self.first = starts.map { Int32(truncatingIfNeeded: $0 * step) }
        weights = (0..<taps).flatMap { tap in shares.map { Float($0[tap]) } }
        wholeWeights = shares.flatMap { AreaTaps.rounded($0.prefix(taps)) }
        self.taps = taps
        self.step = step
        reach = (pixels - 1) * step + 1
        groups = AreaTaps.groups(starts: starts, shares: shares, size: size, pixels: pixels)
    }

    /// Weights in units of 1/256, whose sum is 256.
    private static func rounded(_ shares: ArraySlice<Double>) -> [SIMD4<UInt16>] {
        var result = [SIMD4<UInt16>](repeating: SIMD4(), count: DepthKernels.groups(of: rowsAtATime, in: shares.count))
        var (sum, before) = (0.0, 0)
        for (tap, share) in shares.enumerated() {
            sum += share
            let now = nearestIndex(sum * whole, in: before...Int(whole))
            result[tap / rowsAtATime][tap % rowsAtATime] = UInt16(truncatingIfNeeded: now - before)
            before = now
        }
        return result
    }

    private static func groups(starts: [Int], shares: [[Double]], size: Double, pixels: Int) -> Groups? {
        for intervals in 1...2 {
            let covered = (size * Double(intervals)).rounded()
            guard abs(size * Double(intervals) - covered) < 1e-9, starts.count % intervals == 0 else { continue }
            let count = nearestIndex(covered, in: 1...SIMD16<Float>.scalarCount)
            guard count * intervals <= SIMD16<Float>.scalarCount,
                starts[0] + starts.count / intervals * count <= pixels
            else { continue }
            // The weights of the pixels of a group, from its first pixel on; nil where an interval overlaps pixels of
            // another group.
            func weights(group: Int) -> SIMD16<Float>? {
                let first = starts[0] + group * count
                var result = SIMD16<Float>()
                for interval in 0..<intervals {
                    let index = group * intervals + interval
                    for (tap, share) in shares[index].enumerated() where share > 1e-6 {
                        let pixel = starts[index] + tap - first
                        guard (0..<count).contains(pixel) else { return nil }
                        result[interval * count + pixel] = Float(share / whole)
                    }
                }
                return result
            }
            guard let all = weights(group: 0) else { continue }
            let areAlike = (1..<max(starts.count / intervals, 1)).allSatisfy { group in
                weights(group: group).map { weights in
                    let difference = weights - all
                    return (difference * difference).max() < 1e-12
                } ?? false
            }
            if areAlike { return Groups(pixels: count, intervals: intervals, weights: all) }
        }
        return nil
    }

    @inline(__always)
    func weight(of index: Int, tap: Int) -> Float { weights[tap &* first.count &+ index] }

    /// - Precondition: `line` has all pixels, and `target` room for every interval.
    func average(_ line: UnsafePointer<Float>, into target: UnsafeMutablePointer<Float>, _ loops: Loops) {
        unsafe first.withUnsafeBufferPointer { first in
            unsafe weights.withUnsafeBufferPointer { weights in
                guard let firsts = first.baseAddress, let weights = weights.baseAddress else { return }
                unsafe loops.averageIntervals(
                    line, .init(first: firsts, weights: weights, taps: taps, count: first.count, step: step),
                    into: target)
            }
        }
    }

    /// The same for sums of rows (`sum`), multiplied by a factor, plus an offset.
    fileprivate func average(
        _ sums: UnsafePointer<UInt16>, factor: Float, offset: Float, into target: UnsafeMutablePointer<Float>,
        _ memory: SampleMemory, _ loops: Loops
    ) {
        if let groups,
            unsafe loops.averageGroups(
                sums + Int(first[0]),
                .init(
                    step: step, pixels: groups.pixels, intervals: groups.intervals,
                    groups: first.count / groups.intervals, offset: offset),
                weights: groups.weights * factor, into: target)
        {
            return
        }
        let line = unsafe memory.line.reserve(reach, filler: 0)
        for x in 0..<reach { unsafe line[x] = Float(sums[x]) * Float(1 / AreaTaps.whole) * factor + offset }
        unsafe average(line, into: target, loops)
    }

    /// Fetches rows that are summed later: each is too short for the processor to foresee much of it.
    fileprivate func prefetch(intervalAt index: Int, of plane: Plane) {
        guard index < first.count else { return }
        for tap in 0..<taps { plane.prefetch(row: Int(first[index]) &+ tap, from: 0, count: plane.rowBytes) }
    }

    /// The weighted sum of the rows of an interval, times 256.
    ///
    /// - Precondition: the plane has all rows of pixels.
    fileprivate func sum(of index: Int, in plane: Plane, into sums: UnsafeMutablePointer<UInt16>, _ loops: Loops) {
        func row(_ tap: Int) -> UnsafePointer<UInt8> {
            unsafe plane.row(Int(first[index]) &+ min(tap, taps &- 1)).assumingMemoryBound(to: UInt8.self)
        }
        let groups = DepthKernels.groups(of: AreaTaps.rowsAtATime, in: taps)
        for group in 0..<groups {
            let (tap, weights) = (group &* AreaTaps.rowsAtATime, wholeWeights[index &* groups &+ group])
            let count = weights.w > 0 ? 4 : weights.z > 0 ? 3 : weights.y > 0 ? 2 : 1
            unsafe loops.sumRows(
                (row(tap), row(tap &+ 1), row(tap &+ 2), row(tap &+ 3)), weights: weights,
                count: (count, plane.rowBytes), isFirst: tap == 0, into: sums)
        }
    }
}
