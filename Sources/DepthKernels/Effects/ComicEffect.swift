import DepthLoops

/// Draws a picture as a comic: few tones, dark lines along the edges, stronger colors.
///
/// A substitute for Core Image's CIComicEffect, without its dots. Source: Winnemöller, Olsen and Gooch, "Real-time
/// video abstraction", SIGGRAPH 2006 (doi:10.1145/1141911.1142018), §3.2 (lines) and §3.3 (tones), with a Gaussian blur
/// instead of their bilateral filters. With L the luma, 0…255, and G₁, G₂ its blurs by
/// sigmas of s and √3·s pixels, where s is the picture's height over 720, rounded, and at least 1:
///
///     tone   Q = q + 16 · tanh(0.4 · (G₁ − q)),           q the nearest multiple of 32
///     line   D = 1 where E ≥ 0, else 1 + tanh(E / 2.55),  E = G₁ − 0.98 · G₂ + 1
///     luma   T = Q · D
///     color c′ = T + 1.25 · min(T / L, 2) · (c − L)       for chroma with 128 in place of T and of L at once
///
/// Luma is the luma of the format; of RGB it is (R + 2G + B) / 4, so that the order of the bytes need not be known.
/// Keeps its memory between frames and allocates none in the steady state. Not for two threads at once.
package final class ComicEffect {
    private var luma = Scratch<UInt8>()
    private var fine = Scratch<UInt8>()
    private var coarse = Scratch<UInt8>()
    private var spare = Scratch<UInt8>()
    private var sums = Scratch<UInt16>()
    private let tones = InlineArray<256, UInt8> { ComicEffect.tone($0) }
    private let lines = InlineArray<256, UInt8> { ComicEffect.line($0) }

    package init() {}

    /// Fills `target` with the drawing; both have the same layout and size.
    ///
    /// - Parameters:
    ///   - bytes: the meaning of the bytes of each plane's samples, as in `drawMatte`: gray ones are luma, or R, G and
    ///     B; opaque ones are copied, unused ones become 255.
    ///   - grays: the stored luma for 0…255.
    /// - Returns: false, with undefined contents of `target`, if a plane is missing or too small.
    package func draw(
        _ video: Planes<Plane>, into target: Planes<MutablePlane>, layout: PixelLayout, width: Int, height: Int,
        bytes: [[ByteRole]], grays: GrayTable
    ) -> Bool {
        guard layout.fits(video, width: width, height: height),
            layout.fits(target.readOnly, width: width, height: height),
            let first = video[0], let planeLayout = layout.planes.first
        else { return false }
        let frame = ComicFrame(width: width, height: height, bytes: bytes, grays: grays)
        let luma = unsafe luma.reserve(width * height, filler: 0)
        for y in 0..<height {
            unsafe frame.readLuma(row: y, of: first, planeLayout: planeLayout, into: luma + y &* width)
        }
        let fine = unsafe fine.reserve(width * height, filler: 0)
        let coarse = unsafe coarse.reserve(width * height, filler: 0)
        let spare = unsafe spare.reserve(width * height, filler: 0)
        let step = max(1, (height + 360) / 720)
        unsafe smooth(luma, into: fine, frame, step: step)
        unsafe smooth(fine, into: spare, frame, step: step)
        unsafe smooth(spare, into: coarse, frame, step: step)
        for index in 0..<(width &* height) { unsafe fine[index] = toned(fine: fine[index], coarse: coarse[index]) }
        for (index, planeLayout) in layout.planes.enumerated() {
            guard let source = video[index], let plane = target[index] else { return false }
            for y in 0..<layout.rows(plane: index, height: height) {
                unsafe frame.paint(row: y, plane: index, planeLayout, source, plane, luma: luma, tones: fine)
            }
        }
        return true
    }

    /// The luma T of the drawing.
    @inline(__always)
    private func toned(fine: UInt8, coarse: UInt8) -> UInt8 {
        // 50 · E, with 0.98 as 49/50. The table `lines` has an entry for each −50 · E / 8.
        let edge = 50 &* Int32(fine) &- 49 &* Int32(coarse) &+ 50
        let tone = tones[Int(fine)]
        guard edge < 0 else { return tone }
        let line = lines[Int(min((0 &- edge) &>> 3, 255))]
        return scaledByte(tone, line)
    }

    private static func tone(_ luma: Int) -> UInt8 {
        let value = Double(luma)
        let nearest = 32 * (value / 32).rounded()
        return UInt8(truncatingIfNeeded: nearestIndex(nearest + 16 * tanh(0.4 * (value - nearest)), in: 0...255))
    }

    /// 255 · (1 + tanh(E / 2.55)) for E = −8/50 · `index`.
    private static func line(_ index: Int) -> UInt8 {
        UInt8(truncatingIfNeeded: nearestIndex(255 * (1 + tanh(-Double(index) * 8 / 50 / 2.55)), in: 0...255))
    }

    private static func tanh(_ x: Double) -> Double {
        let power = exponential(-2 * (x < 0 ? -x : x))
        return (x < 0 ? -1 : 1) * (1 - power) / (1 + power)
    }

    /// Convolves with the binomial kernel 1 4 6 4 1 along both axes, its taps `step` pixels apart: a Gaussian with a
    /// sigma of `step`. Edges are replicated.
    private func smooth(
        _ source: UnsafeMutablePointer<UInt8>, into target: UnsafeMutablePointer<UInt8>, _ frame: ComicFrame, step: Int
    ) {
        let (width, height) = (frame.width, frame.height)
        let line = unsafe sums.reserve(width + 4 * step, filler: 0)
        for y in 0..<height {
            let above2 = unsafe source + max(y &- 2 &* step, 0) &* width
            let above = unsafe source + max(y &- step, 0) &* width
            let here = unsafe source + y &* width
            let below = unsafe source + min(y &+ step, height &- 1) &* width
            let below2 = unsafe source + min(y &+ 2 &* step, height &- 1) &* width
            let middle = unsafe line + 2 &* step
            for x in 0..<width {
                let ends = unsafe UInt16(above2[x]) &+ UInt16(below2[x])
                let sides = unsafe UInt16(above[x]) &+ UInt16(below[x])
                unsafe middle[x] = ends &+ sides &* 4 &+ UInt16(here[x]) &* 6
            }
            for x in 0..<(2 &* step) {
                unsafe line[x] = middle[0]
                unsafe middle[width &+ x] = middle[width &- 1]
            }
            let into = unsafe target + y &* width
            for x in 0..<width {
                let ends = unsafe UInt32(line[x]) &+ UInt32(line[x &+ 4 &* step])
                let sides = unsafe UInt32(line[x &+ step]) &+ UInt32(line[x &+ 3 &* step])
                let sum = unsafe ends &+ sides &* 4 &+ UInt32(line[x &+ 2 &* step]) &* 6
                unsafe into[x] = UInt8(truncatingIfNeeded: (sum &+ 128) >> 8)
            }
        }
    }
}

