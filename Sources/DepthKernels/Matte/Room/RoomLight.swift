import CDepthKernels

/// The stages that say how the light of the remembered room has changed, and where the memory can be trusted, on cells of 4x4 samples.
///
/// - gain of each channel: the median of I / B over cells of sure room. Then one local gain of all channels, ΣI·B / ΣB·B over sure room
///   near by: shadows and lamps. Cells whose own gain is beyond 0.5…1.5 do not count.
/// - noise: the mean of (I − gain · B)² near by, less what a picture that trembles by half a sample makes at edges of B.
/// - trust: the share of cells near by that are as remembered: their mean color differs from B by less than 3 σ of the whole
///   picture's cells, so that a change does not excuse itself.
///
/// *Near by* is the mean over boxes with a radius of 12 samples, plus 0.05 times that of 36 samples and 0.002 times that of 108: the
/// wide ones count where there is no sure room in the narrow one.
///
/// Source: the project's own method.
@safe
struct RoomLight: ~Copyable {
    /// Samples along a side of a cell; and the samples of a cell that are looked at, those of every second row.
    static let side = 4
    private static let samples: Float = 8
    /// Samples: the radius of the narrowest box. Then of all boxes how many times as wide they are, and their weights.
    private static let radius = 12.0
    private static let boxes: InlineArray<3, (times: Int, weight: Float)> = [(1, 1), (3, 0.05), (9, 0.002)]
    /// Variances: of a channel at least, of a cell's mean at least and at most.
    private static let (floor, cellFloor, cellMost): (Float, Float, Float) = (
        squared(2.5 / 255), squared(1.5 / 255), 6 / squared(255)
    )
    /// A squared difference counts up to this: a thing that is new is no noise.
    private static let mostNoise = squared(20 / 255)
    /// Samples that the picture may tremble.
    private static let jitter: Float = 0.5
    /// Standard deviations within which a cell is as remembered.
    private static let sigmas: Float = 3
    /// The share of the sure room that must be as remembered, near by and of all.
    static let (agree, suspend): (Float, Float) = (0.7, 0.6)
    /// The share of a cell's samples that is enough, and of all cells.
    private static let (fullCell, enoughCells): (Float, Float) = (0.4, 0.002)
    /// The coded values between which a gain is measured.
    private static let (dark, bright): (Float, Float) = (10 / 255, 245 / 255)
    /// Added to the sums of boxes, so that those without sure room come to gain 1, no noise, the trust of the whole picture.
    private static let (littleLight, little): (Float, Float) = (6 / squared(255), 0.002)
    /// The local gain.
    private static let (least, most): (Float, Float) = (0.5, 1.5)
    private static let bins = 2048
    /// Numbers of a cell's sums (`DepthLoops/Room.swift`).
    private static let sumCount = 16
    /// Lines of scratch memory for them.
    private static let lines = 17

    private static func squared(_ value: Float) -> Float { value * value }

    private var sums = Scratch<Float>()
    private var fields = Scratch<SIMD4<Float>>()
    private var doubts = Scratch<UInt8>()
    private var histogram = Scratch<Int32>()
    private var columns = 0
    private var rows = 0
    private(set) var gain = SIMD3<Float>(repeating: 1)
    /// The share of the cells of sure room that are as remembered.
    private(set) var share: Float = 1
    /// False where there is too little sure room to tell.
    private(set) var isCompared = false
    /// Of every cell with a border of one: local gain, variance of a channel, trust, and 1 where it is as remembered.
    private var result: UnsafeMutablePointer<SIMD4<Float>>?
    private var doubtful: UnsafeMutablePointer<UInt8>?

    init() { unsafe (result, doubtful) = (nil, nil) }

    /// True where the memory as a whole is as the room is.
    var holds: Bool { isCompared && share >= RoomLight.suspend }

    mutating func reset() {
        (columns, rows, isCompared, share, gain) = (0, 0, false, 1, SIMD3(repeating: 1))
    }

