import CCameras
import DepthKernels

/// The functions of the Azure Kinect Sensor SDK that the driver uses, loaded while the program runs.
///
/// Source: `k4a.h` of the SDK 1.4. Functions that return a `Status` are 0 where they worked.
struct K4ALibrary: Sendable {
    typealias Handle = OpaquePointer
    typealias Status = CInt
    typealias Release = @convention(c) (Handle) -> Void

    let deviceCount: @convention(c) () -> UInt32
    let openDevice: @convention(c) (UInt32, UnsafeMutablePointer<Handle?>) -> Status
    let closeDevice: Release
    let serialNumber: @convention(c) (Handle, UnsafeMutablePointer<CChar>?, UnsafeMutablePointer<Int>) -> Status
    let startCameras: @convention(c) (Handle, UnsafePointer<dm_k4a_configuration>) -> Status
    let stopCameras: Release
    let deviceCapture: @convention(c) (Handle, UnsafeMutablePointer<Handle?>, Int32) -> Status
    let deviceCalibration: @convention(c) (Handle, CInt, CInt, UnsafeMutablePointer<dm_k4a_calibration>) -> Status
    let setColorControl: @convention(c) (Handle, CInt, CInt, Int32) -> Status
    let colorImage, depthImage: @convention(c) (Handle) -> Handle?
    let releaseCapture, releaseImage: Release
    let buffer: @convention(c) (Handle) -> UnsafeMutablePointer<UInt8>?
    let size: @convention(c) (Handle) -> Int
    let width, height, stride: @convention(c) (Handle) -> CInt
    let time: @convention(c) (Handle) -> UInt64

    init(_ library: DynamicLibrary) throws(CameraError) {
        deviceCount = try library.function("k4a_device_get_installed_count")
        openDevice = try library.function("k4a_device_open")
        closeDevice = try library.function("k4a_device_close")
        serialNumber = try library.function("k4a_device_get_serialnum")
        startCameras = try library.function("k4a_device_start_cameras")
        stopCameras = try library.function("k4a_device_stop_cameras")
        deviceCapture = try library.function("k4a_device_get_capture")
        deviceCalibration = try library.function("k4a_device_get_calibration")
        setColorControl = try library.function("k4a_device_set_color_control")
        colorImage = try library.function("k4a_capture_get_color_image")
        depthImage = try library.function("k4a_capture_get_depth_image")
        releaseCapture = try library.function("k4a_capture_release")
        releaseImage = try library.function("k4a_image_release")
        buffer = try library.function("k4a_image_get_buffer")
        size = try library.function("k4a_image_get_size")
        width = try library.function("k4a_image_get_width_pixels")
        height = try library.function("k4a_image_get_height_pixels")
        stride = try library.function("k4a_image_get_stride_bytes")
        time = try library.function("k4a_image_get_device_timestamp_usec")
    }

    /// The library's memory as a frame; without bytes where it has another size than the mode's.
    ///
    /// - Parameter image: its ownership is taken.
    func frame(_ image: Handle, _ mode: CameraMode) -> CameraFrame {
        let (width, height, stride) = (Int(width(image)), Int(height(image)), Int(stride(image)))
        let length = mode.width * mode.format.bytesPerPixel
        let isWhole =
            width == mode.width && height == mode.height && stride >= length
            && size(image) >= stride * (height - 1) + length
        let bytes = UnsafeRawBufferPointer(start: buffer(image), count: isWhole ? stride * (height - 1) + length : 0)
        let kept = Kept(image: image)
        return CameraFrame(
            bytes: bytes, stride: stride, time: Int64(clamping: time(image) &* 1000), number: nil,
            release: { [releaseImage] in releaseImage(kept.image) })
    }

    private struct Kept: @unchecked Sendable {  // guard: only released, which the library counts
        let image: Handle
    }
}

/// The functions of the SDK's library for recordings.
///
/// Source: `k4arecord/playback.h` of the SDK 1.4.
struct K4APlaybackLibrary: Sendable {
    typealias Handle = K4ALibrary.Handle
    typealias Status = K4ALibrary.Status

    let open: @convention(c) (UnsafePointer<CChar>, UnsafeMutablePointer<Handle?>) -> Status
    let close: K4ALibrary.Release
    let calibration: @convention(c) (Handle, UnsafeMutablePointer<dm_k4a_calibration>) -> Status
    let configuration: @convention(c) (Handle, UnsafeMutablePointer<dm_k4a_recording>) -> Status
    let setConversion: @convention(c) (Handle, CInt) -> Status
    let nextCapture: @convention(c) (Handle, UnsafeMutablePointer<Handle?>) -> Status
    let seek: @convention(c) (Handle, Int64, CInt) -> Status

