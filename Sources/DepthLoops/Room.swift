package import CDepthKernels

extension LoopSet {
    /// Sums what the light of the remembered room is computed from (`RoomLight`), over cells of 4x4 samples in a row of cells: the samples
    /// of the first and the third row, which is half of the memory to read.
    ///
    /// Fields of a row and parameters:
    ///   - colors: Y'UV of the frame (`Guide`), three planes; `colors_stride` numbers from one to the next.
    ///   - room: red, green and blue of the memory, three planes; `above` and `below` are the rows next to it.
    ///   - width, rows: samples of a row, and rows of the cells.
    ///   - members: the samples that are summed, `words` words for each row.
    ///   - lines: scratch memory for 17 lines of the samples of a row, rounded up to a multiple of 8.
    ///   - sums: 16 numbers for each cell, whose number is even: the count; of each channel the sums of the frame, of the memory, of
    ///     their products and of the memory's squares; the sum of the frame's squares; that of the memory's squared slopes.
    package static func sumRoom(
        _ part: dm_room_cells, lines: UnsafeMutablePointer<Float>, into sums: UnsafeMutablePointer<Float>
    ) {
        let (width, row) = unsafe (part.width, part.row)
        let (stride, colorsStride, roomStride) = unsafe ((width &+ 7) & ~7, row.colors_stride, row.room_stride)
        let third = unsafe part.rows > 2 ? 2 : 0
        let (slopes, slopes3) = unsafe (lines + 15 &* stride, lines + 16 &* stride)
        var (first, last) = unsafe (row, row)
        if unsafe part.rows > 1 { unsafe first.below = row.room + width }
        unsafe findSlopes(first, count: stride, into: slopes)
        unsafe (last.room, last.above) = (row.room + third &* width, row.room + max(third &- 1, 0) &* width)
        unsafe last.below = part.rows > 3 ? row.room + 3 &* width : row.below
        unsafe findSlopes(last, count: stride, into: slopes3)
        for block in upTo(stride &>> 3) {
            let x = block &* 8
            let shift = UInt64(truncatingIfNeeded: x & 63)
            let word = unsafe part.members + (x &>> 6)
            let bits = unsafe UInt8(truncatingIfNeeded: word[0] &>> shift)
            let other = unsafe third == 0 ? 0 : UInt8(truncatingIfNeeded: word[2 &* part.words] &>> shift)
            let (w, w3) = (weights(bits), weights(other))
            let target = unsafe lines + x
            unsafe store(w + w3, target)
            if bits | other == 0 {
                for line in 1..<15 { unsafe store(w, target + line &* stride) }
                continue
            }
            var squares = Eight(repeating: 0)
            for channel in 0..<3 {
                let colors = unsafe row.colors + x
                let (v, v3) = unsafe (
                    coded(colors, colorsStride, channel), coded(colors + third &* width, colorsStride, channel)
                )
                let room = unsafe row.room + channel &* roomStride + x
                let (b, b3) = unsafe (eight(room), eight(room + third &* width))
                let (now, now3, past, past3) = (w * v, w3 * v3, w * b, w3 * b3)
                squares += now * v + now3 * v3
                let line = unsafe target + (channel &+ 1) &* stride
                unsafe store(now + now3, line)
                unsafe store(past + past3, line + 3 &* stride)
                unsafe store(now * b + now3 * b3, line + 6 &* stride)
                unsafe store(past * b + past3 * b3, line + 9 &* stride)
            }
            unsafe store(squares, target + 13 &* stride)
            unsafe store(w * eight(slopes + x) + w3 * eight(slopes3 + x), target + 14 &* stride)
        }
        for line in 0..<15 {
            let numbers = unsafe lines + line &* stride
            for cell in upTo(stride &>> 2) {
                let x = 4 &* cell
                unsafe sums[16 &* cell &+ line] =
                    (numbers[x] + numbers[x &+ 1]) + (numbers[x &+ 2] + numbers[x &+ 3])
            }
        }
    }