    /// The numbers of the cells, between which samples interpolate.
    @safe
    struct Map {
        let gain: SIMD3<Float>
        let cells: UnsafePointer<SIMD4<Float>>
        /// Cells from one row to the next.
        let stride: Int
    }

    /// Nil before the first comparison.
    var map: Map? {
        guard let result = unsafe result else { return nil }
        return unsafe Map(gain: gain, cells: UnsafePointer(result), stride: columns &+ 2)
    }

    /// The cell of a sample: frames in which it was not trusted, and whether it is as remembered.
    func cell(_ x: Int, _ y: Int) -> (doubt: Int, isGood: Bool) {
        let (column, row) = (x / RoomLight.side, y / RoomLight.side)
        guard let result = unsafe result, let doubtful = unsafe doubtful else { return (0, true) }
        return unsafe (
            Int(doubtful[row &* columns &+ column]), result[(row &+ 1) &* (columns &+ 2) &+ column &+ 1].w > 0
        )
    }

    /// - Parameter sure: known samples of sure room.
    mutating func compare(
        _ now: UnsafePointer<Float>, _ room: RoomMemory.Planes, _ sure: SampleSet, _ context: FusionContext
    ) {
        let (grid, side) = (context.grid, RoomLight.side)
        // Two cells at a time.
        let (columns, rows) = (2 * groups(of: 2 * side, in: grid.width), groups(of: side, in: grid.height))
        let isNew = columns != self.columns || rows != self.rows
        (self.columns, self.rows) = (columns, rows)
        let count = columns * rows
        let sums = unsafe sums.reserve(count * RoomLight.sumCount, filler: 0)
        let work = unsafe Rows(
            now: now, room: room, members: sure, grid: grid, stride: columns * RoomLight.sumCount, sums: sums,
            loops: context.loops)
        context.bands.share(work, rows: grid.height, width: grid.width, rowAlignment: side)
        let reach = boxes(on: grid)
        // Two fields, a box's sums along the rows, and the result.
        let border = (columns + 2) * (rows + 2)
        let memory = unsafe fields.reserve(count * 3 + border + 2 * columns + 1, filler: SIMD4())
        let (source, boxed, lines) = unsafe (memory, memory + count, memory + 2 * count)
        unsafe result = memory + 3 * count
        let spare = unsafe memory + 3 * count + border
        let doubtful = unsafe doubts.reserve(count, filler: 0)
        unsafe self.doubtful = doubtful
        if isNew { unsafe doubtful.update(repeating: 0, count: count) }

        unsafe measureGain(sums)
        for index in 0..<count {
            let cell = unsafe Cell(sums + index &* RoomLight.sumCount)
            let (both, squares) = ((gain * cell.both).sum(), (gain * gain * cell.squares).sum())
            // Beyond the limits it is no light that changed, but another thing: hair that the sensor sees through.
            let isRoom = both > RoomLight.least * squares && both < RoomLight.most * squares
            unsafe source[index] = isRoom ? SIMD4(both, squares, 0, 0) * (1 / RoomLight.samples) : SIMD4()
        }
        unsafe average(source, reach, lines, spare, into: boxed)
        for index in 0..<count {
            let local = unsafe (boxed[index].x + RoomLight.littleLight) / (boxed[index].y + RoomLight.littleLight)
            unsafe boxed[index].x = min(max(local, RoomLight.least), RoomLight.most)
        }
        unsafe rate(sums, boxed, into: source)
        // The next average overwrites the gains.
        for row in 0..<rows {
            for column in 0..<columns {
                let index = row &* columns &+ column
                let isWrong = unsafe source[index].w > source[index].z
                unsafe put(SIMD4(boxed[index].x, 0, 0, isWrong ? 0 : 1), column, row)
            }
        }
        unsafe average(source, reach, lines, spare, into: boxed)
        unsafe finish(boxed, doubtful)
    }

