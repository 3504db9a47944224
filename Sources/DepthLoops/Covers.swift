/// Says of each block of a run of 16 opacities whether all are at most `low` (0), all at least `high` (1), or neither (2).
///
/// - parameter stride: floats from one block to the next.
/// - parameter coverStride: bytes from one cover to the next.
package func sortBlocks(
    _ first: UnsafePointer<Float>, blocks: Int, stride: Int, low: Float, high: Float,
    covers: UnsafeMutablePointer<UInt8>, coverStride: Int
) {
    for block in 0..<blocks {
        let source = unsafe first + block &* stride
        // Opacities are not negative, so that their bits are in their own order.
        var least = UInt32.max
        var most: UInt32 = 0
        for lane in 0..<16 {
            let bits = unsafe source[lane].bitPattern
            least = min(least, bits)
            most = max(most, bits)
        }
        unsafe covers[block &* coverStride] = most <= low.bitPattern ? 0 : (least >= high.bitPattern ? 1 : 2)
    }
}
