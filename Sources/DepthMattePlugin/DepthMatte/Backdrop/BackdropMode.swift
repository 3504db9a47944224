import CGStreamer
import DepthAggregator
import DepthKernels
import GstBridge

/// One value of the property `background-mode`: makes the picture that shows where the person is not.
///
/// An instance belongs to one element and lives while its mode is chosen. It is made and used on the streaming thread alone.
protocol BackdropMode: AnyObject, SendableMetatype {
    /// The value's name in launch lines.
    static var nick: String { get }
    /// The value's description in `gst-inspect-1.0`.
    static var blurb: String { get }
    /// True if the output should have an alpha channel; caps are then negotiated for one.
    static var wantsAlpha: Bool { get }

    init()

    /// Returns the backdrop of one frame, before its matte is known; nil where there is nothing to show yet.
    ///
    /// The element shows `background-color` where this returns nil or throws.
    func backdrop(_ request: BackdropRequest) throws(FrameFault) -> Backdrop?

    /// Returns a sentence for the user if the mode cannot show anything as things are; nil otherwise. Asked once, at the
    /// first frame.
    ///
    /// - Parameter hasPad: true if the element has a `background` pad.
    static func complaint(_ settings: DepthMatteSettings, hasPad: Bool) -> String?
}

extension BackdropMode {
    static var wantsAlpha: Bool { false }
    static func complaint(_ settings: DepthMatteSettings, hasPad: Bool) -> String? { nil }
}

/// A value of the property `background-mode`: a row of the table.
struct BackgroundMode: PropertyEnum, Equatable {
    /// All modes, in the order of their numbers.
    ///
    /// To add a mode:
    /// 1. Write a class in a file of this folder that conforms to `BackdropMode`, or to `EffectBackdrop` if it changes the
    ///    video frame itself. `ComicBackdrop` is the shortest class. The arithmetic over pixels is a kernel in
    ///    `DepthKernels/Effects`: `RoomBlur` shows how `ChannelGroup` treats every format alike.
    /// 2. Append the class to this table. The order is public: a row's index is the number of its enum value.
    /// 3. Add rows to `SteadyStateTests.works`: nothing is allocated per frame (`Canvases` keeps frames, `Scratch` a
    ///    kernel's memory).
    /// 4. Describe the mode on the element's page, build, and run `pipelines/readme.sh`, which writes the page's table.
    ///
    /// The property, its description, negotiation, the frame function and the tests of every effect read the table. Settings
    /// of the mode are rows in `DepthMatteProperties`.
    static let table: [any BackdropMode.Type] = [
        AutoBackdrop.self, ColorBackdrop.self, ImageBackdrop.self, StreamBackdrop.self, BlurBackdrop.self,
        ComicBackdrop.self, TransparentBackdrop.self,
    ]

    static let typeName = "GstDepthMatteBackgroundMode"
    static let allCases = table.indices.map { BackgroundMode(index: $0) }
    static let auto = BackgroundMode(index: 0)

    let rawValue: Int

    private init(index: Int) { rawValue = index }

    init?(rawValue: Int) {
        guard BackgroundMode.table.indices.contains(rawValue) else { return nil }
        self.rawValue = rawValue
    }

    var mode: any BackdropMode.Type { BackgroundMode.table[rawValue] }
    var nick: String { mode.nick }
    var blurb: String { mode.blurb }
}

/// The inputs that a backdrop may be made from, for one frame.
struct BackdropRequest {
    let settings: DepthMatteSettings
    /// The output's format and size, which the backdrop's picture has to have.
    let format: StreamFormat
    /// True if the output has an alpha channel for the person's alpha.
    let hasAlpha: Bool
    let moment: Moment
    /// True if the element has a `background` pad.
    let hasPad: Bool
    /// The current picture of the `background` pad; nil while it has none.
    let padPicture: Picture?
    /// The file that the property `background` names.
    let file: BackgroundFile
    /// The element, for warnings.
    let element: any MessageSource
}

/// The backdrop of one frame.
enum Backdrop {
    /// A picture in the output's format. It stays unchanged while it is referenced.
    case picture(BufferRef)
    /// An effect on the video frame. It is rendered once the matte is known.
    case effect(any EffectBackdrop)
}

/// A mode that makes its backdrop from the video frame.
protocol EffectBackdrop: BackdropMode {
    /// Draws the changed frame. A byte that means nothing (`ByteRole.unused`) becomes 255.
    ///
    /// - Returns: a picture in the scene's format, valid until the next call.
    func picture(_ scene: EffectScene) throws(FrameFault) -> BufferRef
}

extension EffectBackdrop {
    func backdrop(_ request: BackdropRequest) -> Backdrop? { .effect(self) }
}

/// The values of `background-mode` that show the room, changed: for the tests that hold for each.
package let effectModes = BackgroundMode.table.filter { $0 is any EffectBackdrop.Type }.map { $0.nick }

struct EffectScene {
    /// Must stay as it is: the person is blended from it. An effect draws on a canvas of its own.
    let video: BufferPointer
    let format: StreamFormat
    /// The person's matte; nil where no person is known, and all of the picture is to be changed.
    let matte: FinishedMatte?
    /// The frame's depth map and the person's distance; nil where the frame has no depth.
    let depth: (frame: DepthFrame, focus: RoomDistance.Focus)?
    let settings: DepthMatteSettings
}

/// The chosen mode's instance, and the color that stands in for it. Streaming thread only.
final class BackdropSelector {
    private var current: (mode: BackgroundMode, instance: any BackdropMode)?
    private let color = ColorBackdrop()

    /// Returns the backdrop of one frame; nil where the chosen mode has nothing to show.
    func backdrop(_ request: BackdropRequest) throws(FrameFault) -> Backdrop? {
        try instance(of: request.mode).backdrop(request)
    }

    func colorFrame(_ request: BackdropRequest) throws(FrameFault) -> BufferRef { try color.frame(request) }

    private func instance(of mode: BackgroundMode) -> any BackdropMode {
        if let current, current.mode == mode { return current.instance }
        let made = mode.mode.init()
        current = (mode, made)
        return made
    }
}

extension BackdropRequest {
    /// The mode to use. An output with alpha was negotiated for a mode that wants it; until new caps are agreed the frame has
    /// to be cut out, whatever the property says by now.
    fileprivate var mode: BackgroundMode {
        let chosen = settings.backgroundMode
        guard hasAlpha, !chosen.mode.wantsAlpha else { return chosen }
        return BackgroundMode.allCases.first { $0.mode.wantsAlpha } ?? chosen
    }
}
