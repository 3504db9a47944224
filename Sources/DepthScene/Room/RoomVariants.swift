/// Other rooms. Coordinates: frame heights.
extension Drawing {
    mutating func addBrightRoom() {
        addWall(.rgb(0xf7f4ec), .rgb(0xdcdad2))
        addDesk()
        addMonitor()
        with(.move([1.425, 0.768])) { $0.addMug() }
    }

    /// A room of the person's own colors.
    mutating func addRoom(like look: Look) {
        addWall(look.skin.lighter(0.10), look.skin.darker(0.25))
        // Panels of wood.
        for panel in 0..<9 {
            let x = Float(panel) * 0.21 - 0.02
            fill(.detail, .rectangle(x, -0.1, 0.006, 1.2), with: .flat(look.skin.darker(0.45).opacity(0.7)))
            fill(
                .detail, .rectangle(x, -0.1, 0.2, 1.2),
                with: noise(look.crease.opacity(0.35), cell: [0.02, 0.3], seed: UInt32(panel) + 31))
        }
        // Books on a shelf, as hair; a curtain, as the sweater.
        for book in 0..<12 {
            let (x, top) = (1.10 + Float(book) * 0.055, 0.06 + 0.02 * Float(book % 4))
            let color = book % 3 == 0 ? look.skin.darker(0.15) : look.hair.lighter(Float(book % 3) * 0.08)
            fill(.outline, .rectangle(x, top, 0.05, 0.34 - top), with: .flat(color), relief: .flat(1.80))
        }
        fill(.outline, .rectangle(1.08, 0.335, 0.80, 0.026), with: .flat(look.hair.darker(0.2)), relief: .flat(1.74))
        for fold in 0..<5 {
            let x = Float(fold) * 0.085 - 0.06
            fill(
                .outline, .rectangle(x, -0.1, 0.088, 1.2),
                with: linear(look.sweater.lighter(0.1), look.sweater.darker(0.25), from: [x, 0], to: [x + 0.088, 0]),
                relief: .flat(1.70))
        }
        // A chair behind the person.
        addChair([.roundedRectangle(0.54, 0.24, 0.54, 0.90, 0.10)], look.hair, relief: .flat(1.10))
    }

    /// A headrest, a back and its foot, 0.88 m away: the edges of the person are at 0.78 to 0.87 m there. No source for the
    /// reflectance: chosen so that every sensor measures the chair, as infrared light does not see black dye.
    mutating func addOfficeChair() {
        let shapes: [Shape] = [
            .roundedRectangle(0.60, 0.24, 0.40, 0.24, 0.07), .rectangle(0.77, 0.45, 0.06, 3.2),
            .roundedRectangle(0.40, 0.52, 0.80, 1.35, 0.14),
        ]
        addChair(shapes, .rgb(0x2b3036), relief: .flat(0.88), reflectance: 0.3)
    }

    private mutating func addChair(_ shapes: [Shape], _ color: Color, relief: Relief, reflectance: Float? = nil) {
        let leather = linear(color.lighter(0.12), color.darker(0.25), from: [0.55, 0.2], to: [1.1, 0.9])
        fill(.outline, shapes, with: leather, relief: relief, reflectance: reflectance)
        for x: Float in [0.72, 0.90] {
            stroke(color.darker(0.5).opacity(0.6), [x, 0.26], [x - 0.01, 0.6], [x, 1.0], (0.002, 0.003, 0.002))
        }
    }

    /// A wall 4.4 m away, and the floor up to it.
    mutating func addHall() {
        let foot: Float = 0.773
        fill(
            .outline, .rectangle(-3.6, -1.9, 9.0, 4.8),
            with: linear(.rgb(0xf0f4f2), .rgb(0xcfdcde), from: [0.2, 0], to: [1.75, 0.75]), relief: .flat(4.4))
        fill(
            .outline, .roundedRectangle(1.28, 0.26, 0.24, 0.52, 0.006),
            with: down(0x5f7f86, 0x4a666d, from: 0.2, to: 0.8),
            relief: .flat(4.38))
        for y: Float in [0.30, 0.54] {
            fill(.detail, .rectangle(1.31, y, 0.18, 0.19), with: .flat(.rgb(0x3e5a62, 0.5)))
        }
        fill(.outline, .rectangle(0.24, 0.24, 0.26, 0.18), with: .flat(.rgb(0x2b434c)), relief: .flat(4.37))
        fill(.detail, .rectangle(0.255, 0.255, 0.23, 0.15), with: down(0xcfe6e2, 0x3d7f88, from: 0.26, to: 0.40))
        let floor = Shape.rectangle(-3.6, foot, 9.0, 2.0)
        fill(
            .outline, floor, with: down(0xc9b698, 0xd8c8ae, from: foot, to: 1),
            relief: level(4.4, at: foot, 3.1, at: 0.93))
        fill(.detail, floor, with: noise(.rgb(0x8a7458, 0.35), cell: [0.20, 0.012], seed: 41))
        fill(.detail, .rectangle(-3.6, foot, 9.0, 0.012), with: .flat(.rgb(0xdfe5e2)))
        glow(.rgb(0x2a2018, 0.6), 0.87, 0.935, 0.16, 0.022)
    }
}
