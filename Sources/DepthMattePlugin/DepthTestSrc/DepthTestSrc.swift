import CGStreamer
import DepthAggregator
import DepthKernels
import DepthScene
import GstBridge

/// `depthtestsrc`: a synthetic depth camera with exact ground truth.
///
/// Pads: `video` is the color picture, with the face as a region-of-interest meta; `depth` the depth map of the same
/// scene; `matte` the exact alpha of the person, antialiased. Each pad has a thread, size and rate of its own, so it
/// needs no queue. The same settings give the same bytes.
///
///     depthtestsrc num-buffers=90 name=camera
///         camera.video ! videoconvert ! autovideosink
///         camera.depth ! videoconvert ! autovideosink
enum DepthTestSrc {
    static let factory = "depthtestsrc"

    /// The source pads. Raw values are their names.
    enum PadRole: String, SourceRole {
        case video, depth, matte

        /// The size that is chosen if downstream accepts any.
        var preferredSize: (width: gint, height: gint) { self == .depth ? (640, 360) : (1280, 720) }
    }

    static let preferredRate: FrameRate = (30, 1)

    /// Metres per count of the integer depth formats.
    static let depthUnit: Float = 0.001

    static let definition = ElementDefinition(
        typeName: "GstDepthTestSrc",
        factory: factory,
        parent: .element,
        longName: "Depth camera test source",
        klass: "Source/Video",
        description: "Produces the streams of a synthetic depth camera",
        log: DepthTestSrcElement.log,
        pads: [
            PadTemplate(
                PadRole.video.rawValue, GST_PAD_SRC, .always, "Video, with the face as a region-of-interest meta",
                caps: VideoFormat.caps(of: VideoFormat.all, width: "[ 1, 32768 ]", height: "[ 1, 32768 ]")),
            PadTemplate(
                PadRole.depth.rawValue, GST_PAD_SRC, .always, "Depth map, registered to the video",
                caps: DepthFormat.writtenCaps),
            PadTemplate(
                PadRole.matte.rawValue, GST_PAD_SRC, .always, "Exact alpha of the person",
                caps: "video/x-raw, format=(string)GRAY8, \(anySize), \(anyRate)"),
        ],
        properties: properties,
        defaults: DepthTestSrcSettings(),
        make: { DepthTestSrcElement($0) })

    static let properties: [Property<DepthTestSrcSettings>] = [
        .choice("pattern", "Scene before the camera", \.pattern),
        .uint(
            "seed", "Seed of the person's colors and movements and of the noise; 0 = the default person",
            0...UInt32.max, \.seed),
        .double(
            "lens",
            "Angle of view across the frame, in degrees; the caps of the depth map have the calibration where it is not 60",
            20...150, \.lens, onlyBeforeStart: true),
        .choice(
            "sensor", "Depth camera whose errors are simulated; the properties noise and holes add to them", \.sensor),
        .double(
            "parallax",
            "Distance between the depth camera and the color camera, in metres: each sees parts of the room beside near things "
                + "that the other does not; -1 = that of the sensor's device",
            -1...0.3, \.parallax),
        .double(
            "noise",
            "Standard deviation of the depth noise at a distance of 1 m, in metres; it grows with the distance squared",
            0...1, \.noise),
        .double("holes", "Share of depth samples that are unmeasured, at random; 1 = all", 0...1, \.holes),
        .time(
            "empty-until", "Time of the stream until which nobody is before the camera, in nanoseconds",
            0...86_400_000_000_000, \.emptyUntil),
        .choice("change", "What changes in the room, or of the camera, at change-time", \.change),
        .time(
            "change-time", "Time of the stream from which on the change is seen, in nanoseconds",
            0...86_400_000_000_000, \.changeTime),
        .bool("still", "Freeze the scene at 0 s; noise and sensor errors still change", \.still),
        .time(
            "depth-delay", "Delay of the scene in the depth map behind the video of the same timestamp, in nanoseconds",
            0...10_000_000_000, \.depthDelay),
        .double("dropouts", "Share of depth frames that are replaced by GAP events; 1 = all", 0...1, \.dropouts),
        .bool("face", "Attach the face to the video as GstVideoRegionOfInterestMeta of type \"face\"", \.face),
        .bool(
            "attach-depth",
            "Attach the depth map to each video buffer as DepthMapMeta while the depth pad is not linked, for elements whose "
                + "depth pad is not linked either", \.attachDepth),
        .int(
            "num-buffers", "Number of video frames before EOS on all pads; -1 = endless", -1...2_147_483_647,
            \.numBuffers),
        .bool(
            "is-live", "Act as a live source: send each frame at its time on the clock", \.isLive, onlyBeforeStart: true
        ),
    ]
}

