/// The shapes that pictures are made of. Each adds one polygon or more; `fill` then makes a shape of them.
extension Drawing {
    /// Straight pieces in each piece of a curve. A fixed number, so that a shape is the same at every picture size.
    private static let piecesPerCurve = 10
    private static let piecesPerCircle = 64

    mutating func polygon(_ points: [Point]) {
        for point in points { corner(point) }
        closePolygon()
    }

    /// A smooth closed curve through the points: a Catmull–Rom spline.
    mutating func smooth(_ points: [Point]) {
        let count = points.count
        guard count > 2 else { return }
        for index in 0..<count {
            let before = points[(index + count - 1) % count]
            let start = points[index]
            let end = points[(index + 1) % count]
            let after = points[(index + 2) % count]
            for piece in 0..<Drawing.piecesPerCurve {
                let t = Float(piece) / Float(Drawing.piecesPerCurve)
                corner(Drawing.spline(before, start, end, after, t))
            }
        }
        closePolygon()
    }

    mutating func rectangle(_ x: Float, _ y: Float, _ width: Float, _ height: Float) {
        corner(Point(x, y))
        corner(Point(x + width, y))
        corner(Point(x + width, y + height))
        corner(Point(x, y + height))
        closePolygon()
    }

    mutating func roundedRectangle(_ x: Float, _ y: Float, _ width: Float, _ height: Float, radius: Float) {
        let steps = 6
        let r = min(radius, min(width, height) / 2)
        for quarter in 0..<4 {
            let right = quarter == 0 || quarter == 3
            let lower = quarter < 2
            let centre = Point(right ? x + width - r : x + r, lower ? y + height - r : y + r)
            for step in 0...steps {
                corner(centre + Drawing.onCircle((Double(quarter) + Double(step) / Double(steps)) / 4) * r)
            }
        }
        closePolygon()
    }

    mutating func ellipse(_ ellipse: Ellipse) {
        for piece in 0..<Drawing.piecesPerCircle {
            let direction = Drawing.onCircle(Double(piece) / Double(Drawing.piecesPerCircle))
            corner(ellipse.centre + direction * ellipse.radii)
        }
        closePolygon()
    }

    mutating func limb(_ limb: Limb) {
        let axis = limb.end - limb.start
        let length = (axis.x * axis.x + axis.y * axis.y).squareRoot()
        guard length > 0 else { return }
        let along = axis / length
        let across = Point(-along.y, along.x)
        let half = Drawing.piecesPerCircle / 4
        for piece in 0...half {
            let d = Drawing.onCircle(0.25 + 0.5 * Double(piece) / Double(half))
            corner(limb.start + (along * d.x + across * d.y) * limb.startRadius)
        }
        for piece in 0...half {
            let d = Drawing.onCircle(0.75 + 0.5 * Double(piece) / Double(half))
            corner(limb.end + (along * d.x + across * d.y) * limb.endRadius)
        }
        closePolygon()
    }

    /// A brush stroke along a quadratic curve, with the brush's half-width at its start, middle and end.
    mutating func stroke(_ start: Point, _ control: Point, _ end: Point, _ widths: (Float, Float, Float)) {
        let pieces = 2 * Drawing.piecesPerCurve
        for side in 0..<2 {
            for piece in 0...pieces {
                let t = Float(side == 0 ? piece : pieces - piece) / Float(pieces)
                let u = 1 - t
                let p = start * (u * u) + control * (2 * u * t) + end * (t * t)
                let direction = (control - start) * u + (end - control) * t
                let length = (direction.x * direction.x + direction.y * direction.y).squareRoot()
                guard length > 0 else { continue }
                let across = Point(-direction.y, direction.x) / length
                let width = Drawing.brushWidth(widths, t)
                corner(side == 0 ? p + across * width : p - across * width)
            }
        }
        closePolygon()
    }

    // MARK: Curves

    private static func onCircle(_ turns: Double) -> Point {
        Point(Numeric.cosine(turns: turns), Numeric.sine(turns: turns))
    }

    private static func spline(_ p0: Point, _ p1: Point, _ p2: Point, _ p3: Point, _ t: Float) -> Point {
        let linear = (p2 - p0) * t
        let square = (p0 * 2 - p1 * 5 + p2 * 4 - p3) * (t * t)
        let cube = (p1 * 3 - p0 - p2 * 3 + p3) * (t * t * t)
        return p1 + (linear + square + cube) * 0.5
    }

