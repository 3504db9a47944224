/// The depth of a shape's surface, in metres, over the pixels of one picture.
enum Relief {
    /// Flat, facing the camera or turned: the ramp gives metres.
    case plane(Ramp)
    /// A level surface below the camera, whose depth is inversely proportional to the height below the horizon:
    /// scale / (y − horizon), with y in pixels.
    case level(scale: Float, horizon: Float)
    /// Half an ellipsoid: `rim` metres at the edge of the unit circle to which the map leads from pixels, `bulge`
    /// metres nearer in the middle.
    case dome(Affine, rim: Float, bulge: Float)
    /// A dome with smooth bumps on it: brow, nose, cheeks, lips, chin.
    case face(Affine, rim: Float, bulge: Float)
    /// A round bar along the axis from (0, 0) to (1, 0) of the map's plane, of half-width 1 there: depth runs from
    /// `start` to `end` along the axis, and the ridge is `bulge` metres nearer than the sides.
    case bar(Affine, start: Float, end: Float, bulge: Float)

    /// Calls `put` with the depth of each pixel of a row, taken at its centre.
    @inline(__always)
    func forEachPixel(of columns: Range<Int>, row: Int, put: (Int, Float) -> Void) {
        let y = Float(row) + 0.5
        switch self {
        case .plane(let ramp):
            for column in columns { put(column, ramp(Float(column) + 0.5, y)) }
        case .level(let scale, let horizon):
            let depth = scale / max(y - horizon, 1e-3 * abs(horizon) + 1e-3)
            for column in columns { put(column, depth) }
        case .dome(let toCircle, let rim, let bulge):
            for column in columns {
                put(column, rim - bulge * Relief.roundness(toCircle(Point(Float(column) + 0.5, y))))
            }
        case .face(let toCircle, let rim, let bulge):
            for column in columns {
                let p = toCircle(Point(Float(column) + 0.5, y))
                put(column, rim - bulge * Relief.roundness(p) - Relief.features(at: p))
            }
        case .bar(let toAxis, let start, let end, let bulge):
            for column in columns {
                let p = toAxis(Point(Float(column) + 0.5, y))
                let ridge = max(0, 1 - p.y * p.y).squareRoot()
                put(column, start + (end - start) * Numeric.clamp(p.x) - bulge * ridge)
            }
        }
    }

    /// The height of the unit sphere above its equator: 1 in the middle, 0 at the rim and beyond.
    @inline(__always)
    static func roundness(_ p: Point) -> Float {
        max(0, 1 - p.x * p.x - p.y * p.y).squareRoot()
    }

    /// How far the face stands out from the dome of the head, in metres, where the face's outline fits the unit circle.
    @inline(__always)
    static func features(at p: Point) -> Float {
        let side = Point(abs(p.x), p.y)
        let bridge = 0.010 * bump(p, Point(0, 0.02), Point(0.16, 0.34))
        let tip = 0.020 * bump(p, Point(0, 0.27), Point(0.21, 0.22))
        let lips = 0.007 * bump(p, Point(0, 0.58), Point(0.34, 0.16))
        let chin = 0.008 * bump(p, Point(0, 0.86), Point(0.34, 0.20))
        let cheek = 0.006 * bump(side, Point(0.50, 0.26), Point(0.34, 0.30))
        let brow = 0.005 * bump(side, Point(0.42, -0.28), Point(0.42, 0.16))
        let socket = 0.008 * bump(side, Point(0.41, -0.06), Point(0.26, 0.15))
        return bridge + tip + lips + chin + cheek + brow - socket
    }

    /// 1 at `centre`, 0 at a distance of `radii` and beyond, smooth between: (1 − r²)².
    @inline(__always)
    private static func bump(_ p: Point, _ centre: Point, _ radii: Point) -> Float {
        let q = (p - centre) / radii
        let inside = max(0, 1 - q.x * q.x - q.y * q.y)
        return inside * inside
    }
}
