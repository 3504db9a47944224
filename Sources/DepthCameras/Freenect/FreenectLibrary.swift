import CFreenect

/// The functions of libfreenect that the driver uses, loaded while the program runs.
///
/// Source: libfreenect 0.5, `libfreenect.h` and `libfreenect_registration.h`. Contexts and devices are raw pointers here.
struct FreenectLibrary: Sendable {
    typealias Object = UnsafeMutableRawPointer
    typealias Code = @convention(c) (Object?) -> CInt
    /// Device, data, camera ticks.
    typealias FrameCallback = @convention(c) (Object?, UnsafeMutableRawPointer?, UInt32) -> Void

    let initialize: @convention(c) (UnsafeMutablePointer<Object?>, UnsafeMutableRawPointer?) -> CInt
    let shutdown: Code
    let setLogLevel: @convention(c) (Object?, CInt) -> Void
    let selectSubdevices: @convention(c) (Object?, CInt) -> Void
    /// A `timeval`.
    let processEvents: @convention(c) (Object?, UnsafeMutableRawPointer) -> CInt
    let deviceCount: Code
    let openDevice: @convention(c) (Object?, UnsafeMutablePointer<Object?>, CInt) -> CInt
    let openBySerial: @convention(c) (Object?, UnsafeMutablePointer<Object?>, UnsafePointer<CChar>) -> CInt
    let closeDevice: Code
    let setDepthCallback: @convention(c) (Object?, FrameCallback?) -> Void
    let setVideoCallback: @convention(c) (Object?, FrameCallback?) -> Void
    let startDepth: Code
    let startVideo: Code
    let stopDepth: Code
    let stopVideo: Code
    let videoModeCount: @convention(c) () -> CInt
    let videoMode: cf_nth_mode
    let setVideoMode: cf_set_mode
    let depthModeCount: @convention(c) () -> CInt
    let depthMode: cf_nth_mode
    let setDepthMode: cf_set_mode

    // The playing library of fakenect has none of these.
    let listDevices: cf_list_devices?
    let freeList: cf_free_list?
    let setFlag: (@convention(c) (Object?, CInt, CInt) -> CInt)?
    let cameraToWorld:
        (
            @convention(c) (
                Object?, CInt, CInt, CInt, UnsafeMutablePointer<Double>, UnsafeMutablePointer<Double>
            ) -> Void
        )?

    /// True for fakenect's library, which plays dumps as they are.
    var isPlayer: Bool { listDevices == nil }

    init(_ library: DynamicLibrary) throws(CameraError) {
        initialize = try library.function("freenect_init")
        shutdown = try library.function("freenect_shutdown")
        setLogLevel = try library.function("freenect_set_log_level")
        selectSubdevices = try library.function("freenect_select_subdevices")
        processEvents = try library.function("freenect_process_events_timeout")
        deviceCount = try library.function("freenect_num_devices")
        openDevice = try library.function("freenect_open_device")
        openBySerial = try library.function("freenect_open_device_by_camera_serial")
        closeDevice = try library.function("freenect_close_device")
        setDepthCallback = try library.function("freenect_set_depth_callback")
        setVideoCallback = try library.function("freenect_set_video_callback")
        startDepth = try library.function("freenect_start_depth")
        startVideo = try library.function("freenect_start_video")
        stopDepth = try library.function("freenect_stop_depth")
        stopVideo = try library.function("freenect_stop_video")
        videoModeCount = try library.function("freenect_get_video_mode_count")
        videoMode = try library.function("freenect_get_video_mode")
        setVideoMode = try library.function("freenect_set_video_mode")
        depthModeCount = try library.function("freenect_get_depth_mode_count")
        depthMode = try library.function("freenect_get_depth_mode")
        setDepthMode = try library.function("freenect_set_depth_mode")
        listDevices = library.optionalFunction("freenect_list_device_attributes")
        freeList = library.optionalFunction("freenect_free_device_attributes")
        setFlag = library.optionalFunction("freenect_set_flag")
        cameraToWorld = library.optionalFunction("freenect_camera_to_world")
    }
}

/// Constants of `libfreenect.h`.
enum FreenectConstant {
    static let subdeviceCamera: CInt = 2
    static let logFatal: CInt = 0
    static let videoRGB: Int32 = 0
    static let depthRegistered: Int32 = 4
    static let depthMillimetres: Int32 = 5
    static let flagAutoExposure: CInt = 1 << 14
    /// Ticks of the camera's clock a second.
    static let ticksPerSecond: Int64 = 60_000_000
}

/// One use of the library; shut down when nobody holds it.
final class FreenectContext {
    let functions: FreenectLibrary
    let pointer: UnsafeMutableRawPointer

    init(_ functions: FreenectLibrary) throws(CameraError) {
        var pointer: UnsafeMutableRawPointer?
        let code = functions.initialize(&pointer, nil)
        guard code >= 0, let pointer else { throw .failed("libfreenect does not start, error \(code)") }
        functions.setLogLevel(pointer, FreenectConstant.logFatal)
        functions.selectSubdevices(pointer, FreenectConstant.subdeviceCamera)
        self.functions = functions
        self.pointer = pointer
    }

    deinit { _ = functions.shutdown(pointer) }
}
