/// What a kernel makes of a step from 0 to 1, less the step itself.
///
///     response[i] = Σ weight(k), k <= i − radius, and less 1 from the step on; i = 0…2 · radius
///
/// A row of a mask blurred is the row itself plus one such response for each of its steps: the fewer there are, the less
/// there is to do, whatever sigma is. What lies far before a step is a small number added to 0, not a difference of
/// large ones, so that the far tails keep their digits.
struct StepResponse {
    /// Samples that a step changes on either side of it.
    let radius: Int
    /// The response to a step up, padded with zeros to `length`, then that to a step down.
    let values: [Float]
    let length: Int

    init(_ kernel: GaussianKernel) {
        let radius = kernel.radius
        self.radius = radius
        length = groups(of: blockWidth, in: 2 * radius) * blockWidth
        // Position i lies i − radius samples behind the first one of the step: what is left of the bell there.
        var tail = 0.0
        var tails: [Float] = []
        for distance in stride(from: radius, through: 1, by: -1) {
            tail += Double(kernel.weights[distance])
            tails.append(Float(tail))
        }
        let rising = tails + tails.reversed().map { -$0 } + [Float](repeating: 0, count: length - 2 * radius)
        values = rising + rising.map { -$0 }
    }
}

/// Blurs rows of a mask.
struct StepWork: BandWork {
    let mask: BinaryMask
    let target: OpacityMap
    let weights: KernelWeights
    let response: StepResponse
    let loops: Loops

    func work(_ rows: Range<Int>, _ memory: MatteMemory) {
        let pass = StepPass(
            mask: mask, target: target, weights: weights, response: response, memory: &memory.blur, loops: loops)
        pass.blur(rows: rows)
    }
}

@safe
private struct StepPass {
    private let mask: BinaryMask
    private let target: OpacityMap
    private let weights: KernelWeights
    private let response: StepResponse
    private let loops: Loops
    /// A row with room for a response beyond either end. Outside mixed blocks it holds what was added there, which
    /// nobody reads.
    private let line: UnsafeMutablePointer<Float>
    /// Where the row changes: the first samples of each new value.
    private let steps: UnsafeMutablePointer<Int32>

    init(
        mask: BinaryMask, target: OpacityMap, weights: KernelWeights, response: StepResponse,
        memory: inout BlurMemory, loops: Loops
    ) {
        self.mask = mask
        self.target = target
        self.weights = weights
        self.response = response
        self.loops = loops
        unsafe line = memory.line.reserve(target.paddedWidth + 2 * response.length, filler: 0)
        unsafe steps = memory.steps.reserve(mask.width + 1, filler: 0)
    }

    func blur(rows: Range<Int>) {
        for y in rows {
            target.clear(row: y)
            let count = countSteps(row: y)
            // A step costs as much as its response is long, a weight as much as the row is.
            let isWeighed = count &* response.length >= target.paddedWidth &* (weights.radius &+ 1)
            if isWeighed {
                target.mixed(y).insert(0..<target.blocks)
            } else if count > 0 {
                findSteps(row: y)
            }
            markOpaque(row: y)
            if isWeighed {
                weigh(row: y)
            } else if count > 0 {
                addSteps(count, row: y)
            }
        }
    }

    private func countSteps(row y: Int) -> Int {
        var count = 0
        forEachChange(row: y) { _, changes in count &+= changes.nonzeroBitCount }
        return count
    }

    /// Calls `body` for each word of a row with a bit set for each sample that is not as the one before.
    @inline(__always)
    private func forEachChange(row y: Int, _ body: (_ word: Int, _ changes: UInt64) -> Void) {
        let row = unsafe mask.row(y)
        var before = unsafe row[0] & 1
        for word in 0..<mask.wordsPerRow {
            let bits = unsafe row[word]
            body(word, bits ^ (bits &<< 1 | before))
            before = bits &>> 63
        }
    }

    /// Notes where the row changes, and which blocks that makes mixed.
    private func findSteps(row y: Int) {
        let mixed = target.mixed(y)
        var count = 0
        forEachChange(row: y) { word, changes in
            var changes = changes
            while changes != 0 {
                let step = word &* 64 &+ changes.trailingZeroBitCount
                unsafe steps[count] = Int32(truncatingIfNeeded: step)
                count &+= 1
                let first = max(step &- response.radius, 0) / blockWidth
                let last = min((step &+ response.radius &- 1) / blockWidth, target.blocks &- 1)
                mixed.insert(first..<(last &+ 1))
                changes &= changes &- 1
            }
        }
    }

    /// The blocks that are not mixed are as their first sample is.
    private func markOpaque(row y: Int) {
        let row = unsafe mask.row(y)
        for word in 0..<target.words {
            var opaque: UInt64 = 0
            let first = word &* 16
            for source in first..<min(first &+ 16, mask.wordsPerRow) {
                // The bits 0, 16, 32 and 48, gathered.
                let bits = unsafe ((row[source] & 0x0001_0001_0001_0001) &* 0x0001_0002_0004_0008) &>> 48 & 15
                opaque |= bits &<< UInt64(truncatingIfNeeded: (source &- first) &* 4)
            }
            unsafe target.opaque(y).words[word] = opaque & target.valid(word) & ~target.mixed(y).words[word]
        }
    }

    private func addSteps(_ count: Int, row y: Int) {
        let middle = unsafe line + response.length
        target.mixed(y).forEachRun(upTo: target.blocks) { run in
            unsafe loops.expandBits(mask.row(y), run.lowerBound, run.count, middle + run.lowerBound &* blockWidth)
        }
        unsafe response.values.withUnsafeBufferPointer { values in
            guard let values = values.baseAddress else { return }
            let isFirstUp = unsafe mask.row(y)[0] & 1 == 0
            unsafe loops.addSteps(
                steps, count, isFirstUp, values, response.length, middle - response.radius)
        }
        target.mixed(y).forEachRun(upTo: target.blocks) { run in
            let start = run.lowerBound &* blockWidth
            unsafe loops.copyNotNegative(middle + start, run.count, target.row(y) + start)
        }
    }

    private func weigh(row y: Int) {
        let middle = unsafe line + weights.radius
        unsafe loops.expandBits(mask.row(y), 0, target.blocks, middle)
        unsafe line.update(repeating: middle[0], count: weights.radius)
        unsafe (middle + target.paddedWidth).update(
            repeating: middle[target.paddedWidth &- 1], count: weights.radius)
        target.mixed(y).forEachRun(upTo: target.blocks) { run in
            let start = run.lowerBound &* blockWidth
            unsafe loops.weigh(
                middle + start, blockWidth, run.count, 1, weights.first, weights.radius, target.row(y) + start,
                blockWidth)
        }
    }
}
