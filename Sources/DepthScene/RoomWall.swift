/// The wall and what hangs on it. Coordinates: frame heights.
extension Room {
    private static let wallDepth: Float = 2.0

    func drawWall(in drawing: inout Drawing) {
        drawing.rectangle(-0.1, -0.1, 2.0, 1.2)
        drawing.fill(
            .outline, drawing.linear(.rgb(0x9cc3c4), .rgb(0x4f8490), from: Point(0.2, 0), to: Point(1.75, 0.75)),
            relief: drawing.plane(1.98, 2.10, from: Point(0, 0), to: Point(1.78, 0)))
        drawing.rectangle(-0.1, -0.1, 2.0, 1.2)
        drawing.fill(.detail, drawing.grain(.rgb(0x2f6470, opacity: 0.10), cell: Point(0.006, 0.008), seed: 11))
        drawing.rectangle(-0.1, -0.1, 2.0, 1.2)
        drawing.fill(.detail, drawing.grain(.rgb(0xd5ebe6, opacity: 0.10), cell: Point(0.09, 0.13), seed: 12))
    }

    // MARK: Window

    func drawWindow(in drawing: inout Drawing) {
        // Shadow on the wall, frame, and the view in two panes.
        drawing.glow(.overlay, .rgb(0x0e3038, opacity: 0.35), Ellipse(0.31, 0.29, 0.36, 0.40))
        drawing.roundedRectangle(0.055, -0.08, 0.475, 0.610, radius: 0.010)
        drawing.fill(
            .outline, drawing.linear(.rgb(0xf6f3ea), .rgb(0xd5dad6), from: Point(0.05, 0), to: Point(0.53, 0.5)),
            relief: drawing.flat(1.97))
        for left: Float in [0.080, 0.302] { drawPane(left, in: &drawing) }
        // The sill.
        drawing.roundedRectangle(0.030, 0.520, 0.525, 0.026, radius: 0.006)
        drawing.fill(
            .outline, drawing.linear(.rgb(0xfdfaf2), .rgb(0xc4ccca), from: Point(0, 0.520), to: Point(0, 0.546)),
            relief: drawing.flat(1.90))
        drawing.glow(.overlay, .rgb(0x0e3038, opacity: 0.45), Ellipse(0.30, 0.556, 0.27, 0.020))
    }

    private func drawPane(_ left: Float, in drawing: inout Drawing) {
        drawing.rectangle(left, -0.06, 0.203, 0.560)
        drawing.fill(
            .outline, drawing.linear(.rgb(0x8fc9ee), .rgb(0xe9f4f2), from: Point(0, 0), to: Point(0, 0.42)),
            relief: drawing.flat(2.15))
        // Clouds, hills, and a tree line.
        for cloud in [
            Ellipse(0.17, 0.130, 0.070, 0.020), Ellipse(0.20, 0.112, 0.040, 0.026), Ellipse(0.42, 0.215, 0.075, 0.018),
            Ellipse(0.395, 0.200, 0.036, 0.023), Ellipse(0.145, 0.122, 0.030, 0.018),
            Ellipse(0.435, 0.206, 0.030, 0.017),
        ] {
            drawing.ellipse(cloud)
        }
        drawing.fill(.detail, .flat(.rgb(0xffffff, opacity: 0.80)))
        drawing.ellipse(Ellipse(0.14, 0.56, 0.28, 0.190))
        drawing.ellipse(Ellipse(0.52, 0.58, 0.24, 0.240))
        drawing.fill(.detail, .flat(.rgb(0x9cc7b0)))
        drawing.ellipse(Ellipse(0.36, 0.60, 0.26, 0.185))
        drawing.fill(.detail, drawing.linear(.rgb(0x7fb08f), .rgb(0x5e9678), from: Point(0, 0.42), to: Point(0, 0.50)))
        drawing.ellipse(Ellipse(0.08, 0.60, 0.17, 0.150))
        drawing.fill(.detail, .flat(.rgb(0x6aa383)))
        // Reflections on the glass, and the frame's shadow.
        drawing.polygon([
            Point(left + 0.02, 0.5), Point(left + 0.09, 0.5), Point(left + 0.25, -0.06), Point(left + 0.18, -0.06),
        ])
        drawing.fill(.detail, .flat(.rgb(0xffffff, opacity: 0.13)))
        drawing.rectangle(left, -0.06, 0.008, 0.56)
        drawing.fill(.detail, .flat(.rgb(0x5b7c86, opacity: 0.30)))
    }

    // MARK: Pictures

