/// Cuts a row of little-endian 16-bit counts into blocks of 16 and says of each whether none of its counts is inside a
/// range (0), all are (1), or some (2); of the last kind it writes 1 for those inside and 0 for the others.
///
/// - parameter span: how far the last count inside lies behind the first.
/// - Precondition: `counts` holds `blocks · 16` counts, aligned or not; `covers` has room for `blocks`, `opacities` for
///   `blocks · 16`.
package func cutRow(
    counts: UnsafeRawPointer, blocks: Int, first: UInt16, span: UInt16, covers: UnsafeMutablePointer<UInt8>,
    opacities: UnsafeMutablePointer<Float>
) {
    // One comparison for both ends: counts below the first wrap around to large numbers.
    let (first, span) = (SIMD16(repeating: first), SIMD16(repeating: span))
    for block in 0..<blocks {
        let bits = unsafe counts.loadUnaligned(fromByteOffset: block &* 32, as: SIMD16<UInt16>.self)
        #if _endian(big)
            let inside = ((bits &<< 8 | bits &>> 8) &- first) .<= span
        #else
            let inside = (bits &- first) .<= span
        #endif
        let ones = SIMD16<UInt16>(repeating: 0).replacing(with: 1, where: inside)
        let sum = ones.wrappedSum()
        unsafe covers[block] = sum == 0 ? 0 : (sum == 16 ? 1 : 2)
        if sum != 0 && sum != 16 {
            let target = unsafe opacities + block &* 16
            for lane in 0..<16 { unsafe target[lane] = Float(ones[lane]) }
        }
    }
}

/// The same for a row of opacities: 0, where all of a block are 0; 1, where all are 1; else 2, and they are copied.
package func sortRow(
    opacities: UnsafePointer<Float>, blocks: Int, covers: UnsafeMutablePointer<UInt8>,
    into target: UnsafeMutablePointer<Float>
) {
    let one = Float(1).bitPattern
    for block in 0..<blocks {
        let source = unsafe opacities + block &* 16
        var any: UInt32 = 0
        var differs: UInt32 = 0
        for lane in 0..<16 {
            let bits = unsafe source[lane].bitPattern
            any |= bits
            differs |= bits ^ one
        }
        unsafe covers[block] = any == 0 ? 0 : (differs == 0 ? 1 : 2)
        if any != 0 && differs != 0 { unsafe (target + block &* 16).update(from: source, count: 16) }
    }
}
