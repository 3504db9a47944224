/// A way to write a depth map as a picture of 8 bits that video codecs carry.
///
/// Sources: gray: RangeInverse of Google's depthmap metadata, with holes in the chroma. Record3D: its Wi-Fi streaming demo's README,
/// 2.2. RealSense: Sonoda and Grunnet-Jepsen, "Depth image compression by colorization". Depthkit: docs.depthkit.tv, combined per pixel.
package enum DepthCoding: Int, Sendable, CaseIterable {
    /// Luma is nearness, U says where nothing was measured.
    case gray
    /// Luma is nearness, black is what was not measured.
    case black
    /// Hue is distance, red also what was not measured.
    case record3d
    /// Hue is nearness in 1529 steps, black is what was not measured.
    case realsense
    /// Hue is distance, black is what was not measured.
    case depthkit

    var usesHue: Bool { self == .record3d || self == .realsense || self == .depthkit }

    /// True where codes are even in 1/metres, false where they are in metres.
    var isInverse: Bool { self == .gray || self == .black || self == .realsense }

    /// The range where none is told.
    package var usualRange: DepthSpan {
        switch self {
        case .gray, .black: DepthSpan(near: 0.3, far: 8)
        case .record3d: DepthSpan(near: 0, far: 3)
        case .realsense: DepthSpan(near: 0.4, far: 8)
        case .depthkit: DepthSpan(near: 0.5, far: 3)
        }
    }

    /// The arrangement that the coding's own writers use.
    package var usualLayout: PackedLayout {
        switch self {
        case .gray, .black, .realsense: .sideBySide
        case .record3d: .sideBySideSwapped
        case .depthkit: .topBottom
        }
    }

    /// The rule for edges that loses least of a matte.
    package var usualEdges: CodedEdges { self == .gray ? .keep : .snap }
}

/// The distances that a coding tells apart, in metres; what is nearer or farther counts as an end.
package struct DepthSpan: Equatable, Sendable {
    package let near: Double
    package let far: Double

    fileprivate init(near: Double, far: Double) { (self.near, self.far) = (near, far) }

    /// Returns nil where the distances do not suit the coding: near must be above 0, or at least 0 for codes of distance, and far above it.
    package init?(near: Double, far: Double, for coding: DepthCoding) {
        guard near.isFinite, far.isFinite, far <= 1e6, far - near >= 1e-3, coding.isInverse ? near >= 1e-3 : near >= 0
        else { return nil }
        (self.near, self.far) = (near, far)
    }
}

/// The halves of a picture that holds color and depth.
package enum PackedLayout: String, Sendable, CaseIterable {
    /// Color left.
    case sideBySide = "side-by-side"
    /// Depth left.
    case sideBySideSwapped = "side-by-side-swapped"
    /// Color above.
    case topBottom = "top-bottom"
    /// Depth above.
    case topBottomSwapped = "top-bottom-swapped"

    package var isSideBySide: Bool { self == .sideBySide || self == .sideBySideSwapped }
    private var isSwapped: Bool { self == .sideBySideSwapped || self == .topBottomSwapped }

    /// The size of a picture with halves of a size.
    package func packed(_ width: Int, _ height: Int) -> (width: Int, height: Int) {
        isSideBySide ? (width &* 2, height) : (width, height &* 2)
    }

    /// The halves of a picture; nil where its sides do not part into halves with whole samples of color.
    package func halves(_ width: Int, _ height: Int) -> (color: Rectangle<Int>, depth: Rectangle<Int>)? {
        guard width > 0, height > 0, width % (isSideBySide ? 4 : 2) == 0, height % (isSideBySide ? 2 : 4) == 0 else {
            return nil
        }
        let (w, h) = isSideBySide ? (width / 2, height) : (width, height / 2)
        let first = Rectangle(width: w, height: h)
        let second = Rectangle(x: isSideBySide ? w : 0, y: isSideBySide ? 0 : h, width: w, height: h)
        return isSwapped ? (second, first) : (first, second)
    }
}

/// The rule for a code that lies between those of two surfaces: a codec has smeared the edge.
package enum CodedEdges: String, Sendable, CaseIterable {
    /// It stays.
    case keep
    /// It becomes that of the nearer of the two codes.
    case snap
    /// It counts as not measured.
    case reject
}

/// The weights of red and blue in luma, and the codes of its range: how caps describe Y'CbCr.
package struct LumaMatrix: Equatable, Sendable {
    let red: Float
    let green: Float
    let blue: Float
    /// The largest R − Y and B − Y.
    let redRange: Float
    let blueRange: Float
    /// The luma of black, and the codes between that and white, and of the chroma.
    let black: Float
    let lumaScale: Float
    let chromaScale: Float

    package init(red: Double, blue: Double, isLimited: Bool) {
        (self.red, self.green, self.blue) = (Float(red), Float(1 - red - blue), Float(blue))
        (redRange, blueRange) = (Float(2 - 2 * red), Float(2 - 2 * blue))
        (black, lumaScale, chromaScale) = isLimited ? (16, 219, 224) : (0, 255, 255)
    }
}

/// The shares of a range that codes stand for, and the distances of these.
struct DepthSpacing {
    private let isInverse: Bool
    let near: Float
    let far: Float
    /// Share 0, and what lies between it and share 1: in 1/metres, or in metres.
    private let start: Float
    private let length: Float

    init(_ coding: DepthCoding, _ span: DepthSpan) {
        isInverse = coding.isInverse
        (near, far) = (Float(span.near), Float(span.far))
        start = Float(isInverse ? 1 / span.far : span.near)
        length = Float(isInverse ? 1 / span.near - 1 / span.far : span.far - span.near)
    }

    /// The share of a distance: for codes of nearness 0 is far and 1 near, else the other way.
    @inline(__always)
    func share(_ metres: Float) -> Float {
        let inside = min(max(metres, near), far)
        return ((isInverse ? 1 / inside : inside) - start) / length
    }

    @inline(__always)
    func metres(_ share: Float) -> Float {
        let place = start + min(max(share, 0), 1) * length
        return isInverse ? 1 / place : place
    }
}

/// The codes of 8 bits that the codings of nearness use.
struct NearnessCodes {
    /// The luma of a hole in `black`, and of a row without depth in `gray`.
    static let black: Float = 16
    /// The least luma in `black` that is no hole: three quarters of what lies between black and far.
    static let leastLuma: Float = 40
    /// The least U of a hole in `gray`: three of the four pixels, less what a codec takes.
    static let leastHoleChroma: UInt8 = 168
    /// The luma of the farthest distance, and what lies between that and the nearest.
    let far: Float
    let range: Float
    /// The rise of U above 128 where none of the four pixels was measured.
    let holeChroma: Float

    init(_ coding: DepthCoding) { (far, range, holeChroma) = coding == .gray ? (16, 219, 64) : (48, 187, 0) }

    @inline(__always)
    func share(_ luma: Float) -> Float { (luma - far) / range }
}
