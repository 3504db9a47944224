import GstBridge

/// The properties of `depthcolorize`.
enum DepthColorizeProperties {
    typealias Row = Property<DepthColorizeSettings>

    static let all: [Row] = Row.depthRows + colors + Row.videoPairingRows

    private static let colors: [Row] =
        [.choice("palette", "The colours", \.palette)] + Row.colorRangeRows + [
            .double(
                "mix", "How much of the colours is seen over the video pad's picture: 0 = none, 1 = all", 0...1, \.mix)
        ]
}
