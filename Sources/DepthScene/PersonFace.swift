/// The face. Coordinates: frame heights from the middle of the face. Nothing here changes the outline or the depth.
extension Person {
    private static let eye = Point(0.053, -0.010)
    private static let eyeWhite: [Point] = [
        Point(-0.0265, 0.0025), Point(-0.015, -0.0085), Point(0.001, -0.0125), Point(0.016, -0.0085),
        Point(0.0265, 0.000), Point(0.015, 0.0080), Point(0, 0.0105), Point(-0.015, 0.0080),
    ]
    private static let eyeSize: Float = 1.10
    private static let lids = Colour.rgb(0x2a1714)

    /// From an eye's own coordinates, mirrored for the left one, to the head's.
    private static func eyeFrame(_ side: Float) -> Affine {
        Affine.scale(Point(side * eyeSize, eyeSize)).then(.move(Point(side * eye.x, eye.y)))
    }

    func drawFace(in drawing: inout Drawing) {
        guard drawing.purpose == .picture else { return }
        drawShading(in: &drawing)
        drawNose(in: &drawing)
        drawMouth(in: &drawing)
        for side: Float in [-1, 1] {
            drawing.with(Person.eyeFrame(side)) {
                drawBrow(in: &$0)
            }
        }
        for side: Float in [-1, 1] {
            drawing.with(Person.eyeFrame(side)) {
                drawEye(side: side, in: &$0)
            }
        }
    }

    /// Light from the window on the left, and the roundness of the head.
    private func drawShading(in drawing: inout Drawing) {
        drawing.glow(.detail, look.skinShade.opacity(0.75), Ellipse(0.150, 0.03, 0.075, 0.20))
        drawing.glow(.detail, look.skinShade.opacity(0.35), Ellipse(-0.155, 0.05, 0.055, 0.18))
        drawing.glow(.detail, look.skinShade.opacity(0.55), Ellipse(0.02, 0.205, 0.13, 0.060))
        drawing.glow(.detail, look.skinLight.opacity(0.50), Ellipse(-0.015, -0.075, 0.085, 0.055))
        // The shadow of the hair.
        drawing.glow(.detail, look.skinShade.opacity(0.70), Ellipse(-0.02, -0.125, 0.125, 0.060))
        // Eye sockets, cheeks.
        for side: Float in [-1, 1] {
            drawing.glow(.detail, look.skinShade.opacity(0.50), Ellipse(side * 0.050, -0.020, 0.046, 0.034))
            drawing.glow(.detail, look.blush.opacity(0.30), Ellipse(side * 0.072, 0.054, 0.048, 0.038))
            drawing.glow(.detail, look.skinLight.opacity(0.45), Ellipse(side * 0.066, 0.032, 0.030, 0.018))
        }
    }

    private func drawBrow(in drawing: inout Drawing) {
        let lift = 0.0015 * pose.smile
        drawing.stroke(
            .detail, look.hair.darker(0.25).opacity(0.88), Point(-0.026, -0.032 - lift), Point(0.004, -0.047 - lift),
            Point(0.034, -0.027 - lift), (0.0042, 0.0050, 0.0008))
    }

    private func drawEye(side: Float, in drawing: inout Drawing) {
        let open = max(pose.eyesOpen, 0.04)
        let closing = 0.006 * (1 - open)
        drawing.with(Affine.scale(Point(1, open)).then(.move(Point(0, closing)))) {
            $0.smooth(Person.eyeWhite)
        }
        drawing.fill(.patch, .flat(.rgb(0xfbf6f0)))
        let look = self.look
        let gaze = Point(side * pose.gaze.x - 0.0005, pose.gaze.y - 0.001)
        drawing.with(.move(gaze)) {
            $0.ellipse(Ellipse(0, 0, 0.0118, 0.0118))
            $0.fill(.detail, .flat(look.iris.darker(0.35)))
            $0.ellipse(Ellipse(0, 0, 0.0100, 0.0100))
            $0.fill(.detail, $0.linear(look.iris, look.iris.lighter(0.35), from: Point(0, -0.004), to: Point(0, 0.010)))
            $0.ellipse(Ellipse(0, 0, 0.0054, 0.0054))
            $0.fill(.detail, .flat(.rgb(0x140d0c)))
            $0.ellipse(Ellipse(-side * 0.0040, -0.0042, 0.0028, 0.0028))
            $0.fill(.detail, .flat(.rgb(0xffffff)))
        }
        // The upper lid's shadow on the eye.
        drawing.glow(.detail, Person.lids.opacity(0.45), Ellipse(0, -0.0125, 0.030, 0.0095))
        drawLids(open: open, drop: closing, in: &drawing)
    }

