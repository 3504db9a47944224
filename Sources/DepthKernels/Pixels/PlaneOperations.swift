/// Fills a plane of 4-byte pixels with one pixel.
package func fill(_ plane: MutablePlane, with pixel: SIMD4<UInt8>) {
    let pattern = unsafe unsafeBitCast(pixel, to: UInt32.self)
    for y in 0..<plane.rows {
        let row = unsafe plane.row(y)
        for x in 0..<(plane.rowBytes / 4) {
            unsafe row.storeBytes(of: pattern, toByteOffset: x &* 4, as: UInt32.self)
        }
    }
}

/// Lays a picture in ARGB of 16 bits over one color in RGBA of 8 bits, in place; alpha is straight.
///
///     w = round(b · (65535 − a) / 65535),   c = round((c · a + color · w) / (a + w)),   a ← a + w
///
/// a, b: alpha of the picture and of the color. Where a + w = 0, c is the color.
package func flatten(argb64 plane: MutablePlane, over color: SIMD4<UInt8>) {
    let under = SIMD4<UInt32>(0, UInt32(color.x), UInt32(color.y), UInt32(color.z)) &* 257
    for y in 0..<plane.rows {
        let row = unsafe plane.row(y)
        for offset in stride(from: 0, to: plane.rowBytes &- 7, by: 8) {
            let over = unsafe row.loadUnaligned(fromByteOffset: offset, as: SIMD4<UInt16>.self)
            guard over.x != 65535 else { continue }
            let alpha = UInt32(over.x)
            let rest = (UInt32(color.w) &* 257 &* (65535 &- alpha) &+ 32767) / 65535
            let total = alpha &+ rest
            let sum = SIMD4<UInt32>(truncatingIfNeeded: over) &* alpha &+ under &* rest
            var mixed = SIMD4<UInt16>(
                truncatingIfNeeded: total == 0 ? under : (sum &+ total / 2) / SIMD4(repeating: max(total, 1)))
            mixed.x = UInt16(truncatingIfNeeded: total)
            unsafe row.storeBytes(of: mixed, toByteOffset: offset, as: SIMD4<UInt16>.self)
        }
    }
}

/// Makes every pixel of a plane of 4-byte pixels opaque.
///
/// - Parameter alphaByteIndex: 0…3, the index of the alpha byte in a pixel; any other changes nothing.
package func makeOpaque(_ plane: MutablePlane, alphaByteIndex: Int) {
    guard 0...3 ~= alphaByteIndex else { return }
    for y in 0..<plane.rows {
        let row = unsafe plane.row(y)
        for x in 0..<(plane.rowBytes / 4) {
            unsafe row.storeBytes(of: 255, toByteOffset: x &* 4 &+ alphaByteIndex, as: UInt8.self)
        }
    }
}

/// Copies a picture plane by plane; strides may differ. Of planes of different sizes, the common part is copied.
package func copy(_ source: Planes<Plane>, to target: Planes<MutablePlane>) {
    for index in 0..<min(source.count, target.count) {
        guard let from = source[index], let to = target[index] else { continue }
        let bytes = min(from.rowBytes, to.rowBytes)
        for y in 0..<min(from.rows, to.rows) {
            unsafe to.row(y).copyMemory(from: from.row(y), byteCount: bytes)
        }
    }
}

/// Copies the part of a picture that begins at a pixel, which has to be the first of a sample in every plane. Of planes of different sizes,
/// the common part is copied.
package func copy(
    _ source: Planes<Plane>, from start: (x: Int, y: Int), to target: Planes<MutablePlane>, layout: PixelLayout
) {
    for index in 0..<min(source.count, target.count) {
        guard let from = source[index], let to = target[index] else { continue }
        let left = layout.rowBytes(plane: index, width: start.x)
        let top = layout.rows(plane: index, height: start.y)
        let bytes = min(from.rowBytes &- left, to.rowBytes)
        guard left >= 0, top >= 0, bytes > 0 else { continue }
        for y in 0..<to.rows where y &+ top < from.rows {
            unsafe to.row(y).copyMemory(from: from.row(y &+ top) + left, byteCount: bytes)
        }
    }
}

/// Copies the first row of a picture to every row of another one, plane by plane. Of rows of different lengths, the
/// common part is copied.
package func repeatFirstRow(of source: Planes<Plane>, over target: Planes<MutablePlane>) {
    for index in 0..<min(source.count, target.count) {
        guard let from = source[index], let to = target[index] else { continue }
        let bytes = min(from.rowBytes, to.rowBytes)
        for y in 0..<to.rows { unsafe to.row(y).copyMemory(from: from.row(0), byteCount: bytes) }
    }
}

/// Copies a plane of single bytes. Of planes of different sizes, the common part is copied.
package func copy(_ source: Plane, to target: MutablePlane) {
    let count = min(source.rowBytes, target.rowBytes)
    for y in 0..<min(source.rows, target.rows) {
        unsafe target.row(y).copyMemory(from: source.row(y), byteCount: count)
    }
}

/// Writes 1 where a byte is at least 128, and 0 elsewhere. Of planes of different sizes, the common part is written.
package func threshold(_ source: Plane, into target: MutablePlane) {
    let count = min(source.rowBytes, target.rowBytes)
    for y in 0..<min(source.rows, target.rows) {
        let from = unsafe source.row(y).assumingMemoryBound(to: UInt8.self)
        let to = unsafe target.row(y).assumingMemoryBound(to: UInt8.self)
        for x in 0..<count { unsafe to[x] = from[x] >> 7 }
    }
}

/// Fills a plane of single bytes.
package func fill(_ plane: MutablePlane, with byte: UInt8) {
    for y in 0..<plane.rows {
        unsafe plane.row(y).initializeMemory(as: UInt8.self, repeating: byte, count: plane.rowBytes)
    }
}

extension Plane {
    /// The first byte; planes are never empty.
    package var firstByte: UInt8 { unsafe base.load(as: UInt8.self) }

    /// The first four bytes; 0 for those beyond the row.
    package var firstPixel: SIMD4<UInt8> {
        var pixel = SIMD4<UInt8>()
        for index in 0..<min(rowBytes, 4) { pixel[index] = unsafe base.load(fromByteOffset: index, as: UInt8.self) }
        return pixel
    }
}
