import CGStreamer
import DepthCameras
import GstBridge

/// `depthcamsrc`: a depth camera, or a recording of one.
///
/// Pads: `video` and `depth`, whose frames of one exposure have one timestamp.
///
///     depthcamsrc name=camera
///         camera.video ! videoconvert ! depthmatte name=matte background=beach.jpg ! videoconvert ! autovideosink
///         camera.depth ! matte.depth
enum DepthCamSrc {
    static let factory = "depthcamsrc"

    /// The source pads. Raw values are their names.
    enum PadRole: String, SourceRole {
        case video, depth

        var index: Int { self == .video ? 0 : 1 }
    }

    static let definition = ElementDefinition(
        typeName: "GstDepthCamSrc",
        factory: factory,
        parent: .element,
        longName: "Depth camera source",
        klass: "Source/Video/Device",
        description:
            "Captures the streams of a depth camera (\(cameraDrivers.map { $0.cameras }.joined(separator: ", "))), "
            + "or plays its recording",
        log: DepthCamSrcElement.log,
        pads: [
            PadTemplate(
                PadRole.video.rawValue, GST_PAD_SRC, .always, "Video of the color camera",
                caps: "video/x-raw, format=(string){ RGB, BGR, RGBA, BGRA, YUY2, UYVY, GRAY8 }, \(anySize), \(anyRate)"),
            PadTemplate(
                PadRole.depth.rawValue, GST_PAD_SRC, .always,
                "Depth map; a frame and the video's frame of one exposure have one timestamp",
                caps: "video/x-raw, format=(string)GRAY16_LE, \(anySize), \(anyRate); "
                    + "video/x-depth, format=(string)F32LE, \(anySize), \(anyRate)"),
        ],
        properties: properties,
        defaults: DepthCamSrcSettings(),
        structures: [
            StructureProperty(
                "stats",
                "Frames of the video and the depth; lost frames; reconnects; clock-drift of the camera in parts per million; "
                    + "clock-error, clock-jumps and latency of the timestamps, and the depth-lag that they correct, in nanoseconds"
            )
        ],
        make: { DepthCamSrcElement($0) })

    static let properties: [Property<DepthCamSrcSettings>] = [
        .choice(
            "driver", "Library of the camera's maker. Read when the element leaves the state NULL", \.driver,
            isControllable: false),
        .string(
            "library",
            "Name or path of the driver's shared object; empty = the usual names. Read when the element leaves the state NULL",
            \.library),
        .string(
            "serial", "Serial number of the camera; empty = the first. Read when the element leaves the state NULL",
            \.serial),
        .string(
            "location",
            "Recording to play instead of a camera: a file or folder that the maker's library reads. The element is then not "
                + "live. Read when the element leaves the state NULL", \.location),
        .bool("loop", "Start the recording again at its end", \.loop, onlyBeforeStart: true),
        .int("num-buffers", "Number of frames on each pad before EOS; -1 = endless", -1...2_147_483_647, \.numBuffers),
        .choice(
            "align", "Camera whose view the depth map has. Takes effect at the next start", \.align,
            isControllable: false),
        .choice(
            "depth-sync",
            "Time of the depth maps. With measured, what depthmatte measures on the depth pad becomes part of the timestamps of a "
                + "camera", \.depthSync, isControllable: false),
        .bool(
            "attach-depth",
            "Attach the depth map to each video buffer as DepthMapMeta while the depth pad is not linked, for elements whose "
                + "depth pad is not linked either", \.attachDepth, onlyBeforeStart: true),
        .string(
            "calibration-location",
            "File to which the calibration of the depth stream is written when it starts, as JSON that depthalign reads; empty = none",
            \.calibrationLocation),
        .choice(
            "emitter", "Infrared projector, where the camera has one. Takes effect at the next start", \.emitter,
            isControllable: false),
        .uint(
            "exposure",
            "Exposure of the color camera, in microseconds; 0 = as the camera was left. Takes effect at the next start",
            0...10_000_000,
            \.exposure),
        .string(
            "preset", "Depth preset, by its maker's name; empty = unchanged. Takes effect at the next start", \.preset),
        .time(
            "timeout", "Time without a frame after which the camera counts as failed, in nanoseconds; 0 = never",
            0...3_600_000_000_000, \.timeout),
        .choice(
            "on-disconnect", "Action when the camera is unplugged. Read when the element leaves the state NULL",
            \.onDisconnect,
            isControllable: false),
    ]
}

/// The values of `depthcamsrc`'s properties. The initial values here are the only defaults.
struct DepthCamSrcSettings: Sendable {
    var driver = DriverChoice.auto
    var library: String?
    var serial: String?
    var location: String?
    var loop = false
    var numBuffers = -1
    var align = DepthAlignment.video
    var depthSync = DepthCamSync.timestamps
    var attachDepth = true
    var calibrationLocation: String?
    var emitter = EmitterChoice.auto
    var exposure: UInt32 = 0
    var preset: String?
    var timeout: GstClockTime = 5_000_000_000
    var onDisconnect = DisconnectAction.error
}

/// A value of the property `driver`: `auto`, or a row of the table of drivers.
struct DriverChoice: PropertyEnum, Equatable {
    static let typeName = "GstDepthCamSrcDriver"
    static let allCases = (0...cameraDrivers.count).map { DriverChoice(index: $0) }
    static let auto = DriverChoice(index: 0)

    let rawValue: Int

    private init(index: Int) { rawValue = index }

    init?(rawValue: Int) {
        guard DriverChoice.allCases.indices.contains(rawValue) else { return nil }
        self.rawValue = rawValue
    }

    /// Nil for `auto`.
    var driver: (any CameraDriver.Type)? { rawValue == 0 ? nil : cameraDrivers[rawValue - 1] }
    var nick: String { driver?.name ?? "auto" }
    var blurb: String { driver?.cameras ?? "The first that finds a camera, or that can play the recording" }
}

/// Values of the property `align`.
enum DepthAlignment: Int, PropertyEnum {
    case video, none

    static let typeName = "GstDepthCamSrcAlign"

    var blurb: String {
        switch self {
        case .video: "The color camera's: a depth sample lies on the pixel that it belongs to"
        case .none: "The depth camera's own"
        }
    }
}

/// Values of the property `depth-sync`.
enum DepthCamSync: Int, PropertyEnum {
    case timestamps, measured

    static let typeName = "GstDepthCamSrcDepthSync"

    var blurb: String {
        switch self {
        case .timestamps: "As the camera says"
        case .measured: "Earlier by the lag that depthmatte measures and would warn of"
        }
    }
}

/// Values of the property `emitter`.
enum EmitterChoice: Int, PropertyEnum {
    case auto, on, off

    static let typeName = "GstDepthCamSrcEmitter"

    var blurb: String {
        switch self {
        case .auto: "As the camera was left"
        case .on: "On"
        case .off: "Off"
        }
    }

    var isOn: Bool? { self == .auto ? nil : self == .on }
}

/// Values of the property `on-disconnect`.
enum DisconnectAction: Int, PropertyEnum {
    case error, wait

    static let typeName = "GstDepthCamSrcOnDisconnect"

    var blurb: String {
        switch self {
        case .error: "End the stream with an error"
        case .wait: "Post a warning, and go on when the camera is back"
        }
    }
}
