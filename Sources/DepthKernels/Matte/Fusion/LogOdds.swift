import CDepthKernels

/// The stage that adds evidence and prior of every sample to its log odds T, blends them with those of the last frame,
/// and computes the probability P = 1 / (1 + e^−T).
///
/// Only tiles that hold an open sample, or one whose log odds have not reached their final value, are computed. The
/// others do not change.
///
/// The state is the last frame's log odds. Source: stages 3 and 4 of the method (`Fusion`).
struct LogOdds: ~Copyable {
    /// Log odds from this value on count as final (±`Expectation.certain`).
    private static let arrived = Expectation.certain - 1 / 16
    /// Probabilities that count as all person, and as all room.
    private static let surelyPerson: Float = 0.98
    private static let surelyRoom: Float = 0.02

    private var logOdds = Scratch<Float>()
    private var matte = Scratch<Float>()
    private var keep = Scratch<Float>()
    private var bits = Scratch<UInt64>()
    private var tiles = Scratch<UInt64>()
    private var sums = Scratch<Double>()
    private var hasPast = false

    /// The results for every sample, valid until the next call.
    @safe
    struct Result {
        /// T.
        let logOdds: UnsafePointer<Float>
        /// P.
        let matte: UnsafePointer<Float>
        /// The share of the last frame that was kept; nil for none.
        let keep: UnsafePointer<Float>?
        /// Samples that are all person, or all room.
        let person: SampleSet
        let room: SampleSet
        /// The mean of P.
        let mean: Double
    }

    /// The log odds of the last frame; nil where there is none.
    mutating func past(on grid: WorkGrid) -> UnsafePointer<Float>? {
        unsafe hasPast ? UnsafePointer(logOdds.reserve(grid.count, filler: 0)) : nil
    }

    /// - Parameters:
    ///   - evidence, prior: those of the open samples.
    ///   - change: the picture's change since the last frame; nil where the last frame does not count.
    mutating func update(
        _ evidence: UnsafePointer<Float>, _ sets: Classes.Sets, prior: UnsafePointer<Float>,
        change: PictureChange?, _ context: FusionContext
    ) -> Result {
        let (grid, bands, loops) = (context.grid, context.bands, context.loops)
        let tileRows = groups(of: TileSet.size, in: grid.height)
        let bits = unsafe bits.reserve(2 * sets.person.wordCount, filler: 0)
        func set(_ index: Int) -> SampleSet { unsafe sets.person.placed(in: bits, index) }
        let tiles = unsafe tiles.reserve(3 * tileRows, filler: 0)
        let sums = unsafe sums.reserve(tileRows, filler: 0)
        let work = unsafe Rows(
            grid: grid, loops: loops, evidence: evidence, sets: sets, prior: prior, change: change,
            hasPast: hasPast, logOdds: logOdds.reserve(grid.count, filler: 0),
            matte: matte.reserve(grid.count, filler: 0), keep: keep.reserve(grid.count, filler: 0),
            person: set(0), room: set(1), active: TileSet(tiles), settledPerson: TileSet(tiles + tileRows),
            settledRoom: TileSet(tiles + 2 &* tileRows), sums: sums)
        bands.share(work, rows: grid.height, width: grid.width, rowAlignment: TileSet.size)
        hasPast = true
        var sum = 0.0
        for row in 0..<tileRows { unsafe sum += sums[row] }
        return unsafe Result(
            logOdds: UnsafePointer(work.logOdds), matte: UnsafePointer(work.matte),
            keep: change == nil ? nil : UnsafePointer(work.keep), person: work.person,
            room: work.room, mean: sum / Double(grid.count))
    }

    /// Forgets the past.
    mutating func reset() { hasPast = false }

    private static func sum(_ numbers: UnsafePointer<Float>, count: Int) -> Float {
        let blocks = count / blockWidth
        var sum = Lanes(repeating: 0)
        for block in 0..<blocks { unsafe sum += loadLanes(numbers + block &* blockWidth) }
        var total = sum.sum()
        for index in (blocks &* blockWidth)..<count { unsafe total += numbers[index] }
        return total
    }

