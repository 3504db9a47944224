/// The raised forearm and the open hand, its palm to the camera. Coordinates: frame heights from the elbow for the
/// sleeve and from the wrist for the hand, whose fingers point up.
extension Person {
    /// Half-widths of the sleeve.
    private static let elbowRadius: Float = 0.098
    private static let cuffRadius: Float = 0.058
    /// Where the sleeve begins, below the elbow and out of sight.
    private static let sleeveStart = Point(0.03, 0.10)
    /// How far from the elbow to the wrist the sleeve's last circle and the cuff's ribs begin.
    private static let sleeveShare: Float = 0.80
    private static let cuffShare: Float = 0.875

    private static let palm: [Point] = [
        Point(-0.036, 0.030), Point(-0.037, -0.010), Point(-0.052, -0.045), Point(-0.061, -0.085),
        Point(-0.061, -0.118), Point(-0.040, -0.134), Point(0.000, -0.138), Point(0.040, -0.128),
        Point(0.058, -0.108), Point(0.058, -0.070), Point(0.047, -0.020), Point(0.037, 0.010), Point(0.036, 0.030),
        Point(0, 0.05),
    ]

    /// The cuff's outline; its upper edge bows upwards at the back of the wrist.
    private static let cuff: [Point] = [
        Point(-0.0965, -0.380), Point(-0.0980, -0.410), Point(-0.0935, -0.4395), Point(-0.084, -0.4455),
        Point(-0.045, -0.4375), Point(-0.006, -0.4435), Point(0.0035, -0.4375), Point(0.0125, -0.410),
        Point(0.0205, -0.380),
        Point(-0.038, -0.365),
    ]

    /// One finger: where it leaves the palm, which way it points when the hand is relaxed and how far spreading turns
    /// it (both in turns), its length and its half-width at the root.
    private struct Finger {
        var root: Point
        var lean: Float
        var spread: Float
        var length: Float
        var radius: Float
    }

    private static let fingers = [
        Finger(root: Point(-0.0455, -0.112), lean: -0.022, spread: -0.014, length: 0.108, radius: 0.0158),
        Finger(root: Point(-0.0130, -0.122), lean: -0.005, spread: -0.003, length: 0.121, radius: 0.0162),
        Finger(root: Point(0.0190, -0.118), lean: 0.012, spread: 0.008, length: 0.110, radius: 0.0155),
        Finger(root: Point(0.0455, -0.102), lean: 0.034, spread: 0.020, length: 0.086, radius: 0.0135),
    ]
    private static let thumbJoint = Point(-0.084, -0.088)
    private static let thumbTip = Point(-0.106, -0.136)

    func drawSleeve(in drawing: inout Drawing) {
        let axis = Person.wrist
        let sleeve = Limb(
            start: Person.sleeveStart, end: axis * Person.sleeveShare, startRadius: Person.elbowRadius,
            endRadius: Person.cuffRadius)
        drawing.limb(sleeve)
        drawing.fill(
            .outline,
            drawing.linear(
                look.sweater.lighter(0.14), look.sweater.darker(0.26), from: Point(-0.09, -0.2), to: Point(0.08, -0.2)),
            relief: drawing.bar(sleeve, start: 0.68, end: 0.60, bulge: 0.035))
        let lean = Affine.turn(0.016)
        drawing.with(lean) {
            $0.rectangle(-0.2, -0.5, 0.4, 0.6)
            $0.fill(.detail, $0.knit(look.sweater.darker(0.75).opacity(0.30), cell: Point(0.0135, 0.0105)))
        }
        drawing.stroke(
            .detail, look.stripe, Point(-0.13, -0.165), Point(-0.015, -0.135), Point(0.10, -0.175),
            (0.016, 0.016, 0.016))
        drawing.glow(.detail, look.sweater.darker(0.55).opacity(0.6), Ellipse(0.065, -0.15, 0.07, 0.30))
        drawing.glow(.detail, look.sweater.lighter(0.55).opacity(0.35), Ellipse(-0.055, -0.20, 0.05, 0.20))
        drawCuff(from: axis * Person.cuffShare, to: axis, in: &drawing)
    }

