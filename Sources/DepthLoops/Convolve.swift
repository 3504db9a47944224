package import CDepthKernels

extension LoopSet {
    /// Convolves a run of blocks of 16 opacities with a symmetric kernel with a radius of `radius` steps: a step is 1 along
    /// a row, and the numbers from one row to the next along a column.
    ///
    ///     target[i] = weights[0] · m[i] + Σ weights[d] · (m[i − d · step] + m[i + d · step]), d = 1…radius
    ///
    /// In single precision, in a fixed order from the middle outwards, so that every instruction set gives the same bits.
    ///
    /// Fields and parameters:
    ///   - middle: the opacities of the run.
    ///   - weights: one half of the kernel, the middle first.
    ///   - target: receives the results; other memory.
    /// - Precondition: there are `radius · step` opacities before `middle` and after its last block.
    package static func convolve(
        _ middle: UnsafePointer<Float>, blocks: Int, _ kernel: dm_symmetric_kernel,
        into target: UnsafeMutablePointer<Float>
    ) {
        let (weights, radius, step) = unsafe (kernel.weights, kernel.radius, kernel.step)
        var block = 0
        // Two blocks at a time: independent sums hide the latency of the additions.
        while block &+ 2 <= blocks {
            let one = unsafe middle + block &* 16
            let two = unsafe one + 16
            var (sum, other) = unsafe (sixteen(one) * weights[0], sixteen(two) * weights[0])
            var (distance, offset) = (1, step)
            while distance <= radius {
                let weight = unsafe weights[distance]
                unsafe sum += (sixteen(one + (0 &- offset)) + sixteen(one + offset)) * weight
                unsafe other += (sixteen(two + (0 &- offset)) + sixteen(two + offset)) * weight
                distance &+= 1
                offset &+= step
            }
            unsafe store(sum, target + block &* 16)
            unsafe store(other, target + (block &+ 1) &* 16)
            block &+= 2
        }
        if block < blocks {
            let one = unsafe middle + block &* 16
            var sum = unsafe sixteen(one) * weights[0]
            var (distance, offset) = (1, step)
            while distance <= radius {
                unsafe sum += (sixteen(one + (0 &- offset)) + sixteen(one + offset)) * weights[distance]
                distance &+= 1
                offset &+= step
            }
            unsafe store(sum, target + block &* 16)
        }
    }

    /// Decimates a row of opacities.
    ///
    ///     target[i] = Σ weights[t] · line[i · step + t], t = 0…3 · step − 3
    package static func decimate(
        _ line: UnsafePointer<Float>, weights: UnsafePointer<Float>, step: Int, count: Int,
        into target: UnsafeMutablePointer<Float>
    ) {
        @inline(__always)
        func decimate(_ step: Int) {
            for cell in upTo(count) {
                var sum: Float = 0
                for tap in upTo(3 &* step &- 2) { unsafe sum += weights[tap] * line[cell &* step &+ tap] }
                unsafe target[cell] = sum
            }
        }
        if step == 2 { decimate(2) } else { decimate(step) }
    }
}
