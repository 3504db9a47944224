/// Lays a depth map's colors over a picture of any size, or makes the picture of them.
///
/// Each pixel gets the color of the sample that it lies in, unmixed with its neighbours': between a near and a far one
/// there is no surface whose color a mixture would be. Where there is no sample, nothing was measured.
///
/// Keeps its memory between frames. Not for two threads at once.
package final class ColorOverlay {
    private let colorMap = DepthColorMap()
    /// The colors, one for each sample.
    private var samples = Scratch<UInt32>()
    /// For each column of the picture the sample's, or -1 where there is none.
    private var columns = Scratch<Int32>()
    private var columnsKey: DepthPlacement?
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
        /// How much of the colors is seen, 0…256; nil where what the picture holds is not to be seen.
        let share: Int?

        /// Returns nil unless `plane` has room for the pixels, of 3 or 4 bytes each.
        ///
        /// - Parameter mix: how much of the colors is seen over what the picture holds, 0…1; nil replaces that.
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

    /// Draws the colors of `depth`, which lies on the picture as `placement` says.
    ///
    /// Mixed by `share`, every byte is
    ///
    ///     c = (picture · (256 − share) + color · share + 128) / 256, rounded down
    ///
    /// and a transparent hole takes that share of the picture's opacity away and leaves its color.
    /// - Parameter colors: their order of bytes is the picture's; of three bytes, the first three.
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
        let columns = unsafe sampleColumns(placement)
        let line = unsafe line.reserve(target.width, filler: 0)
        let hole = colors.hole
        for y in 0..<target.height {
            let row = sampleIndex(placement.depthPoint(videoX: 0, videoY: Double(y) + 0.5).y, count: depth.height)
            if let row, isSameSize {
                unsafe lay(samples + row &* depth.width, on: y, of: target, colors)
                continue
            } else if let row {
                let source = unsafe samples + row &* depth.width
                for x in 0..<target.width {
                    let column = unsafe Int(columns[x])
                    unsafe line[x] = column < 0 ? hole : source[column]
                }
            } else {
                unsafe line.update(repeating: hole, count: target.width)
            }
            unsafe lay(line, on: y, of: target, colors)
        }
    }

    /// Draws a map that measured nothing.
    package func drawNothing(colors: DepthColors, on target: Target) {
        let line = unsafe line.reserve(target.width, filler: 0)
        for y in 0..<target.height {
            unsafe line.update(repeating: colors.hole, count: target.width)
            unsafe lay(line, on: y, of: target, colors)
        }
    }

    // MARK: Rows

    /// For each column of the picture the sample that its centre lies in.
    private func sampleColumns(_ placement: DepthPlacement) -> UnsafePointer<Int32> {
        let columns = unsafe columns.reserve(placement.videoWidth, filler: -1)
        if columnsKey != placement {
            for x in 0..<placement.videoWidth {
                let point = placement.depthPoint(videoX: Double(x) + 0.5, videoY: 0)
                let column = sampleIndex(point.x, count: placement.depthWidth) ?? -1
                unsafe columns[x] = Int32(truncatingIfNeeded: column)
            }
            columnsKey = placement
        }
        return unsafe UnsafePointer(columns)
    }

    /// Lays a row of colors on row `y` of the picture. The row is changed.
    private func lay(_ line: UnsafeMutablePointer<UInt32>, on y: Int, of target: Target, _ colors: DepthColors) {
        let row = unsafe target.plane.row(y).assumingMemoryBound(to: UInt8.self)
        let colorBytes = unsafe UnsafeRawPointer(line).assumingMemoryBound(to: UInt8.self)
        switch (target.bytesPerPixel, target.share) {
        case (4, nil): unsafe row.update(from: colorBytes, count: target.width &* 4)
        case (4, .some(let share)):
            if colors.unmeasuredAlpha == 0 { unsafe showThrough(line, row, count: target.width, colors) }
            unsafe mix(colorBytes, into: row, share: UInt16(truncatingIfNeeded: share), count: target.width &* 4)
        case (_, nil): unsafe squeeze(line, into: row, count: target.width)
        case (_, .some(let share)):
            let bytes = unsafe bytes.reserve(target.width &* 3, filler: 0)
            unsafe squeeze(line, into: bytes, count: target.width)
            unsafe mix(bytes, into: row, share: UInt16(truncatingIfNeeded: share), count: target.width &* 3)
        }
    }

    /// The first three bytes of each pixel.
    private func squeeze(_ line: UnsafePointer<UInt32>, into row: UnsafeMutablePointer<UInt8>, count: Int) {
        let target = UnsafeMutableRawPointer(row)
        // Each pixel's fourth byte is written over by the next one.
        for x in 0..<(count &- 1) {
            unsafe target.storeBytes(of: line[x], toByteOffset: x &* 3, as: UInt32.self)
        }
        let last = unsafe UnsafeRawPointer(line + (count &- 1))
        unsafe (target + (count &- 1) &* 3).copyMemory(from: last, byteCount: 3)
    }

    /// Gives transparent holes the colors of the picture below them.
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
    private func mix(
        _ colors: UnsafePointer<UInt8>, into picture: UnsafeMutablePointer<UInt8>, share: UInt16, count: Int
    ) {
        let rest = 256 &- share
        for index in 0..<count {
            // 65408 at most.
            let sum = unsafe UInt16(picture[index]) &* rest &+ UInt16(colors[index]) &* share &+ 128
            unsafe picture[index] = UInt8(truncatingIfNeeded: sum >> 8)
        }
    }
}

/// The sample that a point of the map lies in; nil outside.
private func sampleIndex(_ place: Double, count: Int) -> Int? {
    guard place >= 0, place < Double(count) else { return nil }
    return floorIndex(place, in: 0...(count - 1))
}

extension DepthColors {
    /// The pixel of what was not measured.
    fileprivate var hole: UInt32 { unsafe unsafeBitCast(order.pixel(SIMD3(), alpha: unmeasuredAlpha), to: UInt32.self) }
}
