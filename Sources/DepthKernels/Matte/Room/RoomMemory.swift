/// The room as it was seen with nobody in front of it: a color for each sample of the grid and, if it was captured, its depth.
///
/// With a known background B the matting equation I = αF + (1 − α)B has one unknown less. Depth says what is room and may be learnt,
/// and what is measured as room all the time says whether the memory still holds. Where nothing is remembered, or it is not trusted,
/// the evidence stays as it is.
///
/// | Stage | Formula | Parameters |
/// |---|---|---|
/// | 1 surface (`RoomMemory.separate`) | a sample from 1 n before the captured surface to 3 n behind it is room, n = 0.015 m + 0.006/m · z² | `on`, `behind` |
/// | 2 light (`RoomLight`) | gain of each channel: median of I / B over sure room; local gain: ΣI·B / ΣB·B in boxes of 12 samples, +0.05 of 36, +0.002 of 108 | `radius`, `floor` |
/// | 3 trust (`RoomLight`) | cells of sure room within 3 σ of B; 0.7 of the cells near by, and 0.6 of all | `agree`, `suspend`, `sigmas` |
/// | 4 evidence (`RoomEvidence`) | α = D·E / E·E, D = I − B, E = F − B in linear light; L = 6c(2α − 1) + (1 − c)R | `DepthLoops/Room.swift` |
/// | 6 learning (`RoomMemory.learn`) | sure room, 8 samples from all that is before the cutoff, for 8 frames: a mean over up to 32 | `margin`, `frames`, `most` |
/// | 6 forgetting | 3 frames of less than `suspend`: all; 12 frames of less than `agree` near by: what is hidden there | `patience`, `doubts` |
///
/// Lengths in samples are those of a grid of 640. Depth is captured, never learnt: a person whom no head or face has shown yet may sit
/// behind the cutoff, and must not become a surface of the room.
///
/// Sources: a known background: Smith and Blinn, "Blue screen matting", SIGGRAPH 1996; Qian and Sezan, "Video background replacement
/// without a blue screen", ICIP 1999. A mean with counts: Stauffer and Grimson, "Adaptive background mixture models", CVPR 1999. Depth
/// as its teacher is the project's own.
struct RoomMemory: ~Copyable {
    /// Metres, constant + square·z²: a sample is on a surface up to so far before it, and up to `behind` times that behind it.
    private static let (on, behind): ((constant: Float, square: Float), Float) = ((0.015, 0.006), 3)
    /// Samples from what is before the cutoff to sure room, and to room that is learnt; of the latter from what is not surely room.
    private static let (sureMargin, margin, clear) = (6.0, 8.0, 6.0)
    /// Metres from what is before the cutoff to a hole that is sure room: 1.5 times what the person reaches into holes.
    private static let holeMargin = 0.15
    /// Frames that agree before a sample is known, and frames of the mean.
    private static let (frames, most): (UInt8, UInt8) = (8, 32)
    /// Frames of disagreement until all is forgotten, and until what is hidden, or what is seen, at a place is.
    private static let (patience, doubts) = (3, 12)
    /// Frames of a capture, and of those the ones in which the depth of a sample must have been measured.
    private static let (captured, leastMeasured) = (16, 4)
    /// The log odds of a head that end a capture at once, and those that the heads of its frames have at most in the mean. Things in an
    /// empty room look like a head now and then; people do all the time.
    private static let (sureHead, mostHead) = (3.0, 0.3)
    /// Metres from the middle of a head: what is beside it, and above (below 0) and below that middle; what is before and behind it.
    private static let (beside, about, deep) = (0.35...0.7, -0.1...0.3, Float(-0.3)...0.25)
    /// The share of what is beside a head that is as far away, on both sides, where it is a part of the room.
    private static let leastBeside: Float = 0.2
    /// Each row of tiles is learnt in one of so many frames, in turn.
    private static let turns = 4
    /// Numbers before the first sample and after the last one: loops read neighbours.
    private static let padding = 16

