/// The samples of wide holes that the person surrounds: rays to eight sides meet the person before the room. Below the picture the
/// person goes on. A gap between arm and body is open on one side at least.
///
/// Up, down and across, every second sample of a ray counts; at the picture's border it goes on along the border. All rays of a
/// direction are followed at once, over 1, 2, 4, 8 … samples: what that takes depends neither on the hole nor much on their length.
///
/// Source: the project's own method; the fill by doubling is Kogge and Stone's, IEEE Transactions on Computers 22(8), 1973.
struct Enclosure: ~Copyable {
    private var memory = Scratch<UInt64>()
    private var paths = Scratch<SIMD2<UInt64>>()

    /// - Parameters:
    ///   - excluded: samples that are not looked for, as are those of endless holes and of heads.
    ///   - ray: samples.
    /// - Returns: open samples, valid until the next call.
    mutating func find(_ sets: Classes.Sets, excluded: (SampleSet, SampleSet), ray: Int) -> SampleSet {
        let (hole, height) = (sets.hole, sets.hole.height)
        let found = unsafe hole.placed(in: memory.reserve(hole.wordCount, filler: 0))
        found.fill {
            sets.wide[$0] & ~(sets.endless[$0] | sets.head[$0] | sets.room[$0] | excluded.0[$0] | excluded.1[$0])
        }
        var rows = Enclosure.keepBetween(sets, found, ray: ray)
        let rays = unsafe Rays(
            near: sets.measuredNear, far: sets.measuredFar, paths: paths.reserve(hole.wordCount, filler: .zero))
        for dy in stride(from: -1, through: 1, by: 2) {
            for dx in -1...1 where !rows.isEmpty {
                // The samples that rays pass.
                let first = dy < 0 ? max(rows.lowerBound &- ray, 0) : rows.lowerBound
                let end = dy > 0 ? min(rows.upperBound &+ ray, height) : rows.upperBound
                rays.follow(dx, dy, samples: ray / 2 + 1, rows: first..<end)
                rows = rows.span { y in
                    var left: UInt64 = 0
                    for index in 0..<hole.stride {
                        let path = unsafe rays.paths[y &* hole.stride &+ index]
                        found[index, y] &= path.x | (dy > 0 && y &+ ray >= height ? path.y : 0)
                        left |= found[index, y]
                    }
                    return left != 0
                }
            }
        }
        return found
    }

    /// Keeps the samples whose rays to the left and the right meet the person before the room.
    ///
    /// - Returns: the rows with any.
    private static func keepBetween(_ sets: Classes.Sets, _ found: SampleSet, ray: Int) -> Range<Int> {
        (0..<found.height).span { y in
            let (line, near, far) = (found.bits(y), sets.measuredNear.bits(y), sets.measuredFar.bits(y))
            var isAny = false
            line.forEachRun(upTo: found.width) { run in
                line.remove(run)
                guard let left = near.last(before: run.lowerBound), left > far.last(before: run.lowerBound) ?? -1 else {
                    return
                }
                let right = near.first(from: run.upperBound, to: found.width)
                let (start, end) = (max(run.lowerBound, right &- ray), min(run.upperBound, left &+ ray &+ 1))
                guard start < end, right < far.first(from: run.upperBound, to: found.width) else { return }
                line.insert(start..<end)
                isAny = true
            }
            return isAny
        }
    }

    /// Rays from all samples in one direction.
    @safe
    private struct Rays {
        let near: SampleSet
        let far: SampleSet
        /// Of each word of a set the rays that have met the person so far, and those that have met nothing. Bits after a row's last
        /// sample are as that is.
        let paths: UnsafeMutablePointer<SIMD2<UInt64>>

        func follow(_ dx: Int, _ dy: Int, samples: Int, rows: Range<Int>) {
            let last = UInt64(truncatingIfNeeded: (near.width &- 1) & 63)
            for y in rows {
                for index in 0..<near.stride {
                    var (near, far) = (near[index, y], far[index, y])
                    if index == self.near.stride &- 1 {
                        near |= (0 &- near &>> last & 1) &<< last
                        far |= (0 &- far &>> last & 1) &<< last
                    }
                    unsafe paths[y &* self.near.stride &+ index] = SIMD2(near, ~(near | far))
                }
            }
            var length = 1
            while length < samples {
                let step = min(length, samples &- length)
                goOn(dx, dy, after: step, rows)
                length &+= step
            }
        }

        /// Lets the paths go on as those do that start so many of their samples ahead. In place: those are changed later.
        private func goOn(_ dx: Int, _ dy: Int, after length: Int, _ rows: Range<Int>) {
            let stride = near.stride
            let across = min(max(2 &* dx &* length, 0 &- near.width), near.width)
            let (whole, bit) = (across &>> 6, UInt64(truncatingIfNeeded: across & 63))
            for step in 0..<rows.count {
                let y = dy < 0 ? rows.upperBound &- 1 &- step : rows.lowerBound &+ step
                let line = unsafe paths + y &* stride
                let ahead = unsafe paths + min(max(y &+ 2 &* dy &* length, 0), near.height &- 1) &* stride
                func word(_ index: Int) -> SIMD2<UInt64> {
                    if index < 0 { return unsafe 0 &- (ahead[0] & 1) }
                    return unsafe index < stride ? ahead[index] : 0 &- (ahead[stride &- 1] &>> 63)
                }
                var held = dx == 0 ? .zero : word(dx < 0 ? whole &+ stride : whole)
                for step in 0..<stride {
                    let index = dx < 0 ? stride &- 1 &- step : step
                    var further = unsafe ahead[index]
                    if dx != 0 {
                        let next = word(index &+ whole &+ (dx < 0 ? 0 : 1))
                        let (low, high) = dx < 0 ? (next, held) : (held, next)
                        further = low &>> bit | (high &<< 1) &<< (63 &- bit)
                        held = next
                    }
                    let own = unsafe line[index]
                    unsafe line[index] = SIMD2(own.x, 0) | SIMD2(repeating: own.y) & further
                }
            }
        }
    }
}

extension Range<Int> {
    /// The range from the first to the last number for which a test holds. It is called for every number: callers change
    /// samples in it.
    @inline(__always)
    fileprivate func span(where isWanted: (Int) -> Bool) -> Range<Int> {
        var (first, end) = (upperBound, lowerBound)
        for number in self where isWanted(number) { (first, end) = (Swift.min(first, number), number &+ 1) }
        return first..<Swift.max(first, end)
    }
}
