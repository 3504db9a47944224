private let neck: [Point] = [
    [-0.072, -0.20], [-0.067, -0.11], [-0.072, -0.055], [-0.100, -0.010], [-0.070, 0.06], [0, 0.08], [0.070, 0.06],
    [0.100, -0.010], [0.072, -0.055], [0.067, -0.11], [0.072, -0.20], [0, -0.24],
]
private let torso: [Point] = [
    [-0.088, -0.058], [-0.150, -0.028], [-0.235, 0.006], [-0.318, 0.052], [-0.368, 0.130], [-0.398, 0.245],
    [-0.420, 0.36], [-0.30, 0.50], [0, 0.54], [0.30, 0.50], [0.560, 0.40], [0.458, 0.255], [0.388, 0.140],
    [0.322, 0.052], [0.235, 0.006], [0.150, -0.028], [0.088, -0.058], [0.062, -0.014], [0, 0.012], [-0.062, -0.014],
]

/// Neck, shoulders and sweater. Coordinates: frame heights from the base of the neck.
extension Drawing {
    mutating func addNeck(_ look: Look) {
        let collarBehind = Shape.ellipse(0, -0.052, 0.096, 0.032)
        fill(.outline, collarBehind, with: .flat(look.sweater.darker(0.45)), relief: .flat(0.86))
        fill(
            .outline, .smooth(neck), with: linear(look.skin.darker(0.10), look.skin, from: [-0.07, 0], to: [0.02, 0]),
            relief: dome(Ellipse(0, -0.08, 0.075, 0.30), rim: 0.845, bulge: 0.055))
        // The head's shadow, then the light on the collarbones.
        glow(look.skinShade.opacity(1.0), 0.012, -0.125, 0.115, 0.105)
        glow(look.skinShade.opacity(0.8), 0.075, -0.06, 0.05, 0.16)
        let light = look.skinShade.opacity(0.5)
        onBothSides { $0.stroke(light, [0.030, -0.02], [0.012, 0.012], [0.004, 0.016], (0.002, 0.003, 0.001)) }
    }

    mutating func addTorso(_ look: Look) {
        let (light, shade) = (look.sweater.lighter(0.10), look.sweater.darker(0.20))
        fill(
            .outline, .smooth(torso), with: linear(light, shade, from: [-0.25, -0.05], to: [0.22, 0.36]),
            relief: dome(Ellipse(0.02, 0.20, 0.52, 0.44), rim: 0.865, bulge: 0.115))
        // Two bands across the chest that follow its roundness.
        for (y, width): (Float, Float) in [(0.118, 0.017), (0.163, 0.0065)] {
            stroke(look.stripe, [-0.50, y - 0.055], [0, y + 0.055], [0.50, y - 0.055], (width, width, width))
        }
        let stitches = knit(look.sweater.darker(0.75).opacity(0.30), cell: [0.0125, 0.0095])
        fill(.detail, .rectangle(-0.45, -0.08, 1.05, 0.65), with: stitches)
        addFolds(shade: look.sweater.darker(0.55), light: look.sweater.lighter(0.55))
        addCollar(look)
    }

    private mutating func addFolds(shade: Color, light: Color) {
        // Between the arms and the chest.
        for (side, end): (Float, Float) in [(-1, 0.300), (1, 0.330)] {
            stroke(
                shade.opacity(0.50), [side * 0.268, 0.145], [side * 0.272, 0.24], [side * end, 0.36],
                (0.0008, 0.0032, 0.006))
            glow(shade.opacity(0.50), side * 0.262, 0.27, 0.060, 0.19)
        }
        glow(shade.opacity(0.55), 0.46, 0.24, 0.12, 0.26)
        glow(shade.opacity(0.30), 0.06, 0.34, 0.26, 0.18)
        glow(light.opacity(0.50), -0.24, 0.045, 0.13, 0.075)
        glow(light.opacity(0.30), 0.215, 0.045, 0.11, 0.06)
        glow(light.opacity(0.26), -0.10, 0.15, 0.16, 0.14)
        // The head's shadow.
        glow(shade.opacity(0.55), 0.02, -0.02, 0.15, 0.075)
    }

    /// The ribbed neckline.
    private mutating func addCollar(_ look: Look) {
        let (band, shade) = (look.sweater.darker(0.10), look.sweater.darker(0.50).opacity(0.6))
        stroke(shade, [-0.100, -0.066], [0, 0.106], [0.100, -0.066], (0.0135, 0.0165, 0.0135))
        stroke(band, [-0.094, -0.068], [0, 0.092], [0.094, -0.068], (0.0120, 0.0145, 0.0120))
        let groove = look.sweater.darker(0.45).opacity(0.55)
        for rib in -7...7 {
            let t = Float(rib) / 8
            let middle: Point = [t * 0.092, 0.012 - 0.080 * t * t]
            let out: Point = [t * 0.016, 0.0115 - 0.004 * abs(t)]
            stroke(groove, middle - out * 0.8, middle, middle + out * 0.9, (0.0009, 0.0012, 0.0009))
        }
    }
}
