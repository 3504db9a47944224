/// Sixteen opacities.
private typealias Lanes = SIMD16<Float>

/// Weighs each of the opacities in a run of blocks of 16 together with what lies up to `radius` steps to either side
/// of it, a step being one opacity along a row, or 16 along a column of blocks.
///
///     target[i] = weights[0] · m[i] + Σ weights[d] · (m[i − d · step] + m[i + d · step]), d = 1…radius
///
/// In single precision, added up from the middle outwards: the far tails of a bell keep all their digits, which a
/// gamma of 0.25 makes visible, and every instruction set gives the same bits.
///
/// - parameter middle: the opacities.
/// - parameter stride: floats from one block of them to the next.
/// - parameter targetStride: floats from one block of the target to the next.
/// - Precondition: `middle` has `radius · step` opacities before it and behind its last block.
package func weigh(
    _ middle: UnsafePointer<Float>, stride: Int, blocks: Int, step: Int, weights: UnsafePointer<Float>, radius: Int,
    into target: UnsafeMutablePointer<Float>, targetStride: Int
) {
    var block = 0
    // Two blocks at a time: their sums do not wait for each other.
    while block &+ 2 <= blocks {
        let one = unsafe middle + block &* stride
        let two = unsafe one + stride
        var (sum, other) = unsafe (load(one) * weights[0], load(two) * weights[0])
        var (distance, offset) = (1, step)
        while distance <= radius {
            let weight = unsafe weights[distance]
            unsafe sum += (load(one - offset) + load(one + offset)) * weight
            unsafe other += (load(two - offset) + load(two + offset)) * weight
            distance &+= 1
            offset &+= step
        }
        unsafe store(sum, target + block &* targetStride)
        unsafe store(other, target + (block &+ 1) &* targetStride)
        block &+= 2
    }
    if block < blocks {
        let one = unsafe middle + block &* stride
        var sum = unsafe load(one) * weights[0]
        var (distance, offset) = (1, step)
        while distance <= radius {
            unsafe sum += (load(one - offset) + load(one + offset)) * weights[distance]
            distance &+= 1
            offset &+= step
        }
        unsafe store(sum, target + block &* targetStride)
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
