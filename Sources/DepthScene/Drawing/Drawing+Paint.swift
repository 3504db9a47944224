/// Paints whose places are given in current coordinates.
extension Drawing {
    func linear(_ first: Color, _ last: Color, from: Point, to: Point) -> Paint {
        .linear(first, last, ramp(from: from, to: to, 0, 1))
    }

    /// A gradient from the top down.
    func down(_ first: Color, _ last: Color, from: Float, to: Float) -> Paint {
        linear(first, last, from: [0, from], to: [0, to])
    }

    /// A gradient from left to right.
    func across(_ first: UInt32, _ last: UInt32, from: Float, to: Float) -> Paint {
        linear(.rgb(first), .rgb(last), from: [from, 0], to: [to, 0])
    }

    func down(_ first: UInt32, _ last: UInt32, from: Float, to: Float) -> Paint {
        linear(.rgb(first), .rgb(last), from: [0, from], to: [0, to])
    }

    /// - Parameter cell: the size of a stitch.
    func knit(_ color: Color, cell: Point) -> Paint {
        .knit(color.opacity(color.w * visibility(of: cell)), Affine.scale(cell).then(toPixels).inverse)
    }

    func noise(_ color: Color, cell: Point, seed: UInt32) -> Paint {
        .noise(color.opacity(color.w * visibility(of: cell)), Affine.scale(cell).then(toPixels).inverse, seed: seed)
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
