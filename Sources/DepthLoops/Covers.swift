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
