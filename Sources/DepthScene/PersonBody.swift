/// Neck, shoulders and sweater. Coordinates: frame heights from the base of the neck.
extension Person {
    private static let neck: [Point] = [
        Point(-0.072, -0.20), Point(-0.067, -0.11), Point(-0.072, -0.055), Point(-0.100, -0.010), Point(-0.070, 0.06),
        Point(0, 0.08), Point(0.070, 0.06), Point(0.100, -0.010), Point(0.072, -0.055), Point(0.067, -0.11),
        Point(0.072, -0.20), Point(0, -0.24),
    ]
    private static let torso: [Point] = [
        Point(-0.088, -0.058), Point(-0.150, -0.028), Point(-0.235, 0.006), Point(-0.318, 0.052), Point(-0.368, 0.130),
        Point(-0.398, 0.245), Point(-0.420, 0.36), Point(-0.30, 0.50), Point(0, 0.54), Point(0.30, 0.50),
        Point(0.560, 0.40), Point(0.458, 0.255), Point(0.388, 0.140), Point(0.322, 0.052), Point(0.235, 0.006),
        Point(0.150, -0.028), Point(0.088, -0.058), Point(0.062, -0.014), Point(0, 0.012), Point(-0.062, -0.014),
    ]
    private static let collarBehind = Ellipse(0, -0.052, 0.096, 0.032)
    private static let torsoRound = Ellipse(0.02, 0.20, 0.52, 0.44)
    private static let neckRound = Ellipse(0, -0.08, 0.075, 0.30)
    private static let stitch = Point(0.0125, 0.0095)

    func drawNeck(in drawing: inout Drawing) {
        drawing.ellipse(Person.collarBehind)
        drawing.fill(.outline, .flat(look.sweater.darker(0.45)), relief: drawing.flat(0.86))
        drawing.smooth(Person.neck)
        drawing.fill(
            .outline, drawing.linear(look.skin.darker(0.10), look.skin, from: Point(-0.07, 0), to: Point(0.02, 0)),
            relief: drawing.dome(Person.neckRound, rim: 0.845, bulge: 0.055))
        // The head's shadow, then the light on the collarbones.
        drawing.glow(.detail, look.skinShade.opacity(1.0), Ellipse(0.012, -0.125, 0.115, 0.105))
        drawing.glow(.detail, look.skinShade.opacity(0.8), Ellipse(0.075, -0.06, 0.05, 0.16))
        drawing.stroke(
            .detail, look.skinShade.opacity(0.5), Point(-0.030, -0.02), Point(-0.012, 0.012), Point(-0.004, 0.016),
            (0.002, 0.003, 0.001))
        drawing.stroke(
            .detail, look.skinShade.opacity(0.5), Point(0.030, -0.02), Point(0.012, 0.012), Point(0.004, 0.016),
            (0.002, 0.003, 0.001))
    }

    func drawTorso(in drawing: inout Drawing) {
        drawing.smooth(Person.torso)
        drawing.fill(
            .outline,
            drawing.linear(
                look.sweater.lighter(0.10), look.sweater.darker(0.20), from: Point(-0.25, -0.05),
                to: Point(0.22, 0.36)),
            relief: drawing.dome(Person.torsoRound, rim: 0.865, bulge: 0.115))
        drawStripes(in: &drawing)
        drawing.rectangle(-0.45, -0.08, 1.05, 0.45)
        drawing.fill(.detail, drawing.knit(look.sweater.darker(0.75).opacity(0.30), cell: Person.stitch))
        drawFolds(in: &drawing)
        drawCollar(in: &drawing)
    }

    /// Two bands across the chest that follow its roundness.
    private func drawStripes(in drawing: inout Drawing) {
        for (top, width) in [(Float(0.118), Float(0.017)), (0.163, 0.0065)] {
            drawing.stroke(
                .detail, look.stripe, Point(-0.50, top - 0.055), Point(0, top + 0.055), Point(0.50, top - 0.055),
                (width, width, width))
        }
    }

    private func drawFolds(in drawing: inout Drawing) {
        let shade = look.sweater.darker(0.55)
        let light = look.sweater.lighter(0.55)
        // Between the arms and the chest.
        for side: Float in [-1, 1] {
            drawing.stroke(
                .detail, shade.opacity(0.50), Point(side * 0.268, 0.145), Point(side * 0.272, 0.24),
                Point(side * (side > 0 ? 0.330 : 0.300), 0.36), (0.0008, 0.0032, 0.006))
            drawing.glow(.detail, shade.opacity(0.50), Ellipse(side * 0.262, 0.27, 0.060, 0.19))
        }
        drawing.glow(.detail, shade.opacity(0.55), Ellipse(0.46, 0.24, 0.12, 0.26))
        drawing.glow(.detail, shade.opacity(0.30), Ellipse(0.06, 0.34, 0.26, 0.18))
        drawing.glow(.detail, light.opacity(0.50), Ellipse(-0.24, 0.045, 0.13, 0.075))
        drawing.glow(.detail, light.opacity(0.30), Ellipse(0.215, 0.045, 0.11, 0.06))
        drawing.glow(.detail, light.opacity(0.26), Ellipse(-0.10, 0.15, 0.16, 0.14))
        // The head's shadow.
        drawing.glow(.detail, shade.opacity(0.55), Ellipse(0.02, -0.02, 0.15, 0.075))
    }

    /// The ribbed neckline.
    private func drawCollar(in drawing: inout Drawing) {
        let band = look.sweater.darker(0.10)
        drawing.stroke(
            .detail, look.sweater.darker(0.50).opacity(0.6), Point(-0.100, -0.066), Point(0, 0.106),
            Point(0.100, -0.066), (0.0135, 0.0165, 0.0135))
        drawing.stroke(
            .detail, band, Point(-0.094, -0.068), Point(0, 0.092), Point(0.094, -0.068), (0.0120, 0.0145, 0.0120))
        for rib in -7...7 {
            let t = Float(rib) / 8
            let middle = Point(t * 0.092, 0.012 - 0.080 * t * t)
            let out = Point(t * 0.016, 0.0115 - 0.004 * abs(t))
            drawing.stroke(
                .detail, look.sweater.darker(0.45).opacity(0.55), middle - out * 0.8, middle, middle + out * 0.9,
                (0.0009, 0.0012, 0.0009))
        }
    }
}