    /// The sums of a cell.
    @safe
    private struct Cell {
        let sums: UnsafePointer<Float>

        init(_ sums: UnsafePointer<Float>) { unsafe self.sums = sums }

        private func three(_ index: Int) -> SIMD3<Float> {
            unsafe SIMD3(sums[index], sums[index &+ 1], sums[index &+ 2])
        }
        var count: Float { unsafe sums[0] }
        var now: SIMD3<Float> { three(1) }
        var past: SIMD3<Float> { three(4) }
        var both: SIMD3<Float> { three(7) }
        var squares: SIMD3<Float> { three(10) }
        var nowSquares: Float { unsafe sums[13] }
        var slopes: Float { unsafe sums[14] }
        var isFull: Bool { count > RoomLight.fullCell * RoomLight.samples }
    }

    /// Measures the gain of each channel, on every third cell.
    private mutating func measureGain(_ sums: UnsafePointer<Float>) {
        gain = SIMD3(repeating: 1)
        var found = gain
        for channel in 0..<3 {
            let (median, count) = unsafe median(sums, most: 4, from: channel, step: 3) { cell, _ in
                let (now, past) = (cell.now / cell.count, cell.past / cell.count)
                let isUsable = past.min() > RoomLight.dark && max(now.max(), past.max()) < RoomLight.bright
                return isUsable ? now[channel] / past[channel] : nil
            }
            isCompared = 3 * Float(count) > RoomLight.enoughCells * Float(columns &* rows)
            guard isCompared else { return }
            found[channel] = max(median, 0.05)
        }
        gain = found
    }

    /// The median of a number of whole cells between 0 and a limit, and how many have it.
    private mutating func median(
        _ sums: UnsafePointer<Float>, most: Float, from first: Int, step: Int, _ number: (Cell, Int) -> Float?
    ) -> (value: Float, count: Int) {
        let bins = unsafe histogram.reserve(RoomLight.bins, filler: 0)
        unsafe bins.update(repeating: 0, count: RoomLight.bins)
        let scale = Float(RoomLight.bins) / most
        var total = 0
        for index in stride(from: first, to: columns &* rows, by: step) {
            let cell = unsafe Cell(sums + index &* RoomLight.sumCount)
            guard cell.isFull, let number = number(cell, index) else { continue }
            unsafe bins[floorIndex(Double(number * scale), in: 0...(RoomLight.bins - 1))] &+= 1
            total &+= 1
        }
        var (bin, below) = (0, 0)
        while bin < RoomLight.bins - 1, unsafe 2 &* (below &+ Int(bins[bin])) < total {
            unsafe below &+= Int(bins[bin])
            bin &+= 1
        }
        let inside = unsafe (Float(total) / 2 - Float(below)) / Float(max(bins[bin], 1))
        return ((Float(bin) + inside) / scale, total)
    }

