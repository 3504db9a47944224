import CCameras

/// librealsense2, loaded while the program runs. Its functions are listed in `CCameras/realsense.h`.
struct RealSenseLibrary: Sendable {
    let functions: dm_realsense_functions
    // What only some need: a library without it does for the others. An error names the function that is missing.
    let options: Result<dm_realsense_options, CameraError>
    let alignment: Result<dm_realsense_alignment, CameraError>
    let playback: Result<dm_realsense_playback, CameraError>

    init(_ library: DynamicLibrary) throws(CameraError) {
        functions = try library.functions(dm_realsense_functions_symbols())
        options = Result { () throws(CameraError) in try library.functions(dm_realsense_options_symbols()) }
        alignment = Result { () throws(CameraError) in try library.functions(dm_realsense_alignment_symbols()) }
        playback = Result { () throws(CameraError) in try library.functions(dm_realsense_playback_symbols()) }
    }
}

extension dm_realsense_functions {
    typealias Object = OpaquePointer
    typealias Fault = UnsafeMutablePointer<OpaquePointer?>
    typealias Delete = @convention(c) (Object?) -> Void

    /// Runs a function, and turns its error into ours.
    func call<Result>(_ body: (Fault) -> Result) throws(CameraError) -> Result {
        var fault: Object?
        let result = body(&fault)
        guard let fault else { return result }
        defer { freeError(fault) }
        let reason = errorMessage(fault).map { String(cString: $0) } ?? "no reason given"
        let function = errorFunction(fault).map { String(cString: $0) } ?? "librealsense"
        let sentence = "\(reason) (\(function))"
        if errorType(fault) == RealSenseConstant.disconnected { throw .unplugged(sentence) }
        throw .failed(sentence)
    }

    /// Runs a function that makes an object, which is deleted when nobody holds it.
    func make(_ delete: @escaping Delete, _ body: (Fault) -> Object?) throws(CameraError) -> LibraryObject {
        guard let object = try call(body) else { throw .failed("librealsense gave no object") }
        return LibraryObject(object) { delete($0) }
    }
}

/// Constants of librealsense's headers: `rs_sensor.h`, `rs_option.h`, `rs_types.h`, `rs_record_playback.h`.
enum RealSenseConstant {
    /// RS2_EXCEPTION_TYPE_CAMERA_DISCONNECTED.
    static let disconnected: CInt = 1
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
