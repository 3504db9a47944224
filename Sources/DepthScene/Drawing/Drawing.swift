/// The effect of a layer on the picture.
enum Role {
    /// Covers everything behind it. The outlines alone make the matte and the depth; the rest is decoration.
    case outline
    /// Decoration that shows only within the last outline or patch.
    case detail
    /// Decoration on everything drawn so far, within which later details then show.
    case patch
    /// Decoration on everything drawn so far; details still show within what they did before.
    case overlay

    /// True where later details show within the layer.
    var limitsDetails: Bool { self == .outline || self == .patch }
}

/// One filled shape of a drawing, in pixels.
struct Layer {
    let role: Role
    let paint: Paint
    let relief: Relief?
    /// Metres by which the surface is farther than the relief says.
    let distance: Ramp
    /// The share of a depth camera's light that the surface sends back, 0…1; nil for that of its paint.
    let reflectance: Float?
    /// The rows that the shape touches.
    let rows: Range<Int>
    /// By the row they begin in.
    let edges: [Edge]
}

/// One side of a polygon, in pixels, from its upper to its lower end.
struct Edge {
    let x: Float
    let top: Float
    let bottom: Float
    /// Pixels across for each pixel down.
    let slope: Float
    /// +1 or −1, such that the inside of every polygon counts as +1.
    let winding: Float

    /// The side from `p` to `q`, as far as it lies in the picture; nil for a level one, and outside.
    ///
    /// - Parameter sign: +1 where the polygon runs clockwise on the screen, else −1.
    init?(_ p: Point, _ q: Point, sign: Float, height: Float) {
        let (upper, lower) = p.y < q.y ? (p, q) : (q, p)
        let fall = lower.y - upper.y
        guard fall > 0, fall.isFinite, upper.x.isFinite, lower.x.isFinite, lower.y > 0, upper.y < height else {
            return nil
        }
        slope = (lower.x - upper.x) / fall
        top = max(upper.y, 0)
        bottom = min(lower.y, height)
        x = upper.x + (top - upper.y) * slope
        winding = p.y < q.y ? -sign : sign
    }

    /// The horizontal position at a height within the edge.
    @inline(__always)
    func x(at y: Float) -> Float { x + (y - top) * slope }
}

/// A list of filled shapes for one picture size.
///
/// Shapes are given in the scene's unit and go through `transform`; the drawing turns them into edges in pixels, which
/// `Scanner` reads row by row.
struct Drawing {
    /// The width of the scene, in frame heights; shapes are made for a 16:9 frame, and other frames stretch them.
    static let sceneWidth: Float = 16.0 / 9

    /// True for depth and for the matte: layers of other roles are left out.
    let onlyOutlines: Bool
    private let height: Int
    /// Pixels for each scene unit.
    let pixels: Point
    private var transform: Affine
    private var distance = Ramp(start: 0, acrossX: 0, downY: 0)
    /// The reflectance of surfaces that name none; nil for that of their paint.
    var reflectance: Float?
    private(set) var layers: [Layer] = []

    /// - Parameter view: from the layout of the shapes to the frame.
    init(width: Int, height: Int, view: Affine, onlyOutlines: Bool) {
        transform = view
        self.onlyOutlines = onlyOutlines
        self.height = height
        pixels = [Float(width) / Drawing.sceneWidth, Float(height)]
    }

    /// From the current coordinates to pixels.
    var toPixels: Affine { transform.then(.scale(pixels)) }

    /// Runs `body` with `inner` applied before the current transform.
    mutating func with(_ inner: Affine, _ body: (inout Drawing) -> Void) {
        let outer = transform
        transform = inner.then(outer)
        body(&self)
        transform = outer
    }

    /// Runs `body` with everything `metres` farther from the camera, and `lean` more for each unit below a height.
    mutating func farther(_ metres: Float, lean: Float = 0, below y: Float = 0, _ body: (inout Drawing) -> Void) {
        let (outer, more) = (distance, ramp(from: [0, y], to: [0, y + 1], metres, metres + lean))
        distance = Ramp(
            start: outer.start + more.start, acrossX: outer.acrossX + more.acrossX, downY: outer.downY + more.downY)
        body(&self)
        distance = outer
    }

    /// Runs `body` twice: mirrored, and as it is.
    mutating func onBothSides(_ body: (inout Drawing) -> Void) {
        for side: Float in [-1, 1] { with(.scale([side, 1]), body) }
    }

    /// Adds a layer: the union of the shapes, whatever way round they run.
    mutating func fill(
        _ role: Role, _ shapes: Shape..., with paint: Paint, relief: Relief? = nil, reflectance: Float? = nil
    ) {
        fill(role, shapes, with: paint, relief: relief, reflectance: reflectance)
    }

    mutating func fill(
        _ role: Role, _ shapes: [Shape], with paint: Paint, relief: Relief? = nil, reflectance: Float? = nil
    ) {
        guard role == .outline || !onlyOutlines else { return }
        let edges = shapes.flatMap(edges(of:))
        guard let top = edges.map(\.top).min(), let bottom = edges.map(\.bottom).max() else { return }
        let first = Numeric.integer(top, 0, height)
        layers.append(
            Layer(
                role: role, paint: paint, relief: relief, distance: distance,
                reflectance: reflectance ?? self.reflectance,
                rows: first..<max(first, Numeric.integer(bottom.rounded(.up), 0, height)),
                edges: edges.reversed().sorted { $0.top.rounded(.down) < $1.top.rounded(.down) }))
    }

    private func edges(of shape: Shape) -> [Edge] {
        let toPixels = toPixels
        let corners = shape.corners.map { toPixels($0) }
        guard let last = corners.last, corners.count > 2 else { return [] }
        let sides = zip([last] + corners, corners)
        let area = sides.reduce(Float(0)) { $0 + ($1.0.x * $1.1.y - $1.1.x * $1.0.y) }
        return sides.compactMap { Edge($0, $1, sign: area < 0 ? -1 : 1, height: pixels.y) }
    }
}
