import CCameras
import DepthKernels

/// The functions of OrbbecSDK, loaded while the program runs. They are listed in `CCameras/orbbec.h`.
typealias OrbbecLibrary = dm_orbbec_functions

extension OrbbecLibrary {
    typealias Object = OpaquePointer
    typealias Fault = UnsafeMutablePointer<OpaquePointer?>
    typealias Delete = @convention(c) (Object?, Fault) -> Void

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
    func find(_ delete: @escaping Delete, _ body: (Fault) -> Object?) throws(CameraError) -> LibraryObject? {
        try call(body).map { object in LibraryObject(object) { object in _ = try? call { delete(object, $0) } } }
    }

    /// Runs a function that makes an object, which is deleted when nobody holds it.
    func make(_ delete: @escaping Delete, _ body: (Fault) -> Object?) throws(CameraError) -> LibraryObject {
        guard let object = try find(delete, body) else { throw .failed("OrbbecSDK gave no object") }
        return object
    }

    func text(_ body: (Fault) -> UnsafePointer<CChar>?) throws(CameraError) -> String {
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
        let d = distortion
        // The models of OBCameraDistortionModel: 0 is none, 2 maps the other way, 5 is a fisheye.
        guard (0...4).contains(d.model) else { return nil }
        return CameraIntrinsics(
            width, height, fx: fx, fy: fy, cx: cx, cy: cy,
            factors: [d.k1, d.k2, d.p1, d.p2, d.k3, d.k4, d.k5, d.k6], isDistorted: d.model != 0,
            isInverse: d.model == 2)
    }
}