    private var store = Store()
    /// The same view on another grid, as it was seen last.
    private var spare = Store()
    private var light = RoomLight()
    private var evidence = RoomEvidence()
    private var dilation = Dilation()
    /// Frames that are left of a capture.
    private var left = 0
    /// The sum of the log odds of heads in a capture.
    private var heads = 0.0
    private var turn = 0
    /// Frames in a row in which the memory did not hold.
    private var bad = 0
    private var hasSurfaces = false
    private(set) var report = RoomReport()

    /// The grid, the picture and the reading of depth that a memory belongs to.
    struct Key: Equatable {
        let grid: WorkGrid
        let colors: VideoColors
        let width: Int
        let height: Int
        let reading: DepthReading

        init(_ field: DepthField, _ guide: Guide) {
            (grid, reading, colors) = (field.grid, field.reading, guide.colors)
            (width, height) = (guide.width, guide.height)
        }

        /// True where only the resolution of the grid differs.
        func isSameView(as other: Key) -> Bool {
            grid.placement == other.grid.placement && reading == other.reading && colors == other.colors
                && width == other.width && height == other.height
        }
    }

    /// The memory of a grid.
    private struct Store: ~Copyable {
        var key: Key?
        private var colors = Scratch<Float>()
        /// Millimetres of the captured surfaces; 0 for none.
        private var depth = Scratch<UInt16>()
        private var counts = Scratch<UInt8>()
        private var bits = Scratch<UInt64>()

        mutating func planes(of grid: WorkGrid) -> Planes {
            let (size, padding) = (grid.count, RoomMemory.padding)
            return unsafe Planes(
                colors: colors.reserve(3 * (size + padding) + 2 * padding, filler: 0) + padding,
                stride: size + padding, counts: counts.reserve(3 * size, filler: 0),
                depth: depth.reserve(size, filler: 0), size: size)
        }

        mutating func set(_ plane: Plane, on grid: WorkGrid) -> SampleSet {
            let stride = SampleSet.stride(width: grid.width)
            let memory = unsafe bits.reserve(7 * stride * grid.height, filler: 0)
            return unsafe SampleSet(words: memory, stride: stride, width: grid.width, height: grid.height)
                .placed(in: memory, plane.rawValue)
        }
    }

    private enum Plane: Int { case known, surface, sure, deep, stable, front, spare }
    fileprivate enum Count: Int { case frames, seen, wrong }

    /// Planes of colors, one for each channel, and of the numbers of frames.
    @safe
    struct Planes {
        let colors: UnsafeMutablePointer<Float>
        /// Numbers from one plane to the next.
        let stride: Int
        fileprivate let counts: UnsafeMutablePointer<UInt8>
        fileprivate let depth: UnsafeMutablePointer<UInt16>
        fileprivate let size: Int

        fileprivate subscript(count: Count) -> UnsafeMutablePointer<UInt8> { unsafe counts + count.rawValue &* size }
    }

    // MARK: Begin and end

    /// Forgets everything. The next frame begins afresh.
    mutating func forget() {
        (store.key, spare.key, left, bad, hasSurfaces) = (nil, nil, 0, 0, false)
        report = RoomReport(forgotten: report.forgotten)
    }

    /// Frees the memory too.
    mutating func end() {
        guard store.key != nil else { return }
        self = RoomMemory()
    }

    /// Begins a frame: forgets a memory of another size, format or scale.
    ///
    /// - Parameter now: the frame's colors, for an empty memory.
    private mutating func begin(_ key: Key, _ now: UnsafePointer<Float>) -> Planes {
        let planes = store.planes(of: key.grid)
        guard key != store.key else { return planes }
        forget()
        store.key = key
        let size = key.grid.count
        unsafe planes.counts.update(repeating: 0, count: 3 * size)
        unsafe planes.depth.update(repeating: 0, count: size)
        for index in 0..<size { unsafe planes.put(planes.color(now, size, index), at: index, rate: 1) }
        for plane in [Plane.known, .surface, .stable] { set(plane, on: key.grid).removeAll() }
        light.reset()
        return planes
    }

