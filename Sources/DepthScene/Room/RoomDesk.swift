/// The color of the shadows on the desk.
private let shade: UInt32 = 0x16302f

/// The desk and what stands on it. Coordinates: frame heights; for the plant, the lamp and the mug from their place.
extension Drawing {
    mutating func addDesk() {
        let (back, front, frontDepth): (Float, Float, Float) = (0.715, 0.785, 1.40)
        glow(.rgb(0x0e3038, 0.40), 0.9, back, 1.3, 0.10, as: .overlay)
        // The top: a level surface, 2.0 m away at the wall and 1.4 m at its front edge.
        let top = Shape.rectangle(-3.6, back, 9.0, front - back)
        fill(
            .outline, top, with: down(0x9fb0a6, 0xc5cfc2, from: back, to: front),
            relief: level(1.98, at: back, frontDepth, at: front))
        fill(.detail, top, with: noise(.rgb(0x51685f, 0.30), cell: [0.16, 0.007], seed: 21))
        // The front edge, and the drawers below it.
        let face = Shape.rectangle(-3.6, front, 9.0, 2.0)
        fill(.outline, face, with: down(0x6d857f, 0x3f5b5c, from: front, to: 1), relief: .flat(frontDepth))
        fill(.detail, face, with: noise(.rgb(0x24403f, 0.30), cell: [0.22, 0.009], seed: 22))
        let edge = down(0xd9dfd2, 0x93a69c, from: front, to: front + 0.026)
        fill(.detail, .rectangle(-3.6, front, 9.0, 0.026), with: edge)
        let shadow = linear(.rgb(shade, 0.55), .rgb(shade, 0), from: [0, front + 0.026], to: [0, front + 0.038])
        fill(.detail, .rectangle(-3.6, front + 0.026, 9.0, 0.012), with: shadow)
        for x: Float in [0.42, 1.36] {
            fill(.detail, .rectangle(x, front + 0.03, 0.004, 0.4), with: .flat(.rgb(0x203b3b, 0.8)))
        }
        for x: Float in [0.13, 1.53] {
            fill(.detail, .roundedRectangle(x, front + 0.085, 0.12, 0.012, 0.006), with: .flat(.rgb(0xd3dcd4)))
        }
    }

    // MARK: Monitor

    mutating func addMonitor() {
        glow(.rgb(shade, 0.55), 0.05, 0.745, 0.16, 0.022, as: .overlay)
        let stand: [Shape] = [.roundedRectangle(-0.06, 0.733, 0.15, 0.014, 0.006), .rectangle(-0.02, 0.66, 0.05, 0.08)]
        fill(.outline, stand, with: .flat(.rgb(0x26363d)), relief: .flat(1.62))
        fill(
            .outline, .roundedRectangle(-0.25, 0.355, 0.440, 0.315, 0.014),
            with: linear(.rgb(0x33464e), .rgb(0x18252b), from: [0, 0.355], to: [0.19, 0.67]),
            relief: plane(1.62, 1.56, from: [0, 0], to: [0.19, 0]))
        let screen = linear(.rgb(0x10303f), .rgb(0x1d5866), from: [0, 0.37], to: [0.17, 0.646])
        fill(.patch, .rectangle(-0.25, 0.371, 0.425, 0.275), with: screen)
        // Lines of text on the screen: indentation and length in steps.
        let lines: [(indent: Float, length: Float, color: UInt32)] = [
            (0, 7, 0x7fd1c9), (1, 5, 0xd8ecec), (1, 6, 0x8fb7c6), (2, 4, 0x7fd1c9), (2, 5, 0xd8ecec), (1, 3, 0xe3b98f),
            (0, 6, 0x8fb7c6), (1, 6, 0xd8ecec), (1, 4, 0x7fd1c9), (0, 2, 0xd8ecec),
        ]
        for (index, line) in lines.enumerated() {
            let (x, y) = (0.015 + line.indent * 0.014, 0.392 + Float(index) * 0.024)
            let text = Shape.roundedRectangle(x, y, line.length * 0.018, 0.009, 0.004)
            fill(.detail, text, with: .flat(.rgb(line.color, 0.85)))
        }
    }

    // MARK: Plant

