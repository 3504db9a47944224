/// Reads depth maps from their codes in a half of a picture in 4:2:0.
///
/// Keeps its memory between frames and allocates none in the steady state.
package struct CodedDepthReader: ~Copyable {
    private var codes = Scratch<Float>()
    private var ends = Scratch<Float>()
    /// The distance of each luma of `gray`, in millimetres, for the range that follows.
    private var table = Scratch<UInt16>()
    private var tableSpan: DepthSpan?

    package init() {}

    /// Writes the distances in millimetres, 16 bits in native byte order; 0 is not measured.
    ///
    /// - Parameters:
    ///   - colors: places of the components of the picture, 4:2:0.
    ///   - counts: as wide and high as the area.
    /// - Returns: false where the area does not lie in the planes, or the target is smaller; nothing is written.
    package mutating func read(
        _ planes: Planes<Plane>, _ area: Rectangle<Int>, _ colors: VideoColors, _ coding: DepthCoding,
        _ span: DepthSpan, _ matrix: LumaMatrix, _ edges: CodedEdges, into counts: MutablePlane
    ) -> Bool {
        guard let picture = CodedArea(planes, area, colors), counts.rowBytes >= 2 * picture.width,
            counts.rows >= picture.height
        else { return false }
        if coding == .gray && edges == .keep {
            readGray(picture, span, into: counts)
        } else {
            readSettled(picture, coding, span, matrix, edges, into: counts)
        }
        return true
    }

    // MARK: Gray as it is

    private mutating func readGray(_ picture: CodedArea, _ span: DepthSpan, into counts: MutablePlane) {
        let millimetres = unsafe millimetres(span)
        for y in 0..<picture.height {
            let (luma, chroma) = unsafe (picture.luma(y), picture.chroma(y / 2))
            let target = unsafe counts.row(y).assumingMemoryBound(to: UInt16.self)
            for x in 0..<(picture.width / 2) {
                let isHole = unsafe chroma.u[x &* picture.chromaStep] >= NearnessCodes.leastHoleChroma
                unsafe target[2 &* x] = isHole ? 0 : millimetres[Int(luma[2 &* x])]
                unsafe target[2 &* x &+ 1] = isHole ? 0 : millimetres[Int(luma[2 &* x &+ 1])]
            }
        }
    }

    private mutating func millimetres(_ span: DepthSpan) -> UnsafePointer<UInt16> {
        let counts = unsafe table.reserve(256, filler: 0)
        if tableSpan != span {
            let (codes, spacing) = (NearnessCodes(.gray), DepthSpacing(.gray, span))
            for code in 0..<256 { unsafe counts[code] = count(spacing.metres(codes.share(Float(code)))) }
            tableSpan = span
        }
        return unsafe UnsafePointer(counts)
    }

    /// A distance in whole millimetres, at least 1.
    @inline(__always)
    private func count(_ metres: Float) -> UInt16 {
        UInt16(truncatingIfNeeded: nearestWhole(min(max(metres * 1000, 1), 65_534)))
    }

    // MARK: Codes with a rule for edges

    /// Codes of three rows around the one that is read: those of holes are below all others.
    private mutating func readSettled(
        _ picture: CodedArea, _ coding: DepthCoding, _ span: DepthSpan, _ matrix: LumaMatrix, _ edges: CodedEdges,
        into counts: MutablePlane
    ) {
        let (width, height) = (picture.width, picture.height)
        let codes = unsafe codes.reserve(3 * width, filler: 0)
        let ends = unsafe ends.reserve(2 * width, filler: 0)
        let spacing = DepthSpacing(coding, span)
        let (rule, nearness) = (EdgeRule(coding, edges), NearnessCodes(coding))
        func row(_ y: Int) -> UnsafeMutablePointer<Float> { unsafe codes + y % 3 &* width }
        unsafe readCodes(0, of: picture, coding, matrix, into: row(0))
        for y in 0..<height {
            if y + 1 < height { unsafe readCodes(y + 1, of: picture, coding, matrix, into: row(y + 1)) }
            let (above, below) = unsafe (row(max(y - 1, 0)), row(min(y + 1, height - 1)))
            unsafe rule.bound(above, row(y), below, width, low: ends, high: ends + width)
            let target = unsafe counts.row(y).assumingMemoryBound(to: UInt16.self)
            let (line, u) = unsafe (row(y), picture.chroma(y / 2).u)
            for x in 0..<width {
                let code = unsafe line[x]
                let settled = unsafe rule.settle(code, x, ends, ends + width, width)
                var isHole = settled < 0
                var share = settled
                switch coding {
                case .gray:
                    let chroma = unsafe u[x / 2 &* picture.chromaStep]
                    isHole = isHole || chroma >= NearnessCodes.leastHoleChroma
                    share = nearness.share(settled)
                case .black:
                    isHole = min(settled, code) < NearnessCodes.leastLuma
                    share = nearness.share(settled)
                case .record3d: break
                case .realsense, .depthkit: share = settled * 1530 / 1529
                }
                unsafe target[x] = isHole ? 0 : count(spacing.metres(share))
            }
        }
    }

    private func readCodes(
        _ y: Int, of picture: CodedArea, _ coding: DepthCoding, _ matrix: LumaMatrix,
        into codes: UnsafeMutablePointer<Float>
    ) {
        let luma = unsafe picture.luma(y)
        guard coding.usesHue else {
            for x in 0..<picture.width { unsafe codes[x] = Float(luma[x]) }
            return
        }
        let chroma = unsafe picture.chroma(y / 2)
        for x in 0..<picture.width {
            let place = x / 2 &* picture.chromaStep
            unsafe codes[x] = hue(
                (Float(luma[x]) - matrix.black) / matrix.lumaScale, (Float(chroma.u[place]) - 128) / matrix.chromaScale,
                (Float(chroma.v[place]) - 128) / matrix.chromaScale, matrix, holesAreRed: coding == .record3d)
        }
    }

    /// The hue, 0 to 1 from red through yellow; that of a hole where it is dark, or the gray of two hues mixed, and near red, where that is
    /// the hole's.
    @inline(__always)
    private func hue(_ y: Float, _ u: Float, _ v: Float, _ matrix: LumaMatrix, holesAreRed: Bool) -> Float {
        let (r, b) = (y + matrix.redRange * v, y + matrix.blueRange * u)
        let g = (y - matrix.red * r - matrix.blue * b) / matrix.green
        let (high, low) = (max(r, g, b), min(r, g, b))
        let span = max(high - low, 1e-6)
        let sixths = high == r ? (g - b) / span : high == g ? 2 + (b - r) / span : 4 + (r - g) / span
        let hue = sixths < 0 ? sixths / 6 + 1 : sixths / 6
        let isHole = span < 0.4 || holesAreRed && (hue < 1 / 30 || hue > 14 / 15)
        return isHole ? EdgeRule.hue : hue
    }
}