    private func drawLids(open: Float, drop: Float, in drawing: inout Drawing) {
        let top = -0.0225 * open + drop + 0.010 * (1 - open)
        drawing.stroke(
            .overlay, Person.lids, Point(-0.0275, 0.0030 * open + drop), Point(0.000, top),
            Point(0.0290, -0.0010 * open + drop), (0.0010, 0.0024, 0.0016))
        drawing.stroke(
            .overlay, Person.lids, Point(0.0230, -0.0035 * open + drop), Point(0.0285, -0.0050 * open + drop),
            Point(0.0325, -0.0090 * open + drop), (0.0016, 0.0013, 0.0003))
        drawing.stroke(
            .overlay, look.crease.opacity(0.55), Point(-0.022, 0.0055 * open + drop),
            Point(0.002, 0.0150 * open + drop),
            Point(0.025, 0.0035 * open + drop), (0.0004, 0.0009, 0.0004))
        drawing.stroke(
            .overlay, look.crease.opacity(0.45 * open), Point(-0.022, -0.0085), Point(0.002, -0.0275),
            Point(0.027, -0.0105), (0.0004, 0.0011, 0.0004))
    }

    private func drawNose(in drawing: inout Drawing) {
        // The lit bridge and tip, the shaded side, the wings and the shadow under the tip.
        drawing.glow(.detail, look.skinLight.opacity(0.75), Ellipse(-0.003, 0.010, 0.013, 0.062))
        drawing.glow(.detail, look.skinShade.opacity(0.60), Ellipse(0.022, 0.022, 0.014, 0.058))
        drawing.glow(.detail, look.skinShade.opacity(0.55), Ellipse(0.002, 0.074, 0.034, 0.017))
        drawing.glow(.detail, look.blush.opacity(0.26), Ellipse(0, 0.050, 0.030, 0.026))
        drawing.glow(.detail, look.skinLight.opacity(0.80), Ellipse(-0.006, 0.046, 0.012, 0.012))
        for side: Float in [-1, 1] {
            drawing.stroke(
                .detail, look.crease.opacity(0.75), Point(side * 0.020, 0.050), Point(side * 0.029, 0.060),
                Point(side * 0.020, 0.0655), (0.0006, 0.0014, 0.0008))
            drawing.stroke(
                .detail, look.crease.opacity(0.85), Point(side * 0.0155, 0.0650), Point(side * 0.010, 0.0610),
                Point(side * 0.005, 0.0665), (0.0008, 0.0020, 0.0008))
        }
    }

    private func drawMouth(in drawing: inout Drawing) {
        let corner = Point(0.043 + 0.003 * pose.smile, 0.1035 - 0.003 * pose.smile)
        let left = Point(-corner.x, corner.y)
        // Upper lip, lower lip, and the line between them.
        drawing.stroke(
            .detail, look.lips.darker(0.10), left, Point(0, 0.1185), corner, (0.0005, 0.0052, 0.0005))
        for side: Float in [-1, 1] {
            drawing.stroke(
                .detail, look.lips.darker(0.10), Point(side * 0.032, 0.1075), Point(side * 0.012, 0.1030),
                Point(-side * 0.002, 0.1085), (0.0004, 0.0030, 0.0024))
        }
        drawing.stroke(
            .detail, look.lips, left + Point(0.006, 0.003), Point(0, 0.133), corner + Point(-0.006, 0.003),
            (0.0010, 0.0075, 0.0010))
        drawing.glow(.detail, look.lips.lighter(0.55).opacity(0.60), Ellipse(-0.006, 0.121, 0.020, 0.006))
        drawing.stroke(
            .detail, look.crease.darker(0.30), left, Point(0, 0.1275 + 0.002 * pose.smile), corner,
            (0.0009, 0.0017, 0.0009))
        // Corners, the hollow under the lip, the groove above it.
        for side: Float in [-1, 1] {
            drawing.glow(
                .detail, look.skinShade.opacity(0.65), Ellipse(side * (corner.x + 0.003), corner.y, 0.011, 0.011))
        }
        drawing.glow(.detail, look.skinShade.opacity(0.55), Ellipse(0.002, 0.138, 0.034, 0.010))
        drawing.glow(.detail, look.skinShade.opacity(0.30), Ellipse(0.002, 0.086, 0.009, 0.014))
        drawing.glow(.detail, look.skinLight.opacity(0.40), Ellipse(-0.006, 0.158, 0.030, 0.014))
    }
}
