/// The functions of librealsense2's C API that the driver uses, loaded while the program runs.
///
/// Source: librealsense2, `include/librealsense2/h/`, version 2.50. Every `rs2_` object is an opaque pointer here; `Fault` is
/// `rs2_error**`, the last parameter of nearly every function.
struct RealSenseLibrary: Sendable {
    typealias Object = OpaquePointer
    typealias Fault = UnsafeMutablePointer<OpaquePointer?>
    typealias Number = UnsafeMutablePointer<CInt>
    typealias Make = @convention(c) (Object?, Fault) -> Object?
    typealias MakeNth = @convention(c) (Object?, CInt, Fault) -> Object?
    typealias Count = @convention(c) (Object?, Fault) -> CInt
    typealias Ask = @convention(c) (Object?, CInt, Fault) -> CInt
    typealias Delete = @Sendable @convention(c) (Object?) -> Void

    let errorMessage, errorFunction: @convention(c) (Object?) -> UnsafePointer<CChar>?
    let errorType: @convention(c) (Object?) -> CInt
    let freeError: Delete

    let apiVersion: @convention(c) (Fault) -> CInt
    let createContext: @convention(c) (CInt, Fault) -> Object?
    let deleteContext: Delete

    let queryDevices: Make
    let deviceCount: Count
    let createDevice: MakeNth
    let deleteDeviceList, deleteDevice: Delete
    let supportsDeviceInfo: Ask
    let deviceInfo: @convention(c) (Object?, CInt, Fault) -> UnsafePointer<CChar>?

    let querySensors: Make
    let sensorCount: Count
    let createSensor: MakeNth
    let deleteSensorList, deleteSensor: Delete
    let isSensorExtendable: Ask
    let depthScale: @convention(c) (Object?, Fault) -> Float

    let streamProfiles: Make
    let streamProfileCount: Count
    let streamProfile: MakeNth
    let deleteStreamProfiles: Delete
    let streamProfileData: @convention(c) (Object?, Number, Number, Number, Number, Number, Fault) -> Void
    let videoResolution: @convention(c) (Object?, Number, Number, Fault) -> Void

    let createConfig: @convention(c) (Fault) -> Object?
    let deleteConfig: Delete
    let enableStream: @convention(c) (Object?, CInt, CInt, CInt, CInt, CInt, CInt, Fault) -> Void
    let enableDevice: @convention(c) (Object?, UnsafePointer<CChar>, Fault) -> Void
    let resolveConfig: @convention(c) (Object?, Object?, Fault) -> Object?

    let createPipeline: Make
    let deletePipeline: Delete
    let startPipeline: @convention(c) (Object?, Object?, Fault) -> Object?
    let stopPipeline: @convention(c) (Object?, Fault) -> Void
    let deletePipelineProfile: Delete
    let profileDevice, profileStreams: Make
    let waitForFrames: @convention(c) (Object?, UnsafeMutablePointer<Object?>, CUnsignedInt, Fault) -> CInt

    let embeddedFrameCount: Count
    let extractFrame: MakeNth
    let releaseFrame: Delete
    let frameData: @convention(c) (Object?, Fault) -> UnsafeRawPointer?
    let frameSize, frameStride, frameWidth, frameHeight: Count
    let frameTime: @convention(c) (Object?, Fault) -> Double
    let frameNumber: @convention(c) (Object?, Fault) -> CUnsignedLongLong
    let frameProfile: Make

    // What only some need: a library without it does for the others. An error names the function that is missing.
    let frameClock: Count?
    let videoIntrinsics: (@convention(c) (Object?, UnsafeMutableRawPointer, Fault) -> Void)?
    let extrinsics: (@convention(c) (Object?, Object?, UnsafeMutableRawPointer, Fault) -> Void)?
    let options: Result<Options, CameraError>
    let alignment: Result<Alignment, CameraError>
    let playback: Result<Playback, CameraError>

    /// The settings of a sensor.
    struct Options: Sendable {
        let supportsOption: Ask
        let option: (@convention(c) (Object?, CInt, Fault) -> Float)?
        let setOption: @convention(c) (Object?, CInt, Float, Fault) -> Void
        let optionRange:
            @convention(c) (
                Object?, CInt, UnsafeMutablePointer<Float>, UnsafeMutablePointer<Float>, UnsafeMutablePointer<Float>,
                UnsafeMutablePointer<Float>, Fault
            ) -> Void
        let optionValueDescription: @convention(c) (Object?, CInt, Float, Fault) -> UnsafePointer<CChar>?

