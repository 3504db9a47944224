package import CDepthKernels

extension LoopSet {
    /// Updates a block of log odds (`LogOdds`), and blends them with those of the last frame (`Settle`).
    ///
    /// Planes have rows of `width` numbers, sets rows of `words` words.
    ///
    /// Fields and parameters:
    ///   - top, bottom, first, end: the rows and columns of the block. It starts with a tile of 16 columns, and ends with
    ///     one or with the row.
    ///   - certain_person, certain_room: the samples whose log odds are ±`certain`. Others have evidence plus prior.
    ///   - now, before: three planes of colors of this frame and of the last one.
    ///   - factor, settle, sure: those of `PictureChange`. Without a last frame `settle` is 0.
    ///   - log_odds, matte, keep: T, on entry that of the last frame, P, and the weight of the last frame.
    ///   - person, room: the samples whose T is at least `surely_person`, or at most `surely_room`. Bits after the last
    ///     column are undefined.
    ///   - lines: scratch memory for 13 lines, each of 18 numbers more than there are columns.
    /// - Returns: the sum of P, and a bit for each tile of the row all of whose T are at least `arrived`, or at most
    ///   −`arrived`.
    package static func updateLogOdds(_ part: dm_log_odds, lines: UnsafeMutablePointer<Float>) -> dm_log_odds_sums {
        let (width, first, end) = unsafe (part.width, part.first, part.end)
        let (firstTile, endTile) = (first &>> 4, (end &+ 15) &>> 4)
        let stride = end &- first &+ 18
        let line = unsafe lines + (1 &- first)
        let (sums, numbers) = unsafe (line + 9 &* stride, line + 12 &* stride)
        // The change of the colors of three rows.
        var (above, here, below) = unsafe (line, line + 3 &* stride, line + 6 &* stride)
        let (factor, settle, sure) = unsafe (part.factor, part.settle, part.sure)
        let isContinued = settle > 0
        if isContinued {
            unsafe subtractColors(part, row: part.top &- 1, stride, into: above)
            unsafe subtractColors(part, row: part.top, stride, into: here)
        }
        let upToEnd = UInt64.max &>> UInt64(truncatingIfNeeded: 64 &- endTile)
        let tiles = upToEnd & UInt64.max &<< UInt64(truncatingIfNeeded: firstTile)
        var (isPerson, isRoom) = (tiles, tiles)
        var sum = 0.0
        for y in unsafe upTo(part.bottom, from: part.top) {
            let place = y &* width
            let (odds, matte, keep) = unsafe (part.log_odds + place, part.matte + place, part.keep + place)
            let ahead = place &+ rowsAhead &* width &+ first
            unsafe fetch(part.evidence + ahead, count: end &- first)
            unsafe fetch(part.prior + ahead, count: end &- first)
            unsafe fetch(part.log_odds + ahead, count: end &- first)
            unsafe fetch(part.matte + ahead, count: end &- first)
            unsafe fetch(part.keep + ahead, count: end &- first)
            unsafe addEvidence(part, row: y, into: numbers)
            if isContinued {
                unsafe subtractColors(part, row: y &+ 1, stride, into: below)
                for x in upTo(first &- 1 &+ 3 &* stride, from: first &- 1) {
                    unsafe sums[x] = above[x] + here[x] + below[x]
                }
                for channel in 0..<3 {
                    let line = unsafe sums + channel &* stride
                    if first == 0 { unsafe line[-1] = line[min(1, width &- 1)] }
                    if end == width { unsafe line[width] = line[max(width &- 2, 0)] }
                }
                for x in upTo(end, from: first) {
                    @inline(__always)
                    func mean(_ x: Int) -> Float { unsafe (sums[x &- 1] + sums[x] + sums[x &+ 1]) * (1 / 9) }
                    let (y, u, v) = (mean(x), mean(stride &+ x), mean(2 &* stride &+ x))
                    unsafe keep[x] = y * y + u * u + v * v
                }
                unsafe (above, here, below) = (here, below, above)
            }
            for x in upTo(end, from: first) {
                let (old, new) = unsafe (odds[x], numbers[x])
                let change = unsafe min(max(keep[x] * factor - 0.1, 0), 1)
                let moved = old * new < 0 && abs(new) > sure ? 1 : change
                let kept = settle * (1 - moved)
                let t = new + kept * (old - new)
                unsafe (keep[x], odds[x], numbers[x]) = (kept, t, t)
                // 1 / (1 + e^−T), exactly 0 or 1 where T is beyond 7.
                let e = naturalExponential(-abs(t))
                let p = (t < 0 ? e : 1) / (1 + e)
                unsafe matte[x] = t > 7 ? 1 : t < -7 ? 0 : p
            }
            unsafe classify(
                numbers + first, blocks: Range(uncheckedBounds: (firstTile, endTile)), clear: part.surely_room,
                opaque: part.surely_person, into: (part.room + y &* part.words, part.person + y &* part.words))
            for tile in upTo(endTile, from: firstTile) {
                let arrived = unsafe dm_compare_floats(numbers + 16 &* tile, -part.arrived, part.arrived)
                let outside = columnsOutside(tile, width: width)
                let bit: UInt64 = 1 &<< UInt64(truncatingIfNeeded: tile)
                if arrived.at_most | outside != .max { isRoom &= ~bit }
                if arrived.at_least | outside != .max { isPerson &= ~bit }
            }
            var blocks = Sixteen(repeating: 0)
            for block in upTo(end &>> 4, from: firstTile) { unsafe blocks += sixteen(matte + 16 &* block) }
            var total = blocks[0]
            for column in 1..<Sixteen.scalarCount { total += blocks[column] }
            for x in upTo(end, from: end & ~15) { unsafe total += matte[x] }
            sum += Double(total)
        }
        return dm_log_odds_sums(sum: sum, person: isPerson, room: isRoom)
    }