    private mutating func set(_ plane: Plane, on grid: WorkGrid) -> SampleSet { store.set(plane, on: grid) }

    /// The memory of a frame's grid; nil where there is none.
    private mutating func remembered(_ key: Key) -> Planes? {
        key == store.key && left == 0 ? store.planes(of: key.grid) : nil
    }

    // MARK: Another grid

    /// Turns to the grid of the next frame. A memory of the same view on another grid is taken over, and stays as it is until that grid
    /// comes back.
    mutating func turn(to key: Key) {
        guard left == 0, let last = store.key, key != last, key.isSameView(as: last) else { return }
        swap(&store, &spare)
        light.reset()
        set(.stable, on: key.grid).removeAll()
        guard store.key != key else { return }
        store.key = key
        let (grid, old) = (key.grid, last.grid)
        let (source, target) = (spare.planes(of: old), store.planes(of: grid))
        let (wasKnown, known) = (spare.set(.known, on: old), set(.known, on: grid))
        set(.surface, on: grid).removeAll()
        known.removeAll()
        unsafe target.counts.update(repeating: 0, count: 3 * grid.count)
        for y in 0..<grid.height {
            let rows = RoomMemory.span(of: y, grid.height, in: old.height)
            for x in 0..<grid.width {
                let columns = RoomMemory.span(of: x, grid.width, in: old.width)
                let (index, first) = (y &* grid.width &+ x, rows.lowerBound &* old.width &+ columns.lowerBound)
                unsafe target.depth[index] = source.depth[first]
                unsafe target[.frames][index] = source[.frames][first]
                var isKnown = true
                var color = SIMD3<Float>()
                for row in rows {
                    for column in columns {
                        color += source[color: row &* old.width &+ column]
                        isKnown = isKnown && wasKnown.bits(row).contains(column)
                    }
                }
                target.put(color / Float(rows.count &* columns.count), at: index, rate: 1)
                if isKnown { known.bits(y).insert(x..<(x &+ 1)) }
            }
        }
    }

    /// The samples of a row or column of another grid at the place of one.
    private static func span(of sample: Int, _ count: Int, in otherCount: Int) -> Range<Int> {
        let first = sample &* otherCount / count
        return first..<max(first &+ 1, (sample &+ 1) &* otherCount / count)
    }

    // MARK: Capture

    var isCapturing: Bool { left > 0 }

    mutating func beginCapture() { left = RoomMemory.captured }

    /// Ends a capture. What it has begun to overwrite is forgotten.
    mutating func endCapture() {
        if left < RoomMemory.captured { forget() }
        left = 0
    }

    /// Counts a frame of a capture.
    ///
    /// - Parameter head: the log odds of the likeliest head that it shows; 0 for none.
    /// - Returns: false where somebody is there.
    mutating func mayCapture(head: Double) -> Bool {
        heads = (left == RoomMemory.captured ? 0 : heads) + head
        return head < RoomMemory.sureHead && (left > 1 || heads < RoomMemory.mostHead * Double(RoomMemory.captured))
    }

