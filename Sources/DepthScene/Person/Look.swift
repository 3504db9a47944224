/// The colors of one person. All of them are warm, and the room is cool, so that a pixel of the room that leaks
/// through a matte is seen at once.
struct Look {
    let skin: Color
    let hair: Color
    let sweater: Color
    let stripe: Color
    let iris: Color
    let lips: Color

    /// The default look, then its variations.
    private static let sweaters: [(sweater: UInt32, stripe: UInt32)] = [
        (0xe0a238, 0xfbeed2), (0xd2603f, 0xfbe3cf), (0x9c3f56, 0xf3d9c9), (0xe9dcc3, 0xb5573c), (0xc77b83, 0xfdf0e4),
    ]
    private static let skins: [UInt32] = [0xe9b48f, 0xf2c6a4, 0xc68a62, 0x9a6443]
    private static let hairs: [UInt32] = [0x4a2f26, 0x2b2022, 0x7a4a2b, 0x9d6b3a]
    private static let irises: [UInt32] = [0x5b3a22, 0x5f6b3a, 0x4a3226]

    init(seed: UInt32) {
        let clothes = Look.choice(Look.sweaters, seed, 1)
        sweater = .rgb(clothes.sweater)
        stripe = .rgb(clothes.stripe)
        skin = .rgb(Look.choice(Look.skins, seed, 2))
        hair = .rgb(Look.choice(Look.hairs, seed, 3))
        iris = .rgb(Look.choice(Look.irises, seed, 4))
        lips = skin.mixed(0.45, of: .rgb(0xb8484c))
    }

    /// The first for seed 0, any of them for other seeds.
    private static func choice<Value>(_ values: [Value], _ seed: UInt32, _ salt: UInt32) -> Value {
        let hash = seed == 0 ? 0 : Hash.mix(seed, salt)
        return values[Int(hash % UInt32(truncatingIfNeeded: max(values.count, 1)))]
    }

    /// Skin in shade, in light, and with blood near the surface.
    var skinShade: Color { skin.mixed(0.42, of: .rgb(0x8a3a2e)) }
    var skinLight: Color { skin.mixed(0.55, of: .rgb(0xffe9d2)) }
    var blush: Color { skin.mixed(0.55, of: .rgb(0xe0604e)) }
    /// Lines on the skin: creases, nostrils, the edge of an ear.
    var crease: Color { skin.mixed(0.62, of: .rgb(0x6b2a22)) }
}
