import GstBridge

/// The properties of `depthcolorize`.
enum DepthColorizeProperties {
    typealias Row = Property<DepthColorizeSettings>

    static let all: [Row] = Row.depthRows + colors + pairing

    private static let colors: [Row] = [
        .choice("palette", "The colours", \.palette),
        .choice("range", "Which distances get which colours", \.range),
        .double("min", "Metres at or below which range=fixed shows the nearest colour", 0...1000, \.min),
        .double("max", "Metres from which on everything has the farthest colour", 0...1000, \.max),
        .double("mix", "How much of the colours is seen over the video pad's picture: 0 = none, 1 = all", 0...1, \.mix),
    ]

    private static let pairing: [Row] = [
        .time(
            "max-skew", "Nanoseconds that a depth map and the video frame made with it may lie apart",
            0...UInt(Int64.max), \.maxSkew),
        .time(
            "hold-time", "Nanoseconds for which the newest video frame serves later depth maps", 0...UInt(Int64.max),
            \.holdTime),
        .uint(
            "max-pixels", "Pictures with more pixels are refused before memory is allocated for them",
            1...UInt32.max, \.maxPixels),
    ]
}
