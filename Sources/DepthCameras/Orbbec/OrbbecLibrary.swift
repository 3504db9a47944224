import CCameras
import DepthKernels

/// The functions of OrbbecSDK's C interface that the driver uses, loaded while the program runs.
///
/// Source: OrbbecSDK 2.9, `include/libobsensor/h/`. Every `ob_` object is an opaque pointer here; `Fault` is `ob_error**`, the last
/// parameter of nearly every function.
struct OrbbecLibrary: Sendable {
    typealias Object = OpaquePointer
    typealias Fault = UnsafeMutablePointer<OpaquePointer?>
    typealias Text = UnsafePointer<CChar>
    typealias Create = @convention(c) (Fault) -> Object?
    typealias Make = @convention(c) (Object?, Fault) -> Object?
    typealias Do = @Sendable @convention(c) (Object?, Fault) -> Void
    typealias Count = @convention(c) (Object?, Fault) -> UInt32
    typealias Number = @convention(c) (Object?, Fault) -> CInt
    typealias Words = @convention(c) (Object?, Fault) -> Text?

    private let errorMessage: @convention(c) (Object?) -> Text?
    private let errorType: @convention(c) (Object?) -> CInt
    private let deleteError: (@convention(c) (Object?) -> Void)?

    let setLogLevel: @convention(c) (CInt, Fault) -> Void
    let setLogToConsole: @convention(c) (CInt, Fault) -> Void
    let setExtensions: @convention(c) (Text, Fault) -> Void
    let createContext: Create

    let queryDevices: Make
    let deviceCount: Count
    let deviceName, deviceSerial: @convention(c) (Object?, UInt32, Fault) -> Text?
    let openDevice: @convention(c) (Object?, UInt32, Fault) -> Object?
    let openNetDevice: @convention(c) (Object?, Text, UInt16, Fault) -> Object?
    let openRecording: @convention(c) (Text, Fault) -> Object?
    let deleteDevices, deleteDevice: Do
    let deviceInfo: Make
    let infoName, infoSerial: Words
    let deleteInfo: Do
    let canSet: @convention(c) (Object?, CInt, CInt, Fault) -> Bool
    let setBool: @convention(c) (Object?, CInt, Bool, Fault) -> Void
    let setInt: @convention(c) (Object?, CInt, Int32, Fault) -> Void
    let presets: Make
    let presetCount: Count
    let presetName: @convention(c) (Object?, UInt32, Fault) -> Text?
    let loadPreset: @convention(c) (Object?, Text, Fault) -> Void
    let deletePresets: Do
    let pause, resume: Do
    let playbackStatus: Number

    let createPipeline: Make
    let deletePipeline: Do
    let profiles: @convention(c) (Object?, CInt, Fault) -> Object?
    let profileCount: Count
    let profile: @convention(c) (Object?, CInt, Fault) -> Object?
    let deleteProfiles, deleteProfile: Do
    let profileFormat: Number
    let profileWidth, profileHeight, profileRate: Count
    let profileIntrinsics: @convention(c) (Object?, Fault) -> dm_orbbec_intrinsics
    let profileDistortion: @convention(c) (Object?, Fault) -> dm_orbbec_distortion
    let profilePose: @convention(c) (Object?, Object?, Fault) -> dm_camera_pose

    let createConfig: Create
    let deleteConfig: Do
    let enableStream: @convention(c) (Object?, Object?, Fault) -> Void
    let setAggregation: @convention(c) (Object?, CInt, Fault) -> Void
    let disableSync: Do
    let startPipeline: @convention(c) (Object?, Object?, Fault) -> Void
    let stopPipeline: Do
    let waitForFrames: @convention(c) (Object?, UInt32, Fault) -> Object?

    let colorFrame, depthFrame: Make
    let deleteFrame: Do
    let frameData: @convention(c) (Object?, Fault) -> UnsafeMutablePointer<UInt8>?
    let frameSize, frameWidth, frameHeight: Count
    let frameFormat: Number
    let frameTime, frameNumber: @convention(c) (Object?, Fault) -> UInt64
    let frameUnit: @convention(c) (Object?, Fault) -> Float