/// The meaning of the bytes of one picture.
private struct ComicFrame {
    let width: Int
    let height: Int
    let bytes: [[ByteRole]]
    let grays: GrayTable
    /// The luma, 0…255, of each stored gray.
    private let levels: InlineArray<256, UInt8>

    init(width: Int, height: Int, bytes: [[ByteRole]], grays: GrayTable) {
        self.width = width
        self.height = height
        self.bytes = bytes
        self.grays = grays
        let black = Int(grays.values[0])
        let range = max(Int(grays.values[255]) - black, 1)
        levels = InlineArray { UInt8(truncatingIfNeeded: min(max(($0 - black) * 255 / range, 0), 255)) }
    }

    /// The offset of R, G and B in a pixel; nil where the plane does not hold them.
    private func colors(_ plane: Int, bytesPerPixel: Int) -> Int? {
        guard bytesPerPixel >= 3 else { return nil }
        return (0...(bytesPerPixel - 3)).first { start in
            (start..<(start + 3)).allSatisfy { bytes.role(ofByte: $0, plane: plane) == .gray }
        }
    }

    private func lumaOffset(bytesPerPixel: Int) -> Int {
        (0..<bytesPerPixel).first { bytes.role(ofByte: $0, plane: 0) == .gray } ?? 0
    }

    func readLuma(row y: Int, of plane: Plane, planeLayout: PlaneLayout, into luma: UnsafeMutablePointer<UInt8>) {
        let source = unsafe plane.row(y).assumingMemoryBound(to: UInt8.self)
        if case .packed422(let lumaFirst) = planeLayout {
            let first = unsafe source + (lumaFirst ? 0 : 1)
            for x in 0..<width { unsafe luma[x] = levels[Int(first[x &* 2])] }
            return
        }
        let size = planeLayout.bytesPerSample
        if let start = colors(0, bytesPerPixel: size) {
            for x in 0..<width {
                let pixel = unsafe source + (x &* size &+ start)
                let sum = unsafe UInt32(pixel[0]) &+ 2 &* UInt32(pixel[1]) &+ UInt32(pixel[2])
                unsafe luma[x] = UInt8(truncatingIfNeeded: (sum &+ 2) >> 2)
            }
        } else {
            let first = unsafe source + lumaOffset(bytesPerPixel: size)
            for x in 0..<width { unsafe luma[x] = levels[Int(first[x &* size])] }
        }
    }