    /// Takes a frame of the empty room: the mean of all frames of the capture, color and depth.
    mutating func capture(_ key: Key, _ now: UnsafePointer<Float>, _ field: DepthField) {
        let (left, grid) = (left, key.grid)
        if left == RoomMemory.captured { forget() }
        let planes = unsafe begin(key, now)
        self.left = left - 1
        let rate = 1 / Float(RoomMemory.captured - left + 1)
        for y in 0..<grid.height {
            for x in 0..<grid.width {
                let index = y &* grid.width &+ x
                unsafe planes.put(planes.color(now, grid.count, index), at: index, rate: rate)
                let z = unsafe field.metres[y &* field.rowLength &+ x]
                guard z > 0 else { continue }
                let (count, old) = unsafe (planes[.seen][index] &+ 1, Float(planes.depth[index]))
                unsafe planes[.seen][index] = count
                unsafe planes.depth[index] = UInt16(
                    truncatingIfNeeded: nearestIndex(
                        Double(old + (1000 * z - old) / Float(count)), in: 0...Int(UInt16.max)))
            }
        }
        guard self.left == 0 else { return }
        know(planes, on: grid)
        hasSurfaces = !field.scale.kind.isRelative
    }

    /// Takes the colors of the empty room for the memory.
    mutating func take(_ key: Key, _ colors: UnsafePointer<Float>) {
        forget()
        let planes = unsafe begin(key, colors)
        know(planes, on: key.grid)
    }

    /// Every sample is known from now on.
    private mutating func know(_ planes: Planes, on grid: WorkGrid) {
        let known = set(.known, on: grid)
        known.fill { _ in UInt64.max }
        known.trim()
        for index in 0..<grid.count {
            if unsafe planes[.seen][index] < UInt8(RoomMemory.leastMeasured) { unsafe planes.depth[index] = 0 }
            unsafe (planes[.frames][index], planes[.seen][index]) = (RoomMemory.most, 0)
        }
    }

    /// True where what looks like a head goes on at its own distance on both sides, as the frame of a window does. People end in the room.
    static func isPartOfRoom(_ head: Head, in field: DepthField) -> Bool {
        let (grid, metres) = (field.grid, field.grid.samplesPerMetre(at: head.distance))
        let (x, y) = grid.point(videoX: head.box.centerX, videoY: head.box.centerY)
        func samples(_ part: ClosedRange<Double>, _ middle: Double, _ count: Int) -> Range<Int> {
            let first = nearestIndex(middle + part.lowerBound * metres, in: 0...count)
            return first..<max(first, nearestIndex(middle + part.upperBound * metres, in: 0...count))
        }
        let rows = samples(about, y, grid.height)
        return [beside, -beside.upperBound ... -beside.lowerBound].allSatisfy { part in
            let columns = samples(part, x, grid.width)
            var count: Float = 0
            for row in rows {
                for column in columns {
                    let z = unsafe field.metres[row &* field.rowLength &+ column]
                    if z > 0, deep.contains(z - Float(head.distance)) { count += 1 }
                }
            }
            return count > leastBeside * Float(rows.count * columns.count)
        }
    }

    // MARK: 1. Surface

    /// Moves the samples that are on captured surfaces behind the cutoff.
    ///
    /// - Returns: these samples; nil where there are none.
    mutating func separate(_ field: DepthField, _ key: Key) -> SampleSet? {
        guard hasSurfaces, bad < RoomMemory.patience, let planes = remembered(key) else { return nil }
        let (surface, width) = (set(.surface, on: key.grid), key.grid.width)
        for y in 0..<key.grid.height {
            for index in 0..<surface.stride {
                var found: UInt64 = 0
                field.near[index, y].forEachBit { bit in
                    let x = index &* 64 &+ bit
                    let (z, known) = unsafe (
                        field.metres[y &* field.rowLength &+ x], Float(planes.depth[y &* width &+ x]) * 0.001
                    )
                    let limit = RoomMemory.on.constant + RoomMemory.on.square * known * known
                    if known > 0, z > known - limit, z < known + RoomMemory.behind * limit {
                        found |= 1 &<< UInt64(truncatingIfNeeded: bit)
                    }
                }
                surface[index, y] = found
            }
        }
        RoomMemory.moveBehind(field, surface)
        return surface
    }

