/// What a Gaussian blur is like, in samples or in cells.
struct Bell: Equatable {
    let sigma: Double
    /// How far it counts. A weight that this ends in the middle of counts in part.
    let reach: Double
}

extension Bell {
    /// The bell of `cv2.GaussianBlur` with a kernel of 2 · ceil(4σ) + 1 samples.
    ///
    /// - Precondition: `0 < sigma <= 100`.
    init(sigma: Double) { self.init(sigma: sigma, reach: Double(ceilIndex(4 * sigma, in: 1...400)) + 0.5) }
}

/// One half of a symmetric Gaussian, the middle first; the whole of it adds up to 1.
///
/// weight(d) ~ exp(−d² / 2σ²) as far as the bell reaches, normalised in double precision and kept as `Float`, as
/// `cv2.getGaussianKernel` does.
struct GaussianKernel {
    let bell: Bell
    let weights: [Float]

    /// Samples on either side of the middle.
    var radius: Int { weights.count - 1 }

    init(_ bell: Bell) {
        self.bell = bell
        let radius = ceilIndex(bell.reach - 0.5, in: 1...400)
        // Kernels narrower than any that has a neighbour in it are all alike.
        let spread = max(2 * bell.sigma * bell.sigma, 1e-6)
        let values = (0...radius).map { distance in
            let share = min(max(bell.reach + 0.5 - Double(distance), 0), 1)
            return share * exponential(-Double(distance * distance) / spread)
        }
        let sum = values[0] + 2 * values.dropFirst().reduce(0, +)
        weights = values.map { Float($0 / sum) }
    }
}

/// A Gaussian blur: first along the rows, then along the columns, edges replicated; then the gamma of what it made.
///
/// Single precision throughout: a gamma of 0.25 makes the far tails of the bell visible, which fewer bits would lose.
/// Where a block and all that the kernel reaches from it are clear, or all opaque, the result is known without
/// arithmetic, and exact.
struct GaussianBlur: ~Copyable {
    private var kernel = GaussianKernel(Bell(sigma: 1))
    private var response: (made: StepResponse, bell: Bell, cellSize: Int)?
    private var steps = MaskStepsStorage()
    private var between = OpacityStorage()
    private var reach = Reach()

    /// Halves a mask to cells and blurs it.
    ///
    /// - parameter map: of the grid's cells.
    /// - returns: false, with nothing done, where the mask changes so often that it takes longer than a map would.
    mutating func apply(
        to mask: BinaryMask, cellSize: Int, into map: OpacityMap, _ bell: Bell, gamma: GammaCurve, _ bands: MatteBands,
        _ loops: Loops
    ) -> Bool {
        prepare(bell)
        let response = response(bell, cellSize)
        let most = response.mostSteps(samples: mask.width * mask.height, cells: map.width * map.height)
        guard let steps = steps.find(in: mask, response, most: most) else { return false }
        let between = between.reserve(width: map.width, height: map.height)
        let work = StepWork(mask: mask, steps: steps, target: between, response: response, loops: loops)
        bands.share(work, rows: map.height, width: map.width)
        blurColumns(of: between, into: map, gamma: gamma, bands, loops)
        return true
    }

    /// Blurs a map in place.
    mutating func apply(to map: OpacityMap, _ bell: Bell, gamma: GammaCurve, _ bands: MatteBands, _ loops: Loops) {
        prepare(bell)
        let between = between.reserve(width: map.width, height: map.height)
        kernel.withWeights { weights in
            bands.share(
                RowWork(source: map, target: between, weights: weights, loops: loops), rows: map.height,
                width: map.width)
        }
        blurColumns(of: between, into: map, gamma: gamma, bands, loops)
    }

    private mutating func prepare(_ bell: Bell) {
        if kernel.bell != bell { kernel = GaussianKernel(bell) }
    }

    /// - Precondition: the kernel is that of the bell.
    private mutating func response(_ bell: Bell, _ cellSize: Int) -> StepResponse {
        if let response, response.bell == bell, response.cellSize == cellSize { return response.made }
        let made = StepResponse(kernel, cellSize: cellSize)
        response = (made, bell, cellSize)
        return made
    }

