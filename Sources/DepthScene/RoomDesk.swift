/// The desk and what stands on it. Coordinates: frame heights.
extension Room {
    private static let deskBack: Float = 0.715
    private static let deskFront: Float = 0.785
    private static let deskFrontDepth: Float = 1.40

    func drawDesk(in drawing: inout Drawing) {
        let back = Room.deskBack
        let front = Room.deskFront
        drawing.glow(.overlay, .rgb(0x0e3038, opacity: 0.40), Ellipse(0.9, back, 1.3, 0.10))
        // The top: a level surface, 2.0 m away at the wall and 1.4 m at its front edge.
        drawing.rectangle(-0.1, back, 2.0, front - back)
        drawing.fill(
            .outline, drawing.linear(.rgb(0x9fb0a6), .rgb(0xc5cfc2), from: Point(0, back), to: Point(0, front)),
            relief: drawing.level(1.98, at: back, Room.deskFrontDepth, at: front))
        drawing.rectangle(-0.1, back, 2.0, front - back)
        drawing.fill(.detail, drawing.grain(.rgb(0x51685f, opacity: 0.30), cell: Point(0.16, 0.007), seed: 21))
        // The front edge, and the drawers below it.
        drawing.rectangle(-0.1, front, 2.0, 0.4)
        drawing.fill(
            .outline, drawing.linear(.rgb(0x6d857f), .rgb(0x3f5b5c), from: Point(0, front), to: Point(0, 1)),
            relief: drawing.flat(Room.deskFrontDepth))
        drawing.rectangle(-0.1, front, 2.0, 0.4)
        drawing.fill(.detail, drawing.grain(.rgb(0x24403f, opacity: 0.30), cell: Point(0.22, 0.009), seed: 22))
        drawing.rectangle(-0.1, front, 2.0, 0.026)
        drawing.fill(
            .detail, drawing.linear(.rgb(0xd9dfd2), .rgb(0x93a69c), from: Point(0, front), to: Point(0, front + 0.026)))
        drawing.rectangle(-0.1, front + 0.026, 2.0, 0.012)
        drawing.fill(
            .detail,
            drawing.linear(
                .rgb(0x16302f, opacity: 0.55), .rgb(0x16302f, opacity: 0), from: Point(0, front + 0.026),
                to: Point(0, front + 0.038)))
        for x: Float in [0.42, 1.36] {
            drawing.rectangle(x, front + 0.03, 0.004, 0.4)
            drawing.fill(.detail, .flat(.rgb(0x203b3b, opacity: 0.8)))
        }
        for x: Float in [0.13, 1.53] {
            drawing.roundedRectangle(x, front + 0.085, 0.12, 0.012, radius: 0.006)
            drawing.fill(.detail, .flat(.rgb(0xd3dcd4)))
        }
    }

    // MARK: Monitor

    func drawMonitor(in drawing: inout Drawing) {
        drawing.glow(.overlay, .rgb(0x16302f, opacity: 0.55), Ellipse(0.05, 0.745, 0.16, 0.022))
        drawing.roundedRectangle(-0.06, 0.733, 0.15, 0.014, radius: 0.006)
        drawing.rectangle(-0.02, 0.66, 0.05, 0.08)
        drawing.fill(.outline, .flat(.rgb(0x26363d)), relief: drawing.flat(1.62))
        drawing.roundedRectangle(-0.25, 0.355, 0.440, 0.315, radius: 0.014)
        drawing.fill(
            .outline, drawing.linear(.rgb(0x33464e), .rgb(0x18252b), from: Point(0, 0.355), to: Point(0.19, 0.67)),
            relief: drawing.plane(1.62, 1.56, from: Point(0, 0), to: Point(0.19, 0)))
        drawing.rectangle(-0.25, 0.371, 0.425, 0.275)
        drawing.fill(
            .patch, drawing.linear(.rgb(0x10303f), .rgb(0x1d5866), from: Point(0, 0.37), to: Point(0.17, 0.646)))
        drawCode(in: &drawing)
    }

    /// Lines of text on the screen: row, indentation and length in steps.
    private func drawCode(in drawing: inout Drawing) {
        let lines: [(indent: Float, length: Float, colour: UInt32)] = [
            (0, 7, 0x7fd1c9), (1, 5, 0xd8ecec), (1, 6, 0x8fb7c6), (2, 4, 0x7fd1c9), (2, 5, 0xd8ecec), (1, 3, 0xe3b98f),
            (0, 6, 0x8fb7c6),
            (1, 6, 0xd8ecec), (1, 4, 0x7fd1c9), (0, 2, 0xd8ecec),
        ]
        for (index, line) in lines.enumerated() {
            drawing.roundedRectangle(
                0.015 + line.indent * 0.014, 0.392 + Float(index) * 0.024, line.length * 0.018, 0.009, radius: 0.004)
            drawing.fill(.detail, .flat(.rgb(line.colour, opacity: 0.85)))
        }
    }

    // MARK: Plant