    /// Moves samples behind the cutoff: what is known as room at its distance is nobody.
    static func moveBehind(_ field: DepthField, _ surface: SampleSet, _ finding: Subject.Finding = .everything) {
        if case .person(let found) = finding {
            found.person.fill { unsafe found.person.words[$0] & ~surface.words[$0] }
            found.others.fill { unsafe found.others.words[$0] | surface.words[$0] }
        }
        field.near.fill { unsafe field.near.words[$0] & ~surface.words[$0] }
        field.far.fill { unsafe field.far.words[$0] | surface.words[$0] }
    }

    // MARK: 2. Light, 3. Trust

    /// Compares the frame with the memory.
    ///
    /// - Parameter distance: metres, of what is before the cutoff.
    mutating func compare(
        _ now: UnsafePointer<Float>, _ field: DepthField, _ key: Key, distance: Double, _ context: FusionContext
    ) {
        guard left == 0 else { return }
        let (grid, loops) = (key.grid, context.loops)
        let planes = unsafe begin(key, now)
        let (sure, deep, front, spare) = (
            set(.sure, on: grid), set(.deep, on: grid), set(.front, on: grid), set(.spare, on: grid)
        )
        let known = set(.known, on: grid)
        dilation.dilate(
            field.near, radii: [grid.samples(RoomMemory.sureMargin), grid.samples(RoomMemory.margin)],
            into: [front, deep], loops)
        dilation.dilateFar(
            field.near, radius: RoomMemory.holeMargin * grid.samplesPerMetre(at: distance), into: spare, loops)
        for index in 0..<sure.wordCount {
            let hole = unsafe field.hole.words[index] & ~spare.words[index]
            let far = unsafe field.far.words[index] & ~field.hole.words[index]
            unsafe sure.words[index] = (far & ~front.words[index] | hole) & known.words[index]
            unsafe deep.words[index] = far & ~deep.words[index] | hole
        }
        unsafe light.compare(now, planes, sure, context)
        report.agree = Double(light.share)
        report.known = Double(known.memberCount) / Double(max(grid.count, 1))
        report.used = 0
        bad = light.isCompared && !light.holds ? bad + 1 : 0
    }

    // MARK: 4. Evidence

    /// Replaces the evidence of open samples by that of the memory, where it is trusted.
    mutating func decide(
        _ evidence: UnsafeMutablePointer<Float>, _ colors: UnsafePointer<Float>, _ sets: Classes.Sets, _ key: Key,
        person: RoomEvidence.Person, _ context: FusionContext
    ) {
        guard light.holds, let light = light.map, let planes = remembered(key) else { return }
        report.used = unsafe self.evidence.decide(
            evidence, colors, sets, planes, known: set(.known, on: key.grid), light, person, context)
    }

    // MARK: 6. Learning

    /// Learns what is sure room, and forgets what no longer holds.
    ///
    /// - Parameter room: what the matte takes for room; nil where nobody is.
    mutating func learn(
        _ now: UnsafePointer<Float>, room: SampleSet?, _ mode: RoomMode, _ key: Key, _ loops: Loops
    ) {
        guard mode == .learn, let planes = remembered(key) else { return }
        let (grid, tile) = (key.grid, TileSet.size)
        let (deep, known, sure) = (set(.deep, on: grid), set(.known, on: grid), set(.sure, on: grid))
        let (stable, spare, front) = (set(.stable, on: grid), set(.spare, on: grid), set(.front, on: grid))
        if bad >= RoomMemory.patience {
            let forgotten = report.forgotten + 1
            forget()
            report.forgotten = forgotten
            return
        }
        if let room {
            spare.fill { unsafe ~room.words[$0] }
            spare.trim()
            dilation.dilate(spare, radii: [grid.samples(RoomMemory.clear)], into: [front], loops)
            deep.fill { unsafe deep.words[$0] & ~front.words[$0] }
        }
        stable.fill { unsafe stable.words[$0] & deep.words[$0] }
        turn = (turn &+ 1) % RoomMemory.turns
        for row in stride(from: turn, to: groups(of: tile, in: grid.height), by: RoomMemory.turns) {
            for y in (row &* tile)..<min((row &+ 1) &* tile, grid.height) {
                unsafe learn(row: y, now, planes, (stable, known, sure), grid)
                unsafe stable.row(y).update(from: deep.row(y), count: stable.stride)
            }
        }
    }