    /// Writes evidence plus prior of a row, or ±`certain`.
    @inline(__always)
    private static func addEvidence(_ part: dm_log_odds, row y: Int, into numbers: UnsafeMutablePointer<Float>) {
        let (evidence, prior) = unsafe (part.evidence + y &* part.width, part.prior + y &* part.width)
        let words = unsafe y &* part.words
        for tile in unsafe upTo((part.end &+ 15) &>> 4, from: part.first &>> 4) {
            let (word, shift) = (words &+ tile &>> 2, UInt64(truncatingIfNeeded: tile & 3 &* 16))
            let person = unsafe UInt16(truncatingIfNeeded: part.certain_person[word] &>> shift)
            let room = unsafe UInt16(truncatingIfNeeded: part.certain_room[word] &>> shift)
            // The sign bit is set for those that are not the person.
            let signs = (SIMD16(repeating: Int32(person)) & tileBits &- tileBits) & Int32.min
            let certain = unsafe SIMD16(repeating: Int32(bitPattern: part.certain.bitPattern)) | signs
            unsafe UnsafeMutableRawPointer(numbers + 16 &* tile).storeBytes(of: certain, as: SIMD16<Int32>.self)
            var open = unsafe ~(person | room | columnsOutside(tile, width: part.width))
            while open != 0 {
                let x = 16 &* tile &+ open.trailingZeroBitCount
                unsafe numbers[x] = evidence[x] + prior[x]
                open &= open &- 1
            }
        }
    }

    /// The difference of a row's colors and those of the last frame, with a column more on each side: three lines. Beyond
    /// the edge the picture is mirrored about its outermost samples.
    @inline(__always)
    private static func subtractColors(
        _ part: dm_log_odds, row y: Int, _ stride: Int, into target: UnsafeMutablePointer<Float>
    ) {
        let row = unsafe y < 0 ? min(1, part.height &- 1) : y < part.height ? y : max(part.height &- 2, 0)
        for channel in 0..<3 {
            let place = unsafe (channel &* part.height &+ row) &* part.width
            let (now, before) = unsafe (part.now + place, part.before + place)
            let line = unsafe target + channel &* stride
            let (ahead, count) = unsafe (rowsAhead &* part.width &+ part.first, part.end &- part.first)
            unsafe fetch(now + ahead, count: count)
            unsafe fetch(before + ahead, count: count)
            for x in unsafe upTo(min(part.end &+ 1, part.width), from: max(part.first &- 1, 0)) {
                unsafe line[x] = now[x] - before[x]
            }
        }
    }
}

/// Rows from the one that is read to the one that is fetched.
private let rowsAhead = 4

/// The columns of a tile of 16 that are beyond the end of the row.
@inline(__always)
private func columnsOutside(_ tile: Int, width: Int) -> UInt16 {
    let inside = width &- 16 &* tile
    return inside < 16 ? .max &<< UInt16(truncatingIfNeeded: inside) : 0
}
