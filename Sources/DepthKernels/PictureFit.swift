import DepthLoops

/// How a still of another shape fills a frame.
package enum PictureFit: Int, Sendable, CaseIterable {
    /// One scale, so that the frame is full; what is too much is cut off evenly.
    case cover
    /// One scale, so that the whole still is seen; the rest is border.
    case contain
    /// Each axis by its own scale.
    case stretch
}

/// Scales an RGBA picture (any four bytes per pixel) into a frame.
///
/// Shrinking averages by area, enlarging interpolates linearly, each axis by its own need; results are rounded to
/// nearest. The scaled size is rounded to nearest, halves to even; what is too much or missing is parted with the
/// smaller half at the left and top.
/// - parameter border: the four bytes of a pixel beside the still; seen only with `contain`.
/// - returns: false, with nothing written, if a plane is smaller than its picture or a size is below 1.
package func fitPicture(
    source: Plane, sourceWidth: Int, sourceHeight: Int, into destination: MutablePlane, width: Int, height: Int,
    fit: PictureFit, border: SIMD4<UInt8>
) -> Bool {
    guard holdsPixels(source, width: sourceWidth, height: sourceHeight),
        holdsPixels(destination.readOnly, width: width, height: height)
    else { return false }
    let scaled = scaledSize(of: (sourceWidth, sourceHeight), in: (width, height), fit: fit)
    let columns = FittedAxis(source: sourceWidth, scaled: scaled.width, frame: width)
    let rows = FittedAxis(source: sourceHeight, scaled: scaled.height, frame: height)
    var fitter = PictureFitter(source: source, destination: destination, width: width, columns: columns, rows: rows)
    fitter.draw(height: height, border: border)
    return true
}

private func holdsPixels(_ plane: Plane, width: Int, height: Int) -> Bool {
    let (rowBytes, overflow) = width.multipliedReportingOverflow(by: 4)
    return width > 0 && height > 0 && !overflow && plane.rowBytes >= rowBytes && plane.rows >= height
}

private func scaledSize(
    of source: (width: Int, height: Int), in frame: (width: Int, height: Int), fit: PictureFit
) -> (width: Int, height: Int) {
    let scaleX = Double(frame.width) / Double(source.width)
    let scaleY = Double(frame.height) / Double(source.height)
    func size(scale: Double, widths: ClosedRange<Int>, heights: ClosedRange<Int>) -> (width: Int, height: Int) {
        (
            nearestIndex(Double(source.width) * scale, in: widths),
            nearestIndex(Double(source.height) * scale, in: heights)
        )
    }
    switch fit {
    case .stretch: return frame
    case .cover:
        return size(scale: max(scaleX, scaleY), widths: frame.width...Int.max, heights: frame.height...Int.max)
    case .contain:
        return size(scale: min(scaleX, scaleY), widths: 1...frame.width, heights: 1...frame.height)
    }
}

/// How one axis of the still lands on that axis of the frame.
private struct FittedAxis {
    /// Frame samples that show the still.
    let range: Range<Int>
    /// For each of them, the samples of the still it is made of.
    let weights: AxisWeights

    /// - parameter scaled: the still's samples after scaling; the middle of them is shown if they are too many.
    init(source: Int, scaled: Int, frame: Int) {
        let shown = min(scaled, frame)
        let cut = (scaled - shown) / 2
        let start = (frame - shown) / 2
        let scale = Double(source) / Double(scaled)
        range = start..<(start + shown)
        weights = AxisWeights(
            scale > 1 ? .area : .linear, count: shown, sourceCount: source, scale: scale, origin: Double(cut) * scale)
    }
}

private struct PictureFitter: ~Copyable {
    let source: Plane
    let destination: MutablePlane
    let width: Int
    let columns: FittedAxis
    let rows: FittedAxis
    private var sum: [SIMD4<Float>]
    private var keptRows: [KeptRow]

    /// A row of the still at its new width.
    private struct KeptRow {
        var index = -1
        var pixels: [SIMD4<Float>]
    }

    init(source: Plane, destination: MutablePlane, width: Int, columns: FittedAxis, rows: FittedAxis) {
        self.source = source
        self.destination = destination
        self.width = width
        self.columns = columns
        self.rows = rows
        sum = [SIMD4<Float>](repeating: .zero, count: columns.range.count)
        // Enlarging uses a row of the still for several rows of the frame.
        keptRows = [KeptRow](repeating: KeptRow(pixels: sum), count: 2)
    }

    mutating func draw(height: Int, border: SIMD4<UInt8>) {
        for y in 0..<height {
            let target = unsafe destination.row(y)
            if rows.range.contains(y) {
                unsafe paint(target, columns: 0..<columns.range.lowerBound, border)
                addRows(of: y - rows.range.lowerBound)
                for (x, pixel) in zip(columns.range, sum) {
                    unsafe target.storeBytes(of: roundedBytes(pixel), toByteOffset: x &* 4, as: SIMD4<UInt8>.self)
                }
                unsafe paint(target, columns: columns.range.upperBound..<width, border)
            } else {
                unsafe paint(target, columns: 0..<width, border)
            }
        }
    }

    private func paint(_ target: UnsafeMutableRawPointer, columns: Range<Int>, _ pixel: SIMD4<UInt8>) {
        for x in columns { unsafe target.storeBytes(of: pixel, toByteOffset: x &* 4, as: SIMD4<UInt8>.self) }
    }

    /// Leaves the weighted sum of the rows that shown row `y` is made of in `sum`.
    private mutating func addRows(of y: Int) {
        let weights = rows.weights
        for x in sum.indices { sum[x] = .zero }
        for tap in 0..<weights.taps {
            let weight = weights.weights[y * weights.taps + tap]
            guard weight != 0 else { continue }
            let kept = keep(row: weights.first[y] + tap)
            for x in sum.indices { sum[x] += keptRows[kept].pixels[x] * weight }
        }
    }

    /// Where in `keptRows` the row of the still is now.
    private mutating func keep(row: Int) -> Int {
        let slot = row & 1
        guard keptRows[slot].index != row else { return slot }
        keptRows[slot].index = row
        let weights = columns.weights
        let pixels = unsafe source.row(row)
        for x in sum.indices {
            var pixel = SIMD4<Float>.zero
            for tap in 0..<weights.taps {
                let bytes = unsafe pixels.loadUnaligned(
                    fromByteOffset: (weights.first[x] &+ tap) &* 4, as: SIMD4<UInt8>.self)
                pixel += widened(bytes) * weights.weights[x &* weights.taps &+ tap]
            }
            keptRows[slot].pixels[x] = pixel
        }
        return slot
    }
}

@inline(__always)
private func widened(_ bytes: SIMD4<UInt8>) -> SIMD4<Float> {
    SIMD4(Float(bytes[0]), Float(bytes[1]), Float(bytes[2]), Float(bytes[3]))
}

@inline(__always)
private func roundedBytes(_ pixel: SIMD4<Float>) -> SIMD4<UInt8> {
    SIMD4(roundedByte(pixel[0]), roundedByte(pixel[1]), roundedByte(pixel[2]), roundedByte(pixel[3]))
}