    private func learn(
        row y: Int, _ now: UnsafePointer<Float>, _ planes: Planes,
        _ sets: (stable: SampleSet, known: SampleSet, sure: SampleSet), _ grid: WorkGrid
    ) {
        let (frames, seen, wrong) = unsafe (planes[.frames], planes[.seen], planes[.wrong])
        let turns = UInt8(RoomMemory.turns)
        let inverse = 1 / light.gain
        for x in 0..<grid.width {
            let index = y &* grid.width &+ x
            let isKnown = sets.known.bits(y).contains(x)
            let cell = light.cell(x, y)
            if isKnown, cell.doubt >= RoomMemory.doubts, !sets.sure.bits(y).contains(x) {
                // The room beside it is another: what is hidden may be another too.
                unsafe frames[index] = 0
                unsafe planes.depth[index] = 0
                sets.known.bits(y).remove(x..<(x &+ 1))
            }
            guard sets.stable.bits(y).contains(x) else {
                unsafe (seen[index], wrong[index]) = (0, 0)
                continue
            }
            unsafe seen[index] = min(seen[index], 200) &+ turns
            guard unsafe seen[index] >= RoomMemory.frames else { continue }
            unsafe wrong[index] = isKnown && !cell.isGood ? min(wrong[index], 200) &+ turns : 0
            let isWrong = unsafe wrong[index] > 0
            // Remembered otherwise: waits, then the present comes in fast.
            if isWrong, unsafe wrong[index] <= UInt8(RoomMemory.doubts) { continue }
            let count = unsafe isWrong ? min(frames[index], turns) : frames[index]
            let rate = count == 0 ? 1 : Float(turns) / Float(min(count &+ turns, RoomMemory.most))
            unsafe frames[index] = min(max(count &+ turns, RoomMemory.frames), RoomMemory.most)
            unsafe planes.put(planes.color(now, grid.count, index) * inverse, at: index, rate: rate)
            sets.known.bits(y).insert(x..<(x &+ 1))
        }
    }
}

extension RoomMemory.Planes {
    /// Red, green and blue of a frame's sample.
    fileprivate func color(_ now: UnsafePointer<Float>, _ size: Int, _ index: Int) -> SIMD3<Float> {
        let (y, u, v) = unsafe (now[index], now[size &+ index], now[2 &* size &+ index])
        return Guide.channels(SIMD3(y, u, v))
    }

    /// Red, green and blue of the memory.
    fileprivate subscript(color index: Int) -> SIMD3<Float> {
        unsafe SIMD3(colors[index], colors[stride &+ index], colors[2 &* stride &+ index])
    }

    /// Moves a color of the memory towards another.
    fileprivate func put(_ color: SIMD3<Float>, at index: Int, rate: Float) {
        for channel in 0..<3 {
            let value = min(max(color[channel], 0), 1)
            unsafe colors[channel &* stride &+ index] += rate * (value - colors[channel &* stride &+ index])
        }
    }
}

extension SampleSet {
    var memberCount: Int { (0..<wordCount).reduce(0) { unsafe $0 &+ words[$1].nonzeroBitCount } }
}

/// Figures of the remembered room in the last frame.
package struct RoomReport: Equatable, Sendable {
    /// The share of the samples whose color is remembered, 0…1.
    package var known = 0.0
    /// The share of the sure room that is as it is remembered, 0…1.
    package var agree = 0.0
    /// The share of the open samples that the memory is used for, 0…1.
    package var used = 0.0
    /// How often all was forgotten because it no longer held.
    package var forgotten = 0
}