    /// Rates the cells by the mean differences of their colors.
    ///
    /// - Parameters:
    ///   - light: the local gain of each cell in x.
    ///   - target: noise, sure samples, sure and as remembered, sure; the last is of whole cells.
    private mutating func rate(
        _ sums: UnsafePointer<Float>, _ light: UnsafePointer<SIMD4<Float>>,
        into target: UnsafeMutablePointer<SIMD4<Float>>
    ) {
        let gain = gain
        func difference(_ cell: Cell, _ local: Float) -> Float {
            let d = (cell.now - cell.past * gain * local) / max(cell.count, 1)
            return (d * d).sum() / 3
        }
        let (usual, full) = unsafe median(sums, most: 2 * RoomLight.cellMost, from: 0, step: 1) {
            unsafe difference($0, light[$1].x)
        }
        let limit = max(RoomLight.cellFloor, min(1.5 * usual, RoomLight.cellMost))
        var good = 0
        for row in 0..<rows {
            for column in 0..<columns {
                let index = row &* columns &+ column
                let cell = unsafe Cell(sums + index &* RoomLight.sumCount)
                guard cell.count > 0 else {
                    unsafe target[index] = SIMD4()
                    continue
                }
                let local = unsafe light[index].x
                let gains = gain * local
                let mean = RoomLight.meanSquare(gains) / 3
                let trembling = RoomLight.jitter * RoomLight.jitter * mean * cell.slopes
                let squares = cell.nowSquares - 2 * (gains * cell.both).sum() + (gains * gains * cell.squares).sum()
                let noise = min(max((squares / 3 - trembling) / cell.count, 0), RoomLight.mostNoise)
                var isGood = false
                if cell.isFull {
                    func past(_ other: Int) -> SIMD3<Float> {
                        let neighbor = unsafe Cell(sums + other &* RoomLight.sumCount)
                        return neighbor.isFull ? neighbor.past / neighbor.count : cell.past / cell.count
                    }
                    let across =
                        past(column < columns &- 1 ? index &+ 1 : index) - past(column > 0 ? index &- 1 : index)
                    let down =
                        past(row < rows &- 1 ? index &+ columns : index) - past(row > 0 ? index &- columns : index)
                    let slope = (gains * gains * (across * across + down * down)).sum() / 12
                    let tremble = RoomLight.jitter / Float(RoomLight.side)
                    isGood =
                        difference(cell, local) < RoomLight.sigmas * RoomLight.sigmas
                        * (limit + tremble * tremble * slope)
                    if isGood { good &+= 1 }
                }
                let isFull: Float = cell.isFull ? 1 : 0
                unsafe target[index] = SIMD4(
                    noise * cell.count / RoomLight.samples, cell.count / RoomLight.samples, isGood ? isFull : 0, isFull)
            }
        }
        share = isCompared ? Float(good) / Float(max(full, 1)) : 0
    }

    private static func meanSquare(_ numbers: SIMD3<Float>) -> Float { (numbers * numbers).sum() / 3 }

    private func put(_ numbers: SIMD4<Float>, _ column: Int, _ row: Int) {
        guard let result = unsafe result else { return }
        unsafe result[(row &+ 1) &* (columns &+ 2) &+ column &+ 1] = numbers
    }

    /// Writes what the samples need, with a border, and counts the frames of doubt.
    private func finish(_ boxed: UnsafePointer<SIMD4<Float>>, _ doubtful: UnsafeMutablePointer<UInt8>) {
        guard let result = unsafe result else { return }
        let stride = columns &+ 2
        for row in 0..<rows {
            for column in 0..<columns {
                let index = row &* columns &+ column
                let sums = unsafe boxed[index]
                let noise = (sums.x + RoomLight.little * RoomLight.floor) / (sums.y + RoomLight.little)
                let trust = (sums.z + 1e-4 * share) / (sums.w + 1e-4)
                let place = (row &+ 1) &* stride &+ column &+ 1
                unsafe result[place].y = max(noise, RoomLight.floor)
                unsafe result[place].z = trust
                // Without sure room nothing says that it has changed.
                if isCompared {
                    unsafe doubtful[index] = trust < RoomLight.agree ? min(doubtful[index], 249) &+ 1 : 0
                }
            }
            let line = unsafe result + (row &+ 1) &* stride
            unsafe (line[0], line[stride &- 1]) = (line[1], line[stride &- 2])
        }
        unsafe result.update(from: result + stride, count: stride)
        unsafe (result + (rows &+ 1) &* stride).update(from: result + rows &* stride, count: stride)
    }

    // MARK: Boxes

    private typealias Reach = InlineArray<3, (radius: Int, weight: Float)>

    /// Cells, and weights for a sum over the box.
    private func boxes(on grid: WorkGrid) -> Reach {
        let cells = grid.samples(RoomLight.radius) / Double(RoomLight.side)
        let first = max(nearestIndex(cells, in: 1...max(columns, rows, 1)), 1)
        return Reach { index in
            let (times, weight) = RoomLight.boxes[index]
            let width = Float(2 * times * first + 1)
            return (times * first, weight / (width * width))
        }
    }

