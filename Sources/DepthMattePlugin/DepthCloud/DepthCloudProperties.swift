import DepthAggregator
import DepthKernels
import GstBridge

enum DepthCloudProperties {
    typealias Row = Property<DepthCloudSettings>

    static let all: [Row] = Row.depthRows + camera + sensor + points + file + Row.videoPairingRows + work

    private static let camera: [Row] = [
        .double(
            "yaw", "Rotation about the vertical axis, in degrees; above 0 near points move right", -180...180,
            \.view.yaw),
        .double(
            "pitch", "Rotation about the horizontal axis, in degrees; above 0 near points move down", -180...180,
            \.view.pitch),
        .double("roll", "Clockwise rotation in the picture, in degrees", -180...180, \.view.roll),
        .double(
            "zoom", "Movement of the viewer towards the cloud, in metres; below 0 is away from it", -1e3...1e3,
            \.view.zoom),
        .double("pan-x", "Shift of the cloud to the right, in metres", -1e3...1e3, \.view.panX),
        .double("pan-y", "Shift of the cloud downwards, in metres", -1e3...1e3, \.view.panY),
        .bool("auto-pan", "Turn the cloud in a slow circle until a pointer event changes the view", \.autoPan),
    ]

    private static let sensor: [Row] = [
        .double(
            "fov",
            "Vertical field of view of the picture, in degrees; also of the depth camera if fx and fy are 0 and the "
                + "depth caps have no calibration",
            1...170,
            \.fieldOfView),
        .double(
            "fx",
            "Horizontal focal length of the depth camera, in depth pixels; 0 = the same as fy; if "
                + "both are 0, from the depth caps' calibration, or derived from fov",
            0...1e6, \.fx),
        .double(
            "fy",
            "Vertical focal length of the depth camera, in depth pixels; 0 = the same as fx; if "
                + "both are 0, from the depth caps' calibration, or derived from fov",
            0...1e6, \.fy),
        .double(
            "cx",
            "Principal point of the depth camera from the left, in depth pixels; 0 = the calibration's, or the center",
            -1e6...1e6, \.cx
        ),
        .double(
            "cy",
            "Principal point of the depth camera from the top, in depth pixels; 0 = the calibration's, or the center",
            -1e6...1e6, \.cy),
    ]

    private static let points: [Row] =
        [
            .double("point-size", "Diameter of a point, in pixels", 1...64, \.pointSize),
            .choice("colors", "Source of the points' colors", \.colors),
            .choice("palette", "Colors of the distances where the palette is used", \.palette),
        ] + Row.colorRangeRows + [
            .uint(
                "background-color", "Color where no point is, 0xAARRGGBB; 0xff000000 is opaque black", 0...UInt32.max,
                \.backgroundColor)
        ]

    private static let file: [Row] = [
        .string("location", "Path of the file that snapshot writes: binary PLY, in metres from the camera", \.location),
        .bool(
            "snapshot",
            "Set to true to write the next depth map's points to location, at the end of the stream the last one's; "
                + "returns to false when done",
            \.snapshot),
    ]

    private static let work: [Row] = [
        .uint(
            "max-threads", "Number of threads for large clouds; 0 = number of processors, at most 4", 0...16,
            \.maxThreads)
    ]

    /// Returns the names of the camera properties that differ between two settings.
    static func differences(_ one: DepthCloudSettings, _ other: DepthCloudSettings) -> [String] {
        let numbers: [(String, KeyPath<DepthCloudSettings, Double>)] = [
            ("yaw", \.view.yaw), ("pitch", \.view.pitch), ("roll", \.view.roll), ("zoom", \.view.zoom),
            ("pan-x", \.view.panX), ("pan-y", \.view.panY),
        ]
        let changed = numbers.filter { one[keyPath: $0.1] != other[keyPath: $0.1] }.map { $0.0 }
        return one.autoPan == other.autoPan ? changed : changed + ["auto-pan"]
    }
}
