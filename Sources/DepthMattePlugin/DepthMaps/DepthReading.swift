import CGStreamer
import DepthKernels
import GstBridge

protocol DepthReadingSettings: Sendable {
    var depth: DepthReading { get set }
}

let invalidCountBlurb =
    "Count that means \"not measured\", besides 65535 with depth-kind=metric; -1 = none does, nor 65535; -2 = 0, but none where "
    + "0 is the nearest of a disparity or relative map"

extension Property where Settings: DepthReadingSettings {
    /// The properties that say how depth is read: the same in every element.
    static var depthRows: [Property] {
        [
            .choice("depth-kind", "Meaning of a depth sample", \.depth.scale.kind),
            .double(
                "depth-unit",
                "Metres per count, or 1/metres per count with depth-kind=disparity; negative where the value falls as the count "
                    + "grows; 0 = as the depth caps say, 0.001 where they do not",
                -1e3...1e3, \.depth.scale.unit),
            .double(
                "depth-bias", "Offset added to every sample, in metres, or in 1/metres with depth-kind=disparity",
                -1e3...1e3,
                \.depth.scale.bias),
            .int("depth-invalid", invalidCountBlurb, -2...65_535, \.depth.scale.invalidCount),
            .choice("depth-fit", "Scaling of the depth map to the video", \.depth.fit),
            .double(
                "depth-offset-x", "Shift of the depth map to the right, in video pixels", -1e5...1e5, \.depth.offsetX),
            .double("depth-offset-y", "Shift of the depth map downwards, in video pixels", -1e5...1e5, \.depth.offsetY),
            .double(
                "depth-scale", "Additional scale of the depth map about the center of the frame; above 1 enlarges",
                0.01...100, \.depth.zoom),
        ]
    }
}

extension DepthReading {
    /// The default of the properties: the unit is the stream's.
    static let ofStream = DepthReading(scale: DepthScale(unit: 0))

    /// Takes over what the caps say: the shape of pixels, the lens, and the unit where that is 0.
    ///
    /// - Parameter video: the picture that the map is laid on; nil for one with pixels like the map's.
    mutating func resolve(by format: DepthFormat?, on video: GstVideoInfo?) {
        if let format, let video { pixelAspect = format.pixelAspect / video.pixelAspect }
        focal = format?.stream.calibration.map { $0.depth.fx / Double(max($0.depth.width, $0.depth.height)) }
        guard scale.unit == 0 else { return }
        scale.unit = scale.kind == .metric ? format?.stream.depthUnit ?? DepthScale().unit : DepthScale().unit
    }
}

extension DepthScale.Kind: PropertyEnum {
    package static let typeName = "GstDepthMatteDepthKind"

    package var blurb: String {
        switch self {
        case .metric: "metres = count * depth-unit + depth-bias"
        case .disparity: "1 / metres = count * depth-unit + depth-bias"
        case .relative: "No metric scale: full scale is nearest and counts as 1 m, half of it as 2 m"
        case .relativeInverted: "No metric scale: 0 is nearest and counts as 1 m, half of full scale as 2 m"
        }
    }
}

extension DepthFit: PropertyEnum {
    package static let typeName = "GstDepthMatteDepthFit"

    package var blurb: String {
        switch self {
        case .stretch: "Fill the frame, each axis with its own scale"
        case .width: "Match the width, keep the aspect ratio, centered"
        case .cover: "Fill the frame, keep the aspect ratio, centered"
        case .contain: "Fit inside the frame, keep the aspect ratio, centered"
        }
    }
}
