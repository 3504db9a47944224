/// One strand: a brush stroke from the head downwards. Coordinates: frame heights from the middle of the face.
private func strand(_ number: Int, side: Float, sway: Float) -> Shape {
    func chance(_ salt: UInt32) -> Float { Hash.unit(Hash.mix(UInt32(truncatingIfNeeded: number), salt)) }
    let out = chance(1) * chance(2)
    let bend: Point = [side * (0.160 + 0.13 * out), 0.02 + 0.10 * chance(3)]
    let tip: Point = [side * (0.175 + 0.20 * out * chance(4)) + sway, 0.15 + 0.26 * chance(5)]
    return .stroke(
        [side * (0.10 + 0.04 * chance(6)), -0.17 + 0.10 * chance(7)], bend, tip,
        (0.0008, 0.0005 + 0.0010 * chance(8), 0.0003))
}

private let longHair: [Point] = [
    [-0.135, -0.13], [-0.150, -0.05], [-0.163, 0.06], [-0.180, 0.18], [-0.196, 0.30], [-0.185, 0.40], [0, 0.42],
    [0.185, 0.40], [0.196, 0.30], [0.180, 0.18], [0.163, 0.06], [0.150, -0.05], [0.135, -0.13], [0, -0.20],
]

/// Long hair. Strands are about a pixel wide at 1280x720.
extension Drawing {
    mutating func addLongHair(_ look: Look, sway: Float) {
        let sides: [Float] = [-1, 1]
        let strands = sides.flatMap { side in
            (0..<60).map { strand($0 * 2 + (side < 0 ? 0 : 1), side: side, sway: sway) }
        }
        fill(
            .outline, strands, with: .flat(look.hair.darker(0.15)), relief: .flat(0.84),
            reflectance: hairReflectance)
        fill(
            .outline, .smooth(longHair),
            with: down(look.hair.darker(0.45), look.hair.darker(0.15), from: -0.1, to: 0.4),
            relief: .flat(0.86), reflectance: hairReflectance)
    }

    /// The locks that hang before the shoulders.
    mutating func addLocks(_ look: Look, sway: Float) {
        onBothSides { drawing in
            let side: Float = drawing.toPixels.x.x < 0 ? -1 : 1
            let ends = (0..<4).map { Float($0) }
            let shapes = ends.map { end in
                Shape.stroke(
                    [0.122, -0.10], [0.150 + 0.010 * end, 0.13],
                    [0.120 + 0.024 * end + side * sway, 0.40 - 0.025 * end], (0.002, 0.024, 0.0006))
            }
            let paint = drawing.linear(look.hair, look.hair.darker(0.3), from: [0.10, 0], to: [0.19, 0.3])
            drawing.fill(.outline, shapes, with: paint, relief: .flat(0.76), reflectance: hairReflectance)
            for end in ends {
                drawing.stroke(
                    look.hair.lighter(0.28).opacity(0.5), [0.124, -0.06], [0.146 + 0.012 * end, 0.13],
                    [0.122 + 0.024 * end + side * sway, 0.36 - 0.025 * end], (0.0005, 0.0022, 0.0004))
            }
        }
    }
}

/// The parts below the edge of the default frame: trunk, legs and the hanging arm. Coordinates: frame heights from the
/// base of the neck.
extension Drawing {
    mutating func addFigure(_ look: Look, isSeated: Bool) {
        let trousers = Color.rgb(0xc2ad92)
        if !isSeated {
            addLegs(trousers)
            addArm(look, wrist: [-0.56, 1.18], depth: 0.85)
        }
        let upperArm = Limb(start: [0.29, 0.23], end: [0.53, 0.50], startRadius: 0.10, endRadius: 0.09)
        fill(
            .outline, .limb(upperArm), with: .flat(look.sweater.darker(0.25)),
            relief: bar(upperArm, start: 0.865, end: 0.76, bulge: 0.05))
        let hip: Float = isSeated ? 1.12 : 1.36
        let trunk = Shape.smooth([
            [-0.30, 0.10], [-0.34, 0.35], [-0.32, 0.75], [-0.35, hip], [0, hip + 0.06], [0.35, hip],
            [0.32, 0.75], [0.34, 0.35], [0.30, 0.10], [0, 0.05],
        ])
        fill(
            .outline, trunk,
            with: linear(
                look.sweater.lighter(0.10), look.sweater.darker(0.20), from: [-0.25, -0.05], to: [0.22, 0.36]),
            relief: dome(Ellipse(0, 0.7, 0.55, 1.0), rim: 0.87, bulge: 0.10))
        let stitches = knit(look.sweater.darker(0.75).opacity(0.30), cell: [0.0125, 0.0095])
        fill(.detail, .rectangle(-0.45, 0.05, 0.9, 1.4), with: stitches)
        if isSeated {
            addSeatedLegs(trousers)
            addArm(look, wrist: [-0.36, 1.16], depth: 0.58)
        }
    }

