import CDepthKernels

/// The stage that asks an open sample whether it is the remembered room, the person's color, or a mixture of both.
///
/// For each color F of the tile's person palette, in linear light:
///
///     α = D·E / E·E, 0…1,   D = I − B,   E = F − B
///
/// α is the mean of these, weighted by how well D lies on the line. c = E·E / (E·E + 12 σ² + 0.12²) says how far apart room and
/// person are:
///
///     L = 6 c (2α − 1) + (1 − c) R
///
/// R is the log ratio of the densities of the palette and of B, with heavy tails. Where person and room are alike c is small, and the prior
/// decides. The numbers are in `DepthLoops/Room.swift`.
///
/// Source: Smith and Blinn, "Blue screen matting", SIGGRAPH 1996; Qian and Sezan, "Video background replacement without a blue
/// screen", ICIP 1999.
struct RoomEvidence: ~Copyable {
    /// The person's colors, as `ColorEvidence` knows them.
    struct Person {
        let palettes: ColorEvidence.Palettes
        let order: [SIMD2<Int>]
        let variance: Float
    }

    private var used = Scratch<Int32>()

    /// - Returns: the share of the open samples whose evidence was replaced.
    mutating func decide(
        _ evidence: UnsafeMutablePointer<Float>, _ colors: UnsafePointer<Float>, _ sets: Classes.Sets,
        _ room: RoomMemory.Planes, known: SampleSet, _ light: RoomLight.Map, _ person: Person, _ context: FusionContext
    ) -> Double {
        let (grid, tileRows) = (context.grid, groups(of: TileSet.size, in: context.grid.height))
        let counts = unsafe used.reserve(2 * tileRows, filler: 0)
        let work = unsafe Rows(
            evidence: evidence, colors: colors, sets: sets, room: room, known: known, light: light, person: person,
            grid: grid, loops: context.loops, counts: counts)
        context.bands.share(work, rows: grid.height, width: grid.width, rowAlignment: TileSet.size)
        var (open, used) = (0, 0)
        for row in 0..<tileRows {
            unsafe (open, used) = (open &+ Int(counts[2 &* row]), used &+ Int(counts[2 &* row &+ 1]))
        }
        return Double(used) / Double(max(open, 1))
    }

    @safe
    private struct Rows: BandWork {
        let evidence: UnsafeMutablePointer<Float>
        let colors: UnsafePointer<Float>
        let sets: Classes.Sets
        let room: RoomMemory.Planes
        let known: SampleSet
        let light: RoomLight.Map
        let person: Person
        let grid: WorkGrid
        let loops: Loops
        /// For each row of tiles the open samples, and those that are used.
        let counts: UnsafeMutablePointer<Int32>

