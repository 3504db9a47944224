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
    var view = MatteView.composite

    // Pairing
    var maxSkew: GstClockTime = 50_000_000
    var holdTime: GstClockTime = 500_000_000
    var onMissingDepth = MissingDepth.cover
    var statsInterval: GstClockTime = 0

    var maxPixels: UInt32 = 67_108_864
    var maxThreads: UInt32 = 0
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
    // The numbers leave room for the modes that blur the room and draw it as a comic.
    case auto = 0
    case color = 1
    case image = 2
    case stream = 3
    case transparent = 6

    static let typeName = "GstDepthMatteBackgroundMode"

    var nick: String {
        switch self {
        case .auto: "auto"
        case .color: "color"
        case .image: "image"
        case .stream: "stream"
        case .transparent: "transparent"
        }
    }

    var blurb: String {
        switch self {
        case .auto: "The background pad if there is one, else the file, else the colour"
        case .color: "background-color"
        case .image: "The still, animation or video that background names"
        case .stream: "The pictures that arrive on the background pad"
        case .transparent: "None: the output has a straight alpha channel"
        }
    }
}

/// Which picture leaves the element.
enum MatteView: Int, PropertyEnum {
    // The numbers leave room for the depth and four-in-one views.
    case composite = 0
    case original = 1
    case matte = 3

    static let typeName = "GstDepthMatteView"

    var nick: String {
        switch self {
        case .composite: "composite"
        case .original: "original"
        case .matte: "matte"
        }
    }

    var blurb: String {
        switch self {
        case .composite: "The person over the background"
        case .original: "The video as it came in: this view shows the room"
        case .matte: "The matte: white is the person"
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
