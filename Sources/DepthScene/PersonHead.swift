/// A lock of hair: a brush stroke from its root to its tip, and its half-width in the middle.
private struct Lock {
    var root: Point
    var bend: Point
    var tip: Point
    var width: Float
    var isLight: Bool

    init(_ root: Point, _ bend: Point, _ tip: Point, _ width: Float, light: Bool = false) {
        self.root = root
        self.bend = bend
        self.tip = tip
        self.width = width
        isLight = light
    }
}

/// Head, ears and hair. Coordinates: frame heights from the middle of the face.
extension Person {
    static let headOutline: [Point] = [
        Point(0, -0.185), Point(0.070, -0.172), Point(0.114, -0.125), Point(0.126, -0.055), Point(0.125, 0.015),
        Point(0.115, 0.075), Point(0.090, 0.126), Point(0.050, 0.166), Point(0, 0.180), Point(-0.050, 0.166),
        Point(-0.090, 0.126), Point(-0.115, 0.075), Point(-0.125, 0.015), Point(-0.126, -0.055), Point(-0.114, -0.125),
        Point(-0.070, -0.172),
    ]
    private static let hairBehind: [Point] = [
        Point(-0.135, 0.02), Point(-0.150, -0.05), Point(-0.146, -0.13), Point(-0.105, -0.205), Point(-0.02, -0.238),
        Point(0.075, -0.225), Point(0.136, -0.160), Point(0.150, -0.07), Point(0.136, 0.02), Point(0.09, 0.09),
        Point(-0.09, 0.09),
    ]
    /// A side parting: the hair rises from it and falls to both sides.
    private static let hairInFront: [Point] = [
        Point(-0.123, 0.022), Point(-0.140, -0.020), Point(-0.152, -0.085), Point(-0.140, -0.155),
        Point(-0.098, -0.215), Point(-0.030, -0.246), Point(0.045, -0.243), Point(0.108, -0.204),
        Point(0.145, -0.140), Point(0.152, -0.070), Point(0.139, -0.015), Point(0.123, 0.022), Point(0.117, -0.030),
        Point(0.108, -0.075), Point(0.083, -0.108), Point(0.050, -0.132), Point(0.010, -0.118),
        Point(-0.040, -0.095), Point(-0.085, -0.080), Point(-0.108, -0.060), Point(-0.118, -0.020),
    ]
    /// Tufts that break the outline of the hair.
    private static let tufts: [Lock] = [
        Lock(Point(-0.030, -0.232), Point(0.050, -0.262), Point(0.118, -0.205), 0.0130),
        Lock(Point(-0.105, -0.195), Point(-0.060, -0.255), Point(0.035, -0.246), 0.0120),
        Lock(Point(0.050, -0.150), Point(-0.040, -0.130), Point(-0.106, -0.046), 0.0125),
        Lock(Point(0.045, -0.150), Point(-0.034, -0.130), Point(-0.082, -0.052), 0.0135),
        Lock(Point(0.055, -0.150), Point(0.098, -0.120), Point(0.112, -0.052), 0.0100),
        Lock(Point(0.120, -0.170), Point(0.164, -0.110), Point(0.134, -0.016), 0.0095),
        Lock(Point(-0.130, -0.150), Point(-0.164, -0.095), Point(-0.132, -0.012), 0.0095),
    ]
    private static let locks: [Lock] = [
        Lock(Point(0.046, -0.150), Point(-0.050, -0.165), Point(-0.108, -0.062), 0.0022, light: false),
        Lock(Point(0.046, -0.154), Point(-0.066, -0.186), Point(-0.120, -0.060), 0.0036, light: true),
        Lock(Point(0.046, -0.158), Point(-0.082, -0.204), Point(-0.130, -0.058), 0.0022, light: false),
        Lock(Point(0.044, -0.164), Point(-0.092, -0.226), Point(-0.138, -0.066), 0.0048, light: true),
        Lock(Point(0.042, -0.172), Point(-0.098, -0.246), Point(-0.146, -0.074), 0.0020, light: false),
        Lock(Point(0.038, -0.182), Point(-0.085, -0.262), Point(-0.140, -0.120), 0.0028, light: true),
        Lock(Point(0.050, -0.148), Point(-0.020, -0.138), Point(-0.070, -0.080), 0.0026, light: true),
        Lock(Point(0.052, -0.150), Point(0.094, -0.150), Point(0.114, -0.062), 0.0020, light: false),
        Lock(Point(0.052, -0.156), Point(0.106, -0.172), Point(0.126, -0.050), 0.0032, light: true),
        Lock(Point(0.052, -0.164), Point(0.118, -0.196), Point(0.138, -0.056), 0.0020, light: false),
        Lock(Point(0.050, -0.176), Point(0.118, -0.222), Point(0.146, -0.090), 0.0024, light: true),
    ]
    private static let skull = Ellipse(0, -0.02, 0.172, 0.245)
    private static let headRound = Ellipse(0, 0.0, 0.140, 0.205)
    private static let ear = Ellipse(0.130, 0.006, 0.021, 0.036)