    /// A leaf: where its stem bends and where it ends, from the top of the pot.
    private static let leaves: [(bend: Point, tip: Point)] = [
        (Point(-0.03, -0.13), Point(-0.105, -0.120)), (Point(0.03, -0.14), Point(0.095, -0.135)),
        (Point(-0.03, -0.16), Point(-0.065, -0.215)), (Point(0.02, -0.17), Point(0.060, -0.225)),
        (Point(-0.02, -0.07), Point(-0.100, -0.045)), (Point(0.03, -0.08), Point(0.095, -0.055)),
        (Point(0.00, -0.15), Point(-0.004, -0.265)),
    ]
    private static let pot: [Point] = [
        Point(-0.056, 0), Point(0.056, 0), Point(0.042, 0.100), Point(-0.042, 0.100),
    ]

    func drawPlant(in drawing: inout Drawing) {
        drawing.with(.move(Point(0.318, 0.650))) {
            $0.glow(.overlay, .rgb(0x16302f, opacity: 0.65), Ellipse(0.02, 0.100, 0.090, 0.018))
            for (index, leaf) in Room.leaves.enumerated() {
                let shade = Colour.rgb(index % 2 == 0 ? 0x2f7d5b : 0x3f9468)
                $0.stroke(Point(0, 0.01), leaf.bend, leaf.tip, (0.004, 0.021, 0.002))
                $0.fill(
                    .outline, $0.linear(shade.darker(0.3), shade.lighter(0.15), from: Point(0, 0), to: leaf.tip),
                    relief: $0.plane(1.60, 1.56, from: Point(-0.1, 0), to: Point(0.1, 0)))
                $0.stroke(
                    .detail, .rgb(0xbfe3c0, opacity: 0.45), Point(0, 0.01), leaf.bend, leaf.tip,
                    (0.0010, 0.0014, 0.0004))
            }
            $0.polygon(Room.pot)
            $0.fill(
                .outline, $0.linear(.rgb(0xf3f3ec), .rgb(0x8ea7a9), from: Point(-0.045, 0), to: Point(0.055, 0)),
                relief: $0.dome(Ellipse(0, 0.05, 0.060, 0.2), rim: 1.62, bulge: 0.06))
            $0.roundedRectangle(-0.062, -0.006, 0.124, 0.024, radius: 0.006)
            $0.fill(
                .outline, $0.linear(.rgb(0xffffff), .rgb(0x9db4b5), from: Point(-0.05, 0), to: Point(0.06, 0)),
                relief: $0.dome(Ellipse(0, 0.006, 0.064, 0.2), rim: 1.61, bulge: 0.06))
        }
    }

    // MARK: Lamp

    func drawLamp(in drawing: inout Drawing) {
        drawing.with(.move(Point(1.585, 0.752))) {
            $0.glow(.overlay, .rgb(0x16302f, opacity: 0.65), Ellipse(0.015, 0.004, 0.090, 0.018))
            $0.ellipse(Ellipse(0, 0, 0.058, 0.013))
            $0.rectangle(-0.006, -0.20, 0.012, 0.20)
            $0.fill(
                .outline, $0.linear(.rgb(0xdfe6e2), .rgb(0x51696f), from: Point(-0.03, 0), to: Point(0.04, 0)),
                relief: $0.flat(1.55))
            $0.polygon([Point(-0.052, -0.325), Point(0.052, -0.325), Point(0.098, -0.185), Point(-0.098, -0.185)])
            $0.fill(
                .outline, $0.linear(.rgb(0xf6efdc), .rgb(0xffe6a8), from: Point(0, -0.325), to: Point(0, -0.185)),
                relief: $0.dome(Ellipse(0, -0.25, 0.10, 0.2), rim: 1.60, bulge: 0.08))
            $0.glow(.detail, .rgb(0xfffbe8, opacity: 0.9), Ellipse(0, -0.205, 0.085, 0.080))
            $0.glow(.overlay, .rgb(0xffe9b0, opacity: 0.50), Ellipse(0, -0.22, 0.28, 0.26))
            $0.glow(.overlay, .rgb(0xffe9b0, opacity: 0.45), Ellipse(0, -0.010, 0.22, 0.035))
        }
    }

    // MARK: Mug

    func drawMug(in drawing: inout Drawing) {
        drawing.with(.move(Point(1.425, 0.768))) {
            $0.glow(.overlay, .rgb(0x16302f, opacity: 0.60), Ellipse(0.015, 0.0, 0.055, 0.013))
            $0.stroke(Point(0.030, -0.062), Point(0.078, -0.040), Point(0.028, -0.014), (0.006, 0.007, 0.006))
            $0.fill(.outline, .flat(.rgb(0x23586a)), relief: $0.flat(1.47))
            $0.roundedRectangle(-0.036, -0.078, 0.072, 0.080, radius: 0.012)
            $0.fill(
                .outline, $0.linear(.rgb(0x4f98a6), .rgb(0x1f5060), from: Point(-0.036, 0), to: Point(0.036, 0)),
                relief: $0.dome(Ellipse(0, -0.04, 0.037, 0.2), rim: 1.48, bulge: 0.035))
            $0.ellipse(Ellipse(0, -0.076, 0.036, 0.008))
            $0.fill(.outline, .flat(.rgb(0x7cb8c1)), relief: $0.flat(1.46))
            $0.ellipse(Ellipse(0, -0.075, 0.030, 0.0055))
            $0.fill(.detail, .flat(.rgb(0x2a1d18)))
        }
    }
}
