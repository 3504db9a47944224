import CCameras

/// libfreenect, of version 0.5 and newer, loaded while the program runs. Its functions are listed in `CCameras/freenect.h`.
struct FreenectLibrary: Sendable {
    let functions: dm_freenect_functions
    let depth: dm_freenect_stream
    let video: dm_freenect_stream

    typealias Handle = UnsafeMutableRawPointer
    typealias Mode = dm_freenect_frame_mode

    init(_ library: DynamicLibrary) throws(CameraError) {
        functions = try library.functions(dm_freenect_functions_symbols())
        depth = try library.functions(dm_freenect_stream_symbols())
        video = try library.functions(dm_freenect_video_symbols())
    }

    /// True for the player of recordings that libfreenect is built with.
    var isFakenect: Bool { functions.listDevices == nil }

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
}

extension dm_freenect_stream {
    /// The library's modes of a format.
    func modes(_ format: Int32) -> [FreenectLibrary.Mode] {
        (0..<min(max(modeCount(), 0), 64)).map { mode($0) }
            .filter { $0.is_valid != 0 && $0.format == format && $0.width > 0 && $0.height > 0 && $0.framerate > 0 }
    }
}
