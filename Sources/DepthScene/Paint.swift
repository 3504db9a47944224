/// Blue, green, red in 0…255, and opacity in 0…1, in the order of the video's bytes.
typealias Colour = SIMD4<Float>

extension Colour {
    /// From 0xRRGGBB.
    static func rgb(_ code: UInt32, opacity: Float = 1) -> Colour {
        Colour(Float(code & 255), Float(code >> 8 & 255), Float(code >> 16 & 255), opacity)
    }

    func opacity(_ value: Float) -> Colour { Colour(x, y, z, value) }

    /// This colour with `amount` (0…1) of another in it; the opacity stays.
    func mixed(_ amount: Float, of other: Colour) -> Colour {
        (self + (other - self) * amount).opacity(w)
    }

    func darker(_ amount: Float) -> Colour { mixed(amount, of: .rgb(0x1a1020)) }
    func lighter(_ amount: Float) -> Colour { mixed(amount, of: .rgb(0xfff6e8)) }
}

/// How the inside of a shape is coloured. Places are in pixels: the drawing has already applied its transform.
enum Paint {
    case flat(Colour)
    /// From one colour to another as `Ramp` goes from 0 to 1, held beyond both ends.
    case linear(Colour, Colour, Ramp)
    /// Strongest in the middle of a unit circle and gone at its rim: opacity · (1 − r²)². The map leads from pixels to
    /// that circle.
    case glow(Colour, Affine)
    /// Rows of V-shaped stitches; the map leads from pixels to stitches, one unit each way.
    case knit(Colour, Affine)
    /// Cloudy value noise; the map leads from pixels to cells of the noise, one unit each way.
    case grain(Colour, Affine, seed: UInt32)
}

/// A number that rises evenly in one direction: t = start + x·acrossX + y·downY, over pixels.
struct Ramp {
    var start: Float
    var acrossX: Float
    var downY: Float

    @inline(__always)
    func callAsFunction(_ x: Float, _ y: Float) -> Float { start + x * acrossX + y * downY }
}

extension Paint {
    /// Calls `put` with the colour and opacity of each pixel of a row, taken at its centre.
    ///
    /// The kind of paint is looked at once per row, not once per pixel.
    @inline(__always)
    func forEachPixel(of columns: Range<Int>, row: Int, put: (Int, Colour) -> Void) {
        let y = Float(row) + 0.5
        switch self {
        case .flat(let colour):
            for column in columns { put(column, colour) }
        case .linear(let first, let last, let ramp):
            let change = last - first
            for column in columns {
                put(column, first + change * Numeric.clamp(ramp(Float(column) + 0.5, y)))
            }
        case .glow(let colour, let toCircle):
            for column in columns {
                let p = toCircle(Point(Float(column) + 0.5, y))
                let inside = max(0, 1 - (p.x * p.x + p.y * p.y))
                put(column, Colour(colour.x, colour.y, colour.z, colour.w * inside * inside))
            }
        case .knit(let colour, let toStitches):
            for column in columns {
                let shade = Paint.stitch(at: toStitches(Point(Float(column) + 0.5, y)))
                put(column, Colour(colour.x, colour.y, colour.z, colour.w * shade))
            }
        case .grain(let colour, let toCells, let seed):
            for column in columns {
                let shade = Paint.valueNoise(at: toCells(Point(Float(column) + 0.5, y)), seed: seed)
                put(column, Colour(colour.x, colour.y, colour.z, colour.w * shade))
            }
        }
    }

    /// How deep the groove between stitches is, 0…1: each column of stitches is a stack of Vs.
    @inline(__always)
    static func stitch(at p: Point) -> Float {
        let across = abs(Numeric.fraction(p.x) - 0.5) * 2
        let down = abs(Numeric.fraction(p.y - across * 0.75) - 0.5) * 2
        let groove = down * down
        let gap = across * across * across * across
        return max(groove * 0.8, gap)
    }

    /// Smooth noise, 0…1: random values at whole numbers, blended between them.
    static func valueNoise(at p: Point, seed: UInt32) -> Float {
        let cellX = p.x.rounded(.down)
        let cellY = p.y.rounded(.down)
        let column = UInt32(truncatingIfNeeded: Numeric.integer(cellX, -100_000, 100_000))
        let row = UInt32(truncatingIfNeeded: Numeric.integer(cellY, -100_000, 100_000))
        let across = Numeric.smoothStep(p.x - cellX, from: 0, to: 1)
        let down = Numeric.smoothStep(p.y - cellY, from: 0, to: 1)
        func corner(_ dx: UInt32, _ dy: UInt32) -> Float {
            Hash.unit(Hash.mix(column &+ dx, Hash.mix(row &+ dy, seed)))
        }
        let top = corner(0, 0) + (corner(1, 0) - corner(0, 0)) * across
        let bottom = corner(0, 1) + (corner(1, 1) - corner(0, 1)) * across
        return top + (bottom - top) * down
    }
}
