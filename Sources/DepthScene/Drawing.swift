/// What a shape does to the picture.
enum Role {
    /// Covers what is behind it. The outlines alone make the matte and the depth; the rest is decoration.
    case outline
    /// Decoration that shows only within the last outline or patch.
    case detail
    /// Decoration on everything drawn so far, within which later details then show.
    case patch
    /// Decoration on everything drawn so far; details still show within what they did before.
    case overlay
}

/// One filled shape of a drawing: its edges, and what to do inside them.
struct Layer {
    var role: Role
    var paint: Paint
    var relief: Relief?
    /// The rows that the shape touches.
    var rows: Range<Int>
    /// The shape's edges, as indices into the drawing's.
    var edges: Range<Int>
    /// Where in the drawing's buckets those of this shape begin; there is one for each of `rows`.
    var firstBucket: Int
    /// How many edges of the shape cross the current row.
    var activeCount = 0
}

/// One side of a polygon, in pixels, from its upper to its lower end.
struct Edge {
    var x: Float
    var top: Float
    var bottom: Float
    /// Pixels across for each pixel down.
    var slope: Float
    /// +1 or −1, such that the inside of every polygon counts as +1.
    var winding: Float
    /// The next edge that begins in the same row, or −1.
    var next: Int32
}

/// Which layers a drawing keeps.
enum DrawingPurpose {
    case picture
    /// Only outlines: for depth and for the matte.
    case outlines
}

/// A list of filled shapes for one picture size, kept in arrays that are reused from frame to frame.
///
/// Shapes are given in the scene's unit and go through `transform`; the drawing turns them into edges in pixels, filed
/// by the row they begin in. `Scanner` reads them back row by row.
struct Drawing {
    /// The width of the scene, in frame heights; shapes are made for a 16:9 frame, and other frames stretch them.
    static let sceneWidth: Float = 16.0 / 9

    let width: Int
    let height: Int
    let purpose: DrawingPurpose
    var transform = Affine.identity

    var layers: [Layer] = []
    var edges: [Edge] = []
    /// The first edge that begins in each row of each layer, or −1.
    var buckets: [Int32] = []
    /// Room for the indices of the edges that cross the current row, filed like `edges`.
    var active: [Int32] = []
    /// The corners of the polygon that is being put together.
    private var corners: [Point] = []
    /// The first edge of the shape that is being put together.
    private var shapeStart = 0

    init(width: Int, height: Int, purpose: DrawingPurpose) {
        self.width = width
        self.height = height
        self.purpose = purpose
    }

    /// Pixels for each scene unit.
    var pixels: Point { Point(Float(width) / Drawing.sceneWidth, Float(height)) }

    /// From the current coordinates to pixels.
    var toPixels: Affine { transform.then(.scale(pixels)) }

    mutating func removeAll() {
        layers.removeAll(keepingCapacity: true)
        edges.removeAll(keepingCapacity: true)
        buckets.removeAll(keepingCapacity: true)
        active.removeAll(keepingCapacity: true)
        corners.removeAll(keepingCapacity: true)
        shapeStart = 0
        transform = .identity
    }

    /// Runs `body` with `inner` applied before the current transform.
    mutating func with(_ inner: Affine, _ body: (inout Drawing) -> Void) {
        let outer = transform
        transform = inner.then(outer)
        body(&self)
        transform = outer
    }

    /// Makes the polygons added since the last fill into one shape: the union of them, whatever way round they run.
    mutating func fill(_ role: Role, _ paint: Paint, relief: Relief? = nil) {
        defer { shapeStart = edges.count }
        let added = shapeStart..<edges.count
        guard !added.isEmpty, purpose == .picture || role == .outline else {
            edges.removeSubrange(added)
            return
        }
        var top = Float(height)
        var bottom: Float = 0
        for index in added {
            top = min(top, edges[index].top)
            bottom = max(bottom, edges[index].bottom)
        }
        let firstRow = Numeric.integer(top, 0, height)
        let endRow = max(firstRow, Numeric.integer(bottom.rounded(.up), 0, height))
        let firstBucket = buckets.count
        for _ in firstRow..<endRow { buckets.append(-1) }
        for index in added {
            let row = Numeric.integer(edges[index].top, firstRow, height)
            active.append(-1)
            guard row < endRow else { continue }
            let bucket = firstBucket &+ row &- firstRow
            edges[index].next = buckets[bucket]
            buckets[bucket] = Int32(truncatingIfNeeded: index)
        }
        layers.append(
            Layer(
                role: role, paint: paint, relief: relief, rows: firstRow..<endRow, edges: added,
                firstBucket: firstBucket))
    }

    // MARK: Polygons

    /// Adds a corner, in current coordinates, to the polygon that is being put together.
    mutating func corner(_ p: Point) { corners.append(toPixels(p)) }

    /// Ends the polygon: its corners become edges whose winding makes the inside +1.
    mutating func closePolygon() {
        defer { corners.removeAll(keepingCapacity: true) }
        guard corners.count > 2 else { return }
        var area: Float = 0
        var previous = corners[corners.count - 1]
        for point in corners {
            area += previous.x * point.y - point.x * previous.y
            previous = point
        }
        let sign: Float = area < 0 ? -1 : 1
        previous = corners[corners.count - 1]
        for point in corners {
            addEdge(previous, point, sign: sign)
            previous = point
        }
    }

    private mutating func addEdge(_ p: Point, _ q: Point, sign: Float) {
        let upper = p.y < q.y ? p : q
        let lower = p.y < q.y ? q : p
        let fall = lower.y - upper.y
        guard fall > 0, fall.isFinite, upper.x.isFinite, lower.x.isFinite else { return }
        guard lower.y > 0, upper.y < Float(height) else { return }
        let slope = (lower.x - upper.x) / fall
        let top = max(upper.y, 0)
        edges.append(
            Edge(
                x: upper.x + (top - upper.y) * slope, top: top, bottom: min(lower.y, Float(height)), slope: slope,
                winding: p.y < q.y ? -sign : sign, next: -1))
    }
}
