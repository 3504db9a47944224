import DepthCameras
import TestSupport
import Testing

/// A driver with its stand-in, and what differs between the drivers in what all of them do.
struct CameraRow: Sendable, CustomTestStringConvertible {
    /// A call that fails, and what is told of it.
    struct Fault: Sendable, CustomTestStringConvertible {
        enum Phase { case opening, starting, streaming }

        /// It fails from here on.
        let phase: Phase
        let call: String
        /// The library's number of the error; nil for the stand-in's own.
        var number: Int?
        var kind: @Sendable (String) -> CameraError = CameraError.failed
        var words = ""

        var testDescription: String { "\(call) \(number ?? 0)" }
    }

    let driver: any CameraDriver.Type
    /// Of a camera.
    let name: String
    /// The serial numbers of two cameras, in the list and where they are open.
    let listed: [String]
    var opened: [String]?
    /// The first modes of each stream, and how many it has; of a camera that is open.
    let modes: (video: [String], depth: [String], count: [Int])
    /// The words where none is plugged in, and where none of two has the serial number 7777.
    let noCamera: (none: String, other: String)
    /// Of the stand-in.
    var settings: [String: Int] = [:]
    /// Of the first exposure, and from each to the next, in nanoseconds; nil where the clock of the host has a part in it.
    var start: Int64?
    let step: Int64
    /// From the video to the depth of its exposure, in nanoseconds.
    var lag: Int64 = 0
    /// What a registered sample is more; nil where the library does not register.
    var registered: Int?
    /// Bytes behind each row.
    var padding = 0
    /// Frames of both streams count for themselves.
    var framesOfExposure = 1
    /// Frames of one stream may come before the other starts.
    var startsTogether = true
    var hasNumbers = true
    var canBeNarrow = true
    /// The last exposure of a camera that falls silent behind the third.
    var lastBeforeSilence = 3
    /// The optics, as `describe` has them, and those of registered depth.
    let optics: (raw: String, registered: String)
    /// What makes the camera do all that its driver can.
    var asked: @Sendable (inout CameraSettings) -> Void = { _ in }
    let faults: [Fault]
    /// Calls without which there is no calibration, but frames.
    var calibrationCalls: [String] = []
    /// The words of a camera that was unplugged.
    let unplugged: String

    var testDescription: String { driver.name }

    /// The stand-in, with the settings of this row.
    func fake() throws -> FakeLibrary {
        let fake = try FakeLibrary.of(driver: driver.name)
        for (key, value) in settings { fake.set(key, value) }
        return fake
    }

    /// Opens a camera, by a driver of its own.
    func open(_ fake: FakeLibrary, serial: String = "") throws(CameraError) -> any Camera {
        try driver.init(library: fake.library).open(serial: serial)
    }

    static let all = [realSense, freenect, k4a, orbbec, openNI].filter { FakeLibrary.drivers.contains($0.driver.name) }

    private static let realSense = CameraRow(
        driver: RealSenseDriver.self, name: "Fake RealSense", listed: ["0001", "0002"],
        modes: (
            ["128x96@30 RGB", "64x48@30 RGB", "64x48@30 RGBA"],
            ["128x96@30 GRAY16_LE", "64x48@30 GRAY16_LE", "64x48@60 GRAY16_LE"], [3, 3]
        ),
        noCamera: ("no RealSense camera is plugged in", "none has the serial number 7777"),
        settings: ["interval": 5], start: 5_005_000_000, step: 5_000_000, lag: 1_000_000, registered: 0, padding: 16,
        optics: ("60.0 31.5, 70.0 31.5, (0.010, 0.020, 0.030)", "70.0 31.5, (0.000, 0.000, 0.000)"),
        asked: { ($0.isAligned, $0.exposure) = (true, 10_000) },
        faults: [
            "get_api_version", "create_context", "query_devices", "get_device_count", "create_device",
            "get_device_info", "query_sensors", "get_sensors_count", "create_sensor", "get_stream_profiles",
            "get_stream_profile_data", "get_video_stream_resolution", "create_pipeline",
        ].map { Fault(phase: .opening, call: $0, words: "the test wants it") }
            + [
                "create_config", "config_enable_device", "config_enable_stream", "config_resolve",
                "pipeline_profile_get_device", "pipeline_start_with_config", "get_depth_scale", "set_option",
                "get_option_range", "pipeline_profile_get_streams", "create_align", "create_frame_queue",
                "start_processing_queue",
            ].map { Fault(phase: .starting, call: $0, words: $0) }
            + [
                "pipeline_try_wait_for_frames", "extract_frame", "get_frame_data", "frame_add_ref", "process_frame",
                "poll_for_frame",
            ].map { Fault(phase: .streaming, call: $0, words: $0) }
            + [
                Fault(
                    phase: .starting, call: "pipeline_start_with_config", number: 7, kind: CameraError.busy,
                    words: "resource busy")
            ],
        unplugged: "Device disconnected")

