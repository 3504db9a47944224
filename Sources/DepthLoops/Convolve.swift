/// Sixteen opacities.
private typealias Lanes = SIMD16<Float>

/// Convolves a run of blocks of 16 opacities with a symmetric kernel that reaches `radius` steps to either side, a step
/// being one opacity along a row, or 16 along a column of blocks.
///
///     target[i] = weights[0] · m[i] + Σ weights[d] · (m[i − d · step] + m[i + d · step]), d = 1…radius
///
/// In single precision, added up from the middle outwards: the far tails of a Gaussian keep all their digits, which a
/// gamma of 0.25 makes visible, and every instruction set gives the same bits.
///
/// - Parameters:
///   - middle: the opacities, one block behind the other.
///   - weights: one half of the kernel, the middle first.
///   - target: where the results go; it may lie `radius · step` before the opacities.
/// - Precondition: `middle` has `radius · step` opacities before it and behind its last block.
package func convolve(
    _ middle: UnsafePointer<Float>, blocks: Int, step: Int, weights: UnsafePointer<Float>, radius: Int,
    into target: UnsafeMutablePointer<Float>
) {
    var block = 0
    // Two blocks at a time: their sums do not wait for each other.
    while block &+ 2 <= blocks {
        let one = unsafe middle + block &* 16
        let two = unsafe one + 16
        var (sum, other) = unsafe (load(one) * weights[0], load(two) * weights[0])
        var (distance, offset) = (1, step)
        while distance <= radius {
            let weight = unsafe weights[distance]
            unsafe sum += (load(one - offset) + load(one + offset)) * weight
            unsafe other += (load(two - offset) + load(two + offset)) * weight
            distance &+= 1
            offset &+= step
        }
        unsafe store(sum, target + block &* 16)
        unsafe store(other, target + (block &+ 1) &* 16)
        block &+= 2
    }
    if block < blocks {
        let one = unsafe middle + block &* 16
        var sum = unsafe load(one) * weights[0]
        var (distance, offset) = (1, step)
        while distance <= radius {
            unsafe sum += (load(one - offset) + load(one + offset)) * weights[distance]
            distance &+= 1
            offset &+= step
        }
        unsafe store(sum, target + block &* 16)
    }
}

/// Halves a row of opacities: each result is a sum of four neighbours with weights of 1, 3, 3 and 1 eighths.
///
/// - Parameter line: the opacities, from the left neighbour of the first result's pair on.
package func decimate(_ line: UnsafePointer<Float>, count: Int, into target: UnsafeMutablePointer<Float>) {
    for cell in 0..<count {
        let first = unsafe line + 2 &* cell
        unsafe target[cell] = (first[0] + first[3]) * 0.125 + (first[1] + first[2]) * 0.375
    }
}

@inline(__always)
private func load(_ source: UnsafePointer<Float>) -> Lanes {
    unsafe UnsafeRawPointer(source).loadUnaligned(as: Lanes.self)
}

@inline(__always)
private func store(_ lanes: Lanes, _ target: UnsafeMutablePointer<Float>) {
    unsafe UnsafeMutableRawPointer(target).storeBytes(of: lanes, as: Lanes.self)
}
