/// A place or a direction. The scene's own unit is the height of the frame: x runs from 0 to 16/9, y from 0 to 1
/// downwards.
typealias Point = SIMD2<Float>

extension Point {
    /// The point of the unit circle at an angle: its cosine and sine.
    static func onCircle(turns: Double) -> Point {
        Point(Numeric.sine(turns: turns + 0.25), Numeric.sine(turns: turns))
    }

    var length: Float { (x * x + y * y).squareRoot() }

    /// The center of a pixel.
    @inline(__always)
    init(centerOf column: Int, _ row: Int) { self.init(Float(column) + 0.5, Float(row) + 0.5) }
}

/// A map of the plane that keeps straight lines: p ↦ x · p.x + y · p.y + origin.
struct Affine {
    var x: Point = [1, 0]
    var y: Point = [0, 1]
    var origin: Point = [0, 0]

    static func move(_ by: Point) -> Affine { Affine(origin: by) }

    static func scale(_ by: Point) -> Affine { Affine(x: [by.x, 0], y: [0, by.y]) }

    /// Turns about `center`, clockwise on the screen for positive `turns`.
    static func turn(_ turns: Float, about center: Point = [0, 0]) -> Affine {
        let direction = Point.onCircle(turns: Double(turns))
        let rotation = Affine(x: direction, y: [-direction.y, direction.x])
        return move(-center).then(rotation).then(move(center))
    }

    /// This map first, `next` after it.
    func then(_ next: Affine) -> Affine {
        Affine(x: next.x * x.x + next.y * x.y, y: next.x * y.x + next.y * y.y, origin: next(origin))
    }

    @inline(__always)
    func callAsFunction(_ p: Point) -> Point { x * p.x + y * p.y + origin }

    /// The way back; the identity where there is none, because the map flattens the plane.
    var inverse: Affine {
        let determinant = x.x * y.y - x.y * y.x
        guard determinant.isFinite, abs(determinant) > 1e-20 else { return Affine() }
        let k = 1 / determinant
        return Affine(
            x: Point(y.y, -x.y) * k, y: Point(-y.x, x.x) * k,
            origin: Point(y.x * origin.y - y.y * origin.x, x.y * origin.x - x.x * origin.y) * k)
    }
}

/// An ellipse with its axes along the axes of the current transform.
struct Ellipse {
    let center: Point
    let radii: Point

    init(_ x: Float, _ y: Float, _ radiusX: Float, _ radiusY: Float) {
        center = [x, y]
        radii = [radiusX, radiusY]
    }

    var fromUnitCircle: Affine { Affine(x: [radii.x, 0], y: [0, radii.y], origin: center) }
}

/// A limb: a circle that glides from one place to another and changes its size on the way.
struct Limb {
    let start: Point
    let end: Point
    let startRadius: Float
    let endRadius: Float
}
