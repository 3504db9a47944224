/// The depth of a shape's surface, in metres, over the pixels of one picture.
enum Relief {
    /// Flat, facing the camera or turned: the ramp gives metres.
    case plane(Ramp)
    /// A level surface below the camera, whose depth is inversely proportional to the height below the horizon:
    /// scale / (y − horizon), with y in pixels.
    case level(scale: Float, horizon: Float)
    /// Flat, in perspective: the ramp gives the inverse of metres.
    case facet(Ramp)
    /// Half an ellipsoid: `rim` metres at the edge of the unit circle to which the map leads from pixels, `bulge`
    /// metres nearer in the middle.
    case dome(Affine, rim: Float, bulge: Float)
    /// A dome with smooth bumps on it: brow, nose, cheeks, lips, chin.
    case face(Affine, rim: Float, bulge: Float)
    /// A round bar along the axis from (0, 0) to (1, 0) of the map's plane, of half-width 1 there: depth runs from
    /// `start` to `end` along the axis, and the ridge is `bulge` metres nearer than the sides.
    case bar(Affine, start: Float, end: Float, bulge: Float)

    static func flat(_ depth: Float) -> Relief { .plane(Ramp(start: depth, acrossX: 0, downY: 0)) }

    /// Metres, at a place in pixels.
    @inline(__always)
    func depth(at p: Point) -> Float {
        switch self {
        case .plane(let ramp): return ramp(p)
        case .level(let scale, let horizon): return scale / max(p.y - horizon, 1e-3 * abs(horizon) + 1e-3)
        case .facet(let ramp): return 1 / max(ramp(p), 1e-3)
        case .dome(let toCircle, let rim, let bulge): return rim - bulge * Relief.roundness(toCircle(p))
        case .face(let toCircle, let rim, let bulge):
            let q = toCircle(p)
            return rim - bulge * Relief.roundness(q) - Relief.features(at: q)
        case .bar(let toAxis, let start, let end, let bulge):
            let q = toAxis(p)
            return start + (end - start) * Numeric.clamp(q.x) - bulge * max(0, 1 - q.y * q.y).squareRoot()
        }
    }

    /// The height of the unit sphere above its equator: 1 in the middle, 0 at the rim and beyond.
    @inline(__always)
    private static func roundness(_ p: Point) -> Float { max(0, 1 - p.x * p.x - p.y * p.y).squareRoot() }

    /// The face's height over the dome of the head, in metres, where the face's outline fits the unit circle.
    @inline(__always)
    private static func features(at p: Point) -> Float {
        let side = Point(abs(p.x), p.y)
        let bridge = 0.010 * bump(p, [0, 0.02], [0.16, 0.34])
        let tip = 0.020 * bump(p, [0, 0.27], [0.21, 0.22])
        let lips = 0.007 * bump(p, [0, 0.58], [0.34, 0.16])
        let chin = 0.008 * bump(p, [0, 0.86], [0.34, 0.20])
        let cheek = 0.006 * bump(side, [0.50, 0.26], [0.34, 0.30])
        let brow = 0.005 * bump(side, [0.42, -0.28], [0.42, 0.16])
        let socket = 0.008 * bump(side, [0.41, -0.06], [0.26, 0.15])
        return bridge + tip + lips + chin + cheek + brow - socket
    }

    /// 1 at `center`, 0 at a distance of `radii` and beyond, smooth between: (1 − r²)².
    @inline(__always)
    private static func bump(_ p: Point, _ center: Point, _ radii: Point) -> Float {
        let q = (p - center) / radii
        let inside = max(0, 1 - q.x * q.x - q.y * q.y)
        return inside * inside
    }
}
