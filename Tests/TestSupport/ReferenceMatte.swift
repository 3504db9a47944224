#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// The matte and the blend as a slow reference: each formula written down once, in double precision, one sample at a time.
///
/// The kernels and the elements are compared with it; it shares no code with them.
///
/// 1. mask      1 where near < metres <= cutoff, with a linear ramp inside each limit if it has a feather; metres that
///              are not above 0 or not finite are not measured and stay 0, inverted or not. With a focus, on
///              d = min(1 / metres, 1) and w = 2 / slope + width: clamp(slope · (d − focus + w/2)), for a band no more
///              than clamp(slope · (focus + w/2 − d))
/// 2. blur      Gaussian along the rows, then along the columns; sigma in depth pixels; kernel of 2·ceil(4σ) + 1
///              samples that adds up to 1; edges replicated
/// 3. gamma     mask ^ gamma
/// 4. resize    Keys' cubic with A = −0.75 (four taps), or linear (two taps), pixel centers aligned, edges replicated;
///              0 where a video pixel's center is off the map
/// 5. alpha     255 · mask, clipped and rounded, halves to even
/// 6. blend     (video · a + background · (255 − a)) / 255, rounded to nearest
package struct ReferenceMatte: Sendable {
    package var cutoff = 1.0
    package var near = 0.0
    package var featherNear = 0.0
    package var featherFar = 0.0
    package var focusMask: FocusMask?
    package var invert = false
    package var blurRadius = 5.0
    package var gamma = 0.5
    package var isBicubic = true
    /// The rectangle of the video that the map covers (left, top, width, height); nil = the whole frame.
    package var rectangle: (left: Double, top: Double, width: Double, height: Double)?

    package struct FocusMask: Sendable {
        package var isBand: Bool
        package var focus: Double
        package var slope: Double
        package var width: Double

        package init(isBand: Bool, focus: Double, slope: Double, width: Double) {
            (self.isBand, self.focus, self.slope, self.width) = (isBand, focus, slope, width)
        }
    }

    package init() {}

    /// The alpha of every video pixel, row by row.
    ///
    /// - Parameter metres: `width · height` distances, row by row.
    package func alpha(metres: [Double], width: Int, height: Int, videoWidth: Int, videoHeight: Int) -> [UInt8] {
        var mask = Grid(width: width, height: height, values: metres.map(opacity))
        if blurRadius > 0 { mask = blurred(mask) }
        mask.values = mask.values.map { pow($0, gamma) }
        let place = rectangle ?? (0, 0, Double(videoWidth), Double(videoHeight))
        let wide = mask.resizedRows(count: videoWidth, start: place.left, extent: place.width, isBicubic: isBicubic)
        let full = wide.transposed
            .resizedRows(count: videoHeight, start: place.top, extent: place.height, isBicubic: isBicubic).transposed
        return full.values.map { UInt8(min(max(($0 * 255).rounded(.toNearestOrEven), 0), 255)) }
    }

    /// Step 1 for one sample.
    package func opacity(metres: Double) -> Double {
        guard metres > 0, metres.isFinite else { return 0 }
        var inside = 0.0
        if let mask = focusMask {
            let d = min(1 / metres, 1)
            let w = 2 / mask.slope + mask.width
            inside = min(max(mask.slope * (d - mask.focus + w / 2), 0), 1)
            if mask.isBand { inside = min(inside, min(max(mask.slope * (mask.focus + w / 2 - d), 0), 1)) }
        } else if metres > near, metres <= cutoff {
            let nearRamp = featherNear > 0 ? min((metres - near) / featherNear, 1) : 1
            let farRamp = featherFar > 0 ? min((cutoff - metres) / featherFar, 1) : 1
            inside = min(nearRamp, farRamp)
        }
        return invert ? 1 - inside : inside
    }

    private func blurred(_ mask: Grid) -> Grid {
        let radius = Int((4 * blurRadius).rounded(.up))
        let bell = (-radius...radius).map { exp(-Double($0 * $0) / (2 * blurRadius * blurRadius)) }
        let sum = bell.reduce(0, +)
        let kernel = bell.map { $0 / sum }
        return mask.convolvedRows(kernel).transposed.convolvedRows(kernel).transposed
    }

    /// Step 6 for every byte.
    package static func blend(video: [UInt8], background: [UInt8], alpha: [UInt8]) -> [UInt8] {
        video.indices.map { blend(video: video[$0], background: background[$0], alpha: alpha[$0]) }
    }

    /// Step 6 for one byte.
    package static func blend(video: UInt8, background: UInt8, alpha: UInt8) -> UInt8 {
        let sum = Double(video) * Double(alpha) + Double(background) * (255 - Double(alpha))
        return UInt8((sum / 255).rounded(.toNearestOrEven))
    }

    /// The median of the measured metres in the central half of a box (video pixels), the whole map lying on the whole
    /// frame; nil if none is measured.
    package static func faceDepth(
        metres: [Double], width: Int, height: Int, videoWidth: Int, videoHeight: Int,
        box: (x: Double, y: Double, width: Double, height: Double)
    ) -> Double? {
        func range(_ start: Double, _ extent: Double, _ count: Int, _ video: Int) -> Range<Int> {
            let low = ((start + extent * 0.25) * Double(count) / Double(video)).rounded(.down)
            let high = ((start + extent * 0.75) * Double(count) / Double(video)).rounded(.up)
            let first = max(0, Int(low))
            return first..<min(count, max(first + 1, Int(high)))
        }
        let rows = range(box.y, box.height, height, videoHeight)
        let columns = range(box.x, box.width, width, videoWidth)
        let samples = rows.flatMap { y in columns.map { metres[y * width + $0] } }
            .filter { $0 > 0 && $0.isFinite }.sorted()
        guard !samples.isEmpty else { return nil }
        let middle = samples.count / 2
        return samples.count.isMultiple(of: 2) ? (samples[middle - 1] + samples[middle]) / 2 : samples[middle]
    }
}

