/// Draws the colors of a depth map on a picture of any size, opaque or blended with the picture.
///
/// Each pixel gets the color of the sample that its center lies in, without interpolation: between a near and a far
/// sample there is no surface that an intermediate color would stand for. Pixels beside the map count as not measured.
///
/// Keeps its memory between frames. Not for two threads at once.
package final class ColorOverlay {
    private let colorMap = DepthColorMap()
    /// The colors, one for each sample.
    private var samples = Scratch<UInt32>()
    private var columns = SampleColumns()
    /// The colors of one row of the picture.
    private var line = Scratch<UInt32>()
    /// The same in three bytes a pixel.
    private var bytes = Scratch<UInt8>()

    package init() {}

    /// A picture to draw on.
    @safe
    package struct Target {
        let plane: MutablePlane
        let width: Int
        let height: Int
        let bytesPerPixel: Int
        /// The opacity of the colors, 0…256; nil to replace the picture.
        let share: Int?

        /// Returns nil unless `plane` has room for the pixels, of 3 or 4 bytes each.
        ///
        /// - Parameter mix: the opacity of the colors over the picture, 0…1; nil to replace the picture.
        package init?(plane: MutablePlane, width: Int, height: Int, bytesPerPixel: Int, mix: Double?) {
            let (rowBytes, overflow) = width.multipliedReportingOverflow(by: bytesPerPixel)
            guard width > 0, height > 0, 3...4 ~= bytesPerPixel, !overflow, rowBytes <= plane.rowBytes,
                height <= plane.rows
            else { return nil }
            self.plane = plane
            self.width = width
            self.height = height
            self.bytesPerPixel = bytesPerPixel
            share = mix.map { nearestIndex($0 * 256, in: 0...256) }
        }
    }

    /// Draws the colors of `depth` at its place on the picture.
    ///
    /// Blended with an opacity of `share`, every byte is
    ///
    ///     c = (picture · (256 − share) + color · share + 128) / 256, rounded down
    ///
    /// and a transparent hole reduces the picture's opacity by that share and keeps its color.
    ///
    /// - Parameter colors: in the picture's byte order; for three bytes a pixel, the first three.
    package func draw(
        _ depth: DepthImage, scale: DepthScale, range: DepthColorRange, colors: DepthColors, placement: DepthPlacement,
        on target: Target
    ) {
        let isSameSize =
            placement
            == DepthPlacement(
                depthWidth: target.width, depthHeight: target.height, videoWidth: target.width,
                videoHeight: target.height)
        if target.share == nil && isSameSize {
            return colorMap.paint(
                depth, scale: scale, range: range, colors: colors, into: target.plane,
                bytesPerPixel: target.bytesPerPixel)
        }
        let count = depth.width &* depth.height
        let samples = unsafe samples.reserve(count, filler: 0)
        guard
            let painted = unsafe MutablePlane(
                base: samples, length: count &* 4, rowBytes: depth.width &* 4, rows: depth.height,
                stride: depth.width &* 4)
        else { return }
        colorMap.paint(depth, scale: scale, range: range, colors: colors, into: painted)
        let columns = unsafe columns.columns(of: placement, width: target.width)
        let line = unsafe line.reserve(target.width, filler: 0)
        let hole = colors.hole
        for y in 0..<target.height {
            let row = placement.row(y, of: target.height)
            if row >= 0 && isSameSize {
                unsafe drawRow(samples + row &* depth.width, on: y, of: target, colors)
                continue
            } else if row >= 0 {
                let source = unsafe samples + row &* depth.width
                for x in 0..<target.width {
                    let column = unsafe Int(columns[x])
                    unsafe line[x] = column < 0 ? hole : source[column]
                }
            } else {
                unsafe line.update(repeating: hole, count: target.width)
            }
            unsafe drawRow(line, on: y, of: target, colors)
        }
    }

    /// Draws a map without measured samples.
    package func drawNothing(colors: DepthColors, on target: Target) {
        let line = unsafe line.reserve(target.width, filler: 0)
        for y in 0..<target.height {
            unsafe line.update(repeating: colors.hole, count: target.width)
            unsafe drawRow(line, on: y, of: target, colors)
        }
    }

    // MARK: Rows

    /// Draws a row of colors on row `y` of the picture. The line of colors may be changed.
    private func drawRow(_ line: UnsafeMutablePointer<UInt32>, on y: Int, of target: Target, _ colors: DepthColors) {
        let row = unsafe target.plane.row(y).assumingMemoryBound(to: UInt8.self)
        let colorBytes = unsafe UnsafeRawPointer(line).assumingMemoryBound(to: UInt8.self)
        switch (target.bytesPerPixel, target.share) {
        case (4, nil): unsafe row.update(from: colorBytes, count: target.width &* 4)
        case (4, .some(let share)):
            if colors.unmeasuredAlpha == 0 { unsafe showThrough(line, row, count: target.width, colors) }
            unsafe blend(colorBytes, into: row, share: UInt16(truncatingIfNeeded: share), count: target.width &* 4)
        case (_, nil): unsafe packThreeBytes(line, into: row, count: target.width)
        case (_, .some(let share)):
            let bytes = unsafe bytes.reserve(target.width &* 3, filler: 0)
            unsafe packThreeBytes(line, into: bytes, count: target.width)
            unsafe blend(bytes, into: row, share: UInt16(truncatingIfNeeded: share), count: target.width &* 3)
        }
    }

    /// Copies the first three bytes of each pixel.
    private func packThreeBytes(_ line: UnsafePointer<UInt32>, into row: UnsafeMutablePointer<UInt8>, count: Int) {
        let target = UnsafeMutableRawPointer(row)
        // The store of a pixel spills its fourth byte, which the next pixel overwrites.
        for x in 0..<(count &- 1) {
            unsafe target.storeBytes(of: line[x], toByteOffset: x &* 3, as: UInt32.self)
        }
        let last = unsafe UnsafeRawPointer(line + (count &- 1))
        unsafe (target + (count &- 1) &* 3).copyMemory(from: last, byteCount: 3)
    }

    /// Replaces transparent holes by the picture's own pixels with an alpha of 0.
    private func showThrough(
        _ line: UnsafeMutablePointer<UInt32>, _ row: UnsafeMutablePointer<UInt8>, count: Int, _ colors: DepthColors
    ) {
        let hole = colors.hole
        let opacity = unsafe unsafeBitCast(colors.order.pixel(SIMD3(), alpha: 255), to: UInt32.self)
        let below = UnsafeRawPointer(row)
        for x in 0..<count {
            let pixel = unsafe below.loadUnaligned(fromByteOffset: x &* 4, as: UInt32.self)
            unsafe line[x] = line[x] == hole ? pixel & ~opacity : line[x]
        }
    }

    @inline(__always)
    private func blend(
        _ colors: UnsafePointer<UInt8>, into picture: UnsafeMutablePointer<UInt8>, share: UInt16, count: Int
    ) {
        let rest = 256 &- share
        for index in 0..<count {
            // At most 65408.
            let sum = unsafe UInt16(picture[index]) &* rest &+ UInt16(colors[index]) &* share &+ 128
            unsafe picture[index] = UInt8(truncatingIfNeeded: sum >> 8)
        }
    }
}

extension DepthColors {
    /// The pixel of samples that were not measured.
    fileprivate var hole: UInt32 { unsafe unsafeBitCast(order.pixel(SIMD3(), alpha: unmeasuredAlpha), to: UInt32.self) }
}
