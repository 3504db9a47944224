import DepthKernels
import DepthMattePlugin

/// One combination of sizes, formats and settings to time.
///
/// The initial values are the usual case, from which tables depart.
struct Case: Equatable {
    var size = Size(width: 1920, height: 1080)
    /// A raw video format of `depthmatte`.
    var format = "I420"
    /// Size of the depth map, whose samples are `GRAY16_LE`.
    var depth = Size(width: 640, height: 480)
    /// `blur-radius`, in depth pixels.
    var sigma = 5.0
    var gamma = 0.5
    var upscale = Upscale.bicubic
    var method = MatteMethod.threshold
    var detail = MatteDetail.full
    var background = BackgroundMode.image
    var scene = BenchScene.person
    /// `max-threads` of the element; parts of a memcpy.
    var threads = 1

    /// The settings of the matte; the person is nearer than the cutoff, the wall is not.
    var settings: MatteSettings {
        var settings = MatteSettings()
        settings.cutoff = BenchScene.cutoff
        settings.blurRadius = sigma
        settings.gamma = gamma
        settings.upscale = upscale
        settings.method = method
        settings.detail = detail
        return settings
    }
}

/// Pixels of a picture.
struct Size: Equatable, CustomStringConvertible {
    var width: Int
    var height: Int

    var pixels: Int { width * height }
    var description: String { "\(width)x\(height)" }
}

extension Size {
    /// - Returns: nil for what is not like `1920x1080`, and for sides above 8192.
    init?(_ text: String) {
        let sides = text.split(separator: "x", omittingEmptySubsequences: false).map { number($0, in: 1...8192) }
        guard sides.count == 2, let width = sides[0], let height = sides[1] else { return nil }
        self.init(width: width, height: height)
    }
}

/// The values of `background-mode` that can be timed.
enum BackgroundMode: String {
    case image, color, stream, transparent
}

/// The code to time.
enum Work: String, CaseIterable, Encodable {
    /// The element; its frames are nobody else's, so it may draw on them.
    case inPlace = "in-place"
    /// The element; somebody else keeps each frame, so it must copy it first.
    case copied
    /// `render` and `blend` one after the other: the element without GStreamer.
    case kernels
    /// Depth to matte.
    case render
    /// Matte, video and background to the picture.
    case blend
    /// A frame to another place, a part on each thread: what there is to gain from threads where memory is all.
    case memcpy

    /// The default of `--work`.
    static var usual: [Work] { allCases.filter { $0 != .memcpy } }

    var usesElement: Bool { self == .inPlace || self == .copied }

    /// The kernels that make alpha are not timed alone.
    func canRun(_ wanted: Case) -> Bool { ![.kernels, .blend].contains(self) || wanted.background != .transparent }
}

/// A setting of a case that is given as an argument, and along which a table or a sweep varies the usual case.
struct Axis: Sendable {
    let argument: String
    /// An example or a range of values, for error messages.
    private let form: String
    /// Tried by tables and sweeps where the command line does not say; the usual value among them is left out.
    let values: [String]
    private let set: @Sendable (inout Case, String) -> Bool

    private init<Value>(
        _ argument: String, _ form: String, _ values: String,
        _ path: any WritableKeyPath<Case, Value> & Sendable, _ parse: @escaping @Sendable (String) -> Value?
    ) {
        (self.argument, self.form, self.values) = (argument, form, values.split(separator: ",").map { String($0) })
        set = { wanted, text in
            guard let value = parse(text) else { return false }
            wanted[keyPath: path] = value
            return true
        }
    }

    /// The case with this setting as the text says.
    func applied(_ text: String, to wanted: Case) throws -> Case {
        var wanted = wanted
        guard set(&wanted, text) else { throw Failure.usage("\(argument): '\(text)' is not a value such as \(form)") }
        return wanted
    }

    static let all = [
        Axis(
            "--format", "I420", "I420,NV12,BGRA,BGR,YUY2", \.format,
            { text in VideoFormat.all.first { $0.name == text }?.name }),
        Axis("--size", "1920x1080", "640x360,1280x720,1920x1080,3840x2160", \.size, { Size($0) }),
        Axis("--depth", "640x480", "320x240,640x480,1280x720", \.depth, { Size($0) }),
        Axis("--sigma", "0 to 50", "0,1,2,5,10,20,50", \.sigma, { number($0, in: 0...50) }),
        Axis("--gamma", "0.01 to 10", "", \.gamma, { number($0, in: 0.01...10) }),
        Axis(
            "--upscale", "bicubic", "bicubic,bilinear", \.upscale,
            { text in Upscale.allCases.first { "\($0)" == text } }),
        Axis(
            "--method", "threshold", "", \.method, { text in MatteMethod.allCases.first { "\($0)" == text } }),
        Axis("--detail", "full", "", \.detail, { text in MatteDetail.allCases.first { "\($0)" == text } }),
        Axis(
            "--background", "image", "image,color,stream,transparent", \.background, { BackgroundMode(rawValue: $0) }),
        Axis(
            "--scene", "person or 25%", "person,noisy,checkerboard,0,10,25,50,75,100", \.scene, { BenchScene($0) }),
        Axis("--threads", "1 to 64", "", \.threads, { number($0, in: 1...64) }),
    ]
}

/// The number that a text is; nil for other texts, and outside the range.
func number<Value: LosslessStringConvertible>(_ text: some StringProtocol, in range: ClosedRange<Value>) -> Value? {
    Value(String(text)).flatMap { range.contains($0) ? $0 : nil }
}
