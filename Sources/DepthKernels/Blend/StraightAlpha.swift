import DepthLoops

/// Multiplies the alpha of a packed picture of four bytes per pixel by the matte's alpha, in place.
///
///     alphaByte = round(alphaByte · alpha / 255)
///
/// Where the new alpha is 0 the whole pixel becomes `hidden`, so that the hidden room cannot be recovered from
/// transparent pixels. The color bytes of all other pixels are unchanged (straight alpha, not premultiplied).
///
/// - Parameters:
///   - alphaByteIndex: 0…3, the index of the alpha byte in a pixel.
///   - hidden: the four bytes of a hidden pixel in memory order; its alpha byte counts as 0.
/// - Returns: false, with nothing written, if a plane is smaller than the picture or the index is not in 0…3.
package func writeStraightAlpha(
    pixels: MutablePlane, width: Int, height: Int, alpha: Plane, alphaByteIndex: Int, hidden: SIMD4<UInt8>
) -> Bool {
    guard 0...3 ~= alphaByteIndex, PixelLayout.fourBytes.fits(pixels, width: width, height: height),
        alpha.rowBytes >= width, alpha.rows >= height
    else { return false }
    let shift = UInt32(truncatingIfNeeded: alphaByteIndex * 8)
    let alphaMask: UInt32 = 255 << shift
    let hiddenPixel = littleEndianWord(hidden) & ~alphaMask
    for y in 0..<height {
        let row = unsafe pixels.row(y)
        let opacities = unsafe alpha.row(y).assumingMemoryBound(to: UInt8.self)
        for x in 0..<width {
            let pixel = unsafe UInt32(littleEndian: row.loadUnaligned(fromByteOffset: x &* 4, as: UInt32.self))
            let opacity = unsafe scaledByte(UInt8(truncatingIfNeeded: pixel &>> shift), opacities[x])
            let result = opacity == 0 ? hiddenPixel : pixel & ~alphaMask | UInt32(opacity) &<< shift
            unsafe row.storeBytes(of: result.littleEndian, toByteOffset: x &* 4, as: UInt32.self)
        }
    }
    return true
}

/// Multiplies the alpha plane of a planar picture (A420) by the matte's alpha, in place.
///
///     alphaPlane = round(alphaPlane · alpha / 255)
///
/// Where the new alpha is 0 luma becomes `hidden.y`; a chroma sample becomes `hidden.u`, `hidden.v` where the new alpha
/// is 0 in all pixels that share it.
///
/// - Parameter picture: the planes Y, U, V and A, the chroma at half width and half height, rounded up.
/// - Returns: false, with nothing written, if a plane is missing or smaller than the picture.
package func writeStraightAlpha(
    a420 picture: Planes<MutablePlane>, width: Int, height: Int, alpha: Plane,
    hidden: (y: UInt8, u: UInt8, v: UInt8)
) -> Bool {
    guard PixelLayout.a420.fits(picture.readOnly, width: width, height: height),
        alpha.rowBytes >= width, alpha.rows >= height,
        let luma = picture[0], let u = picture[1], let v = picture[2], let opacity = picture[3]
    else { return false }
    for y in 0..<height {
        let lumas = unsafe luma.row(y).assumingMemoryBound(to: UInt8.self)
        let results = unsafe opacity.row(y).assumingMemoryBound(to: UInt8.self)
        let opacities = unsafe alpha.row(y).assumingMemoryBound(to: UInt8.self)
        for x in 0..<width {
            let result = unsafe scaledByte(results[x], opacities[x])
            unsafe results[x] = result
            unsafe lumas[x] = result == 0 ? hidden.y : lumas[x]
        }
    }
    for y in 0..<groups(of: 2, in: height) {
        let upper = unsafe opacity.row(y &* 2).assumingMemoryBound(to: UInt8.self)
        let lower = unsafe opacity.row(min(y &* 2 &+ 1, height &- 1)).assumingMemoryBound(to: UInt8.self)
        let us = unsafe u.row(y).assumingMemoryBound(to: UInt8.self)
        let vs = unsafe v.row(y).assumingMemoryBound(to: UInt8.self)
        for sample in 0..<groups(of: 2, in: width) {
            let left = sample &* 2
            let right = min(left &+ 1, width &- 1)
            let any = unsafe upper[left] | upper[right] | lower[left] | lower[right]
            unsafe us[sample] = any == 0 ? hidden.u : us[sample]
            unsafe vs[sample] = any == 0 ? hidden.v : vs[sample]
        }
    }
    return true
}

private func littleEndianWord(_ bytes: SIMD4<UInt8>) -> UInt32 {
    UInt32(bytes[0]) | UInt32(bytes[1]) << 8 | UInt32(bytes[2]) << 16 | UInt32(bytes[3]) << 24
}

extension PixelLayout {
    fileprivate static let fourBytes = PixelLayout(.full(bytesPerSample: 4))
    fileprivate static let a420 = PixelLayout(
        .full(bytesPerSample: 1), .subsampled(horizontal: 2, vertical: 2, bytesPerSample: 1),
        .subsampled(horizontal: 2, vertical: 2, bytesPerSample: 1), .full(bytesPerSample: 1))

    fileprivate func fits(_ plane: MutablePlane, width: Int, height: Int) -> Bool {
        var picture = Planes<Plane>()
        picture.append(plane.readOnly)
        return fits(picture, width: width, height: height)
    }
}