    @safe
    private struct Rows: BandWork {
        let grid: WorkGrid
        let loops: Loops
        let evidence: UnsafePointer<Float>
        let sets: Classes.Sets
        let prior: UnsafePointer<Float>
        let change: PictureChange?
        let hasPast: Bool
        let logOdds: UnsafeMutablePointer<Float>
        let matte: UnsafeMutablePointer<Float>
        let keep: UnsafeMutablePointer<Float>
        let person: SampleSet
        let room: SampleSet
        /// Tiles that were computed in the last frame; then those of this one.
        let active: TileSet
        /// Tiles whose stored values are final: all person, or all room.
        let settledPerson: TileSet
        let settledRoom: TileSet
        /// The sum of P in each row of tiles.
        let sums: UnsafeMutablePointer<Double>

        func work(_ rows: Range<Int>, _ memory: MatteMemory) {
            let memory = memory.part(LogOddsMemory.self)
            for top in stride(from: rows.lowerBound, to: rows.upperBound, by: TileSet.size) {
                update(top..<min(top &+ TileSet.size, rows.upperBound), tileY: top / TileSet.size, memory)
            }
        }

        private func update(_ rows: Range<Int>, tileY: Int, _ memory: LogOddsMemory) {
            let stride = person.stride
            let common = unsafe memory.bits.reserve(2 * stride, filler: 0)
            for index in 0..<stride {
                var (isPerson, isRoom) = (UInt64.max, UInt64.max)
                for y in rows {
                    let (personWord, roomWord) = unsafe (sets.person.row(y)[index], sets.room.row(y)[index])
                    unsafe (person.row(y)[index], room.row(y)[index]) = (personWord, roomWord)
                    isPerson &= personWord
                    isRoom &= roomWord
                }
                unsafe (common[index], common[stride &+ index]) = (isPerson, isRoom)
            }
            let (allPerson, allRoom) = unsafe (TileSet.full(common, on: grid), TileSet.full(common + stride, on: grid))
            let settled = hasPast ? allPerson & settledPerson[tileY] | allRoom & settledRoom[tileY] : 0
            let now = TileSet.all(on: grid) & ~settled
            let before = hasPast ? active[tileY] : 0
            TileSet.forEachRun(of: before & settled & allPerson, on: grid) { fill(rows, $0, isPerson: true) }
            TileSet.forEachRun(of: before & settled & allRoom, on: grid) { fill(rows, $0, isPerson: false) }
            active[tileY] = now

            unsafe common.update(repeating: .max, count: 2 * stride)
            var sum = 0.0
            TileSet.forEachRun(of: settled & allPerson, on: grid) { sum += Double($0.count &* rows.count) }
            TileSet.forEachRun(of: now, on: grid) { columns in
                for y in rows { unsafe sum += Double(update(y, columns, common, memory)) }
            }
            unsafe sums[tileY] = sum
            for y in rows { for set in [person, room] { set.trim(row: y) } }
            unsafe settledRoom[tileY] = TileSet.full(common, on: grid) & now | settled & allRoom
            unsafe settledPerson[tileY] = TileSet.full(common + stride, on: grid) & now | settled & allPerson
        }

        /// Fills tiles with final values.
        private func fill(_ rows: Range<Int>, _ columns: Range<Int>, isPerson: Bool) {
            for y in rows {
                let start = y &* grid.width &+ columns.lowerBound
                let certain = isPerson ? Expectation.certain : -Expectation.certain
                unsafe (logOdds + start).update(repeating: certain, count: columns.count)
                unsafe (matte + start).update(repeating: isPerson ? 1 : 0, count: columns.count)
                unsafe (keep + start).update(repeating: 0, count: columns.count)
            }
        }

