import DepthAggregator
import DepthKernels
import GstBridge

/// The properties of `depthcloud`.
enum DepthCloudProperties {
    typealias Row = Property<DepthCloudSettings>

    static let all: [Row] = Row.depthRows + camera + sensor + points + file + Row.videoPairingRows + work

    private static let camera: [Row] = [
        .double("yaw", "Degrees by which the cloud is turned; what is near goes to the right", -180...180, \.view.yaw),
        .double("pitch", "Degrees by which the cloud is tilted; what is near goes down", -180...180, \.view.pitch),
        .double("roll", "Degrees by which the cloud is rolled, clockwise", -180...180, \.view.roll),
        .double("zoom", "Metres by which the cloud is nearer than it was to the camera", -1e3...1e3, \.view.zoom),
        .double("pan-x", "Metres by which the cloud is moved right", -1e3...1e3, \.view.panX),
        .double("pan-y", "Metres by which the cloud is moved down", -1e3...1e3, \.view.panY),
        .bool("auto-pan", "Turn the cloud in a slow circle, until somebody turns it by hand", \.autoPan),
    ]

    private static let sensor: [Row] = [
        .double(
            "fov", "Degrees from top to bottom of the picture, and of the depth map where fx and fy are 0", 1...170,
            \.fieldOfView),
        .double("fx", "Focal length of the depth camera in columns of the map; 0 = as fy, or by fov", 0...1e6, \.fx),
        .double("fy", "Focal length of the depth camera in rows of the map; 0 = as fx, or by fov", 0...1e6, \.fy),
        .double("cx", "Column of the depth camera's optical axis; 0 = the middle", -1e6...1e6, \.cx),
        .double("cy", "Row of the depth camera's optical axis; 0 = the middle", -1e6...1e6, \.cy),
    ]

    private static let points: [Row] =
        [
            .double("point-size", "Pixels across a point", 1...64, \.pointSize),
            .choice("colors", "What gives the points their colours", \.colors),
            .choice("palette", "The colours of the distances", \.palette),
        ] + Row.colorRangeRows + [
            .uint("background-color", "Colour where no point is, 0xAARRGGBB", 0...UInt32.max, \.backgroundColor)
        ]

    private static let file: [Row] = [
        .string("location", "File that a snapshot is written to: binary PLY, metres from the camera", \.location),
        .bool(
            "snapshot",
            "Write the next depth map's points to location, or at the end the last one's; goes back to false then",
            \.snapshot),
    ]

    private static let work: [Row] = [
        .uint(
            "max-threads", "Threads that work on a large cloud; 0 = as many as there are processors, at most 4", 0...16,
            \.maxThreads)
    ]

    /// The properties of the camera that are not the same in two settings.
    static func differences(_ one: DepthCloudSettings, _ other: DepthCloudSettings) -> [String] {
        let numbers: [(String, KeyPath<DepthCloudSettings, Double>)] = [
            ("yaw", \.view.yaw), ("pitch", \.view.pitch), ("roll", \.view.roll), ("zoom", \.view.zoom),
            ("pan-x", \.view.panX), ("pan-y", \.view.panY),
        ]
        let changed = numbers.filter { one[keyPath: $0.1] != other[keyPath: $0.1] }.map { $0.0 }
        return one.autoPan == other.autoPan ? changed : changed + ["auto-pan"]
    }
}