    /// Averages a field over boxes. Beyond the border everything is 0: only ratios of two averages count.
    ///
    /// - Parameters:
    ///   - lines: memory for a field, for the sums along the rows.
    ///   - spare: memory for two rows and one.
    private func average(
        _ source: UnsafePointer<SIMD4<Float>>, _ reach: Reach, _ lines: UnsafeMutablePointer<SIMD4<Float>>,
        _ spare: UnsafeMutablePointer<SIMD4<Float>>, into target: UnsafeMutablePointer<SIMD4<Float>>
    ) {
        let (columns, rows) = (columns, rows)
        let sums = unsafe spare + (columns &+ 1)
        for box in 0..<3 {
            let (radius, weight) = reach[box]
            for row in 0..<rows {
                let (line, target) = unsafe (source + row &* columns, lines + row &* columns)
                unsafe spare[0] = SIMD4()
                for x in 0..<columns { unsafe spare[x &+ 1] = spare[x] as SIMD4<Float> + line[x] }
                for x in 0..<columns {
                    unsafe target[x] = spare[min(x &+ radius &+ 1, columns)] - spare[max(x &- radius, 0)]
                }
            }
            unsafe sums.update(repeating: SIMD4(), count: columns)
            for y in 0..<min(radius, rows) {
                for x in 0..<columns { unsafe sums[x] += lines[y &* columns &+ x] }
            }
            for y in 0..<rows {
                if y &+ radius < rows {
                    let line = unsafe lines + (y &+ radius) &* columns
                    for x in 0..<columns { unsafe sums[x] += line[x] }
                }
                let line = unsafe target + y &* columns
                if box == 0 {
                    for x in 0..<columns { unsafe line[x] = sums[x] * weight }
                } else {
                    for x in 0..<columns { unsafe line[x] += sums[x] * weight }
                }
                if y &- radius >= 0 {
                    let line = unsafe lines + (y &- radius) &* columns
                    for x in 0..<columns { unsafe sums[x] -= line[x] }
                }
            }
        }
    }

    /// Sums up rows of cells.
    @safe
    private struct Rows: BandWork {
        let now: UnsafePointer<Float>
        let room: RoomMemory.Planes
        let members: SampleSet
        let grid: WorkGrid
        /// Numbers from one row of cells to the next.
        let stride: Int
        let sums: UnsafeMutablePointer<Float>
        let loops: Loops

        func work(_ rows: Range<Int>, _ memory: MatteMemory) {
            let lines = unsafe memory.line.reserve(RoomLight.lines * (grid.width + 2 * RoomLight.side), filler: 0)
            for top in Swift.stride(from: rows.lowerBound, to: rows.upperBound, by: RoomLight.side) {
                let count = min(RoomLight.side, rows.upperBound &- top)
                unsafe loops.sumRoom(
                    .init(
                        row: room.row(now, from: top, to: top &+ count, on: grid), width: grid.width, rows: count,
                        members: members.row(top), words: members.stride), lines: lines,
                    into: sums + top / RoomLight.side &* stride)
            }
        }
    }
}

extension RoomMemory.Planes {
    /// Rows of samples, of the frame and of the memory.
    func row(_ now: UnsafePointer<Float>, from top: Int, to bottom: Int, on grid: WorkGrid) -> dm_room_row {
        let place = top &* grid.width
        let (above, below) = (max(top &- 1, 0) &* grid.width, min(bottom, grid.height &- 1) &* grid.width)
        return unsafe dm_room_row(
            colors: now + place, room: UnsafePointer(colors + place), above: UnsafePointer(colors + above),
            below: UnsafePointer(colors + below), colors_stride: grid.count, room_stride: stride)
    }
}