        /// Writes evidence plus prior for some samples of a row; ±`certain` where depth alone classifies them.
        private func add(_ y: Int, _ columns: Range<Int>, into numbers: UnsafeMutablePointer<Float>) {
            unsafe numbers.update(repeating: -Expectation.certain, count: columns.count)
            let person = sets.person.bits(y)
            let line = unsafe numbers - columns.lowerBound
            var start = person.first(from: columns.lowerBound, to: columns.upperBound)
            while start < columns.upperBound {
                let end = person.firstMissing(from: start, to: columns.upperBound)
                unsafe (line + start).update(repeating: Expectation.certain, count: end &- start)
                start = person.first(from: end, to: columns.upperBound)
            }
            let first = y &* grid.width
            sets.forEachOpen(row: y, columns) { x in unsafe line[x] = evidence[first &+ x] + prior[first &+ x] }
        }

        /// Fetches a row that is read some rows later: short runs of long rows are not fetched ahead by themselves.
        private func prefetch(row y: Int, _ columns: Range<Int>) {
            guard y < grid.height else { return }
            func fetch(_ plane: UnsafePointer<Float>) {
                let place = unsafe UnsafeRawPointer(plane + y &* grid.width + columns.lowerBound)
                unsafe dm_prefetch_row(place.assumingMemoryBound(to: UInt8.self), columns.count &* 4 &+ 63)
            }
            unsafe fetch(logOdds)
            unsafe fetch(keep)
            unsafe fetch(matte)
            unsafe fetch(evidence)
            guard let change else { return }
            for channel in 0..<3 {
                unsafe fetch(change.before + channel &* grid.count)
                unsafe fetch(change.now + channel &* grid.count)
            }
        }

        /// Computes some samples of a row.
        ///
        /// - Parameter common: the samples that are final room in all rows so far, then those that are final person.
        /// - Returns: the sum of P.
        private func update(
            _ y: Int, _ columns: Range<Int>, _ common: UnsafeMutablePointer<UInt64>, _ memory: LogOddsMemory
        ) -> Float {
            let (start, count) = (y &* grid.width &+ columns.lowerBound, columns.count)
            let stride = person.stride
            let room = grid.width + TileSet.size
            let numbers = unsafe memory.numbers.reserve(2 * room, filler: 0)
            let probabilities = unsafe numbers + room
            let bits = unsafe memory.rowBits.reserve(2 * stride, filler: 0)
            prefetch(row: y &+ 4, columns)
            unsafe add(y, columns, into: numbers)
            if let change {
                unsafe change.find(
                    row: y, columns, on: grid, scratch: memory.sums.reserve(grid.width + 2, filler: 0), loops,
                    into: keep + start)
                unsafe loops.settle(
                    numbers, past: logOdds + start, share: keep + start, count: count,
                    .init(factor: change.factor, settle: change.settle, sure: PictureChange.sure))
            } else {
                unsafe (keep + start).update(repeating: 0, count: count)
            }
            unsafe (logOdds + start).update(from: numbers, count: count)
            unsafe loops.probability(numbers, count: count, into: probabilities)
            unsafe (matte + start).update(from: probabilities, count: count)

            let blocks = (columns.lowerBound / TileSet.size)..<groups(of: TileSet.size, in: columns.upperBound)
            unsafe loops.classify(
                probabilities, blocks: blocks, clear: LogOdds.surelyRoom, opaque: LogOdds.surelyPerson,
                into: (clear: self.room.row(y), opaque: person.row(y)))
            let words = (columns.lowerBound &>> 6)..<groups(of: 64, in: columns.upperBound)
            for index in words { unsafe (bits[index], bits[stride &+ index]) = (.max, .max) }
            unsafe loops.classify(
                numbers, blocks: blocks, clear: -LogOdds.arrived, opaque: LogOdds.arrived,
                into: (
                    clear: bits,
                    opaque: bits + stride
                ))
            for index in words {
                unsafe common[index] &= bits[index]
                unsafe common[stride &+ index] &= bits[stride &+ index]
            }
            return unsafe LogOdds.sum(probabilities, count: count)
        }
    }
}

/// Scratch memory of one worker for log odds.
private final class LogOddsMemory: MatteMemoryPart {
    var numbers = Scratch<Float>()
    var bits = Scratch<UInt64>()
    var rowBits = Scratch<UInt64>()
    /// Scratch memory of `PictureChange`.
    var sums = Scratch<Float>()
}
