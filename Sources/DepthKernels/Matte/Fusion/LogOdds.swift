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
    /// Log odds from which a sample counts as all person, and up to which as all room: P = 0.98 and P = 0.02.
    private static let surelyPerson: Float = 3.891_818
    private static let surelyRoom: Float = -3.891_820_2

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
        let results: InlineArray<2, SampleSet> = bits.sets(like: sets.person)
        let tiles = unsafe tiles.reserve(3 * tileRows, filler: 0)
        let sums = unsafe sums.reserve(tileRows, filler: 0)
        let none = unsafe UnsafePointer(matte.reserve(grid.count, filler: 0))
        let numbers = unsafe dm_log_odds(
            top: 0, bottom: 0, first: 0, end: 0, width: grid.width, height: grid.height, words: results[0].stride,
            certain_person: sets.person.words, certain_room: sets.room.words, certain: Expectation.certain,
            evidence: evidence, prior: prior, now: change?.now ?? none, before: change?.before ?? none,
            factor: change?.factor ?? 0, settle: change?.settle ?? 0, sure: PictureChange.sure,
            log_odds: logOdds.reserve(grid.count, filler: 0), matte: matte.reserve(grid.count, filler: 0),
            keep: keep.reserve(grid.count, filler: 0), person: results[0].words, room: results[1].words,
            surely_person: LogOdds.surelyPerson, surely_room: LogOdds.surelyRoom, arrived: LogOdds.arrived)
        let work = unsafe Rows(
            grid: grid, loops: loops, sets: sets, numbers: numbers, hasPast: hasPast, person: results[0],
            room: results[1], active: TileSet(tiles), settledPerson: TileSet(tiles + tileRows),
            settledRoom: TileSet(tiles + 2 &* tileRows), sums: sums)
        bands.share(work, rows: grid.height, width: grid.width, rowAlignment: TileSet.size)
        hasPast = true
        var sum = 0.0
        for row in 0..<tileRows { unsafe sum += sums[row] }
        return unsafe Result(
            logOdds: UnsafePointer(numbers.log_odds), matte: UnsafePointer(numbers.matte),
            keep: change == nil ? nil : UnsafePointer(numbers.keep), person: work.person,
            room: work.room, mean: sum / Double(grid.count))
    }

    /// Forgets the past.
    mutating func reset() { hasPast = false }

    @safe
    private struct Rows: BandWork {
        let grid: WorkGrid
        let loops: Loops
        let sets: Classes.Sets
        /// What the loop takes, but for the block.
        let numbers: dm_log_odds
        let hasPast: Bool
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
                    let (personWord, roomWord) = (sets.person[index, y], sets.room[index, y])
                    (person[index, y], room[index, y]) = (personWord, roomWord)
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

            var sum = 0.0
            var (arrivedPerson, arrivedRoom): (UInt64, UInt64) = (0, 0)
            TileSet.forEachRun(of: settled & allPerson, on: grid) { sum += Double($0.count &* rows.count) }
            TileSet.forEachRun(of: now, on: grid) { columns in
                let done = update(rows, columns, memory)
                sum += done.sum
                arrivedPerson |= done.person
                arrivedRoom |= done.room
            }
            unsafe sums[tileY] = sum
            for y in rows {
                person.trim(row: y)
                room.trim(row: y)
            }
            settledRoom[tileY] = arrivedRoom | settled & allRoom
            settledPerson[tileY] = arrivedPerson | settled & allPerson
        }

        /// Fills tiles with final values.
        private func fill(_ rows: Range<Int>, _ columns: Range<Int>, isPerson: Bool) {
            for y in rows {
                let start = y &* grid.width &+ columns.lowerBound
                let certain = isPerson ? Expectation.certain : -Expectation.certain
                unsafe (numbers.log_odds + start).update(repeating: certain, count: columns.count)
                unsafe (numbers.matte + start).update(repeating: isPerson ? 1 : 0, count: columns.count)
                unsafe (numbers.keep + start).update(repeating: 0, count: columns.count)
            }
        }

        private func update(_ rows: Range<Int>, _ columns: Range<Int>, _ memory: LogOddsMemory) -> dm_log_odds_sums {
            var part = unsafe numbers
            unsafe (part.top, part.bottom) = (rows.lowerBound, rows.upperBound)
            unsafe (part.first, part.end) = (columns.lowerBound, columns.upperBound)
            let lines = unsafe memory.lines.reserve(13 * (grid.width + 2 + TileSet.size), filler: 0)
            return unsafe loops.updateLogOdds(part, lines: lines)
        }
    }
}

/// Scratch memory of one worker for log odds.
private final class LogOddsMemory: MatteMemoryPart {
    var lines = Scratch<Float>()
    var bits = Scratch<UInt64>()
}
