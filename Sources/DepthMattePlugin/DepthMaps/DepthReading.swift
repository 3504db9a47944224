import DepthKernels
import GstBridge

/// The settings of an element that reads depth.
protocol DepthReadingSettings: Sendable {
    var depth: DepthReading { get set }
}

extension Property where Settings: DepthReadingSettings {
    /// The properties that say how depth is read: the same in every element.
    static var depthRows: [Property] {
        [
            .choice("depth-kind", "What a depth count measures", \.depth.scale.kind),
            .double(
                "depth-unit", "Metres per count, or 1/metres per count of a disparity map", 1e-9...1e3,
                \.depth.scale.unit),
            .double(
                "depth-bias", "Metres, or 1/metres of a disparity map, that a count of 0 stands for", -1e3...1e3,
                \.depth.scale.bias),
            .int(
                "depth-invalid", "Count that means \"not measured\"; -1 = every count is measured", -1...65_535,
                \.depth.scale.invalidCount),
            .choice("depth-fit", "How the depth map is laid over the video", \.depth.fit),
            .double(
                "depth-offset-x", "Video pixels by which the depth map is moved right", -1e5...1e5, \.depth.offsetX),
            .double("depth-offset-y", "Video pixels by which the depth map is moved down", -1e5...1e5, \.depth.offsetY),
            .double("depth-scale", "Enlarges the depth map about the centre of the frame", 0.01...100, \.depth.zoom),
        ]
    }
}

extension DepthScale.Kind: PropertyEnum {
    package static let typeName = "GstDepthMatteDepthKind"

    package var blurb: String {
        switch self {
        case .metric: "metres = count * depth-unit + depth-bias"
        case .disparity: "1 / metres = count * depth-unit + depth-bias"
        case .relative: "No metric scale: full scale is nearest, and counts as 1 m; half of it as 2 m"
        }
    }
}

extension DepthFit: PropertyEnum {
    package static let typeName = "GstDepthMatteDepthFit"

    package var blurb: String {
        switch self {
        case .stretch: "The map covers the frame exactly, each axis with its own scale"
        case .width: "One scale, by width, centred"
        case .cover: "One scale, filling the frame, centred"
        case .contain: "One scale, all of the map inside the frame, centred"
        }
    }
}
