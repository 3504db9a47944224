/// The colours of one person. All of them are warm, and the room is cool, so that a pixel of the room that leaks
/// through a matte is seen at once.
struct Look {
    var skin: Colour
    var hair: Colour
    var sweater: Colour
    var stripe: Colour
    var iris: Colour
    var lips: Colour

    /// The default look, then its variations.
    private static let sweaters: [(sweater: Colour, stripe: Colour)] = [
        (.rgb(0xe0a238), .rgb(0xfbeed2)),
        (.rgb(0xd2603f), .rgb(0xfbe3cf)),
        (.rgb(0x9c3f56), .rgb(0xf3d9c9)),
        (.rgb(0xe9dcc3), .rgb(0xb5573c)),
        (.rgb(0xc77b83), .rgb(0xfdf0e4)),
    ]
    private static let skins: [Colour] = [.rgb(0xe9b48f), .rgb(0xf2c6a4), .rgb(0xc68a62), .rgb(0x9a6443)]
    private static let hairs: [Colour] = [.rgb(0x4a2f26), .rgb(0x2b2022), .rgb(0x7a4a2b), .rgb(0x9d6b3a)]
    private static let irises: [Colour] = [.rgb(0x5b3a22), .rgb(0x5f6b3a), .rgb(0x4a3226)]

    init(seed: UInt32) {
        let clothes = Look.choice(Look.sweaters, seed, 1)
        sweater = clothes.sweater
        stripe = clothes.stripe
        skin = Look.choice(Look.skins, seed, 2)
        hair = Look.choice(Look.hairs, seed, 3)
        iris = Look.choice(Look.irises, seed, 4)
        lips = skin.mixed(0.45, of: .rgb(0xb8484c))
    }

    /// The first for seed 0, any of them for other seeds.
    private static func choice<Value>(_ values: [Value], _ seed: UInt32, _ salt: UInt32) -> Value {
        let hash = seed == 0 ? 0 : Hash.mix(seed, salt)
        return values[Int(hash % UInt32(truncatingIfNeeded: max(values.count, 1)))]
    }

    /// Skin in shade, in light, and with blood near the surface.
    var skinShade: Colour { skin.mixed(0.42, of: .rgb(0x8a3a2e)) }
    var skinLight: Colour { skin.mixed(0.55, of: .rgb(0xffe9d2)) }
    var blush: Colour { skin.mixed(0.55, of: .rgb(0xe0604e)) }
    /// Lines on the skin: creases, nostrils, the edge of an ear.
    var crease: Colour { skin.mixed(0.62, of: .rgb(0x6b2a22)) }
}