    mutating func addPlant() {
        glow(.rgb(shade, 0.65), 0.02, 0.100, 0.090, 0.018, as: .overlay)
        for (index, leaf) in leaves.enumerated() {
            let green = Color.rgb(index % 2 == 0 ? 0x2f7d5b : 0x3f9468)
            fill(
                .outline, .stroke([0, 0.01], leaf.bend, leaf.tip, (0.004, 0.021, 0.002)),
                with: linear(green.darker(0.3), green.lighter(0.15), from: [0, 0], to: leaf.tip),
                relief: plane(1.60, 1.56, from: [-0.1, 0], to: [0.1, 0]))
            stroke(.rgb(0xbfe3c0, 0.45), [0, 0.01], leaf.bend, leaf.tip, (0.0010, 0.0014, 0.0004))
        }
        fill(
            .outline, Shape([[-0.056, 0], [0.056, 0], [0.042, 0.100], [-0.042, 0.100]]),
            with: across(0xf3f3ec, 0x8ea7a9, from: -0.045, to: 0.055),
            relief: dome(Ellipse(0, 0.05, 0.060, 0.2), rim: 1.62, bulge: 0.06))
        fill(
            .outline, .roundedRectangle(-0.062, -0.006, 0.124, 0.024, 0.006),
            with: across(0xffffff, 0x9db4b5, from: -0.05, to: 0.06),
            relief: dome(Ellipse(0, 0.006, 0.064, 0.2), rim: 1.61, bulge: 0.06))
    }

    // MARK: Lamp

    mutating func addLamp() {
        glow(.rgb(shade, 0.65), 0.015, 0.004, 0.090, 0.018, as: .overlay)
        fill(
            .outline, .ellipse(0, 0, 0.058, 0.013), .rectangle(-0.006, -0.20, 0.012, 0.20),
            with: across(0xdfe6e2, 0x51696f, from: -0.03, to: 0.04), relief: .flat(1.55))
        fill(
            .outline, Shape([[-0.052, -0.325], [0.052, -0.325], [0.098, -0.185], [-0.098, -0.185]]),
            with: down(0xf6efdc, 0xffe6a8, from: -0.325, to: -0.185),
            relief: dome(Ellipse(0, -0.25, 0.10, 0.2), rim: 1.60, bulge: 0.08))
        glow(.rgb(0xfffbe8, 0.9), 0, -0.205, 0.085, 0.080)
        glow(.rgb(0xffe9b0, 0.50), 0, -0.22, 0.28, 0.26, as: .overlay)
        glow(.rgb(0xffe9b0, 0.45), 0, -0.010, 0.22, 0.035, as: .overlay)
    }

    // MARK: Mug

    mutating func addMug() {
        glow(.rgb(shade, 0.60), 0.015, 0.0, 0.055, 0.013, as: .overlay)
        let handle = Shape.stroke([0.030, -0.062], [0.078, -0.040], [0.028, -0.014], (0.006, 0.007, 0.006))
        fill(.outline, handle, with: .flat(.rgb(0x23586a)), relief: .flat(1.47))
        fill(
            .outline, .roundedRectangle(-0.036, -0.078, 0.072, 0.080, 0.012),
            with: across(0x4f98a6, 0x1f5060, from: -0.036, to: 0.036),
            relief: dome(Ellipse(0, -0.04, 0.037, 0.2), rim: 1.48, bulge: 0.035))
        fill(.outline, .ellipse(0, -0.076, 0.036, 0.008), with: .flat(.rgb(0x7cb8c1)), relief: .flat(1.46))
        fill(.detail, .ellipse(0, -0.075, 0.030, 0.0055), with: .flat(.rgb(0x2a1d18)))
    }
}

/// The leaves of the plant: where each bends and where it ends, relative to the top of the pot.
private let leaves: [(bend: Point, tip: Point)] = [
    ([-0.03, -0.13], [-0.105, -0.120]), ([0.03, -0.14], [0.095, -0.135]), ([-0.03, -0.16], [-0.065, -0.215]),
    ([0.02, -0.17], [0.060, -0.225]), ([-0.02, -0.07], [-0.100, -0.045]), ([0.03, -0.08], [0.095, -0.055]),
    ([0.00, -0.15], [-0.004, -0.265]),
]
