import DepthKernels

/// What is timed: one combination of sizes, formats and settings.
///
/// The initial values are the usual case, from which the tables depart.
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
    var background = Behind.image
    var scene = Scene.person
    /// `max-threads` of the element, where it has that property; parts of a memcpy.
    var threads = 1

    /// The settings of the matte; the person is nearer than the cutoff, the wall is not.
    var settings: MatteSettings {
        var settings = MatteSettings()
        settings.cutoff = Scene.cutoff
        settings.blurRadius = sigma
        settings.gamma = gamma
        settings.upscale = upscale
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
    static let largestSide = 8192

    /// - Returns: nil for what is not like `1920x1080`, and for sides above `largestSide`.
    init?(_ text: String) {
        let sides = text.split(separator: "x", omittingEmptySubsequences: false).map { Int($0) }
        guard sides.count == 2, let width = sides[0], let height = sides[1], 1...Size.largestSide ~= width,
            1...Size.largestSide ~= height
        else { return nil }
        self.init(width: width, height: height)
    }
}

/// What is behind the person: the modes of `background-mode` that can be timed.
enum Behind: String, CaseIterable {
    case image, color, stream, transparent
}

/// Which code is timed.
enum Work: String, CaseIterable {
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

    /// What is timed where nobody asks for one.
    static var usual: [Work] { allCases.filter { $0 != .memcpy } }

    var usesElement: Bool { self == .inPlace || self == .copied }

    /// Whether there is such work to do: the kernels that make alpha are not timed alone.
    func suits(_ wanted: Case) -> Bool { ![.kernels, .blend].contains(self) || wanted.background != .transparent }
}

extension Upscale {
    /// As the property `upscale` has it.
    var name: String {
        switch self {
        case .bicubic: "bicubic"
        case .bilinear: "bilinear"
        }
    }
}
