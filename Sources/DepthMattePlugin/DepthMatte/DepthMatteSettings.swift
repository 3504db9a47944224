import CGStreamer
import DepthAggregator
import DepthKernels
import GstBridge

/// The values of `depthmatte`'s properties. The initial values here are the only defaults.
struct DepthMatteSettings: AggregatorSettings, DepthReadingSettings {
    /// The settings that the matte depends on.
    var matte = DepthMatteSettings.initialMatte

    private static var initialMatte: MatteSettings {
        var settings = MatteSettings()
        (settings.method, settings.detail) = (.fusion, .auto)
        return settings
    }

    var depth: DepthReading {
        get { matte.depth }
        set { matte.depth = newValue }
    }

    // The picture behind
    var background: String?
    var backgroundColor: UInt32 = 0xff00_0000
    var backgroundMode = BackgroundMode.auto
    var backgroundFit = PictureFit.cover
    var backgroundBlur = 10.0
    var backgroundBlurDepth = 0.0
    var edge = EdgeSettings()
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
}

extension AnchorMode: PropertyEnum {
    package static let typeName = "GstDepthMatteAnchor"
}

extension FaceSelect: PropertyEnum {
    package static let typeName = "GstDepthMatteFaceSelect"
}

enum BackgroundMode: Int, PropertyEnum {
    case auto, color, image, stream, blur, comic, transparent

    static let typeName = "GstDepthMatteBackgroundMode"

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
}

extension MatteMethod: PropertyEnum {
    package static let typeName = "GstDepthMatteMethod"
}

extension SubjectChoice: PropertyEnum {
    package static let typeName = "GstDepthMatteSubject"
}

extension MatteDetail: PropertyEnum {
    package static let typeName = "GstDepthMatteDetail"
}

extension PictureFit: PropertyEnum {
    package static let typeName = "GstDepthMatteBackgroundFit"

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
}
