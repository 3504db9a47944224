import CVectors

/// What is left of a mask's row blurred, where it changes from 0 to 1, when the step itself is taken off: on a grid of cells
/// (`MatteGrid`), after the halvings and a kernel.
///
///     response(c) = Σ weight(d) · halved(c + d) − (c < sharp ? 0 : 1)
///
/// A row of a mask blurred is the row itself plus one such response for each of its steps: the fewer there are, the less
/// there is to do, whatever sigma is. What lies far before a step is a small number added to 0, not a difference of
/// large ones, so that the far tails keep their digits.
struct StepResponse {
    private let cellSize: Int
    /// Cells are 2^`shift` samples wide.
    private let shift: Int
    /// Cells that the kernel reaches on either side.
    private let radius: Int
    /// Cells that a step changes.
    private let length: Int
    /// A block of 0 and one of 1, then the responses to a step at every place within a cell and a block, of `blocks` blocks
    /// each.
    fileprivate let values: [Float]
    fileprivate let blocks: Int
    /// For each place within a cell, how many of the cells that are changed are before the step.
    private let sharp: [Int]
    /// What the rows of a mask count that a row of cells is made of.
    fileprivate let rowWeights: [Float]

    /// Blocks before the first of a row that a response may begin in…
    fileprivate let margin: Int
    /// …and how far its first cell is behind the first of them, for a step at the row's first cell.
    private let reach: Int

    /// - Precondition: `cellSize` is a power of two.
    init(_ kernel: GaussianKernel, cellSize: Int) {
        self.cellSize = cellSize
        shift = cellSize.trailingZeroBitCount
        radius = kernel.radius
        margin = groups(of: blockWidth, in: radius)
        reach = margin * blockWidth - radius
        length = 2 * radius + (4 * cellSize - 4) / cellSize
        blocks = groups(of: blockWidth, in: length + blockWidth - 1)
        // One word of bits tells the blocks of a step (`addSteps`). The widest bell reaches 400 samples, which is 51 blocks.
        precondition(blocks < 64, "a response of too many blocks")
        let halving = StepResponse.halving(cellSize)
        rowWeights = halving.map { Float($0) }
        let bell = (-kernel.radius...kernel.radius).map { Double(kernel.weights[abs($0)]) }
        // The whole bell is 1, however its weights were rounded: a half of it and more is told by what is missing.
        var tails = [0.0]
        for weight in bell { tails.append(tails[tails.count - 1] + weight) }
        /// What the bell's first cells add up to, and what its others do.
        func share(_ cells: Int) -> (begun: Double, rest: Double) {
            let begun = min(max(cells, 0), bell.count)
            return (tails[begun], tails[bell.count - begun])
        }
        var values = [Float](repeating: 0, count: blockWidth) + [Float](repeating: 1, count: blockWidth)
        var sharp: [Int] = []
        for phase in 0..<cellSize {
            // The first cell is `radius` cells before the one that begins `phase` samples behind the step.
            let shares = (0..<length).map { cell in
                halving.indices.reduce(into: (begun: 0.0, rest: 0.0)) { sum, index in
                    let sample = cell * cellSize + phase + index - 3 * (cellSize - 1)
                    let share = share(sample < 0 ? 0 : sample / cellSize + 1)
                    sum.begun += halving[index] * share.begun
                    sum.rest += halving[index] * share.rest
                }
            }
            let before = shares.firstIndex { $0.begun >= $0.rest } ?? length
            sharp.append(before)
            let response = shares.indices.map { Float($0 < before ? shares[$0].begun : -shares[$0].rest) }
            for start in 0..<blockWidth {
                values += [Float](repeating: 0, count: start) + response
                values += [Float](repeating: 0, count: blocks * blockWidth - start - length)
            }
        }
        (self.values, self.sharp) = (values, sharp)
    }

    /// The first sample that a cell is made of, on the map or before it.
    fileprivate func firstSample(of cell: Int) -> Int { cellSize &* cell &- 3 &* (cellSize &- 1) }

