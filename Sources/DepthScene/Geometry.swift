/// A place or a direction. The scene's own unit is the height of the frame: x runs from 0 to 16/9, y from 0 to 1
/// downwards.
typealias Point = SIMD2<Float>

/// A map of the plane that keeps straight lines: p ↦ (a·x + c·y + e, b·x + d·y + f).
struct Affine {
    var a: Float = 1
    var b: Float = 0
    var c: Float = 0
    var d: Float = 1
    var e: Float = 0
    var f: Float = 0

    static let identity = Affine()

    static func move(_ by: Point) -> Affine { Affine(e: by.x, f: by.y) }

    static func scale(_ by: Point) -> Affine { Affine(a: by.x, d: by.y) }

    /// Turns about `centre`, clockwise on the screen for positive `turns`.
    static func turn(_ turns: Float, about centre: Point = Point(0, 0)) -> Affine {
        let sine = Numeric.sine(turns: Double(turns))
        let cosine = Numeric.cosine(turns: Double(turns))
        let rotation = Affine(a: cosine, b: sine, c: -sine, d: cosine)
        return move(-centre).then(rotation).then(move(centre))
    }

    /// Stretches about `centre`.
    static func scale(_ by: Point, about centre: Point) -> Affine {
        move(-centre).then(scale(by)).then(move(centre))
    }

    /// This map first, `next` after it.
    func then(_ next: Affine) -> Affine {
        Affine(
            a: next.a * a + next.c * b, b: next.b * a + next.d * b,
            c: next.a * c + next.c * d, d: next.b * c + next.d * d,
            e: next.a * e + next.c * f + next.e, f: next.b * e + next.d * f + next.f)
    }

    @inline(__always)
    func callAsFunction(_ p: Point) -> Point {
        Point(a * p.x + c * p.y + e, b * p.x + d * p.y + f)
    }

    /// The way back; the identity where there is none, because the map flattens the plane.
    var inverse: Affine {
        let determinant = a * d - b * c
        guard determinant.isFinite, abs(determinant) > 1e-20 else { return .identity }
        let k = 1 / determinant
        return Affine(
            a: d * k, b: -b * k, c: -c * k, d: a * k,
            e: (c * f - d * e) * k, f: (b * e - a * f) * k)
    }
}

/// An ellipse with its axes along the axes of the current transform.
struct Ellipse {
    var centre: Point
    var radii: Point

    init(_ x: Float, _ y: Float, _ radiusX: Float, _ radiusY: Float) {
        centre = Point(x, y)
        radii = Point(radiusX, radiusY)
    }

    /// From the unit circle to this ellipse.
    var fromUnitCircle: Affine { Affine.scale(radii).then(.move(centre)) }
}

/// A limb: a circle that glides from one place to another and changes its size on the way.
struct Limb {
    var start: Point
    var end: Point
    var startRadius: Float
    var endRadius: Float
}