    private mutating func blurColumns(
        of source: OpacityMap, into map: OpacityMap, gamma: GammaCurve, _ bands: MatteBands, _ loops: Loops
    ) {
        reach.find(in: source, radius: kernel.radius, into: map)
        kernel.withWeights { weights in
            let work = ColumnWork(source: source, target: map, weights: weights, gamma: gamma, loops: loops)
            bands.share(work, rows: map.height, width: map.width)
        }
    }
}

extension GaussianKernel {
    fileprivate func withWeights(_ body: (KernelWeights) -> Void) {
        unsafe weights.withUnsafeBufferPointer { weights in
            guard let first = weights.baseAddress else { return }
            body(unsafe KernelWeights(first: first, radius: weights.count - 1))
        }
    }
}

/// One half of a kernel, the middle first, for the time of a call.
@safe
struct KernelWeights {
    let first: UnsafePointer<Float>
    /// Samples on either side of the middle.
    let radius: Int

    init(first: UnsafePointer<Float>, radius: Int) {
        unsafe self.first = first
        self.radius = radius
    }
}

/// Room for what one pass of the blur works on at a time, kept from frame to frame.
struct BlurMemory: ~Copyable {
    /// A row or a column of blocks, with what the kernel reaches beyond its ends.
    var line = Scratch<Float>()
    var bits = Scratch<UInt16>()
    var sets = Scratch<UInt64>()
    var starts = Scratch<Int32>()
}

/// The weights of a kernel add up to 1 but for rounding.
let almostOpaque: Float = 1 - 0x1p-20

/// A quarter of the smallest step that a byte of alpha can show: what is nearer than that to clear or opaque counts as
/// such.
let unseen: Float = 0.25 / 255

// MARK: - Along the rows

/// Blurs rows of opacities.
private struct RowWork: BandWork {
    let source: OpacityMap
    let target: OpacityMap
    let weights: KernelWeights
    let loops: Loops

    func work(_ rows: Range<Int>, _ memory: MatteMemory) {
        RowPass(source: source, target: target, weights: weights, memory: &memory.blur, loops: loops).blur(rows: rows)
    }
}

@safe
private struct RowPass {
    private let source: OpacityMap
    private let target: OpacityMap
    private let weights: KernelWeights
    private let loops: Loops
    private let line: UnsafeMutablePointer<Float>
    private let sorting: Sorting

    init(
        source: OpacityMap, target: OpacityMap, weights: KernelWeights, memory: inout BlurMemory, loops: Loops
    ) {
        self.source = source
        self.target = target
        self.weights = weights
        self.loops = loops
        unsafe line = memory.line.reserve(source.paddedWidth + 2 * weights.radius, filler: 0)
        sorting = Sorting(&memory.bits, blocks: source.blocks)
    }

    func blur(rows: Range<Int>) {
        for y in rows {
            findMixed(row: y)
            let mixed = target.mixed(y)
            mixed.forEachRun(upTo: target.blocks) { run in
                fillLine(about: run, row: y)
                let results = unsafe target.row(y) + run.lowerBound &* blockWidth
                unsafe loops.weigh(
                    line + weights.radius + run.lowerBound &* blockWidth, blockWidth, run.count, 1, weights.first,
                    weights.radius, results, blockWidth)
                // The kernel reaches less far than whole blocks do: many are plain after all.
                unsafe loops.sortSamples(
                    results, run.count, blockWidth, 0, almostOpaque, sorting.clear, sorting.opaque)
                for block in run {
                    let index = block &- run.lowerBound
                    _ = unsafe target.note(
                        clear: sorting.clear[index], opaque: sorting.opaque[index], block: block, row: y)
                }
            }
        }
    }