    /// Replaces the evidence of some samples of a row of a tile by that of the remembered room (`RoomEvidence`).
    ///
    /// Fields and parameters:
    ///   - row: as in `sumRoom`.
    ///   - light, noise: for each sample the local gain, and the variance of a channel.
    ///   - used: above 0 for the samples whose evidence is replaced.
    ///   - gain: of each channel.
    ///   - person: the person's colors, three numbers of Y'UV for each; `person_light` in linear light.
    ///   - count: 16 at most.
    ///   - variance: of a color, as in `evidence`.
    ///   - memory: scratch memory of 16 lines of 16 numbers.
    package static func roomEvidence(
        _ part: dm_room_evidence, memory: UnsafeMutablePointer<Float>, into target: UnsafeMutablePointer<Float>
    ) {
        let (count, row) = unsafe (min(part.count, 16), part.row)
        // Lines of 16 numbers; d and b are three.
        let (d, b, variance, slope, alpha, weight, sure) = (0, 48, 96, 112, 128, 144, 160)
        let (best, toPerson, toRoom, noise, slopes) = (176, 192, 208, 224, 240)
        unsafe findSlopes(row, count: count, into: memory + slopes)
        for half in upTo((count &+ 7) &>> 3) {
            let x = 8 &* half
            let (colors, local) = unsafe (row.colors + x, eight(part.light + x))
            var (difference, gains) = (Eight(repeating: 0), Eight(repeating: 0))
            for channel in 0..<3 {
                let gain = unsafe local * part.gain[channel]
                let now = unsafe limited(coded(colors, row.colors_stride, channel))
                let room = unsafe eight(row.room + channel &* row.room_stride + x)
                let known = limited(room * gain)
                // What was overexposed may have been brighter than it can say.
                let past = known.replacing(with: greatest(known, now), where: room .>= overexposed)
                difference += (now - past) * (now - past)
                gains += gain * gain
                unsafe store(linear(past), memory + (b &+ 16 &* channel &+ x))
                unsafe store(linear(now) - linear(past), memory + (d &+ 16 &* channel &+ x))
            }
            unsafe store(difference, memory + (toRoom &+ x))
            let trembling = unsafe eight(memory + (slopes &+ x)) * gains * (jitter * jitter / 9)
            unsafe store(eight(part.noise + x) + trembling, memory + (noise &+ x))
            var nearest = Eight(repeating: 4)
            for index in unsafe upTo(part.person_colors) {
                var distance = Eight(repeating: 0)
                for channel in 0..<3 {
                    let step =
                        unsafe eight(colors + channel &* row.colors_stride)
                        - Eight(repeating: part.person[3 &* index &+ channel])
                    distance += step * step
                }
                nearest = least(nearest, distance)
            }
            unsafe store(nearest, memory + (toPerson &+ x))
        }
        for x in upTo(count) {
            @inline(__always)
            func middle(_ channel: Int) -> Float {
                let place = 16 &* channel &+ x
                return unsafe dm_square_root(max(memory[b &+ place] + 0.5 * memory[d &+ place], 0.004))
            }
            // From coded differences to light.
            let factor = (middle(0) + middle(1) + middle(2)) * (2.2 / 3)
            unsafe memory[slope &+ x] = factor
            unsafe memory[variance &+ x] = memory[noise &+ x] * factor * factor
            unsafe (memory[alpha &+ x], memory[weight &+ x], memory[sure &+ x], memory[best &+ x]) = (0, 0, 0, 0)
        }
        for index in unsafe upTo(part.person_colors) {
            let color = unsafe part.person_light + 3 &* index
            let (p0, p1, p2) = unsafe (color[0], color[1], color[2])
            for x in upTo(count) {
                let e0 = unsafe p0 - memory[b &+ x]
                let e1 = unsafe p1 - memory[b &+ 16 &+ x]
                let e2 = unsafe p2 - memory[b &+ 32 &+ x]
                let (d0, d1, d2) = unsafe (memory[d &+ x], memory[d &+ 16 &+ x], memory[d &+ 32 &+ x])
                let length = e0 * e0 + e1 * e1 + e2 * e2
                let share = min(max((d0 * e0 + d1 * e1 + d2 * e2) / (length + 1e-6), 0), 1)
                let (o0, o1, o2) = (d0 - share * e0, d1 - share * e1, d2 - share * e2)
                let (spread, factor) = unsafe (memory[variance &+ x], memory[slope &+ x])
                let cloth = 0.5 * clothSpread * factor * share
                let off = (o0 * o0 + o1 * o1 + o2 * o2) / (spread + cloth * cloth + 1e-6)
                let fits = naturalExponential(-0.5 * min(off, 60)) + 1e-12
                unsafe memory[alpha &+ x] += fits * share
                unsafe memory[weight &+ x] += fits
                unsafe memory[best &+ x] = max(memory[best &+ x], fits)
                let apart = halfApart * factor
                unsafe memory[sure &+ x] += fits * length / (length + 12 * spread + apart * apart)
            }
        }
        let (hasColors, personVariance) = unsafe (part.person_colors > 0, part.variance)
        for x in upTo(count) {
            let person = unsafe density(memory[toPerson &+ x], personVariance)
            let room = unsafe density(memory[toRoom &+ x], memory[noise &+ x])
            let ratio =
                ((1 - personOutliers) * person + personOutliers * outlierDensity)
                / ((1 - roomOutliers) * room + roomOutliers * outlierDensity)
            let all = unsafe max(memory[weight &+ x], 1e-12)
            let trust = unsafe hasColors ? memory[sure &+ x] / all * min(memory[best &+ x] / fullFit, 1) : 0
            let share = unsafe memory[alpha &+ x] / all
            let odds = trust * strength * (2 * share - 1) + (1 - trust) * naturalLogarithm(ratio)
            unsafe memory[alpha &+ x] = min(max(odds, -mostOdds), mostOdds)
        }
        for x in upTo(count) { unsafe target[x] = part.used[x] > 0 ? memory[alpha &+ x] : target[x] }
    }
}

