import CGStreamer
import DepthAggregator
import DepthKernels
import GstBridge

/// The settings of an element that shows depth in colours, with the video that belongs to it.
protocol ColoringSettings: AggregatorSettings, DepthReadingSettings {
    var range: ColorRange { get set }
    /// Metres.
    var min: Double { get set }
    var max: Double { get set }
    var maxSkew: GstClockTime { get set }
    var holdTime: GstClockTime { get set }
    var maxPixels: UInt32 { get set }
}

extension ColoringSettings {
    /// Which distances get which colours.
    var colorRange: DepthColorRange {
        switch range {
        case .equalize: .equalize(max: max)
        case .fixed: .fixed(min: min, max: max)
        }
    }
}

extension Property where Settings: ColoringSettings {
    /// The properties that say which distances get which colours.
    static var colorRangeRows: [Property] {
        [
            .choice("range", "Which distances get which colours", \.range),
            .double("min", "Metres at or below which range=fixed shows the nearest colour", 0...1000, \.min),
            .double("max", "Metres from which on everything has the farthest colour", 0...1000, \.max),
        ]
    }

    /// The properties that say which video frame belongs to a depth map, and what is too large.
    static var videoPairingRows: [Property] {
        [
            .time(
                "max-skew", "Nanoseconds that a depth map and the video frame made with it may lie apart",
                0...UInt(Int64.max), \.maxSkew),
            .time(
                "hold-time", "Nanoseconds for which the newest video frame serves later depth maps",
                0...UInt(Int64.max), \.holdTime),
            .uint(
                "max-pixels", "Pictures with more pixels are refused before memory is allocated for them",
                1...UInt32.max, \.maxPixels),
        ]
    }
}

enum ColorRange: Int, PropertyEnum {
    case equalize, fixed

    static let typeName = "GstDepthColorizeRange"

    var blurb: String {
        switch self {
        case .equalize: "Each colour for as many samples as any other, of those nearer than max"
        case .fixed: "From min to max, so that one distance keeps one colour"
        }
    }
}

extension DepthPalette: PropertyEnum {
    package static let typeName = "GstDepthColorizePalette"

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
