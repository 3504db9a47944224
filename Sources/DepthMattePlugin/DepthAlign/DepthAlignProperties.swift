import GstBridge

enum DepthAlignProperties {
    typealias Row = Property<DepthAlignSettings>

    static let all: [Row] = [
        .string(
            "calibration",
            "Path of the calibration of both cameras, in JSON or YAML; empty = the calibration in the stream's caps. Read when the "
                + "element leaves the state READY",
            \.calibration),
        .double(
            "depth-unit",
            "Metres per count; 0 = as the stream's caps or the calibration say, 0.001 where neither does; with a negative one nothing is measured",
            -1e3...1e3, \.depthUnit),
        .int("depth-invalid", invalidCountBlurb, -2...65_535, \.invalidCount),
        .uint("max-pixels", "Largest map accepted or made, in pixels", 1...UInt32.max, \.maxPixels),
    ]
}
