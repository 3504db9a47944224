import DepthKernels
import GstBridge
import GstTestSupport

/// One way of looking at depth: an element that shows, registers, packs or unpacks it.
struct View {
    /// Begins with the element's name and a comma.
    let name: String
    var properties: [String: String] = [:]
    /// The element's `max-threads`, if it has that property (0 = automatic).
    var threads = 1
    /// The pad that is always there.
    var leading = "depth"
    var depth = DepthShape("GRAY16_LE", 640, 480)
    /// Video on the `video` pad; nil without that pad. On a leading pad `sink` it stands for the depth.
    var video: VideoShape?
    var output = VideoShape("BGRx", 640, 480)

    private static let beside = VideoShape("BGRx", 640, 480)
    private static let below = VideoShape("I420", 1280, 720)
    private static let large = VideoShape("BGRx", 1280, 720)
    private static let half = VideoShape("I420", 640, 480)
    private static let packed = VideoShape("I420", 1280, 480)

    static let all = [
        View(name: "depthcolorize, equalize"),
        View(name: "depthcolorize, fixed", properties: ["range": "fixed"]),
        View(name: "depthcolorize, equalize, RGB", output: VideoShape("RGB", 640, 480)),
        View(name: "depthcolorize, equalize, F32LE", depth: DepthShape("F32LE", 640, 480)),
        View(name: "depthcolorize, over 1280x720 I420", video: below, output: large),
        View(name: "depthcloud, BGRx video", properties: ["yaw": "20"], video: beside),
        View(name: "depthcloud, two threads", properties: ["yaw": "20"], threads: 2, video: beside),
        View(
            name: "depthcloud, over 1280x720 I420", properties: ["yaw": "20"], threads: 0, video: below, output: large),
        View(
            name: "depthalign, stereo camera", leading: "sink",
            depth: DepthShape("GRAY16_LE", 640, 480, fields: field(stereoCamera)),
            output: VideoShape("GRAY16_LE", 640, 480)),
        View(
            name: "depthalign, time of flight", leading: "sink",
            depth: DepthShape("GRAY16_LE", 640, 576, fields: field(timeOfFlightCamera)),
            output: VideoShape("GRAY16_LE", 1280, 720)),
        View(name: "depthpack, gray", leading: "video", video: half, output: packed),
        View(
            name: "depthpack, record3d", properties: ["coding": "record3d"], leading: "video", video: half,
            output: packed),
        View(name: "depthunpack, gray", leading: "sink", video: packed, output: half),
        View(
            name: "depthunpack, record3d", properties: ["coding": "record3d"], leading: "sink", video: packed,
            output: half),
    ]

    private static func field(_ calibration: Calibration) -> String {
        "calibration=(string)\"\(calibration.json.replacing("\"", with: "\\\""))\""
    }

    /// As a RealSense D435: no lens distortion, 1.6 times as many color pixels as samples.
    private static let stereoCamera = Calibration(
        depth: CameraIntrinsics(width: 640, height: 480, fx: 390, fy: 390, cx: 331, cy: 242),
        color: CameraIntrinsics(width: 640, height: 480, fx: 613, fy: 613, cx: 320, cy: 239),
        depthToColor: CameraPose(
            rotation: [0.99986, -0.0103, 0.0129, 0.0103, 0.99995, 0.00004, -0.0129, 0, 0.99992],
            translation: [0.0143, 0.0006, 0.0006]))

    /// As an Azure Kinect: lenses of the rational model, and a color camera that looks 5 degrees further up.
    private static let timeOfFlightCamera = Calibration(
        depth: CameraIntrinsics(
            width: 640, height: 576, fx: 504.6, fy: 504.7, cx: 332.8, cy: 348.8,
            distortion: LensDistortion([0.548, -0.021, 0.00002, -0.00007, -0.0027, 0.8897, 0.0861, -0.0139])),
        color: CameraIntrinsics(
            width: 1280, height: 720, fx: 611.8, fy: 611.9, cx: 639.3, cy: 365.9,
            distortion: LensDistortion([0.330, -2.489, -0.00016, -0.00013, 1.4537, 0.2089, -2.3029, 1.3751])),
        depthToColor: CameraPose(
            rotation: [1, 0.0012, -0.0004, -0.0011, 0.99628, 0.08616, 0.0005, -0.08616, 0.99628],
            translation: [-0.0321, -0.0022, 0.0039]))

    /// Times the element, and a memcpy of what leaves.
    func measure(_ options: Options, _ report: Report) throws {
        let ring = options.ring(frameBytes: output.size)
        let factory = String(name.prefix { $0 != "," })
        let pad = leading == "video" ? "depth" : leading
        var inputs: [ElementRig.Input] = [(pad, depth.caps, FrameRing(depth, ring, scene: "slope"))]
        if let video {
            let input = (leading == "sink" ? leading : "video", video.caps, FrameRing(video, ring))
            inputs = leading == "sink" ? [input] : leading == "video" ? [input] + inputs : inputs + [input]
        }
        let left = factory == "depthunpack" ? "video" : "src"
        let settings = properties.merging(["max-threads": "\(threads)"]) { $1 }
        let rig = ElementRig(factory, settings, downstream: output.caps, output: left, inputs)
        let labels = [
            ("depth", "\(depth.width)x\(depth.height)"), ("depth_format", depth.format),
            ("size", "\(output.width)x\(output.height)"), ("format", output.format), ("view", name),
        ]
        let work = Timed(leastFrames: rig.leastFrames) { ["ms": try rig.run($0)] }
        try report.measure(labels, ring: ring, onlyOne: threads == 1, [work, copying(output, ring)])
    }
}
