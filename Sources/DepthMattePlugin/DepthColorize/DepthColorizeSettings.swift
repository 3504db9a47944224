import CGStreamer
import DepthKernels
import GstBridge

/// The values of `depthcolorize`'s properties. The initial values here are the only defaults.
struct DepthColorizeSettings: FollowingSettings, DepthReadingSettings {
    var depth = DepthReading()

    var palette = DepthPalette.jet
    var range = ColorRange.equalize
    var min = 0.3
    var max = 5.0
    var mix = 0.5

    var maxSkew: GstClockTime = 50_000_000
    var holdTime: GstClockTime = 500_000_000
    var maxPixels: UInt32 = 67_108_864

    /// Which distances get which colours.
    var colorRange: DepthColorRange {
        switch range {
        case .equalize: .equalize(max: max)
        case .fixed: .fixed(min: min, max: max)
        }
    }
}

enum ColorRange: Int, PropertyEnum {
    case equalize, fixed

    static let typeName = "GstDepthColorizeRange"

    var nick: String {
        switch self {
        case .equalize: "equalize"
        case .fixed: "fixed"
        }
    }

    var blurb: String {
        switch self {
        case .equalize: "Each colour for as many samples as any other, of those nearer than max"
        case .fixed: "From min to max, so that one distance keeps one colour"
        }
    }
}

extension DepthPalette: PropertyEnum {
    package static let typeName = "GstDepthColorizePalette"

    package var nick: String {
        switch self {
        case .jet: "jet"
        case .turbo: "turbo"
        case .viridis: "viridis"
        case .gray: "gray"
        case .hue: "hue"
        }
    }

    package var blurb: String {
        switch self {
        case .jet: "Dark blue far, through green, to dark red near"
        case .turbo: "The same without bands"
        case .viridis: "Violet far to yellow near, evenly brighter, for colour-blind eyes too"
        case .gray: "Black far to white near"
        case .hue: "The hues from blue far to red near"
        }
    }
}
