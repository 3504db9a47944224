import CGStreamer
import DepthAggregator
import DepthKernels
import GstBridge

/// The settings of an element that shows depth in colors and pairs it with video.
protocol ColoringSettings: AggregatorSettings, DepthReadingSettings {
    var range: ColorRange { get set }
    /// Metres.
    var min: Double { get set }
    var max: Double { get set }
    var depthTimeOffset: Int64 { get set }
    var maxSkew: GstClockTime { get set }
    var holdTime: GstClockTime { get set }
    var maxPixels: UInt32 { get set }
}

extension ColoringSettings {
    /// The mapping of distances to colors.
    var colorRange: DepthColorRange {
        switch range {
        case .equalize: .equalize(max: max)
        case .fixed: .fixed(min: min, max: max)
        }
    }
}

extension Property where Settings: ColoringSettings {
    static var colorRangeRows: [Property] {
        [
            .choice("range", "Mapping of distances to colors", \.range),
            .double(
                "min", "Distance of the nearest color with range=fixed, in metres; nearer samples get it too", 0...1000,
                \.min),
            .double("max", "Distance of the farthest color, in metres; farther samples get it too", 0...1000, \.max),
        ]
    }

    /// The properties of pairing video frames with depth maps, and the size limit.
    static var videoPairingRows: [Property] {
        [
            .depthTimeOffset("above 0 a live pipeline waits for the video by as much", \.depthTimeOffset),
            .time(
                "max-skew",
                "Largest difference between the timestamps of a depth map and its video frame, in nanoseconds",
                0...UInt(Int64.max), \.maxSkew),
            .time(
                "hold-time",
                "Time for which a video frame is reused for later depth maps, in nanoseconds; 0 = never reused",
                0...UInt(Int64.max), \.holdTime),
            .uint("max-pixels", "Largest picture accepted on any pad, in pixels", 1...UInt32.max, \.maxPixels),
        ]
    }
}

extension Property {
    /// The time that is added to the depth maps' before they are paired. Beyond ten seconds a mistake is more likely than a lag.
    ///
    /// - Parameter cost: what it costs, as a clause.
    static func depthTimeOffset(_ cost: String, _ path: any Path<Int64>) -> Property {
        .timeDifference(
            "depth-ts-offset",
            "Time added to the timestamps of depth maps before they are paired with video, in nanoseconds; -66000000 where "
                + "depth is 66 ms late; \(cost)",
            -10_000_000_000...10_000_000_000, path)
    }

    /// The properties of pairing depth maps with frames of an element that the video leads.
    static func depthPairing(
        offset: any Path<Int64>, maxSkew: any Path<GstClockTime>, holdTime: any Path<GstClockTime>
    ) -> [Property] {
        [
            .depthTimeOffset("below 0 a live pipeline holds the video back by as much", offset),
            .time(
                "max-skew",
                "Largest difference between the timestamps of a video frame and its depth map, in nanoseconds",
                0...UInt(Int64.max), maxSkew),
            .time(
                "hold-time",
                "Time for which a depth map is reused for later video frames, in nanoseconds; 0 = never reused",
                0...UInt(Int64.max), holdTime),
        ]
    }
}

enum ColorRange: Int, PropertyEnum {
    case equalize, fixed

    static let typeName = "GstDepthColorizeRange"

    var blurb: String {
        switch self {
        case .equalize: "Histogram equalization of the distances up to max: every color gets as many samples"
        case .fixed: "Linear from min to max, so a distance keeps its color"
        }
    }
}

extension DepthPalette: PropertyEnum {
    package static let typeName = "GstDepthColorizePalette"

    package var blurb: String {
        switch self {
        case .jet: "Dark red (near) through green to dark blue (far)"
        case .turbo: "As jet, with smoother steps of brightness"
        case .viridis: "Yellow (near) to violet (far) with even steps of brightness; suits color-blind viewers"
        case .gray: "White (near) to black (far)"
        case .hue: "The hues from red (near) to blue (far)"
        }
    }
}
