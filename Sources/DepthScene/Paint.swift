/// Blue, green, red in 0…255, and opacity in 0…1, in the order of the video's bytes.
typealias Color = SIMD4<Float>

extension Color {
    /// From 0xRRGGBB.
    static func rgb(_ code: UInt32, _ opacity: Float = 1) -> Color {
        Color(Float(code & 255), Float(code >> 8 & 255), Float(code >> 16 & 255), opacity)
    }

    @inline(__always)
    func opacity(_ value: Float) -> Color { Color(x, y, z, value) }

    /// This color with `amount` (0…1) of another in it; the opacity stays.
    func mixed(_ amount: Float, of other: Color) -> Color { (self + (other - self) * amount).opacity(w) }

    func darker(_ amount: Float) -> Color { mixed(amount, of: .rgb(0x1a1020)) }
    func lighter(_ amount: Float) -> Color { mixed(amount, of: .rgb(0xfff6e8)) }

    /// The share of light that a surface of this color sends back, 0…1: its luminance (BT.709), with a gamma of 2.
    @inline(__always)
    var reflectance: Float {
        let share = self * (1.0 / 255)
        return 0.0722 * share.x * share.x + 0.7152 * share.y * share.y + 0.2126 * share.z * share.z
    }

    /// An opaque pixel of the video: the lanes rounded to nearest and held within 0…255.
    ///
    /// Adding 2²³ to a float between 0 and 2²³ leaves its value, rounded, in the low bits; no conversion can trap.
    @inline(__always)
    var pixel: SIMD4<UInt8> {
        let held = pointwiseMin(pointwiseMax(opacity(255), .zero), Color(repeating: 255))
        let bits = unsafe unsafeBitCast(held + Color(repeating: 8_388_608), to: SIMD4<UInt32>.self)
        return SIMD4<UInt8>(truncatingIfNeeded: bits)
    }
}

/// A number that rises evenly in one direction: t = start + x·acrossX + y·downY, over pixels.
struct Ramp {
    let start: Float
    let acrossX: Float
    let downY: Float

    @inline(__always)
    func callAsFunction(_ p: Point) -> Float { start + p.x * acrossX + p.y * downY }
}

/// The coloring of a shape's inside. Places are in pixels: the drawing has already applied its transform.
enum Paint {
    case flat(Color)
    /// From one color to another as `Ramp` goes from 0 to 1, held beyond both ends.
    case linear(Color, Color, Ramp)
    /// Strongest in the middle of a unit circle and gone at its rim: opacity · (1 − r²)². The map leads from pixels to
    /// that circle.
    case glow(Color, Affine)
    /// Rows of V-shaped stitches; the map leads from pixels to stitches, one unit each way.
    case knit(Color, Affine)
    /// Cloudy value noise; the map leads from pixels to cells of the noise, one unit each way.
    case grain(Color, Affine, seed: UInt32)

    /// The color and the opacity at a place in pixels.
    @inline(__always)
    func color(at p: Point) -> Color {
        switch self {
        case .flat(let color): return color
        case .linear(let first, let last, let ramp): return first + (last - first) * Numeric.clamp(ramp(p))
        case .glow(let color, let toCircle):
            let q = toCircle(p)
            let inside = max(0, 1 - (q.x * q.x + q.y * q.y))
            return color.opacity(color.w * inside * inside)
        case .knit(let color, let toStitches): return color.opacity(color.w * Paint.stitch(at: toStitches(p)))
        case .grain(let color, let toCells, let seed):
            return color.opacity(color.w * Paint.valueNoise(at: toCells(p), seed: seed))
        }
    }

    /// The depth of the groove between stitches, 0…1: each column of stitches is a stack of Vs.
    @inline(__always)
    private static func stitch(at p: Point) -> Float {
        func away(_ value: Float) -> Float { abs(value - value.rounded(.down) - 0.5) * 2 }
        let across = away(p.x)
        let down = away(p.y - across * 0.75)
        return max(down * down * 0.8, across * across * across * across)
    }

    /// Smooth noise, 0…1: random values at whole numbers, blended between them.
    private static func valueNoise(at p: Point, seed: UInt32) -> Float {
        let cell = p.rounded(.down)
        let column = UInt32(truncatingIfNeeded: Numeric.integer(cell.x, -100_000, 100_000))
        let row = UInt32(truncatingIfNeeded: Numeric.integer(cell.y, -100_000, 100_000))
        let (across, down) = (Numeric.smoothStep(p.x - cell.x), Numeric.smoothStep(p.y - cell.y))
        func corner(_ dx: UInt32, _ dy: UInt32) -> Float {
            Hash.unit(Hash.mix(column &+ dx, Hash.mix(row &+ dy, seed)))
        }
        let top = corner(0, 0) + (corner(1, 0) - corner(0, 0)) * across
        let bottom = corner(0, 1) + (corner(1, 1) - corner(0, 1)) * across
        return top + (bottom - top) * down
    }
}

/// Paints whose places are given in current coordinates.
extension Drawing {
    func linear(_ first: Color, _ last: Color, from: Point, to: Point) -> Paint {
        .linear(first, last, ramp(from: from, to: to, 0, 1))
    }

    /// - Parameter cell: the size of a stitch.
    func knit(_ color: Color, cell: Point) -> Paint {
        .knit(color.opacity(color.w * visibility(of: cell)), Affine.scale(cell).then(toPixels).inverse)
    }

    func grain(_ color: Color, cell: Point, seed: UInt32) -> Paint {
        .grain(color.opacity(color.w * visibility(of: cell)), Affine.scale(cell).then(toPixels).inverse, seed: seed)
    }

    /// Textures fade before their cells become too small for the pixels: 0 at three pixels a cell, 1 at six.
    private func visibility(of cell: Point) -> Float { Numeric.smoothStep((cell * pixels).min(), from: 3, to: 6) }

    /// A number that is `first` at one place and `last` at another.
    func ramp(from: Point, to: Point, _ first: Float, _ last: Float) -> Ramp {
        let way = to - from
        let square = max(way.x * way.x + way.y * way.y, 1e-12)
        let back = toPixels.inverse
        let rise = last - first
        func share(_ p: Point) -> Float { (p.x * way.x + p.y * way.y) / square }
        return Ramp(
            start: first + share(back.origin - from) * rise, acrossX: share(back.x) * rise, downY: share(back.y) * rise)
    }

    /// Fills an ellipse with light or shade that fades towards its rim.
    mutating func glow(
        _ color: Color, _ x: Float, _ y: Float, _ radiusX: Float, _ radiusY: Float, as role: Role = .detail
    ) {
        let ellipse = Ellipse(x, y, radiusX, radiusY)
        fill(role, .ellipse(ellipse), with: .glow(color, fromPixels(to: ellipse)))
    }

    /// Fills a brush stroke with one color.
    mutating func stroke(
        _ color: Color, _ start: Point, _ control: Point, _ end: Point, _ widths: (Float, Float, Float),
        as role: Role = .detail
    ) {
        fill(role, .stroke(start, control, end, widths), with: .flat(color))
    }

    func fromPixels(to ellipse: Ellipse) -> Affine { ellipse.fromUnitCircle.then(toPixels).inverse }
}
