/// A color in the representation of a format: the bytes of one sample of each plane.
package struct StoredColor: Equatable, Sendable {
    /// Four bytes for each plane; unused ones are 0.
    private var planes = InlineArray<4, UInt32>(repeating: 0)

    /// - Parameter samples: the bytes of one sample of each plane; four planes of four bytes at most.
    package init(_ samples: [[UInt8]]) {
        for (plane, bytes) in samples.prefix(4).enumerated() {
            for (index, byte) in bytes.prefix(4).enumerated() { planes[plane] |= UInt32(byte) << (8 * UInt32(index)) }
        }
    }

    /// The color of a picture's first pixel; nil where the picture does not have that layout.
    package init?(firstPixelOf picture: Planes<Plane>, layout: PixelLayout) {
        guard layout.fits(picture, width: 1, height: 1) else { return nil }
        self.init(
            layout.planes.enumerated().map { index, planeLayout in
                guard let pixel = picture[index]?.firstPixel else { return [] }
                return (0..<planeLayout.bytesPerSample).map { pixel[min($0, 3)] }
            })
    }

    @inline(__always)
    fileprivate func byte(_ index: Int, plane: Int) -> UInt8 {
        UInt8(truncatingIfNeeded: planes[plane] >> (8 &* UInt32(truncatingIfNeeded: index)))
    }

    package static func == (one: StoredColor, other: StoredColor) -> Bool {
        (0..<4).allSatisfy { one.planes[$0] == other.planes[$0] }
    }
}

/// Draws on a picture of any layout, clipped to the picture and to `clip`.
///
/// A sample that several pixels share takes the color that is drawn on any of them.
@safe
package struct Painter {
    private let picture: Planes<MutablePlane>
    private let layout: PixelLayout
    package let width: Int
    package let height: Int
    package var clip: Rectangle<Int>

    /// Returns nil unless the picture has all planes of the layout, large enough for its size.
    package init?(_ picture: Planes<MutablePlane>, layout: PixelLayout, width: Int, height: Int) {
        guard layout.fits(picture.readOnly, width: width, height: height) else { return nil }
        self.picture = picture
        self.layout = layout
        self.width = width
        self.height = height
        clip = Rectangle(left: 0, top: 0, right: width, bottom: height)
    }

    package func fill(_ box: Rectangle<Int>, _ color: StoredColor) {
        let whole = Rectangle(left: 0, top: 0, right: width, bottom: height)
        let box = box.intersection(clip).intersection(whole)
        guard !box.isEmpty else { return }
        for (index, planeLayout) in layout.planes.enumerated() {
            guard let plane = picture[index] else { continue }
            let rows = (box.top / planeLayout.rowsPerSample)..<groups(of: planeLayout.rowsPerSample, in: box.bottom)
            for y in rows {
                let row = unsafe plane.row(y)
                if case .packed422(let lumaFirst) = planeLayout {
                    unsafe Painter.fillPacked(row, box.left..<box.right, lumaFirst ? 0 : 1, color)
                } else {
                    let (start, count) = SampleBytes(planeLayout).place(from: box.left, to: box.right)
                    let size = planeLayout.bytesPerSample
                    for offset in 0..<count {
                        let byte = color.byte(offset % size, plane: index)
                        unsafe row.storeBytes(of: byte, toByteOffset: start &+ offset, as: UInt8.self)
                    }
                }
            }
        }
    }

    /// Draws the four sides of a rectangle, `thickness` pixels wide, inside of it.
    package func frame(_ box: Rectangle<Int>, thickness: Int, _ color: StoredColor) {
        guard !box.isEmpty, thickness > 0 else { return }
        let (top, bottom) = (min(box.top &+ thickness, box.bottom), max(box.bottom &- thickness, box.top))
        fill(Rectangle(left: box.left, top: box.top, right: box.right, bottom: top), color)
        fill(Rectangle(left: box.left, top: bottom, right: box.right, bottom: box.bottom), color)
        let (left, right) = (min(box.left &+ thickness, box.right), max(box.right &- thickness, box.left))
        fill(Rectangle(left: box.left, top: box.top, right: left, bottom: box.bottom), color)
        fill(Rectangle(left: right, top: box.top, right: box.right, bottom: box.bottom), color)
    }

    /// Fills pixels of packed 4:2:2: luma of each pixel, and chroma of each pair that contains one of them.
    ///
    /// - Parameter luma: 0 where luma comes first, 1 where it does not.
    private static func fillPacked(
        _ row: UnsafeMutableRawPointer, _ columns: Range<Int>, _ luma: Int, _ color: StoredColor
    ) {
        let chroma = 1 - luma
        for x in columns {
            let pair = x / 2 &* 4
            unsafe row.storeBytes(of: color.byte(luma, plane: 0), toByteOffset: x &* 2 &+ luma, as: UInt8.self)
            unsafe row.storeBytes(of: color.byte(chroma, plane: 0), toByteOffset: pair &+ chroma, as: UInt8.self)
            unsafe row.storeBytes(
                of: color.byte(chroma &+ 2, plane: 0), toByteOffset: pair &+ chroma &+ 2, as: UInt8.self)
        }
    }
}
