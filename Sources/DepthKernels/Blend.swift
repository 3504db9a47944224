/// Mixes one byte of the video with one of the background.
///
///     (video · alpha + background · (255 − alpha)) / 255, rounded to nearest (255 is odd: there are no halves)
///
/// The division is exact for every sum up to 65535: s/255 rounded = (t + t/256)/256 with t = s + 128 (Blinn, "Three
/// Wrongs Make a Right", IEEE CG&A 15(6), 1995).
@inline(__always)
package func blendedByte(video: UInt8, background: UInt8, alpha: UInt8) -> UInt8 {
    let opacity = UInt16(alpha)
    let sum = UInt16(video) &* opacity &+ UInt16(background) &* (255 &- opacity)
    return dividedBy255(sum)
}

/// `a · b / 255`, rounded to nearest.
@inline(__always)
package func scaledByte(_ a: UInt8, _ b: UInt8) -> UInt8 { dividedBy255(UInt16(a) &* UInt16(b)) }

/// `sum / 255`, rounded to nearest.
///
/// - Precondition: `sum <= 255 · 255`.
@inline(__always)
private func dividedBy255(_ sum: UInt16) -> UInt8 {
    let biased = sum &+ 128
    return UInt8(truncatingIfNeeded: (biased &+ (biased &>> 8)) &>> 8)
}

/// `count` bytes of a row, in place; each has its own byte of `alpha`.
@inline(__always)
private func mixRow(
    video: UnsafeMutablePointer<UInt8>, background: UnsafePointer<UInt8>, alpha: UnsafePointer<UInt8>, count: Int
) {
    for index in 0..<count {
        unsafe video[index] = blendedByte(video: video[index], background: background[index], alpha: alpha[index])
    }
}

/// Lays the video over a background, as the matte says, for one layout and size.
///
/// Shape: the matte has one byte for each pixel; video and background share the layout. Rounding: to nearest, for every
/// byte, once. A sample that several pixels share takes the mean of their alphas, rounded to nearest (halves up), at
/// odd edges the mean of those that there are.
package final class Blender {
    package let layout: PixelLayout
    package let width: Int
    package let height: Int
    private var spreadAlpha = Scratch<UInt8>()

    package init(layout: PixelLayout, width: Int, height: Int) {
        self.layout = layout
        self.width = width
        self.height = height
    }

    /// Whether all planes are there and none is smaller than the layout and size of this blender ask for.
    package func hasExpectedShape(video: Planes<MutablePlane>, background: Planes<Plane>, alpha: Plane) -> Bool {
        layout.fits(video.readOnly, width: width, height: height)
            && layout.fits(background, width: width, height: height)
            && alpha.rowBytes >= width && alpha.rows >= height
    }

    /// Blends every byte of the video, in place.
    ///
    /// - returns: false, with nothing written, where `hasExpectedShape` says no.
    package func blend(video: Planes<MutablePlane>, background: Planes<Plane>, alpha: Plane) -> Bool {
        guard hasExpectedShape(video: video, background: background, alpha: alpha) else { return false }
        for (index, spread) in layout.planes.enumerated() {
            guard let video = video[index], let background = background[index] else { return false }
            blend(video: video, background: background, alpha: alpha, spread: spread, plane: index)
        }
        return true
    }

    private func blend(video: MutablePlane, background: Plane, alpha: Plane, spread: AlphaSpread, plane: Int) {
        let scratch = unsafe spreadAlpha.reserve(layout.rowBytes(plane: plane, width: width), filler: 0)
        let isOwnAlpha = spread == .full(bytesPerSample: 1)
        for y in 0..<layout.rows(plane: plane, height: height) {
            let firstRow = y * spread.rowsPerSample
            let rows = firstRow..<min(firstRow + spread.rowsPerSample, height)
            let target = unsafe video.row(y).assumingMemoryBound(to: UInt8.self)
            let source = unsafe background.row(y).assumingMemoryBound(to: UInt8.self)
            forEachRun(in: alpha, rows: rows, width: width) { run in
                let bytes = spread.bytes(ofPixels: run.start, to: run.end)
                switch run.cover {
                case .opaque: break
                case .clear:
                    unsafe target.advanced(by: bytes.start).update(from: source + bytes.start, count: bytes.count)
                case .mixed:
                    let opacity: UnsafePointer<UInt8>
                    if isOwnAlpha {
                        unsafe opacity = (alpha.row(rows.lowerBound) + run.start).assumingMemoryBound(to: UInt8.self)
                    } else {
                        unsafe spread.spread(alpha, rows: rows, run: run, width: width, into: scratch)
                        unsafe opacity = UnsafePointer(scratch)
                    }
                    unsafe mixRow(
                        video: target + bytes.start, background: source + bytes.start, alpha: opacity,
                        count: bytes.count)
                }
            }
        }
    }
}
