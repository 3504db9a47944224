import CCameras
import DepthKernels

/// The functions of the Azure Kinect Sensor SDK, loaded while the program runs. They are listed in `CCameras/k4a.h`.
typealias K4ALibrary = dm_k4a_functions

extension K4ALibrary {
    typealias Handle = OpaquePointer
    typealias Status = CInt

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
        let object = LibraryObject(image) { [releaseImage] in releaseImage($0) }
        return CameraFrame(
            bytes: bytes, stride: stride, time: Int64(clamping: time(image) &* 1000), number: nil,
            release: { withExtendedLifetime(object) {} })
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
        guard hasColor, let color = color.lens.intrinsics, let pose = poses.0.1.pose() else {
            return hasColor ? nil : Calibration(depth: depth, depthUnit: 0.001)
        }
        return Calibration(depth: depth, color: color, depthToColor: pose, depthUnit: 0.001)
    }
}

extension dm_k4a_lens {
    /// The lens is OpenCV's rational model.
    fileprivate var intrinsics: CameraIntrinsics? {
        CameraIntrinsics(
            width, height, fx: fx, fy: fy, cx: cx, cy: cy, factors: [k1, k2, p1, p2, k3, k4, k5, k6])
    }
}