    /// Marks the blocks from which the kernel reaches anything mixed, or both kinds of plain blocks.
    private func findMixed(row y: Int) {
        let (blocks, reach) = (source.blocks, groups(of: blockWidth, in: weights.radius))
        let (mixed, opaque) = (target.mixed(y), target.opaque(y))
        for word in 0..<source.words {
            unsafe opaque.words[word] = source.opaque(y).words[word]
            unsafe mixed.words[word] = 0
        }
        source.mixed(y).forEachRun(upTo: blocks) { run in
            mixed.insert(max(run.lowerBound &- reach, 0)..<min(run.upperBound &+ reach, blocks))
        }
        source.opaque(y).forEachRun(upTo: blocks) { run in
            for edge in [run.lowerBound, run.upperBound] where edge > 0 && edge < blocks {
                mixed.insert(max(edge &- reach, 0)..<min(edge &+ reach, blocks))
            }
        }
        for word in 0..<source.words { unsafe opaque.words[word] &= ~mixed.words[word] }
    }

    /// A run of blocks of a row and what the kernel reaches from it; beyond its ends the row repeats its first and last
    /// samples.
    private func fillLine(about run: Range<Int>, row y: Int) {
        let (middle, end) = unsafe (line + weights.radius, line + weights.radius + source.paddedWidth)
        let reach = groups(of: blockWidth, in: weights.radius)
        let blocks = (run.lowerBound &- reach)..<(run.upperBound &+ reach)
        for block in blocks.clamped(to: 0..<source.blocks) {
            unsafe source.copyBlock(block, row: y, to: middle + block &* blockWidth)
        }
        if blocks.lowerBound <= 0 { unsafe line.update(repeating: middle[0], count: weights.radius) }
        if blocks.upperBound >= source.blocks { unsafe end.update(repeating: end[-1], count: weights.radius) }
    }
}

// MARK: - Along the columns

/// What a column of the kernel's length has in common, for every block.
struct Reach: ~Copyable {
    private var every = Scratch<UInt64>()
    private var some = Scratch<UInt64>()

    /// Says of each block of the target what is known of it: what all that the kernel reaches from it has in common.
    mutating func find(in source: OpacityMap, radius: Int, into target: OpacityMap) {
        let (words, height) = (source.words, source.height)
        let every = unsafe every.reserve(words * height, filler: 0)
        let some = unsafe some.reserve(words * height, filler: 0)
        for y in 0..<height {
            for word in 0..<words {
                let opaque = unsafe source.opaque(y).words[word]
                unsafe every[y &* words &+ word] = opaque
                unsafe some[y &* words &+ word] = opaque | source.mixed(y).words[word]
            }
        }
        // Spans of one row, of two, of four…, each starting with its row; two of them that overlap make any length.
        var span = 1
        while span &* 2 <= min(2 &* radius &+ 1, height) {
            let step = span &* words
            for index in 0..<(words &* height &- step) {
                unsafe every[index] &= every[index &+ step]
                unsafe some[index] |= some[index &+ step]
            }
            span &*= 2
        }
        for y in 0..<height {
            let first = max(y &- radius, 0)
            let second = max(first, min(y &+ radius, height &- 1) &- span &+ 1)
            for word in 0..<words {
                let isOpaque = unsafe every[first &* words &+ word] & every[second &* words &+ word]
                let isTouched = unsafe some[first &* words &+ word] | some[second &* words &+ word]
                unsafe target.opaque(y).words[word] = isOpaque
                unsafe target.mixed(y).words[word] = isTouched & ~isOpaque
            }
        }
    }
}

/// Blurs columns of blocks, and applies the gamma.
private struct ColumnWork: BandWork {
    let source: OpacityMap
    let target: OpacityMap
    let weights: KernelWeights
    let gamma: GammaCurve
    let loops: Loops

    func work(_ rows: Range<Int>, _ memory: MatteMemory) {
        let pass = ColumnPass(
            source: source, target: target, weights: weights, gamma: gamma, memory: &memory.blur, loops: loops)
        // Not too many rows at a time: those of one column of blocks should still be in the cache for the next. Not too few
        // either, as each time what the kernel reaches beyond them is gathered too.
        let step = max(64, 4 &* weights.radius)
        for start in stride(from: rows.lowerBound, to: rows.upperBound, by: step) {
            pass.blur(rows: start..<min(start &+ step, rows.upperBound))
        }
    }
}