    /// What a mask adds that changes at a sample.
    fileprivate func step(at sample: Int) -> MaskStep {
        let cell = (sample &+ cellSize &- 1) &>> shift
        let phase = cell &<< shift &- sample
        let first = reach &+ cell
        let response = 2 &+ (phase &* blockWidth &+ first & (blockWidth &- 1)) &* blocks
        return MaskStep(
            response: Int32(truncatingIfNeeded: response &* blockWidth), first: Int32(truncatingIfNeeded: first),
            last: Int32(truncatingIfNeeded: first &+ length &- 1),
            edge: Int32(truncatingIfNeeded: first &+ sharp[phase]))
    }

    /// What the samples count that a cell is made of; the weights of each halving are those of `Coarse`.
    private static func halving(_ cellSize: Int) -> [Double] {
        var (weights, size) = ([1.0], 1)
        while size < cellSize {
            var wider = [Double](repeating: 0, count: weights.count + 3 * size)
            for (index, weight) in weights.enumerated() {
                for (tap, share) in [0.125, 0.375, 0.375, 0.125].enumerated() {
                    wider[index + tap * size] += weight * share
                }
            }
            (weights, size) = (wider, 2 * size)
        }
        return weights
    }

    /// The steps in all rows of a mask with which it takes as long as one whose cells are all made and weighed.
    ///
    /// By counts of instructions (x86-64-v3; it makes no difference to speak of to what comes out): a step takes 70 and 18
    /// for each block, in every row of cells that it adds to. All else takes 1 for each sample, as much again where it is
    /// halved more than once, and 1 for five of the kernel's weights in each cell.
    func mostSteps(samples: Int, cells: Int) -> Int {
        let most = samples * (cellSize > 2 ? 2 : 1) + cells * (radius + 1) / 5
        return most * cellSize / (rowWeights.count * (70 + 18 * blocks))
    }
}

/// Where the rows of a mask change.
@safe
struct MaskSteps {
    private let starts: UnsafePointer<Int>
    private let steps: UnsafePointer<MaskStep>

    fileprivate init(starts: UnsafePointer<Int>, steps: UnsafePointer<MaskStep>) {
        unsafe self.starts = starts
        unsafe self.steps = steps
    }

    /// - Precondition: `0 <= y <` the mask's height.
    fileprivate func row(_ y: Int) -> (first: UnsafePointer<MaskStep>, count: Int) {
        unsafe (steps + starts[y], starts[y &+ 1] &- starts[y])
    }
}

/// The memory of a mask's steps, kept from frame to frame.
struct MaskStepsStorage: ~Copyable {
    private var starts = Scratch<Int>()
    private var steps = Scratch<MaskStep>()

    /// - parameter most: how many are worth while, spread evenly: rows may have an eighth of that more than is their share
    ///   so far.
    /// - returns: nil where there are more.
    mutating func find(in mask: BinaryMask, _ response: StepResponse, most: Int) -> MaskSteps? {
        let starts = unsafe starts.reserve(mask.height + 1, filler: 0)
        let slack = most / 8
        // The steps of a row may be too many before that is noticed.
        let steps = unsafe steps.reserve(most + slack + mask.width, filler: MaskStep())
        var count = 0
        for y in 0..<mask.height {
            unsafe starts[y] = count
            let row = unsafe mask.row(y)
            var before = unsafe row[0] & 1
            for word in 0..<mask.wordsPerRow {
                let bits = unsafe row[word]
                var changes = bits ^ (bits &<< 1 | before)
                before = bits &>> 63
                while changes != 0 {
                    unsafe steps[count] = response.step(at: word &* 64 &+ changes.trailingZeroBitCount)
                    count &+= 1
                    changes &= changes &- 1
                }
            }
            if count > slack &+ most &* (y &+ 1) / mask.height { return nil }
        }
        unsafe starts[mask.height] = count
        return unsafe MaskSteps(starts: starts, steps: steps)
    }
}

/// Halves and blurs the rows of a mask, and halves its columns.
struct StepWork: BandWork {
    let mask: BinaryMask
    let steps: MaskSteps
    let target: OpacityMap
    let response: StepResponse
    let loops: Loops

    func work(_ rows: Range<Int>, _ memory: MatteMemory) {
        unsafe response.values.withUnsafeBufferPointer { values in
            guard let values = values.baseAddress else { return }
            let pass = unsafe StepPass(
                mask: mask, steps: steps, target: target, response: response, values: values, memory: &memory.blur,
                loops: loops)
            for row in rows { pass.blur(row) }
        }
    }
}

