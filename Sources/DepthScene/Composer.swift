/// Paints a drawing row by row.
///
/// A row is kept as colour times coverage, with the coverage as fourth lane, so that what is behind shows through by
/// exactly one minus the coverage of the outlines: the matte and the mixed pixels at the edges are the same numbers.
/// Shapes count as independent where their edges share a pixel: what stays uncovered is the product of what each
/// leaves uncovered.
struct Composer {
    /// The current row: blue, green and red times coverage, and the coverage in 0…1.
    private(set) var pixels: [Colour]
    /// What the outlines leave free of each pixel of the current row, 0…1; from `coverRow`.
    private(set) var uncovered: [Float]
    private var cover: [Float]
    private var clip: [Float]
    private var scanner: Scanner

    init(width: Int) {
        pixels = Array(repeating: .zero, count: width)
        uncovered = Array(repeating: 1, count: width)
        cover = Array(repeating: 0, count: width)
        clip = Array(repeating: 0, count: width)
        scanner = Scanner(width: width)
    }

    /// Paints one row into `pixels` and returns the columns that the drawing touches.
    ///
    /// - Precondition: rows come in order from 0 on after each new drawing.
    mutating func paintRow(_ row: Int, of drawing: inout Drawing) -> Range<Int> {
        var touched = Reach()
        var shown = 0..<0
        for column in pixels.indices { pixels[column] = .zero }
        for index in drawing.layers.indices {
            let role = drawing.layers[index].role
            guard drawing.layers[index].rows.contains(row) else {
                if role == .outline || role == .patch { shown = 0..<0 }
                continue
            }
            Scanner.enter(row: row, layer: index, of: &drawing)
            let columns = scanner.coverage(row: row, layer: index, of: drawing, into: &cover)
            Scanner.leave(row: row, layer: index, of: &drawing)
            let paint = drawing.layers[index].paint
            switch role {
            case .outline:
                paintOutline(paint, columns, row)
                swap(&cover, &clip)
                shown = columns
                touched.include(columns)
            case .detail:
                paintDetail(paint, columns.clamped(to: shown), row)
            case .overlay:
                paintOverlay(paint, columns, row)
            case .patch:
                paintOverlay(paint, columns, row)
                swap(&cover, &clip)
                shown = columns
            }
        }
        return touched.columns
    }

    /// Finds how much of each pixel of a row the outlines leave free, into `uncovered`, and returns the columns that
    /// they touch; the others are stale.
    mutating func coverRow(_ row: Int, of drawing: inout Drawing) -> Range<Int> {
        var touched = Reach()
        for column in uncovered.indices { uncovered[column] = 1 }
        for index in drawing.layers.indices where drawing.layers[index].rows.contains(row) {
            Scanner.enter(row: row, layer: index, of: &drawing)
            let columns = scanner.coverage(row: row, layer: index, of: drawing, into: &cover)
            Scanner.leave(row: row, layer: index, of: &drawing)
            for column in columns { uncovered[column] *= 1 - cover[column] }
            touched.include(columns)
        }
        return touched.columns
    }

    // MARK: Blending

    private mutating func paintOutline(_ paint: Paint, _ columns: Range<Int>, _ row: Int) {
        paint.forEachPixel(of: columns, row: row) { column, colour in
            let amount = cover[column]
            let behind = pixels[column]
            pixels[column] = behind + (colour.opacity(1) - behind) * amount
        }
    }

    private mutating func paintDetail(_ paint: Paint, _ columns: Range<Int>, _ row: Int) {
        paint.forEachPixel(of: columns, row: row) { column, colour in
            blend(colour, column, amount: cover[column] * clip[column] * colour.w)
        }
    }

    private mutating func paintOverlay(_ paint: Paint, _ columns: Range<Int>, _ row: Int) {
        paint.forEachPixel(of: columns, row: row) { column, colour in
            blend(colour, column, amount: cover[column] * colour.w)
        }
    }

    /// Mixes a colour in without changing the coverage.
    @inline(__always)
    private mutating func blend(_ colour: Colour, _ column: Int, amount: Float) {
        let behind = pixels[column]
        pixels[column] = behind + (colour.opacity(1) * behind.w - behind) * amount
    }
}

/// The smallest run of columns that holds all that were included.
struct Reach {
    private(set) var columns = 0..<0

    mutating func include(_ more: Range<Int>) {
        guard !more.isEmpty else { return }
        guard !columns.isEmpty else {
            columns = more
            return
        }
        columns = min(columns.lowerBound, more.lowerBound)..<max(columns.upperBound, more.upperBound)
    }
}