/// The rule for codes between two surfaces. In the 3x3 codes around it a code that is away from both ends, where these are far apart,
/// belongs to neither.
private struct EdgeRule {
    /// The code of a hole among hues.
    static let hue: Float = -0.2

    private let edges: CodedEdges
    /// How far the ends are apart, and the code from both, at least.
    private let edge: Float
    private let slack: Float

    init(_ coding: DepthCoding, _ edges: CodedEdges) {
        self.edges = edges
        (edge, slack) = coding.usesHue ? (0.06, 0.015) : (12, 4)
    }

    /// The lowest and the highest code of each column.
    func bound(
        _ above: UnsafePointer<Float>, _ row: UnsafePointer<Float>, _ below: UnsafePointer<Float>, _ width: Int,
        low: UnsafeMutablePointer<Float>, high: UnsafeMutablePointer<Float>
    ) {
        for x in 0..<width {
            unsafe low[x] = min(above[x], row[x], below[x])
            unsafe high[x] = max(above[x], row[x], below[x])
        }
    }

    @inline(__always)
    func settle(
        _ code: Float, _ x: Int, _ lows: UnsafePointer<Float>, _ highs: UnsafePointer<Float>, _ width: Int
    ) -> Float {
        guard edges != .keep else { return code }
        let (left, right) = (max(x &- 1, 0), min(x &+ 1, width &- 1))
        let low = unsafe min(lows[left], lows[x], lows[right])
        let high = unsafe max(highs[left], highs[x], highs[right])
        guard high - low > edge, code - low > slack, high - code > slack else { return code }
        guard edges == .snap else { return -1 }
        return code - low < high - code ? low : high
    }
}