private struct Grid {
    let width: Int
    let height: Int
    var values: [Double]

    var transposed: Grid {
        var result = [Double](repeating: 0, count: values.count)
        for y in 0..<height {
            for x in 0..<width { result[x * height + y] = values[y * width + x] }
        }
        return Grid(width: height, height: width, values: result)
    }

    func convolvedRows(_ kernel: [Double]) -> Grid {
        let radius = kernel.count / 2
        var result = values
        for y in 0..<height {
            let row = Array(values[(y * width)..<((y + 1) * width)])
            let line = Array(repeating: row[0], count: radius) + row + Array(repeating: row[width - 1], count: radius)
            for x in 0..<width {
                var sum = 0.0
                for tap in kernel.indices { sum += kernel[tap] * line[x + tap] }
                result[y * width + x] = sum
            }
        }
        return Grid(width: width, height: height, values: result)
    }

    /// `count` new samples for each row, the old row lying between `start` and `start + extent` on the new axis.
    func resizedRows(count: Int, start: Double, extent: Double, isBicubic: Bool) -> Grid {
        var result = [Double](repeating: 0, count: count * height)
        for x in 0..<count {
            let edge = (Double(x) + 0.5 - start) * Double(width) / extent
            guard edge >= 0, edge < Double(width) else { continue }
            let left = (edge - 0.5).rounded(.down)
            let weights = isBicubic ? cubicWeights(edge - 0.5 - left) : linearWeights(edge - 0.5 - left)
            for y in 0..<height {
                for (offset, weight) in weights {
                    let sample = min(max(Int(left) + offset, 0), width - 1)
                    result[y * count + x] += weight * values[y * width + sample]
                }
            }
        }
        return Grid(width: count, height: height, values: result)
    }
}

private func linearWeights(_ t: Double) -> [(offset: Int, weight: Double)] { [(0, 1 - t), (1, t)] }

/// Keys 1981, with A = −0.75, at the distances 1 + t, t, 1 − t and 2 − t.
private func cubicWeights(_ t: Double) -> [(offset: Int, weight: Double)] {
    let a = -0.75
    func weight(_ d: Double) -> Double {
        d <= 1 ? (a + 2) * d * d * d - (a + 3) * d * d + 1 : a * d * d * d - 5 * a * d * d + 8 * a * d - 4 * a
    }
    return [(-1, weight(1 + t)), (0, weight(t)), (1, weight(1 - t)), (2, weight(2 - t))]
}