    private static let freenect = CameraRow(
        driver: FreenectDriver.self, name: "Kinect v1", listed: ["A00360", "A00361"],
        modes: (["1280x1024@10 RGB", "640x480@30 RGB"], ["640x480@30 GRAY16_LE"], [2, 1]),
        noCamera: (
            "No Kinect is plugged in.", "No Kinect has the serial 7777; plugged in: A00360, A00361."
        ),
        // The counter wraps after ten frames.
        settings: ["first-tick": (1 << 32) - 20_000_000, "depth-phase": 240_000], step: 33_333_333, lag: 4_000_000,
        registered: 0, framesOfExposure: 2, hasNumbers: false, canBeNarrow: false,
        optics: ("600.0 320.0, 525.0 319.5, (-0.023, 0.000, 0.000)", "525.0 319.5, (0.000, 0.000, 0.000)"),
        // The smaller picture, to which the library registers.
        asked: { ($0.video, $0.isAligned) = (CameraMode(width: 640, height: 480, rate: (30, 1), format: .rgb), true) },
        faults: ["init", "num_devices", "list"].map { Fault(phase: .opening, call: $0) } + [
            Fault(
                phase: .opening, call: "open", number: -6, kind: CameraError.busy,
                words: "Another program uses the Kinect (Failed to claim camera interface: LIBUSB_ERROR_BUSY)."),
            Fault(phase: .opening, call: "open", number: -3, words: "no permission"),
            Fault(phase: .opening, call: "open", number: -3, words: "udev"),
            Fault(
                phase: .opening, call: "open", number: -4, kind: CameraError.noCamera,
                words: "libusb reports no device (Could not open camera: -4)."),
        ]
            + ["video_mode", "depth_mode", "video_buffer", "depth_buffer", "start_video", "start_depth"].map {
                Fault(phase: .starting, call: $0)
            } + [
                Fault(
                    phase: .starting, call: "start_depth", number: -6, kind: CameraError.busy,
                    words: "Another program uses the Kinect (Failed to start: -6)."),
                Fault(
                    phase: .starting, call: "start_depth", number: -4, kind: CameraError.unplugged,
                    words: "libusb reports no device (Failed to start: -4)."),
                Fault(
                    phase: .streaming, call: "process", number: -9, words: "The Kinect cannot be read: error -9."),
                Fault(
                    phase: .streaming, call: "process", number: -4, kind: CameraError.unplugged,
                    words: "libusb reports no device (error -4)."),
            ],
        unplugged: "libfreenect lost the device: USB camera marked dead, stopping streams.")