/// Log odds of a surely projected alpha of 1, and of any evidence at most.
private let strength: Float = 6
private let mostOdds: Float = 8
/// Coded: the spread of a palette's color, and the difference of room and person that is worth half.
private let clothSpread: Float = 0.1
private let overexposed: Float = 0.985
private let halfApart: Float = 0.12
/// Samples that the picture may tremble.
private let jitter: Float = 0.5
/// The shares of the room that looks like nothing remembered, and of the person that is in no palette; and the density of such colors.
private let roomOutliers: Float = 0.03
private let personOutliers: Float = 0.3
private let outlierDensity: Float = 10
/// The weight of a color that counts in full.
private let fullFit: Float = 0.05

/// The density of a color at a squared distance, of three channels with a variance.
@inline(__always)
private func density(_ distance: Float, _ variance: Float) -> Float {
    let area = 6.283_185 * variance
    return naturalExponential(-0.5 * distance / variance) / (area * dm_square_root(area))
}

/// Red, green or blue, coded, of Y'UV (`Guide.channels`).
@inline(__always)
private func coded(_ colors: UnsafePointer<Float>, _ stride: Int, _ channel: Int) -> Eight {
    let (y, u, v) = unsafe (eight(colors), eight(colors + stride), eight(colors + 2 &* stride))
    return channel == 0 ? y + v * 0.760_167 : channel == 2 ? y + u * 1.355_014 : y - u * 0.263_154 - v * 0.387_206
}

@inline(__always)
private func limited(_ value: Eight) -> Eight { least(greatest(value, Eight(repeating: 0)), Eight(repeating: 1)) }

/// Light of a coded value of sRGB, within 0.003.
@inline(__always)
private func linear(_ value: Eight) -> Eight {
    value * (value * (value * 0.305_306_011 + 0.682_171_111) + 0.012_522_878)
}

/// The squared slopes of the memory in units of a sample, summed over the channels.
@inline(__always)
private func findSlopes(_ row: dm_room_row, count: Int, into target: UnsafeMutablePointer<Float>) {
    for channel in 0..<3 {
        let plane = unsafe channel &* row.room_stride
        let (here, above, below) = unsafe (row.room + plane, row.above + plane, row.below + plane)
        for x in upTo(count) {
            let (across, down) = unsafe ((here[x &+ 1] - here[x &- 1]) * 0.5, (below[x] - above[x]) * 0.5)
            unsafe target[x] = (channel == 0 ? 0 : target[x]) + across * across + down * down
        }
    }
}

/// 1 for each bit that is set, else 0.
@inline(__always)
private func weights(_ bits: UInt8) -> Eight {
    let ones = SIMD8<Int32>(1, 2, 4, 8, 16, 32, 64, 128)
    let isSet = unsafe unsafeBitCast((SIMD8<Int32>(repeating: Int32(bits)) & ones) .== ones, to: SIMD8<UInt32>.self)
    return unsafe unsafeBitCast(isSet & SIMD8<UInt32>(repeating: Float(1).bitPattern), to: Eight.self)
}