    func drawHairBehind(in drawing: inout Drawing) {
        drawing.smooth(Person.hairBehind)
        drawing.fill(
            .outline, .flat(look.hair.darker(0.35)), relief: drawing.dome(Person.skull, rim: 0.89, bulge: 0.06))
    }

    func drawHead(in drawing: inout Drawing) {
        for side: Float in [-1, 1] { drawing.with(.scale(Point(side, 1))) { drawEar(in: &$0) } }
        drawing.smooth(Person.headOutline)
        drawing.fill(
            .outline,
            drawing.linear(
                look.skin.lighter(0.16), look.skin.mixed(0.22, of: look.skinShade), from: Point(-0.10, -0.08),
                to: Point(0.11, 0.13)),
            relief: .face(drawing.fromPixels(to: Person.headRound), rim: 0.800, bulge: 0.097))
    }

    private func drawEar(in drawing: inout Drawing) {
        drawing.ellipse(Person.ear)
        drawing.fill(
            .outline, .flat(look.skin.mixed(0.25, of: look.blush)),
            relief: drawing.dome(Person.ear, rim: 0.80, bulge: 0.01))
        drawing.stroke(
            .detail, look.crease.opacity(0.55), Point(0.132, -0.018), Point(0.149, 0.000), Point(0.134, 0.024),
            (0.001, 0.002, 0.001))
        drawing.glow(.detail, look.skinShade.opacity(0.8), Ellipse(0.126, 0.008, 0.016, 0.024))
    }

    func drawHairInFront(in drawing: inout Drawing) {
        drawing.smooth(Person.hairInFront)
        for tuft in Person.tufts { drawing.stroke(tuft.root, tuft.bend, tuft.tip, (0.002, tuft.width, 0.0004)) }
        drawing.fill(
            .outline,
            drawing.linear(
                look.hair.lighter(0.08), look.hair.darker(0.30), from: Point(-0.08, -0.22), to: Point(0.13, -0.04)),
            relief: drawing.dome(Person.skull, rim: 0.835, bulge: 0.120))
        drawing.glow(.detail, look.hair.lighter(0.40).opacity(0.30), Ellipse(-0.045, -0.180, 0.10, 0.055))
        drawStrands(in: &drawing)
    }

    /// Locks of hair that leave the parting and widen: lighter and darker strokes.
    private func drawStrands(in drawing: inout Drawing) {
        for lock in Person.locks {
            let colour = lock.isLight ? look.hair.lighter(0.28).opacity(0.50) : look.hair.darker(0.55).opacity(0.45)
            drawing.stroke(
                .detail, colour, lock.root, lock.bend, lock.tip, (0.0005, lock.width, 0.0004))
        }
    }
}
