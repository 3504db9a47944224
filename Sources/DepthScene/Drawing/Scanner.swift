/// Reads a layer of a drawing in one row of pixels.
///
/// Coverage is exact: the area of the pixel inside the shape, not samples of it.
struct Scanner {
    private let width: Int
    /// Signed areas that the edges leave in each pixel of the row, zero between uses; their running sum is the
    /// coverage.
    private var areas: [Float]

    init(width: Int) {
        self.width = width
        areas = Array(repeating: 0, count: width + 2)
    }

    // MARK: Coverage

    /// Writes the share of each pixel of the row that lies inside a layer, 0…1, and returns the columns written.
    ///
    /// Source: the signed-area accumulation of font-rs (Raph Levien, "Inside the fastest font renderer in the world",
    /// 2016). Where polygons of one shape overlap the sum is held at 1, which makes the shape their union.
    mutating func coverage(row: Int, of layer: Layer, into cover: inout [Float]) -> Range<Int> {
        var (low, high) = (width, 0)
        let top = Float(row)
        let bottom = top + 1
        for edge in layer.edges {
            if edge.top >= bottom { break }
            let start = max(edge.top, top)
            let end = min(edge.bottom, bottom)
            guard end > start else { continue }
            let (first, last) = (edge.x(at: start), edge.x(at: end))
            let reach = addArea(from: min(first, last), to: max(first, last), weight: (end - start) * edge.winding)
            low = min(low, reach.lowerBound)
            high = max(high, reach.upperBound)
        }
        high = min(high, width)
        guard low < high else { return 0..<0 }
        var sum: Float = 0
        for column in low..<high {
            sum += areas[column]
            areas[column] = 0
            cover[column] = min(abs(sum), 1)
        }
        areas[width] = 0
        areas[width &+ 1] = 0
        return low..<high
    }

    /// Adds a piece of an edge that lies within one row and runs from `x0` to `x1 >= x0`; returns the columns in which
    /// the coverage can change, up to the end of the row where the edge lies beyond it.
    private mutating func addArea(from x0: Float, to x1: Float, weight: Float) -> Range<Int> {
        let limit = Float(width)
        guard x0 < limit else { return width..<width }
        guard x1 > 0 else {
            areas[0] += weight
            return 0..<1
        }
        var rest = weight
        if x0 < 0 {
            let outside = weight * (-x0 / (x1 - x0))
            areas[0] += outside
            rest -= outside
        }
        if x1 > limit { rest -= weight * ((x1 - limit) / (x1 - x0)) }
        let (start, end) = (max(x0, 0), min(x1, limit))
        let first = Numeric.integer(start, 0, width)
        let past = max(Numeric.integer(end.rounded(.up), 0, width), first + 1)
        addInside(from: start, to: end, first: first, past: past, weight: rest)
        return first..<(x1 > limit ? width : min(past + 1, width))
    }

    /// The same for a piece within the row's columns `first ..< past`.
    @inline(__always)
    private mutating func addInside(from start: Float, to end: Float, first: Int, past: Int, weight: Float) {
        if past == first &+ 1 {
            let right = (start + end) * 0.5 - Float(first)
            areas[first] += weight * (1 - right)
            areas[past] += weight * right
            return
        }
        let perPixel = 1 / (end - start)
        let startPart = 1 - (start - Float(first))
        let endPart = end - Float(past &- 1)
        let firstArea = 0.5 * perPixel * startPart * startPart
        let lastArea = 0.5 * perPixel * endPart * endPart
        areas[first] += weight * firstArea
        if past == first &+ 2 {
            areas[first &+ 1] += weight * (1 - firstArea - lastArea)
        } else {
            let second = perPixel * (startPart + 0.5)
            areas[first &+ 1] += weight * (second - firstArea)
            for column in (first &+ 2)..<(past &- 1) { areas[column] += weight * perPixel }
            let reached = second + Float(past &- first &- 3) * perPixel
            areas[past &- 1] += weight * (1 - reached - lastArea)
        }
        areas[past] += weight * lastArea
    }

    // MARK: Centers

    /// Calls `body` with each run of columns whose centers lie inside a layer, in the middle of the row.
    func forEachInnerRun(row: Int, of layer: Layer, body: (Range<Int>) -> Void) {
        let middle = Float(row) + 0.5
        let crossings = layer.edges.lazy.filter { $0.top <= middle && middle < $0.bottom }
            .map { (x: $0.x(at: middle), winding: $0.winding) }.sorted { $0.x < $1.x }
        var winding: Float = 0
        var start = 0
        for crossing in crossings {
            // The first column whose center is at the crossing or to the right of it.
            let column = Numeric.integer((crossing.x - 0.5).rounded(.up), 0, width)
            let wasInside = abs(winding) > 0.5
            winding += crossing.winding
            let isInside = abs(winding) > 0.5
            if isInside && !wasInside { start = column }
            if wasInside && !isInside && column > start { body(start..<column) }
        }
    }
}