@safe
private struct StepPass {
    private let mask: BinaryMask
    private let steps: MaskSteps
    private let target: OpacityMap
    private let response: StepResponse
    private let values: UnsafePointer<Float>
    private let sums: StepSums
    /// Of the sums.
    private let blocks: Int
    private let loops: Loops

    /// - parameter values: those of the response.
    init(
        mask: BinaryMask, steps: MaskSteps, target: OpacityMap, response: StepResponse, values: UnsafePointer<Float>,
        memory: inout BlurMemory, loops: Loops
    ) {
        self.mask = mask
        self.steps = steps
        self.target = target
        self.response = response
        unsafe self.values = values
        self.loops = loops
        // A response may begin before the first block and end behind the last; and behind that one rises.
        blocks = response.margin + target.blocks + response.blocks + 1
        let words = groups(of: 64, in: blocks) + 1
        let sums = unsafe memory.line.reserve(2 * blocks * blockWidth + blocks, filler: 0)
        let sets = unsafe memory.sets.reserve(2 * words, filler: 0)
        unsafe sums.update(repeating: 0, count: 2 * blocks * blockWidth + blocks)
        unsafe sets.update(repeating: 0, count: 2 * words)
        unsafe self.sums = StepSums(
            responses: sums, edges: sums + blocks * blockWidth, rises: sums + 2 * blocks * blockWidth, touched: sets,
            risen: sets + words)
    }

    func blur(_ row: Int) {
        let first = response.firstSample(of: row)
        var level: Float = 0
        for (index, weight) in response.rowWeights.enumerated() {
            let y = min(max(first &+ index, 0), mask.height &- 1)
            let isSet = unsafe mask.row(y)[0] & 1 == 1
            let (steps, count) = unsafe steps.row(y)
            if isSet { level += weight }
            if count > 0 {
                unsafe loops.addSteps(steps, count, isSet ? -weight : weight, values, response.blocks, sums)
            }
        }
        finish(row, from: level)
    }

    /// Turns the sums into a row of the target, and makes them 0 again.
    ///
    /// - parameter level: what the row begins with.
    private func finish(_ row: Int, from level: Float) {
        target.clear(row: row)
        var (level, end) = (level, 0)
        for word in 0..<groups(of: 64, in: blocks) {
            let touched = unsafe sums.touched[word]
            var events = unsafe touched | sums.risen[word]
            unsafe (sums.touched[word], sums.risen[word]) = (0, 0)
            while events != 0 {
                let bit = events.trailingZeroBitCount
                let place = word &* 64 &+ bit
                fill(end..<place, row, level)
                unsafe level += sums.rises[place]
                unsafe sums.rises[place] = 0
                let isTouched = touched &>> UInt64(truncatingIfNeeded: bit) & 1 == 1
                if isTouched { finish(block: place, row, level) }
                end = isTouched ? place &+ 1 : place
                events &= events &- 1
            }
        }
        fill(end..<blocks, row, level)
    }

    /// Some blocks that are the same throughout.
    private func fill(_ places: Range<Int>, _ row: Int, _ level: Float) {
        if level == 0 { return }
        let before = response.margin
        let places = places.clamped(to: before..<(before &+ target.blocks))
        let blocks = (places.lowerBound &- before)..<(places.upperBound &- before)
        if level == 1 { return target.opaque(row).insert(blocks) }
        target.mixed(row).insert(blocks)
        for block in blocks { unsafe storeLanes(Lanes(repeating: level), to: target.row(row) + block &* blockWidth) }
    }

    private func finish(block place: Int, _ row: Int, _ level: Float) {
        let (edges, responses) = unsafe (sums.edges + place &* blockWidth, sums.responses + place &* blockWidth)
        let block = place &- response.margin
        if 0 <= block && block < target.blocks {
            target.mixed(row).insert(block)
            let result = unsafe target.row(row) + block &* blockWidth
            unsafe storeLanes(loadLanes(edges) + level + loadLanes(responses), to: result)
            // What rounding has left below 0.
            for lane in 0..<blockWidth { unsafe result[lane] = result[lane] > 0 ? result[lane] : 0 }
        }
        unsafe storeLanes(Lanes(repeating: 0), to: edges)
        unsafe storeLanes(Lanes(repeating: 0), to: responses)
    }
}