    func drawPictures(in drawing: inout Drawing) {
        drawFrame(x: 1.045, y: 0.070, width: 0.190, height: 0.245, in: &drawing)
        // A landscape of three shapes.
        drawing.rectangle(1.073, 0.098, 0.134, 0.189)
        drawing.fill(.patch, drawing.linear(.rgb(0xcfe6e2), .rgb(0xf4efe2), from: Point(0, 0.10), to: Point(0, 0.25)))
        drawing.ellipse(Ellipse(1.160, 0.155, 0.026, 0.026))
        drawing.fill(.detail, .flat(.rgb(0xd9826a)))
        drawing.ellipse(Ellipse(1.095, 0.300, 0.085, 0.100))
        drawing.fill(.detail, .flat(.rgb(0x3d7f88)))
        drawing.ellipse(Ellipse(1.190, 0.315, 0.090, 0.085))
        drawing.fill(.detail, .flat(.rgb(0x245562)))
    }

    private func drawFrame(x: Float, y: Float, width: Float, height: Float, in drawing: inout Drawing) {
        drawing.glow(
            .overlay, .rgb(0x0e3038, opacity: 0.55),
            Ellipse(x + width / 2 + 0.012, y + height / 2 + 0.016, width * 0.68, height * 0.66))
        drawing.rectangle(x, y, width, height)
        drawing.fill(
            .outline,
            drawing.linear(.rgb(0x2f4a55), .rgb(0x1f3641), from: Point(x, y), to: Point(x + width, y + height)),
            relief: drawing.flat(1.98))
        drawing.rectangle(x + 0.010, y + 0.010, width - 0.020, height - 0.020)
        drawing.fill(.detail, .flat(.rgb(0xf2f1ea)))
    }

    // MARK: Shelf

    /// One book: its left edge, width, height and colour.
    private struct Book {
        var x: Float
        var width: Float
        var height: Float
        var colour: UInt32
    }

    private static let books = [
        Book(x: 1.415, width: 0.030, height: 0.165, colour: 0x2d5f73),
        Book(x: 1.447, width: 0.024, height: 0.150, colour: 0xdfe7e0),
        Book(x: 1.473, width: 0.036, height: 0.178, colour: 0x3f8f8a),
        Book(x: 1.511, width: 0.022, height: 0.142, colour: 0x1f3f55),
        Book(x: 1.535, width: 0.030, height: 0.160, colour: 0x8fb7c6),
    ]
    private static let shelfTop: Float = 0.335

    func drawShelf(in drawing: inout Drawing) {
        let top = Room.shelfTop
        drawing.glow(.overlay, .rgb(0x0e3038, opacity: 0.50), Ellipse(1.62, top + 0.045, 0.30, 0.050))
        for book in Room.books { drawBook(book, in: &drawing) }
        drawVase(in: &drawing)
        drawing.rectangle(1.385, top, 0.50, 0.026)
        drawing.fill(
            .outline, drawing.linear(.rgb(0x8f9c93), .rgb(0x5d7170), from: Point(0, top), to: Point(0, top + 0.026)),
            relief: drawing.flat(1.75))
        drawing.rectangle(1.385, top, 0.50, 0.004)
        drawing.fill(.detail, .flat(.rgb(0xdfe8e0, opacity: 0.7)))
    }

    private func drawBook(_ book: Book, in drawing: inout Drawing) {
        let top = Room.shelfTop - book.height
        let colour = Colour.rgb(book.colour)
        drawing.roundedRectangle(book.x, top, book.width, book.height + 0.01, radius: 0.003)
        drawing.fill(
            .outline,
            drawing.linear(
                colour.lighter(0.15), colour.darker(0.25), from: Point(book.x, 0), to: Point(book.x + book.width, 0)),
            relief: drawing.flat(1.82))
        for line: Float in [0.016, 0.024, 0.130] where line < book.height - 0.01 {
            drawing.rectangle(book.x, top + line, book.width, 0.003)
            drawing.fill(.detail, .flat(.rgb(0xf2f1ea, opacity: 0.55)))
        }
    }

    private static let vase: [Point] = [
        Point(1.655, 0.345), Point(1.632, 0.290), Point(1.643, 0.240), Point(1.658, 0.222), Point(1.655, 0.205),
        Point(1.685, 0.205), Point(1.682, 0.222), Point(1.697, 0.240), Point(1.708, 0.290), Point(1.685, 0.345),
    ]

    private func drawVase(in drawing: inout Drawing) {
        drawing.smooth(Room.vase)
        drawing.fill(
            .outline, drawing.linear(.rgb(0xeaf0ea), .rgb(0x86a3a6), from: Point(1.64, 0), to: Point(1.71, 0)),
            relief: drawing.dome(Ellipse(1.67, 0.28, 0.045, 0.09), rim: 1.84, bulge: 0.05))
    }
}