    private mutating func addArm(_ look: Look, wrist: Point, depth: Float) {
        let hand = Limb(start: wrist + [0, 0.02], end: wrist + [0.01, 0.16], startRadius: 0.055, endRadius: 0.045)
        fill(
            .outline, .limb(hand), with: .flat(look.skin),
            relief: bar(hand, start: depth - 0.01, end: depth - 0.02, bulge: 0.03))
        let arm = Limb(start: [-0.29, 0.23], end: wrist, startRadius: 0.10, endRadius: 0.07)
        let shade = linear(look.sweater.lighter(0.05), look.sweater.darker(0.3), from: [-0.5, 0.6], to: [-0.3, 0.7])
        fill(.outline, .limb(arm), with: shade, relief: bar(arm, start: 0.865, end: depth, bulge: 0.05))
    }

    private mutating func addLegs(_ trousers: Color) {
        onBothSides {
            let leg = Limb(start: [0.15, 1.35], end: [0.19, 2.95], startRadius: 0.20, endRadius: 0.105)
            let paint = $0.linear(trousers.lighter(0.10), trousers.darker(0.3), from: [0, 1.3], to: [0.3, 1.4])
            $0.fill(.outline, .limb(leg), with: paint, relief: $0.bar(leg, start: 0.86, end: 0.86, bulge: 0.08))
            let shoe = Shape.roundedRectangle(0.09, 2.98, 0.23, 0.12, 0.05)
            $0.fill(.outline, shoe, with: .flat(.rgb(0x3a2620)), relief: .flat(0.74))
        }
    }

    /// Thighs towards the camera, shins down, and shoes on the floor.
    private mutating func addSeatedLegs(_ trousers: Color) {
        onBothSides {
            let shoe = Limb(start: [0.35, 2.42], end: [0.39, 2.67], startRadius: 0.11, endRadius: 0.10)
            $0.fill(
                .outline, .limb(shoe), with: .flat(.rgb(0x3a2620)),
                relief: $0.bar(shoe, start: 0.30, end: 0.165, bulge: 0.03))
            let shin = Limb(start: [0.38, 1.525], end: [0.34, 2.36], startRadius: 0.14, endRadius: 0.105)
            $0.fill(
                .outline, .limb(shin), with: .flat(trousers.darker(0.2)),
                relief: $0.bar(shin, start: 0.35, end: 0.33, bulge: 0.05))
            let thigh = Limb(start: [0.186, 1.05], end: [0.38, 1.525], startRadius: 0.165, endRadius: 0.15)
            $0.fill(
                .outline, .limb(thigh), with: .flat(trousers),
                relief: $0.bar(thigh, start: 0.84, end: 0.38, bulge: 0.06))
        }
    }

    /// A telephone in the open hand, under the thumb. Coordinates: frame heights from the wrist.
    mutating func addTelephone(_ look: Look) {
        with(.turn(0.03)) {
            $0.fill(
                .outline, .roundedRectangle(-0.062, -0.235, 0.112, 0.215, 0.014), with: .flat(.rgb(0x20242a)),
                relief: .flat(0.54))
            $0.fill(
                .detail, .roundedRectangle(-0.055, -0.226, 0.098, 0.197, 0.008),
                with: $0.down(0x3f6f9a, 0xc98a6a, from: -0.22, to: -0.03))
        }
        let paint = linear(
            look.skin.lighter(0.1), look.skin.mixed(0.3, of: look.skinShade), from: [-0.1, 0], to: [0, 0])
        fill(.outline, thumb.map { .limb($0) }, with: paint, relief: .flat(0.53))
    }
}