        func work(_ rows: Range<Int>, _ memory: MatteMemory) {
            let size = TileSet.size
            let most = 3 * ColorEvidence.palette
            let numbers = unsafe memory.line.reserve(2 * most + 20 * size, filler: 0)
            let (palette, linear) = unsafe (numbers, numbers + most)
            let (lines, scratch, gain) = unsafe (linear + most, linear + most + 3 * size, linear + most + 19 * size)
            for channel in 0..<3 { unsafe gain[channel] = light.gain[channel] }
            for top in stride(from: rows.lowerBound, to: rows.upperBound, by: size) {
                var (openCount, usedCount): (Int32, Int32) = (0, 0)
                let tileRows = top..<min(top &+ size, rows.upperBound)
                for left in stride(from: 0, to: grid.width, by: size) {
                    let block = left / size
                    let all = UInt16.max &>> UInt16(truncatingIfNeeded: max(left &+ size &- grid.width, 0))
                    var colorCount = -1
                    for y in tileRows {
                        let open = ~(sets.person.bits(y)[block: block] | sets.room.bits(y)[block: block]) & all
                        openCount &+= Int32(truncatingIfNeeded: open.nonzeroBitCount)
                        let asked = open & known.bits(y)[block: block]
                        guard asked != 0 else { continue }
                        // Half of a tile's row costs half.
                        let isRight = asked & 0xff == 0
                        let left = isRight ? left &+ size / 2 : left
                        let count = min(isRight || asked &>> 8 == 0 ? size / 2 : size, grid.width &- left)
                        let used = unsafe interpolate(
                            row: y, left, isRight ? asked &>> 8 : asked, count, into: lines)
                        guard used > 0 else { continue }
                        usedCount &+= used
                        if colorCount < 0 {
                            colorCount = unsafe person.palettes.gather(
                                tileX: block, tileY: top / size, person.order, apart: 3 * person.variance, into: palette
                            )
                            unsafe toLight(palette, colorCount, into: linear)
                        }
                        let place = y &* grid.width &+ left
                        var row = unsafe room.row(colors, from: y, to: y &+ 1, on: grid)
                        unsafe (row.colors, row.room) = (row.colors + left, row.room + left)
                        unsafe (row.above, row.below) = (row.above + left, row.below + left)
                        unsafe loops.roomEvidence(
                            .init(
                                row: row, light: lines, noise: lines + size, used: lines + 2 &* size,
                                gain: gain, person: palette, person_light: linear,
                                person_colors: colorCount, count: count,
                                variance: person.variance), memory: scratch, into: evidence + place)
                    }
                }
                unsafe (counts[2 &* (top / size)], counts[2 &* (top / size) &+ 1]) = (openCount, usedCount)
            }
        }

        /// Interpolates local gain and noise of a row of a tile, and marks what is trusted of the samples that are asked.
        ///
        /// - Returns: their number.
        private func interpolate(
            row y: Int, _ left: Int, _ asked: UInt16, _ count: Int, into lines: UnsafeMutablePointer<Float>
        ) -> Int32 {
            let size = TileSet.size
            let (upper, down) = Rows.place(y)
            let above = unsafe light.cells + upper &* light.stride
            let below = unsafe above + light.stride
            var used: Int32 = 0
            var start = SIMD4<Float>()
            var end = unsafe above[left &>> 2] + down * (below[left &>> 2] - above[left &>> 2])
            for x in 0..<count {
                if x & 3 == 2 || x == 0 {
                    // Between the middles of the next two cells.
                    let next = (left &+ x &+ 2) &>> 2 &+ 1
                    start = end
                    end = unsafe above[next] + down * (below[next] - above[next])
                }
                let here = start + Rows.place(x).share * (end - start)
                unsafe (lines[x], lines[size &+ x]) = (here.x, here.y)
                let isUsed = asked &>> UInt16(truncatingIfNeeded: x) & 1 != 0 && here.z >= RoomLight.agree
                unsafe lines[2 &* size &+ x] = isUsed ? 1 : 0
                if isUsed { used &+= 1 }
            }
            return used
        }

        /// The first of the two cells between whose middles a sample lies, in a map with a border, and the share of the second.
        private static func place(_ sample: Int) -> (cell: Int, share: Float) {
            let rest = sample & 3
            return (sample &>> 2 &+ (rest < 2 ? 0 : 1), Float(2 &* rest &+ (rest < 2 ? 5 : -3)) * 0.125)
        }

        /// Converts colors to linear light.
        private func toLight(
            _ palette: UnsafePointer<Float>, _ count: Int, into target: UnsafeMutablePointer<Float>
        ) {
            for index in 0..<count {
                let color = unsafe Guide.channels(
                    SIMD3(palette[3 &* index], palette[3 &* index &+ 1], palette[3 &* index &+ 2]))
                for channel in 0..<3 {
                    let value = min(max(color[channel], 0), 1)
                    unsafe target[3 &* index &+ channel] =
                        value * (value * (value * 0.305_306_011 + 0.682_171_111) + 0.012_522_878)
                }
            }
        }
    }
}
