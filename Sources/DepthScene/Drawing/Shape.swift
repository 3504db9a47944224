/// A closed polygon, in the coordinates of a drawing's transform.
struct Shape {
    let corners: [Point]

    init(_ corners: [Point]) { self.corners = corners }

    /// Straight pieces in each piece of a curve. A fixed number, so that a shape is the same at every picture size.
    private static let piecesPerCurve = 10
    private static let piecesPerCircle = 64

    static func rectangle(_ x: Float, _ y: Float, _ width: Float, _ height: Float) -> Shape {
        Shape([[x, y], [x + width, y], [x + width, y + height], [x, y + height]])
    }

    static func roundedRectangle(_ x: Float, _ y: Float, _ width: Float, _ height: Float, _ radius: Float) -> Shape {
        let steps = 6
        let r = min(radius, min(width, height) / 2)
        let (left, right, upper, lower) = (x + r, x + width - r, y + r, y + height - r)
        let centers: [Point] = [[right, lower], [left, lower], [left, upper], [right, upper]]
        let corners = centers.enumerated().flatMap { quarter, center in
            (0...steps).map { center + Point.onCircle(turns: (Double(quarter) + Double($0) / Double(steps)) / 4) * r }
        }
        return Shape(corners)
    }

    static func ellipse(_ ellipse: Ellipse) -> Shape {
        Shape(
            (0..<piecesPerCircle).map { piece in
                ellipse.center + Point.onCircle(turns: Double(piece) / Double(piecesPerCircle)) * ellipse.radii
            })
    }

    static func ellipse(_ x: Float, _ y: Float, _ radiusX: Float, _ radiusY: Float) -> Shape {
        ellipse(Ellipse(x, y, radiusX, radiusY))
    }

    static func limb(_ limb: Limb) -> Shape {
        let axis = limb.end - limb.start
        guard axis.length > 0 else { return Shape([]) }
        let along = axis / axis.length
        let across = Point(-along.y, along.x)
        let half = piecesPerCircle / 4
        func cap(_ center: Point, _ radius: Float, from turns: Double) -> [Point] {
            (0...half).map { piece in
                let d = Point.onCircle(turns: turns + 0.5 * Double(piece) / Double(half))
                return center + (along * d.x + across * d.y) * radius
            }
        }
        return Shape(cap(limb.start, limb.startRadius, from: 0.25) + cap(limb.end, limb.endRadius, from: 0.75))
    }

    // MARK: Curves

    /// A smooth closed curve through the points: a Catmull–Rom spline.
    static func smooth(_ points: [Point]) -> Shape {
        let count = points.count
        return Shape(
            points.indices.flatMap { index in
                let (before, start) = (points[(index + count - 1) % count], points[index])
                let (end, after) = (points[(index + 1) % count], points[(index + 2) % count])
                return (0..<piecesPerCurve).map { piece in
                    let t = Float(piece) / Float(piecesPerCurve)
                    let linear = (end - before) * t
                    let square = (before * 2 - start * 5 + end * 4 - after) * (t * t)
                    let cube = (start * 3 - before - end * 3 + after) * (t * t * t)
                    return start + (linear + square + cube) * 0.5
                }
            })
    }

    /// A brush stroke along a quadratic curve, with the brush's half-width at its start, middle and end.
    static func stroke(_ start: Point, _ control: Point, _ end: Point, _ widths: (Float, Float, Float)) -> Shape {
        let pieces = 2 * piecesPerCurve
        var (there, back): ([Point], [Point]) = ([], [])
        for piece in 0...pieces {
            let t = Float(piece) / Float(pieces)
            let u = 1 - t
            let p = start * (u * u) + control * (2 * u * t) + end * (t * t)
            let direction = (control - start) * u + (end - control) * t
            guard direction.length > 0 else { continue }
            // A parabola through the three widths.
            let width = widths.0 * u * (1 - 2 * t) + widths.1 * 4 * t * u + widths.2 * t * (2 * t - 1)
            let side = Point(-direction.y, direction.x) / direction.length * max(0, width)
            there.append(p + side)
            back.append(p - side)
        }
        return Shape(there + back.reversed())
    }
}
