/// Draws the rows of a drawing, one at a time.
struct Composer {
    private var pixels: [Color]
    private var cover: [Float]
    private var clip: [Float]
    private var scanner: Scanner

    init(width: Int) {
        pixels = Array(repeating: .zero, count: width)
        cover = Array(repeating: 0, count: width)
        clip = cover
        scanner = Scanner(width: width)
    }

    /// Paints a row: blue, green and red times coverage, and the coverage in 0…1. The room behind shows through by
    /// exactly one minus the coverage of the outlines: the matte and the mixed pixels at the edges are the same
    /// numbers.
    mutating func paint(_ row: Int, of drawing: Drawing) -> [Color] {
        for column in pixels.indices { pixels[column] = .zero }
        var shown = 0..<0
        for layer in drawing.layers {
            let role = layer.role
            var columns = 0..<0
            if layer.rows.contains(row) {
                columns = scanner.coverage(row: row, of: layer, into: &cover)
                if role == .detail { columns = columns.clamped(to: shown) }
                for column in columns {
                    let (color, behind) = (layer.paint.color(at: Point(centerOf: column, row)), pixels[column])
                    let clipped = role == .detail ? cover[column] * clip[column] : cover[column]
                    // Only an outline changes the coverage.
                    let (amount, whole) = role == .outline ? (clipped, 1) : (clipped * color.w, behind.w)
                    pixels[column] = behind + (color.opacity(1) * whole - behind) * amount
                }
            }
            guard role.limitsDetails else { continue }
            swap(&cover, &clip)
            shown = columns
        }
        return pixels
    }

    /// Finds how much of each pixel of a row the outlines leave free, 0…1. They count as independent where their edges
    /// share a pixel: the product of the parts that each leaves uncovered stays.
    mutating func uncover(_ row: Int, of drawing: Drawing, into uncovered: inout [Float]) {
        for column in uncovered.indices { uncovered[column] = 1 }
        for layer in drawing.layers where layer.rows.contains(row) {
            for column in scanner.coverage(row: row, of: layer, into: &cover) { uncovered[column] *= 1 - cover[column] }
        }
    }

    /// Puts the depth of the outlines over the samples of a row.
    func measure(_ row: Int, of drawing: Drawing, over samples: inout [Float]) {
        for layer in drawing.layers where layer.rows.contains(row) {
            guard let relief = layer.relief else { continue }
            scanner.forEachInnerRun(row: row, of: layer) { columns in
                for column in columns {
                    let p = Point(centerOf: column, row)
                    samples[column] = relief.depth(at: p) + layer.distance(p)
                }
            }
        }
    }

    /// Puts the reflectance of the outlines over that of a row.
    func reflect(_ row: Int, of drawing: Drawing, over reflectance: inout [Float]) {
        for layer in drawing.layers where layer.relief != nil && layer.rows.contains(row) {
            scanner.forEachInnerRun(row: row, of: layer) { columns in
                for column in columns {
                    reflectance[column] =
                        layer.reflectance ?? layer.paint.color(at: Point(centerOf: column, row)).reflectance
                }
            }
        }
    }
}