    private func drawCuff(from start: Point, to end: Point, in drawing: inout Drawing) {
        let cuff = Limb(start: start, end: end, startRadius: 0.050, endRadius: 0.047)
        drawing.smooth(Person.cuff)
        drawing.fill(
            .outline,
            drawing.linear(
                look.sweater.lighter(0.08), look.sweater.darker(0.32), from: start - Point(0.05, 0),
                to: start + Point(0.05, 0)),
            relief: drawing.bar(cuff, start: 0.605, end: 0.59, bulge: 0.03))
        let along = end - start
        for rib in -4...4 {
            let across = Point(Float(rib) * 0.0112, 0)
            drawing.stroke(
                .detail, look.sweater.darker(0.55).opacity(0.5), start + across * 1.04 - along * 0.2,
                start + across + along * 0.5,
                end + across * 0.95, (0.0012, 0.0016, 0.0012))
        }
    }

    func drawHand(in drawing: inout Drawing) {
        drawing.smooth(Person.palm)
        for finger in Person.fingers { drawing.limb(limb(of: finger)) }
        drawing.limb(Limb(start: Point(-0.032, -0.050), end: Person.thumbJoint, startRadius: 0.027, endRadius: 0.0185))
        drawing.limb(Limb(start: Person.thumbJoint, end: Person.thumbTip, startRadius: 0.0185, endRadius: 0.0138))
        drawing.fill(
            .outline,
            drawing.linear(
                look.skin.lighter(0.22), look.skin.mixed(0.30, of: look.skinShade), from: Point(-0.07, -0.16),
                to: Point(0.07, -0.05)),
            relief: drawing.dome(Ellipse(0, -0.10, 0.16, 0.20), rim: 0.600, bulge: 0.050))
        drawFingerShading(in: &drawing)
        drawPalmShading(in: &drawing)
    }

    private func limb(of finger: Finger) -> Limb {
        let turn = finger.lean + finger.spread * pose.spread
        let tip = Affine.turn(turn)(Point(0, -finger.length))
        return Limb(
            start: finger.root, end: finger.root + tip, startRadius: finger.radius, endRadius: finger.radius * 0.84)
    }

    private func drawFingerShading(in drawing: inout Drawing) {
        guard drawing.purpose == .picture else { return }
        for finger in Person.fingers {
            let limb = limb(of: finger)
            let way = limb.end - limb.start
            let across = Point(-way.y, way.x) / finger.length * finger.radius
            // A line on the shaded side from the web on, and the creases of the joints.
            drawing.stroke(
                .detail, look.crease.opacity(0.42), limb.start + across * 1.02 - way * 0.04,
                limb.start + across + way * 0.2,
                limb.start + across * 0.97 + way * 0.48, (0.0012, 0.0014, 0.0003))
            for joint: Float in [0.28, 0.62] {
                let middle = limb.start + way * joint
                drawing.stroke(
                    .detail, look.crease.opacity(0.34), middle - across * 0.62, middle + way * 0.02,
                    middle + across * 0.62, (0.0003, 0.0011, 0.0003))
            }
            let tip = limb.start + way * 0.98
            drawing.glow(.detail, look.blush.opacity(0.30), Ellipse(tip.x, tip.y, finger.radius, finger.radius * 1.2))
        }
    }

    private func drawPalmShading(in drawing: inout Drawing) {
        let line = look.crease.opacity(0.50)
        drawing.glow(.detail, look.blush.opacity(0.22), Ellipse(-0.034, -0.060, 0.042, 0.055))
        drawing.glow(.detail, look.blush.opacity(0.18), Ellipse(0.036, -0.050, 0.028, 0.055))
        drawing.glow(.detail, look.skinShade.opacity(0.40), Ellipse(0.004, -0.068, 0.026, 0.034))
        drawing.glow(.detail, look.skinShade.opacity(0.75), Ellipse(0.004, 0.022, 0.060, 0.045))
        // The line around the ball of the thumb, and the two across the palm.
        drawing.stroke(
            .detail, line, Point(-0.052, -0.098), Point(0.006, -0.082), Point(-0.006, -0.012), (0.0006, 0.0015, 0.0005))
        drawing.stroke(
            .detail, line, Point(-0.052, -0.100), Point(-0.010, -0.090), Point(0.034, -0.062), (0.0006, 0.0013, 0.0004))
        drawing.stroke(
            .detail, line, Point(0.056, -0.088), Point(0.012, -0.088), Point(-0.014, -0.116), (0.0006, 0.0013, 0.0004))
        drawing.stroke(
            .detail, line, Point(-0.086, -0.104), Point(-0.095, -0.108), Point(-0.100, -0.103), (0.0004, 0.0010, 0.0004)
        )
    }
}