    init(_ library: DynamicLibrary) throws(CameraError) {
        errorMessage = try library.function("ob_error_get_message")
        errorType = try library.function("ob_error_get_exception_type")
        // Not ob_delete_error: some versions of the library want a pointer, others a pointer to the pointer. This is the operator
        // `delete` of C++, which either of them calls.
        deleteError = try? library.function("_ZdlPv")
        setLogLevel = try library.function("ob_set_logger_severity")
        setLogToConsole = try library.function("ob_set_logger_to_console")
        setExtensions = try library.function("ob_set_extensions_directory")
        createContext = try library.function("ob_create_context")
        queryDevices = try library.function("ob_query_device_list")
        deviceCount = try library.function("ob_device_list_get_count")
        deviceName = try library.function("ob_device_list_get_device_name")
        deviceSerial = try library.function("ob_device_list_get_device_serial_number")
        openDevice = try library.function("ob_device_list_get_device")
        openNetDevice = try library.function("ob_create_net_device")
        openRecording = try library.function("ob_create_playback_device")
        deleteDevices = try library.function("ob_delete_device_list")
        deleteDevice = try library.function("ob_delete_device")
        deviceInfo = try library.function("ob_device_get_device_info")
        infoName = try library.function("ob_device_info_get_name")
        infoSerial = try library.function("ob_device_info_get_serial_number")
        deleteInfo = try library.function("ob_delete_device_info")
        canSet = try library.function("ob_device_is_property_supported")
        setBool = try library.function("ob_device_set_bool_property")
        setInt = try library.function("ob_device_set_int_property")
        presets = try library.function("ob_device_get_available_preset_list")
        presetCount = try library.function("ob_device_preset_list_get_count")
        presetName = try library.function("ob_device_preset_list_get_name")
        loadPreset = try library.function("ob_device_load_preset")
        deletePresets = try library.function("ob_delete_preset_list")
        pause = try library.function("ob_playback_device_pause")
        resume = try library.function("ob_playback_device_resume")
        playbackStatus = try library.function("ob_playback_device_get_current_playback_status")
        createPipeline = try library.function("ob_create_pipeline_with_device")
        deletePipeline = try library.function("ob_delete_pipeline")
        profiles = try library.function("ob_pipeline_get_stream_profile_list")
        profileCount = try library.function("ob_stream_profile_list_get_count")
        profile = try library.function("ob_stream_profile_list_get_profile")
        deleteProfiles = try library.function("ob_delete_stream_profile_list")
        deleteProfile = try library.function("ob_delete_stream_profile")
        profileFormat = try library.function("ob_stream_profile_get_format")
        profileWidth = try library.function("ob_video_stream_profile_get_width")
        profileHeight = try library.function("ob_video_stream_profile_get_height")
        profileRate = try library.function("ob_video_stream_profile_get_fps")
        profileIntrinsics = try library.function("ob_video_stream_profile_get_intrinsic")
        profileDistortion = try library.function("ob_video_stream_profile_get_distortion")
        profilePose = try library.function("ob_stream_profile_get_extrinsic_to")
        createConfig = try library.function("ob_create_config")
        deleteConfig = try library.function("ob_delete_config")
        enableStream = try library.function("ob_config_enable_stream_with_stream_profile")
        setAggregation = try library.function("ob_config_set_frame_aggregate_output_mode")
        disableSync = try library.function("ob_pipeline_disable_frame_sync")
        startPipeline = try library.function("ob_pipeline_start_with_config")
        stopPipeline = try library.function("ob_pipeline_stop")
        waitForFrames = try library.function("ob_pipeline_wait_for_frameset")
        colorFrame = try library.function("ob_frameset_get_color_frame")
        depthFrame = try library.function("ob_frameset_get_depth_frame")
        deleteFrame = try library.function("ob_delete_frame")
        frameData = try library.function("ob_frame_get_data")
        frameSize = try library.function("ob_frame_get_data_size")
        frameWidth = try library.function("ob_video_frame_get_width")
        frameHeight = try library.function("ob_video_frame_get_height")
        frameFormat = try library.function("ob_frame_get_format")
        frameTime = try library.function("ob_frame_get_timestamp_us")
        frameNumber = try library.function("ob_frame_get_index")
        frameUnit = try library.function("ob_depth_frame_get_value_scale")
    }

