/// The colors that stand for distances, from the farthest to the nearest.
///
/// | palette | far | near | description |
/// |---|---|---|---|
/// | `jet` | dark blue | dark red | three trapezoids, as MATLAB's `jet`; the map of Apple's sample "Streaming depth data from the TrueDepth camera", which smooths their corners |
/// | `turbo` | dark blue | dark red | jet without its bands: Anton Mikhailov, "Turbo, an improved rainbow colormap for visualization", 2019; © Google LLC, Apache-2.0 |
/// | `viridis` | violet | yellow | perceptually uniform, and legible to color-blind users: Nathaniel Smith, Stéfan van der Walt and Eric Firing for Matplotlib, 2015; CC0 |
/// | `gray` | black | white | |
/// | `hue` | blue | red | the fully saturated hues of 240° to 0° |
package enum DepthPalette: Int, Sendable, CaseIterable {
    case jet, turbo, viridis, gray, hue

    /// The number of colors in a palette's table, as in Apple's sample.
    package static let size = 512

    /// Red, green and blue at `position`, from 0 (far) to 1 (near); clamped; NaN counts as 0.
    package func color(at position: Double) -> SIMD3<UInt8> {
        let position = clamped(position, to: 0...1, orIfNaN: 0)
        switch self {
        case .jet: return DepthPalette.jetColor(at: position)
        case .turbo: return DepthPalette.color(at: position, between: turboStops)
        case .viridis: return DepthPalette.color(at: position, between: viridisStops)
        case .gray: return SIMD3(repeating: byte(position))
        case .hue: return DepthPalette.hueColor(at: position)
        }
    }

    /// Color `index` of the table; indices are clamped to 0..<`size`.
    package func color(index: Int) -> SIMD3<UInt8> {
        color(at: Double(min(max(index, 0), DepthPalette.size - 1)) / Double(DepthPalette.size - 1))
    }

    /// Channel = 1.5 − |4·position − center|, clamped to 0…1, with the centers 3, 2 and 1 for red, green and blue.
    private static func jetColor(at position: Double) -> SIMD3<UInt8> {
        func channel(_ center: Double) -> UInt8 { byte(1.5 - abs(4 * position - center)) }
        return SIMD3(channel(3), channel(2), channel(1))
    }

    /// HSV with saturation and value 1 and a hue of 240° · (1 − position).
    private static func hueColor(at position: Double) -> SIMD3<UInt8> {
        let sixths = 4 * (1 - position)
        return SIMD3(byte(2 - sixths), byte(min(sixths, 4 - sixths)), byte(sixths - 2))
    }

    private static func color(at position: Double, between stops: [UInt32]) -> SIMD3<UInt8> {
        let place = position * Double(stops.count - 1)
        let left = floorIndex(place, in: 0...max(stops.count - 2, 0))
        let share = place - Double(left)
        func channel(_ shift: UInt32) -> UInt8 {
            let from = Double(stops[left] >> shift & 255)
            let to = Double(stops[left + 1] >> shift & 255)
            return byte((from + (to - from) * share) / 255)
        }
        return SIMD3(channel(16), channel(8), channel(0))
    }
}

/// 255 · `value`, rounded to nearest, with `value` clamped to 0…1.
private func byte(_ value: Double) -> UInt8 {
    UInt8(truncatingIfNeeded: nearestIndex(value * 255, in: 0...255))
}

// 33 colors of each published table of 256, at even distances; with straight lines between them every color of the
// table comes out to within 2 of 255.

/// 0xRRGGBB, far to near.
private let turboStops: [UInt32] = [
    0x30123b, 0x392a73, 0x4040a1, 0x4456c7, 0x466be3, 0x467ff6, 0x4293ff, 0x37a7fa, 0x29bbec, 0x1dcdd8, 0x18dcc3,
    0x1ee8b0, 0x31f299, 0x4cf97e, 0x6bfd64, 0x8aff4d, 0xa3fd3c, 0xb8f735, 0xcced34, 0xdee037, 0xedd03a, 0xf8c03a,
    0xfdae35, 0xfe982c, 0xfb8022, 0xf56817, 0xec520f, 0xe04009, 0xd23105, 0xc02302, 0xac1701, 0x950d01, 0x7a0403,
]

/// 0xRRGGBB, far to near.
private let viridisStops: [UInt32] = [
    0x440154, 0x470d60, 0x48186a, 0x482374, 0x472d7b, 0x453681, 0x424086, 0x3f4989, 0x3b528b, 0x375a8d, 0x33638d,
    0x2f6a8e, 0x2c728e, 0x297a8e, 0x26818e, 0x23898e, 0x21908c, 0x1f988b, 0x1f9f88, 0x21a685, 0x28ae80, 0x31b57b,
    0x3ebc74, 0x4cc26c, 0x5dc963, 0x6ece58, 0x82d34c, 0x96d83f, 0xabdc32, 0xc0df24, 0xd5e21a, 0xeae51a, 0xfde725,
]
