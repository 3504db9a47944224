import DepthLoops

/// A lookup table from alpha to gray.
package struct GrayTable: Equatable, Sendable {
    let values: InlineArray<256, UInt8>

    package init(_ value: (_ alpha: UInt8) -> UInt8) {
        values = InlineArray { value(UInt8(truncatingIfNeeded: $0)) }
    }

    /// 0…255: RGB, and YUV of full range.
    package static let fullRange = GrayTable { $0 }

    /// 16…235: YUV of video range; 16 + alpha · 219 / 255, rounded to nearest.
    package static let videoRange = GrayTable { 16 + scaledByte($0, 219) }

    package static func == (left: GrayTable, right: GrayTable) -> Bool {
        left.values.indices.allSatisfy { left.values[$0] == right.values[$0] }
    }
}

/// Draws the matte as a gray picture.
///
/// - Parameters:
///   - layout: of `picture`. Planes with fewer samples than pixels hold chroma, which becomes 128.
///   - bytes: for each plane of the layout, the contents of the bytes of a sample, in their order; a byte that is not
///     listed is `neutral`. RGBA is `[[.gray, .gray, .gray, .opaque]]`, I420 `[[.gray], [], []]`, AYUV `[[.opaque, .gray]]`. Packed
///     4:2:2 needs none.
/// - Returns: false, with nothing written, if a plane is missing or smaller than the picture.
package func drawMatte(
    alpha: Plane, into picture: Planes<MutablePlane>, width: Int, height: Int, layout: PixelLayout,
    bytes: [[ByteRole]], grays: GrayTable
) -> Bool {
    guard layout.fits(picture.readOnly, width: width, height: height),
        alpha.rowBytes >= width, alpha.rows >= height
    else { return false }
    for (index, planeLayout) in layout.planes.enumerated() {
        guard let plane = picture[index] else { return false }
        let painter = MattePainter(
            alpha: alpha, plane: plane, width: width, bytes: bytes.indices.contains(index) ? bytes[index] : [],
            grays: grays)
        for y in 0..<layout.rows(plane: index, height: height) { painter.paint(row: y, planeLayout: planeLayout) }
    }
    return true
}

/// One plane of the gray picture.
private struct MattePainter {
    let alpha: Plane
    let plane: MutablePlane
    let width: Int
    let bytes: [ByteRole]
    let grays: GrayTable

    func paint(row y: Int, planeLayout: PlaneLayout) {
        switch planeLayout {
        case .full(let count): paintPixels(row: y, bytesPerPixel: max(count, 1))
        case .subsampled:
            let count = groups(of: planeLayout.columnsPerSample, in: width) * planeLayout.bytesPerSample
            unsafe plane.row(y).initializeMemory(as: UInt8.self, repeating: 128, count: count)
        case .packed422(let lumaFirst): paintPacked422(row: y, luma: lumaFirst ? 0 : 1)
        }
    }

    private func paintPixels(row y: Int, bytesPerPixel: Int) {
        for offset in 0..<bytesPerPixel {
            switch offset < bytes.count ? bytes[offset] : .neutral {
            case .gray: paintGray(row: y, offset: offset, step: bytesPerPixel)
            case .neutral: paintConstant(128, row: y, offset: offset, step: bytesPerPixel)
            case .opaque, .unused: paintConstant(255, row: y, offset: offset, step: bytesPerPixel)
            }
        }
    }

    private func paintGray(row y: Int, offset: Int, step: Int) {
        let source = unsafe alpha.row(y).assumingMemoryBound(to: UInt8.self)
        let target = unsafe plane.row(y).assumingMemoryBound(to: UInt8.self)
        for x in 0..<width { unsafe target[x &* step &+ offset] = grays.values[Int(source[x])] }
    }

    private func paintConstant(_ value: UInt8, row y: Int, offset: Int, step: Int) {
        let target = unsafe plane.row(y).assumingMemoryBound(to: UInt8.self)
        for x in 0..<width { unsafe target[x &* step &+ offset] = value }
    }

    /// Paints packed 4:2:2. A last luma byte without a pixel of its own repeats the last pixel.
    private func paintPacked422(row y: Int, luma: Int) {
        let source = unsafe alpha.row(y).assumingMemoryBound(to: UInt8.self)
        let target = unsafe plane.row(y).assumingMemoryBound(to: UInt8.self)
        for x in 0..<groups(of: 2, in: width) &* 2 {
            unsafe target[x &* 2 &+ luma] = grays.values[Int(source[min(x, width &- 1)])]
            unsafe target[x &* 2 &+ 1 &- luma] = 128
        }
    }
}