    /// Runs a function, and turns its error into ours.
    func call<Result>(_ body: (Fault) -> Result) throws(CameraError) -> Result {
        var fault: Object?
        let result = body(&fault)
        guard let fault else { return result }
        defer { deleteError?(fault) }
        let sentence = errorMessage(fault).map { String(cString: $0) } ?? "OrbbecSDK gives no reason"
        switch errorType(fault) {
        case OrbbecConstant.disconnected: throw .unplugged(sentence)
        case OrbbecConstant.accessDenied, OrbbecConstant.busy: throw .busy(sentence)
        default: throw .failed(sentence)
        }
    }

    /// Runs a function that makes an object, which is deleted when nobody holds it; nil where there is none.
    func find(_ delete: @escaping Do, _ body: (Fault) -> Object?) throws(CameraError) -> LibraryObject? {
        try call(body).map { object in LibraryObject(object) { object in _ = try? call { delete(object, $0) } } }
    }

    /// Runs a function that makes an object, which is deleted when nobody holds it.
    func make(_ delete: @escaping Do, _ body: (Fault) -> Object?) throws(CameraError) -> LibraryObject {
        guard let object = try find(delete, body) else { throw .failed("OrbbecSDK gave no object") }
        return object
    }

    func text(_ body: (Fault) -> Text?) throws(CameraError) -> String {
        try call(body).map { String(cString: $0) } ?? ""
    }

    /// The mode of a stream profile; nil for one that is no picture, or of a format that we do not know.
    func mode(_ profile: LibraryObject, isDepth: Bool) throws(CameraError) -> CameraMode? {
        let number = try call { profileFormat(profile.pointer, $0) }
        let width = try call { profileWidth(profile.pointer, $0) }
        let height = try call { profileHeight(profile.pointer, $0) }
        let rate = try call { profileRate(profile.pointer, $0) }
        guard let format = OrbbecConstant.formats[number], (format == .gray16) == isDepth,
            (1...32768).contains(width), (1...32768).contains(height), (1...1000).contains(rate)
        else { return nil }
        return CameraMode(width: Int(width), height: Int(height), rate: (Int(rate), 1), format: format)
    }
}

/// Constants of OrbbecSDK's headers: `ObTypes.h`, `Property.h`.
enum OrbbecConstant {
    /// Of errors.
    static let disconnected: CInt = 2
    static let accessDenied: CInt = 10
    static let busy: CInt = 14
    /// Log levels.
    static let logInfo: CInt = 1
    static let logOff: CInt = 5
    /// Sensors.
    static let color: CInt = 2
    static let depth: CInt = 3
    /// Each frame goes out by itself, as soon as it is there.
    static let aggregateNothing: CInt = 3
    static let playbackStopped: CInt = 3
    static let mayWrite: CInt = 2
    /// Switches of the infrared projector; a camera has one of them, or none.
    static let laser: CInt = 3
    static let laserControl: CInt = 182
    /// The TCP port of cameras on Ethernet.
    static let port: UInt16 = 8090

    /// Pixel formats by their numbers. The library unpacks others to Y16, and offers JPEG pictures as RGB, too.
    static let formats: [CInt: CameraFormat] = [
        0: .yuy2, 1: .yuy2, 2: .uyvy, 8: .gray16, 9: .gray8, 22: .rgb, 23: .bgr, 25: .bgra, 28: .gray16, 31: .rgba,
    ]
}

extension dm_orbbec_intrinsics {
    /// Nil for numbers that are no camera's, and for fisheyes.
    func lens(_ distortion: dm_orbbec_distortion) -> CameraIntrinsics? {
        let optics = [fx, fy, cx, cy].map(Double.init)
        let factors = [
            distortion.k1, distortion.k2, distortion.p1, distortion.p2, distortion.k3, distortion.k4, distortion.k5,
            distortion.k6,
        ].map(Double.init)
        // The models of OBCameraDistortionModel: 0 is none, 2 maps the other way, 5 is a fisheye.
        guard width > 0, height > 0, (optics + factors).allSatisfy(\.isFinite), fx > 0, fy > 0,
            (0...4).contains(distortion.model)
        else { return nil }
        return CameraIntrinsics(
            width: Int(width), height: Int(height), fx: optics[0], fy: optics[1], cx: optics[2], cy: optics[3],
            distortion: distortion.model == 0 ? .none : LensDistortion(factors, isInverse: distortion.model == 2))
    }
}