    /// Smooth through the three widths: a parabola.
    private static func brushWidth(_ widths: (Float, Float, Float), _ t: Float) -> Float {
        let first = widths.0 * (1 - t) * (1 - 2 * t)
        let middle = widths.1 * 4 * t * (1 - t)
        let last = widths.2 * t * (2 * t - 1)
        return max(0, first + middle + last)
    }
}

/// Paints and reliefs whose places are given in current coordinates.
extension Drawing {
    func linear(_ first: Colour, _ last: Colour, from: Point, to: Point) -> Paint {
        .linear(first, last, ramp(from: from, to: to, 0, 1))
    }

    func glow(_ colour: Colour, _ ellipse: Ellipse) -> Paint {
        .glow(colour, fromPixels(to: ellipse))
    }

    /// Fills an ellipse with light or shade that fades towards its rim.
    mutating func glow(_ role: Role, _ colour: Colour, _ shape: Ellipse) {
        guard purpose == .picture else { return }
        let paint = glow(colour, shape)
        ellipse(shape)
        fill(role, paint)
    }

    /// Fills a brush stroke with one colour.
    mutating func stroke(
        _ role: Role, _ colour: Colour, _ start: Point, _ control: Point, _ end: Point, _ widths: (Float, Float, Float)
    ) {
        guard purpose == .picture || role == .outline else { return }
        stroke(start, control, end, widths)
        fill(role, .flat(colour))
    }

    /// `cell` is the size of a stitch.
    func knit(_ colour: Colour, cell: Point) -> Paint {
        .knit(colour.opacity(colour.w * visibility(of: cell)), cells(cell))
    }

    func grain(_ colour: Colour, cell: Point, seed: UInt32) -> Paint {
        .grain(colour.opacity(colour.w * visibility(of: cell)), cells(cell), seed: seed)
    }

    /// Metres that run evenly from one place to another, and on beyond them.
    func plane(_ first: Float, _ last: Float, from: Point, to: Point) -> Relief {
        .plane(ramp(from: from, to: to, first, last))
    }

    /// A level surface below the camera, with its depth known at two heights.
    func level(_ back: Float, at backY: Float, _ front: Float, at frontY: Float) -> Relief {
        let upper = toPixels(Point(0, backY)).y
        let lower = toPixels(Point(0, frontY)).y
        let horizon = (upper * back - lower * front) / max(back - front, 1e-6)
        return .level(scale: back * (upper - horizon), horizon: horizon)
    }

    func flat(_ depth: Float) -> Relief { .plane(Ramp(start: depth, acrossX: 0, downY: 0)) }

    func dome(_ ellipse: Ellipse, rim: Float, bulge: Float) -> Relief {
        .dome(fromPixels(to: ellipse), rim: rim, bulge: bulge)
    }

    /// The depth of a limb whose axis runs from `start` to `end` metres.
    func bar(_ limb: Limb, start: Float, end: Float, bulge: Float) -> Relief {
        let axis = limb.end - limb.start
        let length = max((axis.x * axis.x + axis.y * axis.y).squareRoot(), 1e-6)
        let across = Point(-axis.y, axis.x) * (max(limb.startRadius, limb.endRadius) / length)
        let fromAxis = Affine(a: axis.x, b: axis.y, c: across.x, d: across.y, e: limb.start.x, f: limb.start.y)
        return .bar(fromAxis.then(toPixels).inverse, start: start, end: end, bulge: bulge)
    }

    func fromPixels(to ellipse: Ellipse) -> Affine {
        ellipse.fromUnitCircle.then(toPixels).inverse
    }

    private func cells(_ cell: Point) -> Affine { Affine.scale(cell).then(toPixels).inverse }

    /// Textures fade before their cells become too small for the pixels: 0 at three pixels a cell, 1 at six.
    private func visibility(of cell: Point) -> Float {
        let size = cell * pixels
        return Numeric.smoothStep(min(size.x, size.y), from: 3, to: 6)
    }

    private func ramp(from: Point, to: Point, _ first: Float, _ last: Float) -> Ramp {
        let way = to - from
        let square = max(way.x * way.x + way.y * way.y, 1e-12)
        let back = toPixels.inverse
        let t0 = ((back.e - from.x) * way.x + (back.f - from.y) * way.y) / square
        let tx = (back.a * way.x + back.b * way.y) / square
        let ty = (back.c * way.x + back.d * way.y) / square
        let rise = last - first
        return Ramp(start: first + t0 * rise, acrossX: tx * rise, downY: ty * rise)
    }
}
