import GstBridge

enum DepthColorizeProperties {
    typealias Row = Property<DepthColorizeSettings>

    static let all: [Row] = Row.depthRows + colors + Row.videoPairingRows

    private static let colors: [Row] =
        [.choice("palette", "Colors of the distances", \.palette)] + Row.colorRangeRows + [
            .double(
                "mix", "Opacity of the colors over the video pad's picture: 0 = video only, 1 = colors only", 0...1,
                \.mix)
        ]
}
