/// Reliefs whose places are given in current coordinates.
extension Drawing {
    /// Metres that run evenly from one place to another, and on beyond them.
    func plane(_ first: Float, _ last: Float, from: Point, to: Point) -> Relief {
        .plane(ramp(from: from, to: to, first, last))
    }

    /// A level surface below the camera, with its depth known at two heights.
    func level(_ back: Float, at backY: Float, _ front: Float, at frontY: Float) -> Relief {
        let upper = toPixels([0, backY]).y
        let lower = toPixels([0, frontY]).y
        let horizon = (upper * back - lower * front) / max(back - front, 1e-6)
        return .level(scale: back * (upper - horizon), horizon: horizon)
    }

    func dome(_ ellipse: Ellipse, rim: Float, bulge: Float) -> Relief {
        .dome(fromPixels(to: ellipse), rim: rim, bulge: bulge)
    }

    /// The depth of a limb whose axis runs from `start` to `end` metres.
    func bar(_ limb: Limb, start: Float, end: Float, bulge: Float) -> Relief {
        let axis = limb.end - limb.start
        let across = Point(-axis.y, axis.x) * (max(limb.startRadius, limb.endRadius) / max(axis.length, 1e-6))
        let fromAxis = Affine(x: axis, y: across, origin: limb.start)
        return .bar(fromAxis.then(toPixels).inverse, start: start, end: end, bulge: bulge)
    }
}
