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

    /// An opaque pixel of the video: the lanes rounded to nearest and clamped to 0…255.
    ///
    /// Adding 2²³ to a float between 0 and 2²³ leaves its value, rounded, in the low bits; no conversion can trap.
    @inline(__always)
    var pixel: SIMD4<UInt8> {
        let held = pointwiseMin(pointwiseMax(opacity(255), .zero), Color(repeating: 255))
        let bits = unsafe unsafeBitCast(held + Color(repeating: 8_388_608), to: SIMD4<UInt32>.self)
        return SIMD4<UInt8>(truncatingIfNeeded: bits)
    }
}

/// A linear function of the position in pixels: t = start + x·acrossX + y·downY.
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
    /// From one color to another as `Ramp` goes from 0 to 1, clamped beyond.
    case linear(Color, Color, Ramp)
    /// Strongest in the middle of a unit circle and gone at its rim: opacity · (1 − r²)². The transform maps pixels
    /// to that circle.
    case glow(Color, Affine)
    /// Rows of V-shaped stitches; the transform maps pixels to stitches, one unit each way.
    case knit(Color, Affine)
    /// Cloudy value noise; the transform maps pixels to cells of the noise, one unit each way.
    case noise(Color, Affine, seed: UInt32)

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
        case .noise(let color, let toCells, let seed):
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
