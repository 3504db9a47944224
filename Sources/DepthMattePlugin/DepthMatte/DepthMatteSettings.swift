import CGStreamer
import DepthKernels
import GstBridge

/// The values of `depthmatte`'s properties. The initial values here are the only defaults.
struct DepthMatteSettings: FollowingSettings, DepthReadingSettings {
    var depth = DepthReading()

    // Who sets the cutoff
    var anchor = AnchorMode.auto
    var anchorX = 0.5
    var anchorY = 0.5
    var faceSelect = FaceSelect.largest
    var faceTypes: String? = "face"
    var margin = 0.25
    var anchorSmoothing = 0.15

    // The matte; its `cutoff` is what counts where nothing is anchored
    var matte = MatteSettings()

    // The picture behind
    var background: String?
    var backgroundColor: UInt32 = 0xff00_0000
    var backgroundMode = BackgroundMode.auto
    var backgroundFit = PictureFit.cover
    var backgroundBlur = 10.0
    var view = MatteView.composite
    var navigation = NavigationMode.probe

    // Pairing
    var maxSkew: GstClockTime = 50_000_000
    var holdTime: GstClockTime = 500_000_000
    var onMissingDepth = MissingDepth.cover
    var statsInterval: GstClockTime = 0

    var thermal = ThermalMode.ignore

    var maxPixels: UInt32 = 67_108_864
    var maxThreads: UInt32 = 0

    /// Whether the same depth becomes the same matte by the other settings.
    func makesSameMatte(as other: DepthMatteSettings) -> Bool {
        depth == other.depth && matte == other.matte && anchor == other.anchor && anchorX == other.anchorX
            && anchorY == other.anchorY && anchorSmoothing == other.anchorSmoothing && margin == other.margin
            && faceSelect == other.faceSelect && faceTypes == other.faceTypes
    }
}

enum AnchorMode: Int, PropertyEnum {
    case auto, face, nearest, point, fixed

    static let typeName = "GstDepthMatteAnchor"

    var nick: String {
        switch self {
        case .auto: "auto"
        case .face: "face"
        case .nearest: "nearest"
        case .point: "point"
        case .fixed: "fixed"
        }
    }

    var blurb: String {
        switch self {
        case .auto: "The face; the property cutoff while none was ever seen"
        case .face: "The face; everything is background while none was ever seen"
        case .nearest: "The nearest big thing in the depth map"
        case .point: "The depth under (anchor-x, anchor-y)"
        case .fixed: "Nothing: the property cutoff is the cutoff"
        }
    }
}

enum FaceSelect: Int, PropertyEnum {
    case largest, nearest, first, all

    static let typeName = "GstDepthMatteFaceSelect"

    var nick: String {
        switch self {
        case .largest: "largest"
        case .nearest: "nearest"
        case .first: "first"
        case .all: "all"
        }
    }

    var blurb: String {
        switch self {
        case .largest: "The face with the largest box"
        case .nearest: "The face nearest to the camera"
        case .first: "The face that the detector named first"
        case .all: "Every face: the farthest sets the cutoff"
        }
    }
}

enum BackgroundMode: Int, PropertyEnum {
    case auto, color, image, stream, blur, comic, transparent

    static let typeName = "GstDepthMatteBackgroundMode"

    var nick: String {
        switch self {
        case .auto: "auto"
        case .color: "color"
        case .image: "image"
        case .stream: "stream"
        case .blur: "blur"
        case .comic: "comic"
        case .transparent: "transparent"
        }
    }

    var blurb: String {
        switch self {
        case .auto: "The background pad if there is one, else the file, else the colour"
        case .color: "background-color"
        case .image: "The still, animation or video that background names"
        case .stream: "The pictures that arrive on the background pad"
        case .blur: "The room, blurred by background-blur without the person in it"
        case .comic: "The room, drawn as a comic"
        case .transparent: "None: the output has a straight alpha channel"
        }
    }
}

/// Which picture leaves the element.
enum MatteView: Int, PropertyEnum {
    case composite, original, depth, matte, quad

    static let typeName = "GstDepthMatteView"

    var showsBackground: Bool { self == .composite || self == .quad }

    var nick: String {
        switch self {
        case .composite: "composite"
        case .original: "original"
        case .depth: "depth"
        case .matte: "matte"
        case .quad: "quad"
        }
    }

    var blurb: String {
        switch self {
        case .composite: "The person over the background"
        case .original: "The video as it came in: this view shows the room"
        case .depth: "The depth in colours, from red for near to blue for far, equalised"
        case .matte: "The matte: white is the person"
        case .quad: "Original, depth, matte and composite in one picture: this view shows the room"
        }
    }
}

/// The effects that a viewer's navigation events may have.
enum NavigationMode: Int, PropertyEnum {
    case none, probe, steer

    static let typeName = "GstDepthMatteNavigation"

    var nick: String {
        switch self {
        case .none: "none"
        case .probe: "probe"
        case .steer: "steer"
        }
    }

    var blurb: String {
        switch self {
        case .none: "Nothing: they go on to the video's source unread"
        case .probe: "A click tells the depth there and shows it while the button is held; no property changes"
        case .steer: "As probe, and clicks, wheel and keys change properties: this lets the viewer see the room"
        }
    }
}

enum MissingDepth: Int, PropertyEnum {
    case cover, pass, drop

    static let typeName = "GstDepthMatteMissingDepth"

    var nick: String {
        switch self {
        case .cover: "cover"
        case .pass: "pass"
        case .drop: "drop"
        }
    }

    var blurb: String {
        switch self {
        case .cover: "Show the background alone"
        case .pass: "Show the video as it came in: this shows the room"
        case .drop: "Send nothing"
        }
    }
}

/// What is made of a hot machine.
enum ThermalMode: Int, PropertyEnum {
    case ignore, report, degrade

    static let typeName = "GstDepthMatteThermal"

    var nick: String {
        switch self {
        case .ignore: "ignore"
        case .report: "report"
        case .degrade: "degrade"
        }
    }

    var blurb: String {
        switch self {
        case .ignore: "Nothing"
        case .report: "Tell of every change by an element message \"thermal\""
        case .degrade: "Report, and make a matte for every second frame only while the machine is hot"
        }
    }
}

extension Upscale: PropertyEnum {
    package static let typeName = "GstDepthMatteUpscale"

    package var nick: String {
        switch self {
        case .bicubic: "bicubic"
        case .bilinear: "bilinear"
        }
    }

    package var blurb: String {
        switch self {
        case .bicubic: "Cubic convolution with B = 0, C = 0.75"
        case .bilinear: "Linear between neighbours"
        }
    }
}

extension PictureFit: PropertyEnum {
    package static let typeName = "GstDepthMatteBackgroundFit"

    package var nick: String {
        switch self {
        case .cover: "cover"
        case .contain: "contain"
        case .stretch: "stretch"
        }
    }

    package var blurb: String {
        switch self {
        case .cover: "Fill the frame, keeping the aspect; what sticks out is cut off"
        case .contain: "All of the picture, keeping the aspect; background-color around it"
        case .stretch: "Fill the frame exactly"
        }
    }
}

extension MaskShape: PropertyEnum {
    package static let typeName = "GstDepthMatteMask"

    package var nick: String {
        switch self {
        case .cutoff: "cutoff"
        case .highPass: "high-pass"
        case .bandPass: "band-pass"
        }
    }

    package var blurb: String {
        switch self {
        case .cutoff: "Everything from near to the cutoff"
        case .highPass: "Everything nearer than focus, over a slope"
        case .bandPass: "Everything about as near as focus, over two slopes"
        }
    }
}
