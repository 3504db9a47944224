import CCameras

/// libfreenect's functions, of version 0.5 and newer.
///
/// Handles are raw pointers: fakenect's are no addresses.
struct FreenectLibrary: @unchecked Sendable {  // guard: it is pointers to functions
    typealias Handle = UnsafeMutableRawPointer
    typealias Mode = dm_freenect_frame_mode
    typealias FrameCallback = @convention(c) (Handle?, UnsafeMutableRawPointer?, UInt32) -> Void
    typealias LogCallback = @convention(c) (Handle?, Int32, UnsafePointer<CChar>?) -> Void

    let initialize: @convention(c) (UnsafeMutablePointer<Handle?>, UnsafeMutableRawPointer?) -> Int32
    let shutdown: @convention(c) (Handle) -> Int32
    let setLogLevel: @convention(c) (Handle, Int32) -> Void
    let setLogCallback: @convention(c) (Handle, LogCallback) -> Void
    let selectSubdevices: @convention(c) (Handle, Int32) -> Void
    let deviceCount: @convention(c) (Handle) -> Int32
    let openDevice: @convention(c) (Handle, UnsafeMutablePointer<Handle?>, Int32) -> Int32
    let openDeviceBySerial: @convention(c) (Handle, UnsafeMutablePointer<Handle?>, UnsafePointer<CChar>) -> Int32
    let closeDevice: @convention(c) (Handle) -> Int32
    /// The timeout is a `timeval`.
    let processEvents: @convention(c) (Handle, UnsafeMutableRawPointer) -> Int32
    let depth: Stream
    let video: Stream

    /// Nil in fakenect, which has no cameras.
    let listDevices: (@convention(c) (Handle, UnsafeMutablePointer<Attributes?>) -> Int32)?
    let freeDevices: (@convention(c) (Attributes) -> Void)?
    let copyRegistration: (@convention(c) (Handle) -> dm_freenect_registration)?
    let destroyRegistration: (@convention(c) (UnsafeMutablePointer<dm_freenect_registration>) -> Int32)?
    let setFlag: (@convention(c) (Handle, Int32, Int32) -> Int32)?
    /// From version 0.6.
    let setExposure: (@convention(c) (Handle, Int32) -> Int32)?

    typealias Attributes = UnsafeMutablePointer<dm_freenect_device_attributes>

    /// The functions that depth and video both have.
    struct Stream: @unchecked Sendable {  // guard: as above
        let modeCount: @convention(c) () -> Int32
        let mode: @convention(c) (Int32) -> Mode
        let setMode: @convention(c) (Handle, Mode) -> Int32
        let setCallback: @convention(c) (Handle, FrameCallback?) -> Void
        let setBuffer: @convention(c) (Handle, UnsafeMutableRawPointer?) -> Int32
        let start: @convention(c) (Handle) -> Int32
        let stop: @convention(c) (Handle) -> Int32

        fileprivate init(_ library: DynamicLibrary, _ name: String) throws(CameraError) {
            modeCount = try library.function("freenect_get_\(name)_mode_count")
            mode = try library.function("freenect_get_\(name)_mode")
            setMode = try library.function("freenect_set_\(name)_mode")
            setCallback = try library.function("freenect_set_\(name)_callback")
            setBuffer = try library.function("freenect_set_\(name)_buffer")
            start = try library.function("freenect_start_\(name)")
            stop = try library.function("freenect_stop_\(name)")
        }

        /// The library's modes of a format.
        func modes(_ format: Int32) -> [Mode] {
            (0..<min(max(modeCount(), 0), 64)).map { mode($0) }
                .filter { $0.is_valid != 0 && $0.format == format && $0.width > 0 && $0.height > 0 && $0.framerate > 0 }
        }
    }

    /// `freenect_device_flags`
    static let cameraSubdevice: Int32 = 2
    /// `FREENECT_AUTO_EXPOSURE`
    static let automaticExposure: Int32 = 1 << 14
    /// `FREENECT_LOG_ERROR`
    static let logErrors: Int32 = 1

    /// `freenect_video_format`
    enum VideoFormat {
        static let rgb: Int32 = 0
    }

    /// `freenect_depth_format`
    enum DepthFormat {
        static let raw: Int32 = 0
        static let registered: Int32 = 4
        static let millimetres: Int32 = 5
    }

    /// libusb's error numbers, which libfreenect passes on.
    enum USBError {
        static let failed: Int32 = -1
        static let access: Int32 = -3
        static let noDevice: Int32 = -4
        static let busy: Int32 = -6
        static let timeout: Int32 = -7
        static let interrupted: Int32 = -10
    }

    /// True for the player of recordings that libfreenect is built with.
    var isFakenect: Bool { listDevices == nil }

    init(_ library: DynamicLibrary) throws(CameraError) {
        initialize = try library.function("freenect_init")
        shutdown = try library.function("freenect_shutdown")
        setLogLevel = try library.function("freenect_set_log_level")
        setLogCallback = try library.function("freenect_set_log_callback")
        selectSubdevices = try library.function("freenect_select_subdevices")
        deviceCount = try library.function("freenect_num_devices")
        openDevice = try library.function("freenect_open_device")
        openDeviceBySerial = try library.function("freenect_open_device_by_camera_serial")
        closeDevice = try library.function("freenect_close_device")
        processEvents = try library.function("freenect_process_events_timeout")
        depth = try Stream(library, "depth")
        video = try Stream(library, "video")
        listDevices = try? library.function("freenect_list_device_attributes")
        freeDevices = try? library.function("freenect_free_device_attributes")
        copyRegistration = try? library.function("freenect_copy_registration")
        destroyRegistration = try? library.function("freenect_destroy_registration")
        setFlag = try? library.function("freenect_set_flag")
        setExposure = try? library.function("freenect_set_exposure")
    }
}
