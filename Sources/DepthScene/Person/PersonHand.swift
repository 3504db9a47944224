private let palm: [Point] = [
    [-0.036, 0.030], [-0.037, -0.010], [-0.052, -0.045], [-0.061, -0.085], [-0.061, -0.118], [-0.040, -0.134],
    [0.000, -0.138], [0.040, -0.128], [0.058, -0.108], [0.058, -0.070], [0.047, -0.020], [0.037, 0.010],
    [0.036, 0.030], [0, 0.05],
]
/// Its upper edge bows upwards at the back of the wrist.
private let cuffOutline: [Point] = [
    [-0.0965, -0.380], [-0.0980, -0.410], [-0.0935, -0.4395], [-0.084, -0.4455], [-0.045, -0.4375], [-0.006, -0.4435],
    [0.0035, -0.4375], [0.0125, -0.410], [0.0205, -0.380], [-0.038, -0.365],
]

/// One finger: its root on the palm, its angle when the hand is relaxed and the angle that spreading adds (both in
/// turns), its length and its half-width at the root.
private struct Finger {
    let root: Point
    let lean: Float
    let spread: Float
    let length: Float
    let radius: Float

    func limb(spread share: Float) -> Limb {
        let tip = Affine.turn(lean + spread * share)([0, -length])
        return Limb(start: root, end: root + tip, startRadius: radius, endRadius: radius * 0.84)
    }
}

private let fingers = [
    Finger(root: [-0.0455, -0.112], lean: -0.022, spread: -0.014, length: 0.108, radius: 0.0158),
    Finger(root: [-0.0130, -0.122], lean: -0.005, spread: -0.003, length: 0.121, radius: 0.0162),
    Finger(root: [0.0190, -0.118], lean: 0.012, spread: 0.008, length: 0.110, radius: 0.0155),
    Finger(root: [0.0455, -0.102], lean: 0.034, spread: 0.020, length: 0.086, radius: 0.0135),
]
private let thumbJoint: Point = [-0.084, -0.088]
let thumb = [
    Limb(start: [-0.032, -0.050], end: thumbJoint, startRadius: 0.027, endRadius: 0.0185),
    Limb(start: thumbJoint, end: [-0.106, -0.136], startRadius: 0.0185, endRadius: 0.0138),
]

/// The raised forearm and the open hand, its palm to the camera. Coordinates: frame heights from the elbow for the
/// sleeve and from the wrist for the hand, whose fingers point up.
extension Drawing {
    mutating func addSleeve(_ look: Look) {
        // It begins below the elbow and out of sight.
        let sleeve = Limb(start: [0.03, 0.10], end: Person.wrist * 0.80, startRadius: 0.098, endRadius: 0.058)
        let (light, shade) = (look.sweater.lighter(0.14), look.sweater.darker(0.26))
        fill(
            .outline, .limb(sleeve), with: linear(light, shade, from: [-0.09, -0.2], to: [0.08, -0.2]),
            relief: bar(sleeve, start: 0.68, end: 0.60, bulge: 0.035))
        with(.turn(0.016)) {
            let stitches = $0.knit(look.sweater.darker(0.75).opacity(0.30), cell: [0.0135, 0.0105])
            $0.fill(.detail, .rectangle(-0.2, -0.5, 0.4, 0.6), with: stitches)
        }
        stroke(look.stripe, [-0.13, -0.165], [-0.015, -0.135], [0.10, -0.175], (0.016, 0.016, 0.016))
        glow(look.sweater.darker(0.55).opacity(0.6), 0.065, -0.15, 0.07, 0.30)
        glow(look.sweater.lighter(0.55).opacity(0.35), -0.055, -0.20, 0.05, 0.20)
        addCuff(look, from: Person.wrist * 0.875, to: Person.wrist)
    }

    private mutating func addCuff(_ look: Look, from start: Point, to end: Point) {
        let cuff = Limb(start: start, end: end, startRadius: 0.050, endRadius: 0.047)
        let (light, shade) = (look.sweater.lighter(0.08), look.sweater.darker(0.32))
        fill(
            .outline, .smooth(cuffOutline),
            with: linear(light, shade, from: start - [0.05, 0], to: start + [0.05, 0]),
            relief: bar(cuff, start: 0.605, end: 0.59, bulge: 0.03))
        let along = end - start
        let groove = look.sweater.darker(0.55).opacity(0.5)
        for rib in -4...4 {
            let across: Point = [Float(rib) * 0.0112, 0]
            let (upper, middle) = (start + across * 1.04 - along * 0.2, start + across + along * 0.5)
            stroke(groove, upper, middle, end + across * 0.95, (0.0012, 0.0016, 0.0012))
        }
    }

    mutating func addHand(_ look: Look, spread: Float) {
        let limbs = fingers.map { $0.limb(spread: spread) }
        let (light, shade) = (look.skin.lighter(0.22), look.skin.mixed(0.30, of: look.skinShade))
        fill(
            .outline, [.smooth(palm)] + (limbs + thumb).map { .limb($0) },
            with: linear(light, shade, from: [-0.07, -0.16], to: [0.07, -0.05]),
            relief: dome(Ellipse(0, -0.10, 0.16, 0.20), rim: 0.600, bulge: 0.050))
        for (finger, limb) in zip(fingers, limbs) { addShading(of: finger, limb, look) }
        addPalmShading(look)
    }

    private mutating func addShading(of finger: Finger, _ limb: Limb, _ look: Look) {
        let way = limb.end - limb.start
        let across = Point(-way.y, way.x) / finger.length * finger.radius
        // A line on the shaded side from the web on, and the creases of the joints.
        stroke(
            look.crease.opacity(0.42), limb.start + across * 1.02 - way * 0.04, limb.start + across + way * 0.2,
            limb.start + across * 0.97 + way * 0.48, (0.0012, 0.0014, 0.0003))
        for joint: Float in [0.28, 0.62] {
            let middle = limb.start + way * joint
            stroke(
                look.crease.opacity(0.34), middle - across * 0.62, middle + way * 0.02, middle + across * 0.62,
                (0.0003, 0.0011, 0.0003))
        }
        let tip = limb.start + way * 0.98
        glow(look.blush.opacity(0.30), tip.x, tip.y, finger.radius, finger.radius * 1.2)
    }

    private mutating func addPalmShading(_ look: Look) {
        glow(look.blush.opacity(0.22), -0.034, -0.060, 0.042, 0.055)
        glow(look.blush.opacity(0.18), 0.036, -0.050, 0.028, 0.055)
        glow(look.skinShade.opacity(0.40), 0.004, -0.068, 0.026, 0.034)
        glow(look.skinShade.opacity(0.75), 0.004, 0.022, 0.060, 0.045)
        // The line around the ball of the thumb, and the two across the palm.
        let line = look.crease.opacity(0.50)
        stroke(line, [-0.052, -0.098], [0.006, -0.082], [-0.006, -0.012], (0.0006, 0.0015, 0.0005))
        stroke(line, [-0.052, -0.100], [-0.010, -0.090], [0.034, -0.062], (0.0006, 0.0013, 0.0004))
        stroke(line, [0.056, -0.088], [0.012, -0.088], [-0.014, -0.116], (0.0006, 0.0013, 0.0004))
        stroke(line, [-0.086, -0.104], [-0.095, -0.108], [-0.100, -0.103], (0.0004, 0.0010, 0.0004))
    }
}