@safe
private struct ColumnPass {
    private let source: OpacityMap
    private let target: OpacityMap
    private let weights: KernelWeights
    private let gamma: GammaCurve
    private let loops: Loops
    private let line: UnsafeMutablePointer<Float>
    private let sorting: Sorting
    /// The mixed blocks of the row above, as they were when that was reached.
    private let above: BitRow
    /// For each block that was mixed in the row above, the first row since when it has been.
    private let starts: UnsafeMutablePointer<Int32>

    init(
        source: OpacityMap, target: OpacityMap, weights: KernelWeights, gamma: GammaCurve, memory: inout BlurMemory,
        loops: Loops
    ) {
        self.source = source
        self.target = target
        self.weights = weights
        self.gamma = gamma
        self.loops = loops
        unsafe line = memory.line.reserve((source.height + 2 * weights.radius) * blockWidth, filler: 0)
        sorting = Sorting(&memory.bits, blocks: source.height)
        above = unsafe BitRow(memory.sets.reserve(source.words, filler: 0))
        unsafe starts = memory.starts.reserve(source.blocks, filler: 0)
    }

    /// Fills the mixed blocks of some rows of the target, by runs along the columns.
    func blur(rows: Range<Int>) {
        unsafe above.words.update(repeating: 0, count: target.words)
        for y in rows {
            target.spreadToSamples(row: y)
            for word in 0..<target.words {
                let mixed = unsafe target.mixed(y).words[word]
                finishRuns(unsafe above.words[word] & ~mixed, word, before: y)
                var begun = unsafe mixed & ~above.words[word]
                while begun != 0 {
                    unsafe starts[word &* 64 &+ begun.trailingZeroBitCount] = Int32(truncatingIfNeeded: y)
                    begun &= begun &- 1
                }
                unsafe above.words[word] = mixed
            }
        }
        for word in 0..<target.words { finishRuns(unsafe above.words[word], word, before: rows.upperBound) }
    }

    @inline(__always)
    private func finishRuns(_ ended: UInt64, _ word: Int, before end: Int) {
        var ended = ended
        while ended != 0 {
            let block = word &* 64 &+ ended.trailingZeroBitCount
            blur(block, unsafe Int(starts[block])..<end)
            ended &= ended &- 1
        }
    }

    private func blur(_ block: Int, _ rows: Range<Int>) {
        let radius = weights.radius
        let reached = (rows.lowerBound &- radius)..<(rows.upperBound &+ radius)
        if holdsAll(of: block, in: reached) {
            let first = unsafe source.row(rows.lowerBound) + block &* blockWidth
            let stride = source.paddedWidth
            unsafe loops.weigh(first, stride, rows.count, stride, weights.first, radius, line, blockWidth)
        } else {
            for row in reached {
                let place = unsafe line + (row &- reached.lowerBound) &* blockWidth
                unsafe source.copyBlock(block, row: min(max(row, 0), source.height &- 1), to: place)
            }
            // The sums of a block may go where its first summand was: none of the blocks behind it reaches that far back.
            let first = unsafe line + radius &* blockWidth
            unsafe loops.weigh(first, blockWidth, rows.count, blockWidth, weights.first, radius, line, blockWidth)
        }
        unsafe gamma.apply(to: line, blocks: rows.count, stride: blockWidth, loops)
        unsafe loops.sortSamples(
            line, rows.count, blockWidth, unseen, 1 - unseen, sorting.clear, sorting.opaque)
        for y in rows {
            let index = y &- rows.lowerBound
            let (clear, opaque) = unsafe (sorting.clear[index], sorting.opaque[index])
            target.noteSamples(clear: clear, opaque: opaque, block: block, row: y)
            if target.note(clear: clear, opaque: opaque, block: block, row: y) {
                unsafe storeLanes(loadLanes(line + index &* blockWidth), to: target.row(y) + block &* blockWidth)
            }
        }
    }

    /// Whether the source holds the opacities of a block in all of these rows.
    private func holdsAll(of block: Int, in rows: Range<Int>) -> Bool {
        guard rows.lowerBound >= 0, rows.upperBound <= source.height else { return false }
        for row in rows where !source.mixed(row).contains(block) { return false }
        return true
    }
}