/// The values of `depthtestsrc`'s properties. The initial values here are the only defaults.
struct DepthTestSrcSettings: Sendable {
    var pattern = ScenePattern.person
    var seed: UInt32 = 0
    var lens = Scene.layoutLens
    var sensor = SensorKind.ideal
    var parallax = -1.0
    var noise = 0.0
    var holes = 0.0
    var emptyUntil: GstClockTime = 0
    var change = RoomChange.none
    var changeTime: GstClockTime = 0
    var still = false
    var depthDelay: GstClockTime = 0
    var dropouts = 0.0
    var face = true
    var attachDepth = true
    var numBuffers = -1
    var isLive = false
}

extension DepthTestSrcSettings {
    /// The scene at a time of the stream, in nanoseconds.
    func scene(at time: Double) -> Scene {
        Scene(
            pattern: pattern, seed: seed, lens: lens, isEmpty: time < Double(emptyUntil),
            change: time < Double(changeTime) ? .none : change)
    }
}

extension ScenePattern: PropertyEnum {
    package static let typeName = "GstDepthTestSrcPattern"

    package var blurb: String {
        switch self {
        case .person: "A waving person, 0.7 m away, in front of a desk and a wall"
        case .ramp: "Depth from 0.5 m at the left edge to 4.5 m at the right edge"
        case .blank: "Gray video and no measured depth"
        case .longHair: "A person with long hair, single strands against a bright wall"
        case .likeColors: "A room in the person's own colors: a chair like the hair, panels like the skin"
        case .noWall: "The person in front of a room without measured depth"
        case .dim: "A fifth of the light, and noisy video"
        case .people: "Two people within a metre, and one behind them who counts as background"
        case .hand: "A phone held towards the camera, 0.5 m away"
        case .far: "The whole figure, 3.1 m away, in front of a wall at 4.4 m"
        case .chair: "A person on a dark chair, whose back is 8 to 10 cm behind head and shoulders"
        case .room: "A person on a sofa and one who stands, 3 m away, in a living room seen from above"
        }
    }
}

extension RoomChange: PropertyEnum {
    package static let typeName = "GstDepthTestSrcChange"

    package var blurb: String {
        switch self {
        case .none: "Nothing"
        case .light: "A lamp at the right is switched on"
        case .nudge: "The camera is turned by about a five-hundredth of the picture's width"
        case .door: "A door opens in the wall, to a darker room"
        case .screen: "A television on the wall flickers"
        }
    }
}

extension SensorKind: PropertyEnum {
    package static let typeName = "GstDepthTestSrcSensor"

    package var blurb: String {
        switch self {
        case .ideal: "The exact depth"
        case .structuredLight:
            "Like Kinect v1: shadows on both sides of the person, jagged edges, holes in the hair and where rays graze, 0.5 to "
                + "4.5 m"
        case .stereo:
            "Like RealSense D415: a person three samples too wide, wavy noise, a shadow and an empty band at the left, 0.3 to 8 m"
        case .tof:
            "Like Azure Kinect: mixed or lost samples at edges, a shadow on the right, dark distant objects lost, 0.25 to 4 m"
        case .phone: "Like a phone's map of 320x180: soft edges, no holes, little noise"
        }
    }
}
