import CCameras
package import DepthKernels

/// The maker's library for one family of depth cameras.
///
/// A driver loads the library by name when it is made, so that the plugin needs none to be installed. Every function may block
/// for as long as the library does; `depthcamsrc` calls them on a thread that it can do without.
package protocol CameraDriver: AnyObject, SendableMetatype {
    /// The name in launch lines, as `realsense`.
    static var name: String { get }
    /// The cameras that it reads, for users.
    static var cameras: String { get }
    /// The shared objects to try, best first, where the user names none.
    static var libraries: [String] { get }
    /// The advice where none of them is found: an imperative sentence that names the package.
    static var installation: String { get }

    /// Loads the library.
    ///
    /// - Parameters:
    ///   - library: path or name of a shared object; nil tries `libraries`.
    /// - Throws: `CameraError.libraryMissing`, `.libraryUnsuitable`.
    init(library: String?) throws(CameraError)

    /// True for a file or folder that looks like a recording of this library.
    static func plays(recording path: String) -> Bool

    /// The cameras that are plugged in.
    func list() throws(CameraError) -> [CameraInfo]

    /// Opens a camera, or a recording, without starting it.
    ///
    /// - Throws: `CameraError.noCamera`, `.busy`, `.recording`.
    func open(_ choice: CameraChoice) throws(CameraError) -> any Camera
}

extension CameraDriver {
    package static func plays(recording path: String) -> Bool { false }
}

/// All drivers, in the order in which `driver=auto` tries them. Another one is a folder and a word here.
package let cameraDrivers: [any CameraDriver.Type] = [
    RealSenseDriver.self, FreenectDriver.self, OpenNIDriver.self, K4ADriver.self, OrbbecDriver.self,
]

/// A camera that is plugged in.
package struct CameraInfo: Equatable, Sendable {
    /// As its maker calls it.
    package var name: String
    package var serial: String
    /// The `CameraDriver.name`.
    package var driver: String
    package var videoModes: [CameraMode]
    package var depthModes: [CameraMode]
}

/// A size, rate and format that a camera offers.
package struct CameraMode: Hashable, Sendable {
    package var width: Int
    package var height: Int
    /// Frames a second, as a fraction.
    package var rate: (numerator: Int, denominator: Int) {
        get { (rateNumerator, rateDenominator) }
        set { (rateNumerator, rateDenominator) = newValue }
    }
    private var rateNumerator: Int
    private var rateDenominator: Int
    package var format: CameraFormat

    /// From frame to frame, in nanoseconds; at least 1.
    package var interval: Int64 {
        max(1, 1_000_000_000 &* Int64(rateDenominator) / Int64(max(1, rateNumerator)))
    }

    package init(width: Int, height: Int, rate: (numerator: Int, denominator: Int), format: CameraFormat) {
        self.width = width
        self.height = height
        (rateNumerator, rateDenominator) = rate
        self.format = format
    }
}

extension [CameraMode] {
    /// The modes without repetitions, in the order in which they are chosen: 640x480 at 30 frames a second first, which every
    /// camera has and every host can take; then nearest to it.
    var inOrder: [CameraMode] {
        func distance(_ mode: CameraMode) -> Double {
            let size = abs(Double(mode.width * mode.height) / (640 * 480) - 1)
            let rate = abs(Double(mode.rate.numerator) / Double(mode.rate.denominator) / 30 - 1)
            let format = CameraFormat.allCases.firstIndex(of: mode.format) ?? 0
            return size * 4 + rate * 2 + Double(format) * 0.01
        }
        return Set(self).sorted { (distance($0), $0.width) < (distance($1), $1.width) }
    }
}

/// A pixel format of a camera, under GStreamer's name; the formats of color, best first.
package enum CameraFormat: String, CaseIterable, Sendable {
    case rgb = "RGB"
    case bgr = "BGR"
    case rgba = "RGBA"
    case bgra = "BGRA"
    case yuy2 = "YUY2"
    case uyvy = "UYVY"
    case gray8 = "GRAY8"
    /// Depth in counts of the camera's unit, little endian; 0 is not measured.
    case gray16 = "GRAY16_LE"

    package var bytesPerPixel: Int {
        switch self {
        case .rgb, .bgr: 3
        case .rgba, .bgra: 4
        case .yuy2, .uyvy, .gray16: 2
        case .gray8: 1
        }
    }
}