    func paint(
        row y: Int, plane index: Int, _ planeLayout: PlaneLayout, _ source: Plane, _ target: MutablePlane,
        luma: UnsafeMutablePointer<UInt8>, tones: UnsafeMutablePointer<UInt8>
    ) {
        let from = unsafe source.row(y).assumingMemoryBound(to: UInt8.self)
        let into = unsafe target.row(y).assumingMemoryBound(to: UInt8.self)
        switch planeLayout {
        case .full(let size):
            let lumaRow = unsafe luma + y &* width
            let toneRow = unsafe tones + y &* width
            if let start = colors(index, bytesPerPixel: size) {
                let keepsRest = (0..<size).allSatisfy { bytes.role(ofByte: $0, plane: index) != .unused }
                for x in 0..<width {
                    let (l, t) = unsafe (lumaRow[x], toneRow[x])
                    let gain = gain(luma: l, tone: t)
                    for offset in 0..<size {
                        let place = x &* size &+ offset
                        let isColor = offset >= start && offset < start &+ 3
                        let rest = unsafe keepsRest ? from[place] : 255
                        unsafe into[place] = isColor ? scaled(from[place], about: l, to: t, gain) : rest
                    }
                }
                return
            }
            for offset in 0..<size {
                switch bytes.role(ofByte: offset, plane: index) {
                case .gray: for x in 0..<width { unsafe into[x &* size &+ offset] = grays.values[Int(toneRow[x])] }
                case .unused: for x in 0..<width { unsafe into[x &* size &+ offset] = 255 }
                case .opaque: for x in 0..<width { unsafe into[x &* size &+ offset] = from[x &* size &+ offset] }
                case .neutral:
                    for x in 0..<width {
                        let gain = unsafe gain(luma: lumaRow[x], tone: toneRow[x])
                        unsafe into[x &* size &+ offset] = scaled(from[x &* size &+ offset], about: 128, to: 128, gain)
                    }
                }
            }
        case .subsampled(let h, let v, let size):
            for x in 0..<groups(of: h, in: width) {
                let gain = unsafe gain(x: x &* h, y: y &* v, h, v, luma, tones)
                for offset in 0..<size {
                    let place = x &* size &+ offset
                    unsafe into[place] = scaled(from[place], about: 128, to: 128, gain)
                }
            }
        case .packed422(let lumaFirst):
            let place = lumaFirst ? 0 : 1
            let toneRow = unsafe tones + y &* width
            for x in 0..<groups(of: 2, in: width) {
                let pair = x &* 4
                let gain = unsafe gain(x: x &* 2, y: y, 2, 1, luma, tones)
                let chroma = pair &+ 1 &- place
                unsafe into[pair &+ place] = grays.values[Int(toneRow[x &* 2])]
                unsafe into[pair &+ place &+ 2] = grays.values[Int(toneRow[min(x &* 2 &+ 1, width &- 1)])]
                unsafe into[chroma] = scaled(from[chroma], about: 128, to: 128, gain)
                unsafe into[chroma &+ 2] = scaled(from[chroma &+ 2], about: 128, to: 128, gain)
            }
        }
    }

    /// The factor by which colors become stronger, in 1/256.
    @inline(__always)
    private func gain(luma: UInt8, tone: UInt8) -> Int32 {
        // 1.25 · 256 = 320
        min(320 &* Int32(tone) / max(Int32(luma), 1), 640)
    }

    /// The same for the mean of the pixels that share a sample.
    @inline(__always)
    private func gain(
        x: Int, y: Int, _ h: Int, _ v: Int, _ luma: UnsafeMutablePointer<UInt8>, _ tones: UnsafeMutablePointer<UInt8>
    ) -> Int32 {
        var (lumaSum, toneSum): (Int32, Int32) = (0, 0)
        for row in y..<min(y &+ v, height) {
            for column in x..<min(x &+ h, width) {
                unsafe lumaSum &+= Int32(luma[row &* width &+ column])
                unsafe toneSum &+= Int32(tones[row &* width &+ column])
            }
        }
        return min(320 &* toneSum / max(lumaSum, 1), 640)
    }

    @inline(__always)
    private func scaled(_ byte: UInt8, about old: UInt8, to new: UInt8, _ gain: Int32) -> UInt8 {
        let value = Int32(new) &+ ((Int32(byte) &- Int32(old)) &* gain &+ 128) &>> 8
        return UInt8(truncatingIfNeeded: min(max(value, 0), 255))
    }
}