    init(_ library: DynamicLibrary) throws(CameraError) {
        open = try library.function("k4a_playback_open")
        close = try library.function("k4a_playback_close")
        calibration = try library.function("k4a_playback_get_calibration")
        configuration = try library.function("k4a_playback_get_record_configuration")
        setConversion = try library.function("k4a_playback_set_color_conversion")
        nextCapture = try library.function("k4a_playback_get_next_capture")
        seek = try library.function("k4a_playback_seek_timestamp")
    }
}

/// Constants of `k4atypes.h`.
enum K4AConstant {
    static let ok: K4ALibrary.Status = 0
    /// Of the functions that wait for a capture.
    static let timeOut: K4ALibrary.Status = 2
    /// Of the functions that read a recording.
    static let end: K4ALibrary.Status = 2
    /// Of the functions that fill a buffer.
    static let tooSmall: K4ALibrary.Status = 2
    static let bgra: CInt = 3
    static let exposure: CInt = 0
    static let manual: CInt = 1

    /// A size of pictures, with the most of them that come in a second.
    typealias Size = (width: Int, height: Int, highestRate: Int)

    /// By `k4a_color_resolution_t`; 0 is off.
    static let colorSizes: [Size] = [
        (0, 0, 0), (1280, 720, 30), (1920, 1080, 30), (2560, 1440, 30), (2048, 1536, 30), (3840, 2160, 30),
        (4096, 3072, 15),
    ]
    /// By `k4a_depth_mode_t`; 0 is off. Passive infrared, the mode after these, has no depth.
    static let depthSizes: [Size] = [(0, 0, 0), (320, 288, 30), (640, 576, 30), (512, 512, 30), (1024, 1024, 15)]
    /// Frames a second by `k4a_fps_t`.
    static let rates = [5, 15, 30]
}

extension [K4AConstant.Size] {
    /// - Parameters:
    ///   - number: in this list.
    ///   - rate: in `K4AConstant.rates`.
    /// - Returns: nil for what is off, or not in a list.
    func mode(_ number: Int32, rate: Int32, _ format: CameraFormat) -> CameraMode? {
        let rates = K4AConstant.rates
        guard number > 0, indices.contains(Int(number)), rates.indices.contains(Int(rate)) else { return nil }
        let size = self[Int(number)]
        return CameraMode(width: size.width, height: size.height, rate: (rates[Int(rate)], 1), format: format)
    }

    /// All modes of a camera.
    func modes(_ format: CameraFormat) -> [CameraMode] {
        indices.flatMap { number in
            K4AConstant.rates.indices.compactMap { rate in
                K4AConstant.rates[rate] > self[number].highestRate
                    ? nil : mode(Int32(number), rate: Int32(rate), format)
            }
        }.inOrder
    }

    /// The number of a mode's size; 0, which is off, for none.
    func number(of mode: CameraMode?) -> Int32 {
        Int32(firstIndex { $0.width == mode?.width && $0.height == mode?.height } ?? 0)
    }
}

extension dm_k4a_calibration {
    /// - Parameter hasColor: false where there is no video.
    func calibration(hasColor: Bool) -> Calibration? {
        guard let depth = depth.lens.intrinsics else { return nil }
        guard hasColor, let color = color.lens.intrinsics, let pose = poses.0.1.pose else {
            return hasColor ? nil : Calibration(depth: depth, depthUnit: 0.001)
        }
        return Calibration(depth: depth, color: color, depthToColor: pose, depthUnit: 0.001)
    }
}

extension dm_k4a_lens {
    /// Nil for numbers that are no camera's. The lens is OpenCV's rational model.
    fileprivate var intrinsics: CameraIntrinsics? {
        let optics = [fx, fy, cx, cy].map(Double.init)
        let distortion = [k1, k2, p1, p2, k3, k4, k5, k6].map(Double.init)
        guard (1...32768).contains(width), (1...32768).contains(height), (optics + distortion).allSatisfy(\.isFinite),
            fx > 0, fy > 0
        else { return nil }
        return CameraIntrinsics(
            width: Int(width), height: Int(height), fx: optics[0], fy: optics[1], cx: optics[2], cy: optics[3],
            distortion: LensDistortion(distortion))
    }
}
