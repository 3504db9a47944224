/// The opacities of 16 cells from four rows of a mask: each cell covers two bits along each axis and counts their
/// neighbours too, with weights of 3 and 1 eighths.
///
/// - parameter samples: of each row the bits from the left neighbour of the first cell's on.
package func halveBits(_ samples: SIMD4<UInt64>, into target: UnsafeMutablePointer<Float>) {
    unsafe halveBits(samples, 0, target)
    unsafe halveBits(samples, 8, target + 8)
}

@inline(__always)
private func halveBits(_ samples: SIMD4<UInt64>, _ firstCell: UInt64, _ target: UnsafeMutablePointer<Float>) {
    let outer = weighedBits(samples[0], firstCell) &+ weighedBits(samples[3], firstCell)
    let inner = weighedBits(samples[1], firstCell) &+ weighedBits(samples[2], firstCell)
    let sum = SIMD8<Float>(SIMD8<Int32>(truncatingIfNeeded: outer &+ inner &+ inner &+ inner)) * 0x1p-6
    unsafe UnsafeMutableRawPointer(target).storeBytes(of: sum, as: SIMD8<Float>.self)
}

/// In eighths, of one row of eight cells.
@inline(__always)
private func weighedBits(_ samples: UInt64, _ firstCell: UInt64) -> SIMD8<UInt32> {
    let bits = SIMD8<UInt32>(repeating: UInt32(truncatingIfNeeded: samples &>> (2 &* firstCell)))
    let four = bits &>> SIMD8(0, 2, 4, 6, 8, 10, 12, 14)
    let one = SIMD8<UInt32>(repeating: 1)
    let outer = (four & one) &+ (four &>> 3 & one)
    let inner = (four &>> 1 & one) &+ (four &>> 2 & one)
    return outer &+ inner &+ inner &+ inner
}

/// A row of opacities of half as many cells, with the same weights.
///
/// - parameter line: the opacities, from the left neighbour of the first cell's on.
package func halveLine(_ line: UnsafePointer<Float>, count: Int, into target: UnsafeMutablePointer<Float>) {
    for cell in 0..<count {
        let first = unsafe line + 2 &* cell
        unsafe target[cell] = (first[0] + first[3]) * 0.125 + (first[1] + first[2]) * 0.375
    }
}