/// The camera that the user wants.
package struct CameraChoice: Sendable {
    /// Empty for the first that is found.
    package var serial = ""
    /// A recording that the library plays; empty for a camera.
    package var recording = ""
    /// True to start a recording again when it ends.
    package var isLooped = false

    package init() {}
}

/// The settings of a start.
package struct CameraSettings: Sendable, Equatable {
    /// Nil for no video, or no depth.
    package var video: CameraMode?
    package var depth: CameraMode?
    /// True for depth as the color camera sees it, where the library can register it.
    package var isAligned = true
    /// The infrared projector; nil leaves it as it is.
    package var emitter: Bool?
    /// Exposure of the color camera, in microseconds; nil leaves it as it is.
    package var exposure: Int?
    /// The maker's name of a depth preset; empty leaves it as it is.
    package var preset = ""

    package init() {}
}

extension CameraSettings {
    /// A property that changes a camera.
    enum Name: String { case emitter, exposure, preset }

    /// Refuses what is asked for and cannot be done, so that no driver ignores it without a word.
    ///
    /// - Parameter changeable: what the camera can change, by this driver.
    func check(changeable: Set<Name>, _ driver: any CameraDriver.Type) throws(CameraError) {
        let asked: [(name: Name, isAsked: Bool, standard: String)] = [
            (.emitter, emitter != nil, "auto"), (.exposure, exposure != nil, "0"), (.preset, !preset.isEmpty, "empty"),
        ]
        for (name, isAsked, standard) in asked where isAsked && !changeable.contains(name) {
            throw .setting(
                "the \(name) of this camera cannot be changed with driver=\(driver.name): \(name) must be \(standard)")
        }
    }
}

/// A camera that is open. One thread at a time.
package protocol Camera: AnyObject {
    var info: CameraInfo { get }

    /// Starts the streams.
    ///
    /// - Returns: what the frames will be.
    /// - Throws: `CameraError.busy`, `.unplugged`, `.setting`, `.failed`.
    func start(_ settings: CameraSettings) throws(CameraError) -> CameraStreams

    /// Waits for the next frames.
    ///
    /// - Returns: nil where none came in time.
    /// - Throws: `CameraError.unplugged`, `.ended` at the end of a recording, `.failed`.
    func next(timeout milliseconds: Int) throws(CameraError) -> CameraFrames?

    /// Stops the streams. Frames that were handed out stay valid.
    func stop()
}

/// The streams of a camera that was started.
package struct CameraStreams: Sendable, Equatable {
    package var video: CameraMode?
    package var depth: CameraMode?
    /// Of the depth as it is delivered: where it is registered to the video, `color` is nil and `depth` has the optics of
    /// the color camera. Nil where the library does not tell.
    package var calibration: Calibration?
    /// True where the library registers the depth to the video.
    package var isAligned: Bool
    /// Metres per count of the depth.
    package var depthUnit: Double
}

/// The frames of one exposure; one may be missing.
package struct CameraFrames: Sendable {
    package var video: CameraFrame?
    package var depth: CameraFrame?
}