        fileprivate init(_ library: DynamicLibrary) throws(CameraError) {
            supportsOption = try library.function("rs2_supports_option")
            option = try? library.function("rs2_get_option")
            setOption = try library.function("rs2_set_option")
            optionRange = try library.function("rs2_get_option_range")
            optionValueDescription = try library.function("rs2_get_option_value_description")
        }
    }

    /// The registration of depth to color.
    struct Alignment: Sendable {
        let addReference: @convention(c) (Object?, Fault) -> Void
        let createAlign, createQueue: @convention(c) (CInt, Fault) -> Object?
        let startProcessing, processFrame: @convention(c) (Object?, Object?, Fault) -> Void
        let pollQueue: @convention(c) (Object?, UnsafeMutablePointer<Object?>, Fault) -> CInt
        let deleteProcessing, deleteQueue: Delete

        fileprivate init(_ library: DynamicLibrary) throws(CameraError) {
            addReference = try library.function("rs2_frame_add_ref")
            createAlign = try library.function("rs2_create_align")
            createQueue = try library.function("rs2_create_frame_queue")
            startProcessing = try library.function("rs2_start_processing_queue")
            processFrame = try library.function("rs2_process_frame")
            pollQueue = try library.function("rs2_poll_for_frame")
            deleteProcessing = try library.function("rs2_delete_processing_block")
            deleteQueue = try library.function("rs2_delete_frame_queue")
        }
    }

    /// Recordings.
    struct Playback: Sendable {
        let enableRecording: @convention(c) (Object?, UnsafePointer<CChar>, CInt, Fault) -> Void
        let setRealTime: @convention(c) (Object?, CInt, Fault) -> Void
        let pausePlayback, resumePlayback: @convention(c) (Object?, Fault) -> Void
        let playbackStatus: Count

        fileprivate init(_ library: DynamicLibrary) throws(CameraError) {
            enableRecording = try library.function("rs2_config_enable_device_from_file_repeat_option")
            setRealTime = try library.function("rs2_playback_device_set_real_time")
            pausePlayback = try library.function("rs2_playback_device_pause")
            resumePlayback = try library.function("rs2_playback_device_resume")
            playbackStatus = try library.function("rs2_playback_device_get_current_status")
        }
    }

    init(_ library: DynamicLibrary) throws(CameraError) {
        errorMessage = try library.function("rs2_get_error_message")
        errorFunction = try library.function("rs2_get_failed_function")
        errorType = try library.function("rs2_get_librealsense_exception_type")
        freeError = try library.function("rs2_free_error")
        apiVersion = try library.function("rs2_get_api_version")
        createContext = try library.function("rs2_create_context")
        deleteContext = try library.function("rs2_delete_context")
        queryDevices = try library.function("rs2_query_devices")
        deviceCount = try library.function("rs2_get_device_count")
        createDevice = try library.function("rs2_create_device")
        deleteDeviceList = try library.function("rs2_delete_device_list")
        deleteDevice = try library.function("rs2_delete_device")
        supportsDeviceInfo = try library.function("rs2_supports_device_info")
        deviceInfo = try library.function("rs2_get_device_info")
        querySensors = try library.function("rs2_query_sensors")
        sensorCount = try library.function("rs2_get_sensors_count")
        createSensor = try library.function("rs2_create_sensor")
        deleteSensorList = try library.function("rs2_delete_sensor_list")
        deleteSensor = try library.function("rs2_delete_sensor")
        isSensorExtendable = try library.function("rs2_is_sensor_extendable_to")
        depthScale = try library.function("rs2_get_depth_scale")
        streamProfiles = try library.function("rs2_get_stream_profiles")
        streamProfileCount = try library.function("rs2_get_stream_profiles_count")
        streamProfile = try library.function("rs2_get_stream_profile")
        deleteStreamProfiles = try library.function("rs2_delete_stream_profiles_list")
        streamProfileData = try library.function("rs2_get_stream_profile_data")
        videoResolution = try library.function("rs2_get_video_stream_resolution")
        createConfig = try library.function("rs2_create_config")
        deleteConfig = try library.function("rs2_delete_config")
        enableStream = try library.function("rs2_config_enable_stream")
        enableDevice = try library.function("rs2_config_enable_device")
        resolveConfig = try library.function("rs2_config_resolve")
        createPipeline = try library.function("rs2_create_pipeline")
        deletePipeline = try library.function("rs2_delete_pipeline")
        startPipeline = try library.function("rs2_pipeline_start_with_config")
        stopPipeline = try library.function("rs2_pipeline_stop")
        deletePipelineProfile = try library.function("rs2_delete_pipeline_profile")
        profileDevice = try library.function("rs2_pipeline_profile_get_device")
        profileStreams = try library.function("rs2_pipeline_profile_get_streams")
        waitForFrames = try library.function("rs2_pipeline_try_wait_for_frames")
        embeddedFrameCount = try library.function("rs2_embedded_frames_count")
        extractFrame = try library.function("rs2_extract_frame")
        releaseFrame = try library.function("rs2_release_frame")
        frameData = try library.function("rs2_get_frame_data")
        frameSize = try library.function("rs2_get_frame_data_size")
        frameStride = try library.function("rs2_get_frame_stride_in_bytes")
        frameWidth = try library.function("rs2_get_frame_width")
        frameHeight = try library.function("rs2_get_frame_height")
        frameTime = try library.function("rs2_get_frame_timestamp")
        frameNumber = try library.function("rs2_get_frame_number")
        frameProfile = try library.function("rs2_get_frame_stream_profile")
        options = Result { () throws(CameraError) in try Options(library) }
        frameClock = try? library.function("rs2_get_frame_timestamp_domain")
        videoIntrinsics = try? library.function("rs2_get_video_stream_intrinsics")
        extrinsics = try? library.function("rs2_get_extrinsics")
        alignment = Result { () throws(CameraError) in try Alignment(library) }
        playback = Result { () throws(CameraError) in try Playback(library) }
    }

