import CGStreamer
import DepthAggregator
import DepthKernels
import DepthScene
import GstBridge

/// `depthtestsrc`: a depth camera that needs no camera, with exact ground truth.
///
/// Pads: `video` is the colour picture, with the face as a region-of-interest meta; `depth` the depth map of the same
/// scene; `matte` the exact alpha of the person, antialiased. Each pad has a thread, size and rate of its own, so no
/// queue is needed behind it. The same settings give the same bytes.
///
///     depthtestsrc num-buffers=90 name=camera
///         camera.video ! videoconvert ! autovideosink
///         camera.depth ! videoconvert ! autovideosink
enum DepthTestSrc {
    static let factory = "depthtestsrc"

    /// The pads, by what they carry; the raw values are their names.
    enum PadRole: String, CaseIterable {
        case video, depth, matte

        /// Size that is chosen where downstream takes any.
        var preferredSize: (width: gint, height: gint) { self == .depth ? (640, 360) : (1280, 720) }
    }

    static let preferredRate: (numerator: gint, denominator: gint) = (30, 1)

    /// Metres per count of the integer depth formats.
    static let depthUnit: Float = 0.001

    private static let sizes = "width=(int)[ 1, 32768 ], height=(int)[ 1, 32768 ]"
    private static let rates = "framerate=(fraction)[ 0/1, 2147483647/1 ]"

    static let definition = ElementDefinition(
        typeName: "GstDepthTestSrc",
        factory: factory,
        parent: .element,
        longName: "Depth camera test source",
        klass: "Source/Video",
        description: "Creates the streams of a synthetic depth camera. Pads: video, the picture with its face box; "
            + "depth, the depth map; matte, the exact alpha of the person",
        pads: [
            PadTemplate(PadRole.video.rawValue, GST_PAD_SRC, .always, caps: VideoFormat.caps(largestSide: 32768)),
            PadTemplate(
                PadRole.depth.rawValue, GST_PAD_SRC, .always,
                caps: "video/x-raw, format=(string){ GRAY16_LE, GRAY16_BE }, \(sizes), \(rates); "
                    + "video/x-depth, format=(string)F32LE, \(sizes), \(rates)"),
            PadTemplate(
                PadRole.matte.rawValue, GST_PAD_SRC, .always,
                caps: "video/x-raw, format=(string)GRAY8, \(sizes), \(rates)"),
        ],
        properties: properties,
        defaults: DepthTestSrcSettings(),
        make: { DepthTestSrcElement($0) })

    static let properties: [Property<DepthTestSrcSettings>] = [
        .choice("pattern", "What the camera looks at", \.pattern),
        .uint(
            "seed", "Chooses the person's colours and movements, and the noise; 0 = the usual person",
            0...UInt32.max, \.seed),
        .choice(
            "sensor", "The depth camera whose faults the depth map has; noise and holes come on top", \.sensor),
        .double(
            "noise", "Standard deviation of the depth in metres at 1 m; it grows with the square of the distance",
            0...1, \.noise),
        .double("holes", "Share of the depth samples that are not measured", 0...1, \.holes),
        .bool("still", "Keep the scene as it is at 0 s, while noise and faults go on", \.still),
        .time(
            "depth-delay", "How much older the scene of a depth frame is than that of the video of the same time",
            0...10_000_000_000, \.depthDelay),
        .double(
            "dropouts", "Share of the depth frames that are not sent; a GAP event takes their place", 0...1, \.dropouts),
        .bool("face", "Put the face on the video as a region-of-interest meta of type \"face\"", \.face),
        .int(
            "num-buffers", "Video frames to send before the end of all streams; -1 = no end", -1...2_147_483_647,
            \.numBuffers),
        .bool("is-live", "Send each frame at its time on the clock, as a camera does", \.isLive, onlyBeforeStart: true),
    ]
}

/// The values of `depthtestsrc`'s properties. The initial values here are the only defaults.
struct DepthTestSrcSettings: Sendable {
    var pattern = ScenePattern.person
    var seed: UInt32 = 0
    var sensor = SensorKind.ideal
    var noise = 0.0
    var holes = 0.0
    var still = false
    var depthDelay: GstClockTime = 0
    var dropouts = 0.0
    var face = true
    var numBuffers = -1
    var isLive = false
}

extension ScenePattern: PropertyEnum {
    package static let typeName = "GstDepthTestSrcPattern"

    package var blurb: String {
        switch self {
        case .person: "A person who waves, 0.7 m away, before a desk and a wall"
        case .ramp: "Depth from 0.5 m at the left edge to 4.5 m at the right"
        case .blank: "Grey video, and no depth measured anywhere"
        case .longHair: "Long hair, single strands of it against a bright wall"
        case .likeColors: "A room of the person's own colours: a chair behind the hair, panels as skin"
        case .noWall: "The person before a room without any measured depth"
        case .dim: "A fifth of the light, and a noisy video"
        case .people: "Two persons within a metre, and one behind them who counts as room"
        case .hand: "A telephone held out to the camera, 0.5 m away"
        case .far: "The whole figure, 3.1 m away, before a wall at 4.4 m"
        }
    }
}

extension SensorKind: PropertyEnum {
    package static let typeName = "GstDepthTestSrcSensor"

    package var blurb: String {
        switch self {
        case .ideal: "The exact depth"
        case .structuredLight: "Kinect v1: a shadow beside the person, jagged edges, hair with holes, 0.5 to 4.5 m"
        case .stereo: "RealSense D415: a person three samples too wide, wavy noise, a band at the left, 0.3 to 8 m"
        case .tof: "Azure Kinect: mixed or lost samples at edges, dark things far away lost, 0.25 to 4 m"
        case .phone: "A telephone's map of 320x180: soft edges, no holes, little noise"
        }
    }
}
