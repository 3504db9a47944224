import DepthKernels

extension MutablePlane {
    /// Writes one pixel at any alignment.
    /// - Precondition: the row and the column lie within the plane; the renderer has checked its size before.
    @inline(__always)
    func store<Pixel: BitwiseCopyable>(_ pixel: Pixel, _ row: Int, _ column: Int) {
        unsafe self.row(row).storeBytes(of: pixel, toByteOffset: column &* MemoryLayout<Pixel>.size, as: Pixel.self)
    }

    /// Writes `pixels[start ..< start + count]` to the beginning of a row.
    /// - Precondition: both the pixels and the row are long enough.
    func copy<Pixel: BitwiseCopyable>(_ pixels: [Pixel], from start: Int, count: Int, toRow row: Int) {
        let size = MemoryLayout<Pixel>.size
        unsafe pixels.withUnsafeBytes { bytes in
            guard let first = bytes.baseAddress, (start &+ count) &* size <= bytes.count else { return }
            unsafe self.row(row).copyMemory(from: first + start &* size, byteCount: count &* size)
        }
    }
}

extension Colour {
    /// The lanes as bytes, rounded to nearest and held within 0…255.
    ///
    /// Adding 2²³ to a float between 0 and 2²³ leaves its value, rounded, in the low bits; no conversion can trap.
    @inline(__always)
    var bytes: SIMD4<UInt8> {
        let held = pointwiseMin(pointwiseMax(self, .zero), Colour(repeating: 255))
        let bits = unsafe unsafeBitCast(held + Colour(repeating: 8_388_608), to: SIMD4<UInt32>.self)
        return SIMD4<UInt8>(truncatingIfNeeded: bits)
    }
}