    private static let k4a = CameraRow(
        driver: K4ADriver.self, name: "Azure Kinect, Orbbec Femto", listed: ["0", "1"],
        opened: ["000123450001", "000123450002"],
        modes: (["1280x720@30 BGRA"], ["640x576@30 GRAY16_LE"], [17, 11]),
        noCamera: ("No Azure Kinect is plugged in.", "7777; plugged in: 000123450001, 000123450002."),
        start: 5_033_000_000, step: 33_000_000, hasNumbers: false,
        optics: (
            "500.0 319.5, 600.0 639.5, (-0.032, 0.000, 0.000)", "500.0 319.5, 600.0 639.5, (-0.032, 0.000, 0.000)"
        ),
        asked: { $0.exposure = 100 },
        faults: [
            Fault(phase: .opening, call: "device_open", kind: CameraError.busy),
            Fault(phase: .starting, call: "device_start_cameras"),
            Fault(phase: .starting, call: "device_set_color_control", kind: CameraError.setting),
            Fault(phase: .streaming, call: "device_get_capture", words: "no more frames"),
        ],
        calibrationCalls: ["device_get_calibration"], unplugged: "not there")

    private static let orbbec = CameraRow(
        driver: OrbbecDriver.self, name: "Fake Gemini", listed: ["FAKE1", "FAKE2"],
        modes: (
            // No JPEG, which the library offers as RGB, and no packed depth, which it unpacks.
            ["640x480@30 RGB", "640x480@15 YUY2", "1280x720@30 RGB"],
            ["640x400@30 GRAY16_LE", "848x480@30 GRAY16_LE", "640x400@15 GRAY16_LE"], [3, 3]
        ),
        noCamera: ("No Orbbec camera is plugged in", "7777; found: FAKE1, FAKE2"),
        settings: ["interval": 5], start: 5_033_333_000, step: 33_333_333, lastBeforeSilence: 2,
        optics: (
            "500.0 319.5, 600.0 319.5, (-0.025, 0.000, 0.000)", "500.0 319.5, 600.0 319.5, (-0.025, 0.000, 0.000)"
        ),
        asked: { ($0.emitter, $0.preset) = (true, "Default") },
        // From the opening on, and with each kind of error.
        faults: [
            "query_device_list", "device_list_get_count", "device_list_get_device_serial_number",
            "device_list_get_device", "device_get_device_info", "device_info_get_name",
            "device_info_get_serial_number", "create_pipeline_with_device", "create_config",
            "config_enable_stream_with_stream_profile", "config_set_frame_aggregate_output_mode",
            "pipeline_disable_frame_sync", "pipeline_start_with_config", "pipeline_wait_for_frameset",
            "frameset_get_color_frame", "frameset_get_depth_frame", "frame_get_data", "frame_get_data_size",
            "video_frame_get_width", "video_frame_get_height", "frame_get_format", "frame_get_timestamp_us",
            "frame_get_index", "depth_frame_get_value_scale", "device_is_property_supported",
            "device_set_int_property", "device_get_available_preset_list", "device_preset_list_get_count",
            "device_preset_list_get_name", "device_load_preset",
        ].flatMap { call in
            [(0, CameraError.failed), (2, CameraError.unplugged), (10, CameraError.busy)].map {
                Fault(phase: .opening, call: call, number: $0, kind: $1, words: "the test wants it")
            }
        },
        calibrationCalls: [
            "video_stream_profile_get_intrinsic", "video_stream_profile_get_distortion",
            "stream_profile_get_extrinsic_to",
        ], unplugged: "FAKE1 is not there")

    private static let openNI = CameraRow(
        driver: OpenNIDriver.self, name: "Fake Xtion", listed: ["0001", "0002"],
        modes: (["64x48@30 RGB"], ["64x48@30 GRAY16_LE", "32x24@30 GRAY16_LE"], [1, 2]),
        noCamera: ("plugged in", "Plugged in: 0001, 0002."), settings: ["interval": 5], start: 5_005_000_000,
        step: 5_000_000, registered: 3000, startsTogether: false,
        optics: ("58.6 31.5, (0.000, 0.000, 0.000)", "58.6 31.5, (0.000, 0.000, 0.000)"),
        faults: ["DeviceOpen"].map { Fault(phase: .opening, call: $0) }
            + ["DeviceCreateStream", "StreamSetProperty", "StreamStart"].map { Fault(phase: .starting, call: $0) },
        unplugged: "0001")
}
