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
        settings.depth = .ofStream
        return settings
    }

    var depth: DepthReading {
        get { matte.depth }
        set { matte.depth = newValue }
    }

    /// A picture of the empty room.
    var roomPicture: String?

    // Backdrop
    var background: String?
    var allowsRemote = false
    var backgroundColor: UInt32 = 0xff00_0000
    var backgroundMode = BackgroundMode.auto
    var backgroundFit = PictureFit.cover
    var backgroundBlur = 10.0
    var backgroundBlurDepth = 0.0
    var edge = EdgeSettings()
    var view = MatteView.composite
    var attachesMatte = false
    var navigation = NavigationMode.probe

    // Pairing
    /// Nanoseconds.
    var depthTimeOffset: Int64 = 0
    var depthSync = DepthSync.report
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

/// A value of the property `view`: the picture that is output.
enum MatteView: Int, PropertyEnum {
    case composite, original, depth, matte, quad

    static let typeName = "GstDepthMatteView"

    var showsBackground: Bool { self == .composite || self == .quad }

    var blurb: String {
        switch self {
        case .composite: "The person over the background"
        case .original: "The input video, unchanged; the real background is visible"
        case .depth: "The depth map in colors, from red (near) to blue (far), histogram-equalized"
        case .matte: "The matte: white is the person, black the background"
        case .quad:
            "Original, depth, matte and composite in one picture; the real background is visible. The histogram over "
                + "the "
                + "depth runs from 0 m at the left to 1, 2, 4, 8 ... m at the right; the red line is the cutoff, in cm"
        }
    }
}

/// A value of the property `navigation`: the effect of mouse and key events from the sink.
enum NavigationMode: Int, PropertyEnum {
    case none, probe, steer

    static let typeName = "GstDepthMatteNavigation"

    var blurb: String {
        switch self {
        case .none: "Ignored: events are only forwarded upstream"
        case .probe:
            "A click posts the depth at that point as a message and shows it while the button is held; no property "
                + "changes"
        case .steer:
            "As probe, and clicks, wheel and keys 1 to 5 change properties; the viewer can make the real background "
                + "visible"
        }
    }
}

enum MissingDepth: Int, PropertyEnum {
    case cover, pass, drop

    static let typeName = "GstDepthMatteMissingDepth"

    var blurb: String {
        switch self {
        case .cover: "Output the background without the person"
        case .pass: "Output the input video unchanged; the real background is visible"
        case .drop: "Drop the frame"
        }
    }
}

/// A value of the property `thermal`: the reaction to overheating.
enum ThermalMode: Int, PropertyEnum {
    case ignore, report, degrade

    static let typeName = "GstDepthMatteThermal"

    var blurb: String {
        switch self {
        case .ignore: "None"
        case .report: "Post an element message \"thermal\" at every change of the thermal state"
        case .degrade: "As report; while the state is serious or critical, every second frame reuses the previous matte"
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

extension RoomMode: PropertyEnum {
    package static let typeName = "GstDepthMatteRoomMemory"
}

extension PictureFit: PropertyEnum {
    package static let typeName = "GstDepthMatteBackgroundFit"

    package var blurb: String {
        switch self {
        case .cover: "Fill the frame, keep the aspect ratio, crop the rest"
        case .contain: "Show the whole picture, keep the aspect ratio, background-color around it"
        case .stretch: "Fill the frame, changing the aspect ratio"
        }
    }
}

extension MaskShape: PropertyEnum {
    package static let typeName = "GstDepthMatteMask"
}