/// One frame of one stream, in the library's memory until nobody holds it.
package final class CameraFrame: @unchecked Sendable {  // guard: bytes are read only, the time is set before
    package let bytes: UnsafeRawBufferPointer
    /// Bytes from one row to the next.
    package let stride: Int
    /// The camera's clock at the exposure, in nanoseconds since an unknown moment. `FramePairing` changes it where color and depth
    /// have clocks of their own.
    package internal(set) var time: Int64
    /// When the library delivered the frame, by the host's monotonic clock in nanoseconds.
    package let arrival: Int64
    /// The camera's own count of the frame; nil where it has none. A step of more than 1 means lost frames.
    package let number: UInt64?
    private let release: @Sendable () -> Void

    /// - Parameters:
    ///   - arrival: nil for now.
    ///   - release: gives the bytes back; called once, on any thread.
    package init(
        bytes: UnsafeRawBufferPointer, stride: Int, time: Int64, arrival: Int64? = nil, number: UInt64?,
        release: @escaping @Sendable () -> Void
    ) {
        self.bytes = bytes
        self.stride = stride
        self.time = time
        self.arrival = arrival ?? monotonicTime()
        self.number = number
        self.release = release
    }

    deinit { release() }
}

package enum CameraError: Error, Equatable {
    /// No shared object of that name; the sentence says what was tried.
    case libraryMissing(String)
    /// The shared object is there but is not the library, or too old; the sentence says what it lacks.
    case libraryUnsuitable(String)
    /// No camera, or none with that serial.
    case noCamera(String)
    /// Another program has it.
    case busy(String)
    /// The recording cannot be read.
    case recording(String)
    /// The recording is over.
    case ended
    /// The camera was taken away.
    case unplugged(String)
    /// A value that the user set is none of the camera's; the sentence says which there are.
    case setting(String)
    /// Any other error; the library's own words.
    case failed(String)
}

// MARK: What drivers share

extension dm_camera_pose {
    /// Nil for numbers that are no pose.
    ///
    /// - Parameter isTransposed: true where the rotation is column by column.
    func pose(isTransposed: Bool = false, unitsPerMetre: Double = 1000) -> CameraPose? {
        let r = rotation
        let columns = [r.0, r.3, r.6, r.1, r.4, r.7, r.2, r.5, r.8]
        let rows = [r.0, r.1, r.2, r.3, r.4, r.5, r.6, r.7, r.8]
        let rotation = (isTransposed ? columns : rows).map(Double.init)
        let t = SIMD3(Double(translation.0), Double(translation.1), Double(translation.2)) / unitsPerMetre
        guard rotation.allSatisfy(\.isFinite), t.x.isFinite, t.y.isFinite, t.z.isFinite else { return nil }
        return CameraPose(rotation: rotation, translation: t)
    }
}

extension CameraIntrinsics {
    /// The optics that a library tells; nil for numbers that are no camera's.
    ///
    /// - Parameter factors: as `LensDistortion` takes them; not used where the lens does not distort.
    init?(
        _ width: some FixedWidthInteger, _ height: some FixedWidthInteger, fx: Float, fy: Float, cx: Float, cy: Float,
        factors: [Float], isDistorted: Bool = true, isInverse: Bool = false
    ) {
        let (width, height) = (Int(clamping: width), Int(clamping: height))
        guard (1...32768).contains(width), (1...32768).contains(height), fx > 0, fy > 0,
            ([fx, fy, cx, cy] + factors).allSatisfy(\.isFinite)
        else { return nil }
        let distortion = isDistorted ? LensDistortion(factors.map(Double.init), isInverse: isInverse) : .none
        self.init(
            width: width, height: height, fx: Double(fx), fy: Double(fy), cx: Double(cx), cy: Double(cy),
            distortion: distortion)
    }
}

extension [String] {
    /// The place of a preset among the names of a camera's presets; upper and lower case are the same.
    func place(ofPreset name: String) throws(CameraError) -> Int {
        let place = firstIndex { $0.lowercased() == name.lowercased() }
        guard let place else { throw .setting("no preset \(name); the presets are \(joined(separator: ", "))") }
        return place
    }
}

extension String {
    /// True where a file's name ends in one of these, which are small; Windows writes them in capitals.
    func hasEnding(_ endings: String...) -> Bool {
        let name = lowercased()
        return endings.contains { name.hasSuffix($0) }
    }
}

extension Double {
    /// The depth unit rounded to 1e-7, which removes the error of single precision: 0.0010000000474974513 becomes 0.001.
    var roundedUnit: Double { (self * 1e7).rounded() / 1e7 }
}
