/// Says of each opacity of a run of blocks of 16 whether it is at most `low`, and whether it is at least `high`: a bit for
/// each.
///
/// - parameter stride: floats from one block to the next.
package func sortSamples(
    _ first: UnsafePointer<Float>, blocks: Int, stride: Int, low: Float, high: Float,
    clear: UnsafeMutablePointer<UInt16>, opaque: UnsafeMutablePointer<UInt16>
) {
    let (low, high) = (SIMD16(repeating: low), SIMD16(repeating: high))
    let laneBits = SIMD16<UInt32>(1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384, 32768)
    for block in 0..<blocks {
        let values = unsafe UnsafeRawPointer(first + block &* stride).loadUnaligned(as: SIMD16<Float>.self)
        let zero = SIMD16<UInt32>(repeating: 0)
        let below = zero.replacing(with: laneBits, where: values .<= low).wrappedSum()
        let above = zero.replacing(with: laneBits, where: values .>= high).wrappedSum()
        unsafe clear[block] = UInt16(truncatingIfNeeded: below)
        unsafe opaque[block] = UInt16(truncatingIfNeeded: above)
    }
}
