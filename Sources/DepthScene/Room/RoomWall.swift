/// The wall and what hangs on it. Coordinates: frame heights.
extension Drawing {
    mutating func addWall(_ light: Color, _ shade: Color) {
        let wall = Shape.rectangle(-3.6, -1.9, 9.0, 4.8)
        fill(
            .outline, wall, with: linear(light, shade, from: [0.2, 0], to: [1.75, 0.75]),
            relief: plane(1.98, 2.10, from: [0, 0], to: [1.78, 0]))
        fill(.detail, wall, with: noise(.rgb(0x2f6470, 0.10), cell: [0.006, 0.008], seed: 11))
        fill(.detail, wall, with: noise(.rgb(0xd5ebe6, 0.10), cell: [0.09, 0.13], seed: 12))
    }

    // MARK: Window

    mutating func addWindow() {
        // Shadow on the wall, frame, and the view in two panes.
        glow(.rgb(0x0e3038, 0.35), 0.31, 0.29, 0.36, 0.40, as: .overlay)
        fill(
            .outline, .roundedRectangle(0.055, -0.08, 0.475, 0.610, 0.010),
            with: linear(.rgb(0xf6f3ea), .rgb(0xd5dad6), from: [0.05, 0], to: [0.53, 0.5]), relief: .flat(1.97))
        for left: Float in [0.080, 0.302] { addPane(left) }
        let sill = Shape.roundedRectangle(0.030, 0.520, 0.525, 0.026, 0.006)
        fill(.outline, sill, with: down(0xfdfaf2, 0xc4ccca, from: 0.520, to: 0.546), relief: .flat(1.90))
        glow(.rgb(0x0e3038, 0.45), 0.30, 0.556, 0.27, 0.020, as: .overlay)
    }

    private mutating func addPane(_ left: Float) {
        let sky = down(0x8fc9ee, 0xe9f4f2, from: 0, to: 0.42)
        fill(.outline, .rectangle(left, -0.06, 0.203, 0.560), with: sky, relief: .flat(2.15))
        // Clouds, hills, and a tree line.
        let clouds: [Shape] = [
            .ellipse(0.17, 0.130, 0.070, 0.020), .ellipse(0.20, 0.112, 0.040, 0.026),
            .ellipse(0.42, 0.215, 0.075, 0.018), .ellipse(0.395, 0.200, 0.036, 0.023),
            .ellipse(0.145, 0.122, 0.030, 0.018), .ellipse(0.435, 0.206, 0.030, 0.017),
        ]
        fill(.detail, clouds, with: .flat(.rgb(0xffffff, 0.80)))
        let hills: [Shape] = [.ellipse(0.14, 0.56, 0.28, 0.190), .ellipse(0.52, 0.58, 0.24, 0.240)]
        fill(.detail, hills, with: .flat(.rgb(0x9cc7b0)))
        fill(.detail, .ellipse(0.36, 0.60, 0.26, 0.185), with: down(0x7fb08f, 0x5e9678, from: 0.42, to: 0.50))
        fill(.detail, .ellipse(0.08, 0.60, 0.17, 0.150), with: .flat(.rgb(0x6aa383)))
        // Reflections on the glass, and the frame's shadow.
        let glare: [Point] = [[left + 0.02, 0.5], [left + 0.09, 0.5], [left + 0.25, -0.06], [left + 0.18, -0.06]]
        fill(.detail, Shape(glare), with: .flat(.rgb(0xffffff, 0.13)))
        fill(.detail, .rectangle(left, -0.06, 0.008, 0.56), with: .flat(.rgb(0x5b7c86, 0.30)))
    }

    // MARK: Picture

    /// A landscape of three shapes, framed.
    mutating func addPicture() {
        let (x, y, width, height): (Float, Float, Float, Float) = (1.045, 0.070, 0.190, 0.245)
        glow(
            .rgb(0x0e3038, 0.55), x + width / 2 + 0.012, y + height / 2 + 0.016, width * 0.68, height * 0.66,
            as: .overlay)
        fill(
            .outline, .rectangle(x, y, width, height),
            with: linear(.rgb(0x2f4a55), .rgb(0x1f3641), from: [x, y], to: [x + width, y + height]),
            relief: .flat(1.98))
        fill(.detail, .rectangle(x + 0.010, y + 0.010, width - 0.020, height - 0.020), with: .flat(.rgb(0xf2f1ea)))
        fill(.patch, .rectangle(1.073, 0.098, 0.134, 0.189), with: down(0xcfe6e2, 0xf4efe2, from: 0.10, to: 0.25))
        fill(.detail, .ellipse(1.160, 0.155, 0.026, 0.026), with: .flat(.rgb(0xd9826a)))
        fill(.detail, .ellipse(1.095, 0.300, 0.085, 0.100), with: .flat(.rgb(0x3d7f88)))
        fill(.detail, .ellipse(1.190, 0.315, 0.090, 0.085), with: .flat(.rgb(0x245562)))
    }

    // MARK: Shelf

    mutating func addShelf() {
        let top: Float = 0.335
        glow(.rgb(0x0e3038, 0.50), 1.62, top + 0.045, 0.30, 0.050, as: .overlay)
        for book in books { add(book, on: top) }
        fill(
            .outline, .smooth(vase), with: across(0xeaf0ea, 0x86a3a6, from: 1.64, to: 1.71),
            relief: dome(Ellipse(1.67, 0.28, 0.045, 0.09), rim: 1.84, bulge: 0.05))
        let edge = down(0x8f9c93, 0x5d7170, from: top, to: top + 0.026)
        fill(.outline, .rectangle(1.385, top, 0.50, 0.026), with: edge, relief: .flat(1.75))
        fill(.detail, .rectangle(1.385, top, 0.50, 0.004), with: .flat(.rgb(0xdfe8e0, 0.7)))
    }

    private mutating func add(_ book: Book, on shelf: Float) {
        let top = shelf - book.height
        let color = Color.rgb(book.color)
        fill(
            .outline, .roundedRectangle(book.x, top, book.width, book.height + 0.01, 0.003),
            with: linear(color.lighter(0.15), color.darker(0.25), from: [book.x, 0], to: [book.x + book.width, 0]),
            relief: .flat(1.82))
        for line: Float in [0.016, 0.024, 0.130] where line < book.height - 0.01 {
            fill(.detail, .rectangle(book.x, top + line, book.width, 0.003), with: .flat(.rgb(0xf2f1ea, 0.55)))
        }
    }
}

/// One book: its left edge, width, height and color.
private typealias Book = (x: Float, width: Float, height: Float, color: UInt32)

private let books: [Book] = [
    (1.415, 0.030, 0.165, 0x2d5f73), (1.447, 0.024, 0.150, 0xdfe7e0), (1.473, 0.036, 0.178, 0x3f8f8a),
    (1.511, 0.022, 0.142, 0x1f3f55), (1.535, 0.030, 0.160, 0x8fb7c6),
]
private let vase: [Point] = [
    [1.655, 0.345], [1.632, 0.290], [1.643, 0.240], [1.658, 0.222], [1.655, 0.205], [1.685, 0.205], [1.682, 0.222],
    [1.697, 0.240], [1.708, 0.290], [1.685, 0.345],
]
