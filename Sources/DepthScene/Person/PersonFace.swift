private let eyeWhite: [Point] = [
    [-0.0265, 0.0025], [-0.015, -0.0085], [0.001, -0.0125], [0.016, -0.0085], [0.0265, 0.000], [0.015, 0.0080],
    [0, 0.0105], [-0.015, 0.0080],
]
private let lids = Color.rgb(0x2a1714)

/// From an eye's own coordinates, mirrored for the left one, to the head's.
private func eyeFrame(_ side: Float) -> Affine {
    Affine.scale([side * 1.10, 1.10]).then(.move([side * 0.053, -0.010]))
}

/// The face. Coordinates: frame heights from the middle of the face. Nothing here changes the outline or the depth.
extension Drawing {
    mutating func addFace(_ look: Look, _ pose: Pose) {
        guard !onlyOutlines else { return }
        addShading(look)
        addNose(look)
        addMouth(look, smile: pose.smile)
        for side: Float in [-1, 1] { with(eyeFrame(side)) { $0.addBrow(look, lift: 0.0015 * pose.smile) } }
        for side: Float in [-1, 1] { with(eyeFrame(side)) { $0.addEye(look, pose, side: side) } }
    }

    /// Light from the window on the left, and the roundness of the head.
    private mutating func addShading(_ look: Look) {
        glow(look.skinShade.opacity(0.75), 0.150, 0.03, 0.075, 0.20)
        glow(look.skinShade.opacity(0.35), -0.155, 0.05, 0.055, 0.18)
        glow(look.skinShade.opacity(0.55), 0.02, 0.205, 0.13, 0.060)
        glow(look.skinLight.opacity(0.50), -0.015, -0.075, 0.085, 0.055)
        // The shadow of the hair.
        glow(look.skinShade.opacity(0.70), -0.02, -0.125, 0.125, 0.060)
        // Eye sockets, cheeks.
        onBothSides {
            $0.glow(look.skinShade.opacity(0.50), 0.050, -0.020, 0.046, 0.034)
            $0.glow(look.blush.opacity(0.30), 0.072, 0.054, 0.048, 0.038)
            $0.glow(look.skinLight.opacity(0.45), 0.066, 0.032, 0.030, 0.018)
        }
    }

    private mutating func addBrow(_ look: Look, lift: Float) {
        stroke(
            look.hair.darker(0.25).opacity(0.88), [-0.026, -0.032 - lift], [0.004, -0.047 - lift],
            [0.034, -0.027 - lift], (0.0042, 0.0050, 0.0008))
    }

    private mutating func addEye(_ look: Look, _ pose: Pose, side: Float) {
        let open = max(pose.eyesOpen, 0.04)
        let drop = 0.006 * (1 - open)
        with(Affine.scale([1, open]).then(.move([0, drop]))) {
            $0.fill(.patch, .smooth(eyeWhite), with: .flat(.rgb(0xfbf6f0)))
        }
        with(.move([side * pose.gaze.x - 0.0005, pose.gaze.y - 0.001])) {
            $0.fill(.detail, .ellipse(0, 0, 0.0118, 0.0118), with: .flat(look.iris.darker(0.35)))
            let iris = $0.linear(look.iris, look.iris.lighter(0.35), from: [0, -0.004], to: [0, 0.010])
            $0.fill(.detail, .ellipse(0, 0, 0.0100, 0.0100), with: iris)
            $0.fill(.detail, .ellipse(0, 0, 0.0054, 0.0054), with: .flat(.rgb(0x140d0c)))
            $0.fill(.detail, .ellipse(-side * 0.0040, -0.0042, 0.0028, 0.0028), with: .flat(.rgb(0xffffff)))
        }
        // The upper lid's shadow on the eye.
        glow(lids.opacity(0.45), 0, -0.0125, 0.030, 0.0095)
        addLids(look, open: open, drop: drop)
    }

    private mutating func addLids(_ look: Look, open: Float, drop: Float) {
        func lid(_ x: Float, _ y: Float) -> Point { [x, y * open + drop] }
        let top: Point = [0, -0.0225 * open + drop + 0.010 * (1 - open)]
        stroke(lids, lid(-0.0275, 0.0030), top, lid(0.0290, -0.0010), (0.0010, 0.0024, 0.0016), as: .overlay)
        stroke(
            lids, lid(0.0230, -0.0035), lid(0.0285, -0.0050), lid(0.0325, -0.0090), (0.0016, 0.0013, 0.0003),
            as: .overlay)
        stroke(
            look.crease.opacity(0.55), lid(-0.022, 0.0055), lid(0.002, 0.0150), lid(0.025, 0.0035),
            (0.0004, 0.0009, 0.0004), as: .overlay)
        stroke(
            look.crease.opacity(0.45 * open), [-0.022, -0.0085], [0.002, -0.0275], [0.027, -0.0105],
            (0.0004, 0.0011, 0.0004), as: .overlay)
    }

    private mutating func addNose(_ look: Look) {
        // The lit bridge and tip, the shaded side, the wings and the shadow under the tip.
        glow(look.skinLight.opacity(0.75), -0.003, 0.010, 0.013, 0.062)
        glow(look.skinShade.opacity(0.60), 0.022, 0.022, 0.014, 0.058)
        glow(look.skinShade.opacity(0.55), 0.002, 0.074, 0.034, 0.017)
        glow(look.blush.opacity(0.26), 0, 0.050, 0.030, 0.026)
        glow(look.skinLight.opacity(0.80), -0.006, 0.046, 0.012, 0.012)
        let (wing, nostril) = (look.crease.opacity(0.75), look.crease.opacity(0.85))
        onBothSides {
            $0.stroke(wing, [0.020, 0.050], [0.029, 0.060], [0.020, 0.0655], (0.0006, 0.0014, 0.0008))
            $0.stroke(nostril, [0.0155, 0.0650], [0.010, 0.0610], [0.005, 0.0665], (0.0008, 0.0020, 0.0008))
        }
    }

    private mutating func addMouth(_ look: Look, smile: Float) {
        let (x, y) = (0.043 + 0.003 * smile, 0.1035 - 0.003 * smile)
        let (left, right): (Point, Point) = ([-x, y], [x, y])
        let upper = look.lips.darker(0.10)
        // Upper lip, lower lip, and the line between them.
        stroke(upper, left, [0, 0.1185], right, (0.0005, 0.0052, 0.0005))
        onBothSides {
            $0.stroke(upper, [0.032, 0.1075], [0.012, 0.1030], [-0.002, 0.1085], (0.0004, 0.0030, 0.0024))
        }
        stroke(look.lips, left + [0.006, 0.003], [0, 0.133], right + [-0.006, 0.003], (0.0010, 0.0075, 0.0010))
        glow(look.lips.lighter(0.55).opacity(0.60), -0.006, 0.121, 0.020, 0.006)
        stroke(look.crease.darker(0.30), left, [0, 0.1275 + 0.002 * smile], right, (0.0009, 0.0017, 0.0009))
        // Corners of the mouth, the hollow under the lip, the groove above it, the light on the chin.
        onBothSides { $0.glow(look.skinShade.opacity(0.65), x + 0.003, y, 0.011, 0.011) }
        glow(look.skinShade.opacity(0.55), 0.002, 0.138, 0.034, 0.010)
        glow(look.skinShade.opacity(0.30), 0.002, 0.086, 0.009, 0.014)
        glow(look.skinLight.opacity(0.40), -0.006, 0.158, 0.030, 0.014)
    }
}
