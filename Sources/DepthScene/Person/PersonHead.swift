private let headOutline: [Point] = [
    [0, -0.185], [0.070, -0.172], [0.114, -0.125], [0.126, -0.055], [0.125, 0.015], [0.115, 0.075], [0.090, 0.126],
    [0.050, 0.166], [0, 0.180], [-0.050, 0.166], [-0.090, 0.126], [-0.115, 0.075], [-0.125, 0.015], [-0.126, -0.055],
    [-0.114, -0.125], [-0.070, -0.172],
]
private let hairBehind: [Point] = [
    [-0.135, 0.02], [-0.150, -0.05], [-0.146, -0.13], [-0.105, -0.205], [-0.02, -0.238], [0.075, -0.225],
    [0.136, -0.160], [0.150, -0.07], [0.136, 0.02], [0.09, 0.09], [-0.09, 0.09],
]
/// A side parting: the hair rises from it and falls to both sides.
private let hairInFront: [Point] = [
    [-0.123, 0.022], [-0.140, -0.020], [-0.152, -0.085], [-0.140, -0.155], [-0.098, -0.215], [-0.030, -0.246],
    [0.045, -0.243], [0.108, -0.204], [0.145, -0.140], [0.152, -0.070], [0.139, -0.015], [0.123, 0.022],
    [0.117, -0.030], [0.108, -0.075], [0.083, -0.108], [0.050, -0.132], [0.010, -0.118], [-0.040, -0.095],
    [-0.085, -0.080], [-0.108, -0.060], [-0.118, -0.020],
]

/// A lock of hair: a brush stroke from its root to its tip, and its half-width in the middle.
private typealias Lock = (root: Point, bend: Point, tip: Point, width: Float)

/// Tufts that break the outline of the hair.
private let tufts: [Lock] = [
    ([-0.030, -0.232], [0.050, -0.262], [0.118, -0.205], 0.0130),
    ([-0.105, -0.195], [-0.060, -0.255], [0.035, -0.246], 0.0120),
    ([0.050, -0.150], [-0.040, -0.130], [-0.106, -0.046], 0.0125),
    ([0.045, -0.150], [-0.034, -0.130], [-0.082, -0.052], 0.0135),
    ([0.055, -0.150], [0.098, -0.120], [0.112, -0.052], 0.0100),
    ([0.120, -0.170], [0.164, -0.110], [0.134, -0.016], 0.0095),
    ([-0.130, -0.150], [-0.164, -0.095], [-0.132, -0.012], 0.0095),
]
/// Locks that leave the parting and widen, lighter and darker than the hair.
private let locks: [(lock: Lock, isLight: Bool)] = [
    (([0.046, -0.150], [-0.050, -0.165], [-0.108, -0.062], 0.0022), false),
    (([0.046, -0.154], [-0.066, -0.186], [-0.120, -0.060], 0.0036), true),
    (([0.046, -0.158], [-0.082, -0.204], [-0.130, -0.058], 0.0022), false),
    (([0.044, -0.164], [-0.092, -0.226], [-0.138, -0.066], 0.0048), true),
    (([0.042, -0.172], [-0.098, -0.246], [-0.146, -0.074], 0.0020), false),
    (([0.038, -0.182], [-0.085, -0.262], [-0.140, -0.120], 0.0028), true),
    (([0.050, -0.148], [-0.020, -0.138], [-0.070, -0.080], 0.0026), true),
    (([0.052, -0.150], [0.094, -0.150], [0.114, -0.062], 0.0020), false),
    (([0.052, -0.156], [0.106, -0.172], [0.126, -0.050], 0.0032), true),
    (([0.052, -0.164], [0.118, -0.196], [0.138, -0.056], 0.0020), false),
    (([0.050, -0.176], [0.118, -0.222], [0.146, -0.090], 0.0024), true),
]
/// Hair of any color scatters a depth camera's light among its strands, and little comes back. No source: chosen so
/// that `StructuredLightSensor` loses most of it at arm's length.
let hairReflectance: Float = 0.015
private let skull = Ellipse(0, -0.02, 0.172, 0.245)

/// Head, ears and hair. Coordinates: frame heights from the middle of the face.
extension Drawing {
    mutating func addHairBehind(_ look: Look) {
        let relief = dome(skull, rim: 0.89, bulge: 0.06)
        fill(
            .outline, .smooth(hairBehind), with: .flat(look.hair.darker(0.35)), relief: relief,
            reflectance: hairReflectance)
    }

    mutating func addHead(_ look: Look) {
        onBothSides { $0.addEar(look) }
        let (light, shade) = (look.skin.lighter(0.16), look.skin.mixed(0.22, of: look.skinShade))
        fill(
            .outline, .smooth(headOutline), with: linear(light, shade, from: [-0.10, -0.08], to: [0.11, 0.13]),
            relief: .face(fromPixels(to: Ellipse(0, 0, 0.140, 0.205)), rim: 0.800, bulge: 0.097))
    }

    private mutating func addEar(_ look: Look) {
        let ear = Ellipse(0.130, 0.006, 0.021, 0.036)
        let relief = dome(ear, rim: 0.80, bulge: 0.01)
        fill(.outline, .ellipse(ear), with: .flat(look.skin.mixed(0.25, of: look.blush)), relief: relief)
        stroke(look.crease.opacity(0.55), [0.132, -0.018], [0.149, 0.000], [0.134, 0.024], (0.001, 0.002, 0.001))
        glow(look.skinShade.opacity(0.8), 0.126, 0.008, 0.016, 0.024)
    }

    mutating func addHairInFront(_ look: Look) {
        let tufts = tufts.map { Shape.stroke($0.root, $0.bend, $0.tip, (0.002, $0.width, 0.0004)) }
        let hair = [.smooth(hairInFront)] + tufts
        let (light, shade) = (look.hair.lighter(0.08), look.hair.darker(0.30))
        fill(
            .outline, hair, with: linear(light, shade, from: [-0.08, -0.22], to: [0.13, -0.04]),
            relief: dome(skull, rim: 0.835, bulge: 0.120), reflectance: hairReflectance)
        glow(look.hair.lighter(0.40).opacity(0.30), -0.045, -0.180, 0.10, 0.055)
        for (lock, isLight) in locks {
            let color = isLight ? look.hair.lighter(0.28).opacity(0.50) : look.hair.darker(0.55).opacity(0.45)
            stroke(color, lock.root, lock.bend, lock.tip, (0.0005, lock.width, 0.0004))
        }
    }
}
