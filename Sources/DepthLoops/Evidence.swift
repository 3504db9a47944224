package import CDepthKernels

extension LoopSet {
    /// Computes the color evidence of some neighbouring samples (`ColorEvidence`).
    ///
    ///     L = log((e^(−df/2v) + o) / (e^(−db/2v) + o))
    ///
    /// df and db are the squared distances of a sample's color to the nearest of the person's and of the room's colors, 4
    /// where there are none.
    ///
    /// Fields and parameters:
    ///   - colors: three rows, `stride` numbers apart.
    ///   - person: the person's colors, three numbers for each.
    ///   - room: the room's.
    ///   - factor: −1 / 2v.
    ///   - outlier: o.
    ///   - memory: scratch memory of twice the count.
    package static func evidence(
        _ part: dm_color_evidence, count: Int, memory: UnsafeMutablePointer<Float>,
        into target: UnsafeMutablePointer<Float>
    ) {
        @inline(__always)
        func nearest(_ palette: UnsafePointer<Float>, _ paletteColors: Int, into target: UnsafeMutablePointer<Float>) {
            let (colors, stride) = unsafe (part.colors, part.stride)
            for x in upTo(count) { unsafe target[x] = 4 }
            for index in upTo(paletteColors) {
                let (y, u, v) = unsafe (palette[3 &* index], palette[3 &* index &+ 1], palette[3 &* index &+ 2])
                for x in upTo(count) {
                    let dy = unsafe colors[x] - y
                    let du = unsafe colors[stride &+ x] - u
                    let dv = unsafe colors[2 &* stride &+ x] - v
                    unsafe target[x] = min(target[x], dy * dy + du * du + dv * dv)
                }
            }
        }
        unsafe nearest(part.person, part.person_colors, into: memory)
        unsafe nearest(part.room, part.room_colors, into: memory + count)
        let toRoom = unsafe UnsafePointer(memory + count)
        for x in upTo(count) {
            let ratio =
                unsafe (naturalExponential(memory[x] * part.factor) + part.outlier)
                / (naturalExponential(toRoom[x] * part.factor) + part.outlier)
            unsafe target[x] = naturalLogarithm(ratio)
        }
    }
}

extension LoopSet {
    /// Sums the colors of the members of a set in a tile of up to 16 columns.
    ///
    /// Fields and parameters:
    ///   - colors: three planes, `stride` numbers apart, rows of `width`.
    ///   - bits: the set's words for the first row, `bits_stride` words from one row to the next; the tile begins at bit
    ///     `shift`.
    package static func sumTile(_ part: dm_tile, into sums: inout dm_tile_sums) {
        let (colors, stride, columns) = unsafe (part.colors, part.stride, part.columns)
        var (y, u, v, squares) = (Sixteen(), Sixteen(), Sixteen(), Sixteen())
        var count = 0
        for row in unsafe upTo(part.rows) {
            let members = unsafe UInt16(truncatingIfNeeded: part.bits[row &* part.bits_stride] &>> part.shift)
            if members == 0 { continue }
            count &+= members.nonzeroBitCount
            let line = unsafe colors + row &* part.width
            // The next tile's rows are in three planes, too far apart for the processor to foresee.
            let next = UInt(bitPattern: line) &+ UInt(4 &* Sixteen.scalarCount)
            for plane in 0..<3 { dm_prefetch_for_reading(next &+ UInt(bitPattern: 4 &* plane &* stride)) }
            // A tile at the end of a row has fewer columns: what follows is another thread's row.
            var (a, b, c) =
                columns == Sixteen.scalarCount
                ? unsafe (sixteen(line), sixteen(line + stride), sixteen(line + 2 &* stride))
                : unsafe (
                    sixteen(line, columns), sixteen(line + stride, columns), sixteen(line + 2 &* stride, columns)
                )
            if members != .max {
                let isIn = unsafe unsafeBitCast(
                    (SIMD16<Int32>(repeating: Int32(members)) & tileBits) .== tileBits, to: SIMD16<UInt32>.self)
                (a, b, c) = (a.masked(by: isIn), b.masked(by: isIn), c.masked(by: isIn))
            }
            y += a
            u += b
            v += c
            squares += a * a + b * b + c * c
        }
        sums.samples = Float(count)
        sums.y = y.sum()
        sums.u = u.sum()
        sums.v = v.sum()
        sums.squares = squares.sum()
    }
}

/// The bit of each column of a tile. A constant that is stored would be looked up once a call.
@inline(__always)
var tileBits: SIMD16<Int32> {
    SIMD16(1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384, 32768)
}

extension Sixteen {
    /// The same, 0 where no bits of the mask are set: `replace(with:where:)` goes lane by lane through memory.
    @inline(__always)
    fileprivate func masked(by mask: SIMD16<UInt32>) -> Sixteen {
        unsafe unsafeBitCast(unsafeBitCast(self, to: SIMD16<UInt32>.self) & mask, to: Sixteen.self)
    }
}

private func sixteen(_ source: UnsafePointer<Float>, _ columns: Int) -> Sixteen {
    var numbers = Sixteen(repeating: 0)
    for column in 0..<Sixteen.scalarCount where column < columns { numbers[column] = unsafe source[column] }
    return numbers
}