    /// Runs a function, and turns its error into ours.
    func call<Result>(_ body: (Fault) -> Result) throws(CameraError) -> Result {
        var fault: Object?
        let result = body(&fault)
        guard let fault else { return result }
        defer { freeError(fault) }
        let reason = errorMessage(fault).map { String(cString: $0) } ?? "no reason given"
        let function = errorFunction(fault).map { String(cString: $0) } ?? "librealsense"
        let sentence = "\(reason) (\(function))"
        if errorType(fault) == RealSenseLibrary.disconnected { throw .unplugged(sentence) }
        throw .failed(sentence)
    }

    /// Runs a function that makes an object, which is deleted when nobody holds it.
    func make(_ delete: @escaping Delete, _ body: (Fault) -> Object?) throws(CameraError) -> LibraryObject {
        guard let object = try call(body) else { throw .failed("librealsense gave no object") }
        return LibraryObject(object, delete)
    }

    /// RS2_EXCEPTION_TYPE_CAMERA_DISCONNECTED.
    private static let disconnected: CInt = 1
}

/// Constants of librealsense's headers: `rs_sensor.h`, `rs_option.h`, `rs_types.h`, `rs_record_playback.h`.
enum RealSenseConstant {
    static let streamDepth: CInt = 1
    static let streamColor: CInt = 2
    static let formatZ16: CInt = 1
    static let infoName: CInt = 0
    static let infoSerial: CInt = 1
    static let extensionDepthSensor: CInt = 7
    static let optionExposure: CInt = 3
    static let optionAutoExposure: CInt = 10
    static let optionPreset: CInt = 12
    static let optionEmitter: CInt = 18
    static let playbackPaused: CInt = 2
    static let playbackStopped: CInt = 3

    /// Color formats and their numbers, best first: RGB8, BGR8, RGBA8, BGRA8, YUYV, UYVY, Y8.
    static let colorFormats: [(number: CInt, format: CameraFormat)] = [
        (5, .rgb), (6, .bgr), (7, .rgba), (8, .bgra), (4, .yuy2), (14, .uyvy), (9, .gray8),
    ]

    /// The distortion models; RS2_DISTORTION_MODIFIED_BROWN_CONRADY has Brown and Conrady's formula with its factors applied
    /// in another order, which for these lenses is below a tenth of a pixel.
    static let distortionNone: CInt = 0
    static let distortionInverse: CInt = 2
    static let distortionFisheyes: Set<CInt> = [3, 5]
}
