/// The samples of wide holes that the person surrounds: to both sides along the row, no farther than a ray's length, and up and
/// down the column, the person comes before the room. Below the picture the person goes on. A gap between arm and body is open
/// on one side at least.
///
/// Source: the project's own method.
struct Enclosure: ~Copyable {
    private var memory = Scratch<UInt64>()

    /// - Parameters:
    ///   - excluded: samples that are not looked for, as are those of endless holes and of heads.
    ///   - ray: samples.
    /// - Returns: open samples, valid until the next call.
    mutating func find(_ sets: Classes.Sets, excluded: (SampleSet, SampleSet), ray: Int) -> SampleSet {
        let (hole, width, height) = (sets.hole, sets.hole.width, sets.hole.height)
        let memory = unsafe memory.reserve(hole.wordCount + hole.stride, filler: 0)
        let (found, met) = unsafe (hole.placed(in: memory), memory + hole.wordCount)
        found.fill {
            unsafe sets.wide.words[$0] & ~(sets.endless.words[$0] | sets.head.words[$0] | sets.room.words[$0])
                & ~(excluded.0.words[$0] | excluded.1.words[$0])
        }
        for y in 0..<height {
            let (line, near, far) = (found.bits(y), sets.measuredNear.bits(y), sets.measuredFar.bits(y))
            line.forEachRun(upTo: width) { run in
                line.remove(run)
                guard let left = near.last(before: run.lowerBound), left > far.last(before: run.lowerBound) ?? -1 else {
                    return
                }
                let right = near.first(from: run.upperBound, to: width)
                let (start, end) = (max(run.lowerBound, right &- ray), min(run.upperBound, left &+ ray &+ 1))
                guard start < end, right < far.first(from: run.upperBound, to: width) else { return }
                line.insert(start..<end)
            }
        }
        for isDown in [true, false] {
            unsafe met.update(repeating: isDown ? 0 : .max, count: hole.stride)
            for row in 0..<height {
                let y = isDown ? row : height &- 1 &- row
                for index in 0..<hole.stride {
                    let (near, far) = unsafe (sets.measuredNear.row(y)[index], sets.measuredFar.row(y)[index])
                    unsafe met[index] = (met[index] | near) & ~far
                    unsafe found.row(y)[index] &= met[index]
                }
            }
        }
        return found
    }
}
