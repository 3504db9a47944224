/// 32 covers, eight in each lane.
private typealias Covers = SIMD4<UInt64>

/// What several rows of covers have in common: their cover where all say the same, else 2.
///
/// - parameter covers: bytes of 0, 1 or 2.
/// - parameter stride: bytes from one row to the next.
/// - Precondition: `count` is a multiple of 32, `rows` at least 1.
package func joinCovers(
    _ covers: UnsafePointer<UInt8>, stride: Int, rows: Int, count: Int, into joined: UnsafeMutablePointer<UInt8>
) {
    let ones = Covers(repeating: 0x0101_0101_0101_0101)
    var start = 0
    while start < count {
        let first = unsafe load(covers + start)
        var differences = Covers(repeating: 0)
        var row = 1
        while row < rows {
            unsafe differences |= load(covers + start + row &* stride) ^ first
            row &+= 1
        }
        let differs = (differences | differences &>> 1) & ones
        let result = first & ~(differs | differs &<< 1) | differs &<< 1
        unsafe UnsafeMutableRawPointer(joined + start).storeBytes(of: result, as: Covers.self)
        start &+= 32
    }
}

@inline(__always)
private func load(_ covers: UnsafePointer<UInt8>) -> Covers {
    unsafe UnsafeRawPointer(covers).loadUnaligned(as: Covers.self)
}

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
