import CGStreamer
import DepthKernels
import GstBridge

/// One way of looking at depth: an element that shows or registers it, led by the pad that takes depth.
struct View {
    let name: String
    let factory: String
    var depthPad = "depth"
    var properties: [String: String] = [:]
    /// The element's `max-threads`, if it has that property (0 = automatic), and the number of threads of `kernel`. Views
    /// with 0 have no `kernel`.
    var threads = 1
    var depthFormat = "GRAY16_LE"
    var depth = Size(width: 640, height: 480)
    /// Size of the video on the `video` pad; nil without that pad.
    var video: Size?
    var videoFormat = "I420"
    /// Format of the output.
    var format = "BGRx"
    /// Size of the output where it is neither the video's nor the depth map's.
    var outputSize: Size?
    /// Optics that the depth caps carry.
    var calibration: Calibration?
    /// The most time it may take, as a multiple of a memcpy of the output; nil for no goal.
    var goal: Double?
    /// The element's work without GStreamer; nil where it is not timed alone.
    var kernel: Kernel?

    enum Kernel {
        case colors(DepthColorRange)
        case cloud
    }

    /// Size of the output: the video's, or without video the depth map's.
    var size: Size { outputSize ?? video ?? depth }

    static let all = [
        View(name: "depthcolorize, equalize", factory: "depthcolorize", goal: 4, kernel: .colors(.equalize(max: 5))),
        View(
            name: "depthcolorize, fixed", factory: "depthcolorize", properties: ["range": "fixed"], goal: 4,
            kernel: .colors(.fixed(min: 0.3, max: 5))),
        View(
            name: "depthcolorize, equalize, RGB", factory: "depthcolorize", format: "RGB",
            kernel: .colors(.equalize(max: 5))),
        View(
            name: "depthcolorize, equalize, F32LE", factory: "depthcolorize", depthFormat: "F32LE",
            kernel: .colors(.equalize(max: 5))),
        View(
            name: "depthcolorize, over 1280x720 I420", factory: "depthcolorize",
            video: Size(width: 1280, height: 720)),
        View(
            name: "depthcloud, BGRx video", factory: "depthcloud", properties: ["yaw": "20"],
            video: Size(width: 640, height: 480), videoFormat: "BGRx", kernel: .cloud),
        View(
            name: "depthcloud, two threads", factory: "depthcloud", properties: ["yaw": "20"], threads: 2,
            video: Size(width: 640, height: 480), videoFormat: "BGRx", goal: 4, kernel: .cloud),
        View(
            name: "depthcloud, over 1280x720 I420", factory: "depthcloud", properties: ["yaw": "20"], threads: 0,
            video: Size(width: 1280, height: 720)),
        View(
            name: "depthalign, stereo camera", factory: "depthalign", depthPad: "sink", format: "GRAY16_LE",
            calibration: stereoCamera, goal: 4),
        View(
            name: "depthalign, time of flight", factory: "depthalign", depthPad: "sink",
            depth: Size(width: 640, height: 576), format: "GRAY16_LE", outputSize: Size(width: 1280, height: 720),
            calibration: timeOfFlightCamera, goal: 4),
    ]

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
}

extension View {
    private var depthShape: DepthShape { DepthShape(depthFormat, depth) }

    /// The video that leaves.
    var outputCase: Case {
        var outputCase = Case()
        (outputCase.size, outputCase.format) = (size, format)
        return outputCase
    }

    /// The element, a memcpy of what leaves, and the kernels where they are timed alone.
    func works(ring: Int, _ effort: Options.Effort) throws -> [any Workload] {
        let works: [any Workload] = [try element(ring: ring), try CopyWork(outputCase, effort, threads: 1)]
        return switch kernel {
        case .colors(let range): works + [try colors(range, ring: ring)]
        case .cloud: works + [try cloud(ring: ring)]
        case nil: works
        }
    }

    private func element(ring: Int) throws -> ElementRig {
        var properties = properties
        properties["max-threads"] = "\(threads)"
        let rig = try ElementRig(factory, downstream: try VideoShape(outputCase).caps, properties)
        let maps = try FrameRing(count: ring, size: depthShape.layout.size, fill: depthShape.fill(.slope))
        let optics = calibration.map {
            ", calibration=(string)\"\($0.json.replacing("\"", with: "\\\""))\""
        }
        try rig.feed(depthPad, depthShape.caps + (optics ?? ""), maps)
        if video != nil {
            var arriving = outputCase
            arriving.format = videoFormat
            let shape = try VideoShape(arriving)
            let frames = try FrameRing(count: ring, size: shape.layout.size, fill: fillWithNoise)
            try rig.feed("video", shape.caps, frames)
        }
        try rig.play(orElse: "its properties are \(properties)")
        return rig
    }

    /// Nothing of the map is cut off.
    private var placement: DepthPlacement {
        DepthPlacement(
            depthWidth: depth.width, depthHeight: depth.height, videoWidth: size.width, videoHeight: size.height)
    }

    /// The kernels of `depthcolorize`.
    private func colors(_ range: DepthColorRange, ring: Int) throws -> KernelLoop {
        let overlay = ColorOverlay()
        let (depths, maps) = try depthShape.ring(.slope, count: ring)
        let layout = try VideoShape(outputCase).layout
        let outputs = (0..<ring).map { FrameMemory(layout, seed: $0) }
        let targets = outputs.compactMap { memory in
            memory.planes[0].flatMap {
                ColorOverlay.Target(
                    plane: $0, width: size.width, height: size.height, bytesPerPixel: format.count == 3 ? 3 : 4,
                    mix: nil)
            }
        }
        guard targets.count == ring else { throw Failure.cannot("a picture has no plane") }
        let placement = placement
        return KernelLoop(ring: ring, keeping: depths + outputs) { index in
            overlay.draw(
                maps[index], scale: DepthScale(), range: range, colors: DepthColors(), placement: placement,
                on: targets[index])
        }
    }

    /// Returns a loop over the kernels of `depthcloud`, at a yaw of 20°. The colors come from a picture of the output's size and
    /// format.
    private func cloud(ring: Int) throws -> KernelLoop {
        let renderer = CloudRenderer()
        if threads > 1 { renderer.pool = ThreadPool(size: threads) }
        var settings = CloudRenderer.Settings(
            sensor: CloudSensor(width: size.width, height: size.height, fieldOfView: 70))
        settings.view.yaw = 20
        let (depths, maps) = try depthShape.ring(.slope, count: ring)
        let layout = FrameLayout(width: size.width, height: size.height, bytesPerSample: 4)
        let colors = (0..<ring).map { FrameMemory(layout, seed: $0) }
        let outputs = (0..<ring).map { FrameMemory(layout, seed: $0) }
        let pictures = colors.compactMap { memory in
            memory.planes[0].flatMap { CloudPicture(plane: $0.readOnly, placement: placement) }
        }
        let targets = outputs.compactMap { $0.planes[0] }
        guard pictures.count == ring, targets.count == ring else { throw Failure.cannot("a picture has no plane") }
        return KernelLoop(ring: ring, keeping: depths + colors + outputs) { [size, settings] index in
            let isDrawn = renderer.draw(
                maps[index], scale: DepthScale(), colors: pictures[index], settings: settings, into: targets[index],
                width: size.width, height: size.height)
            if !isDrawn { throw Failure.cannot("the cloud does not fit its picture") }
        }
    }
}

/// The kernels of a view, without GStreamer.
private final class KernelLoop: Workload {
    let leastFrames: Int
    private let ring: Int
    /// Where the planes lie that are drawn.
    private let memories: [FrameMemory]
    private let draw: (_ index: Int) throws -> Void
    private var next = 0

    init(ring: Int, keeping memories: [FrameMemory], draw: @escaping (_ index: Int) throws -> Void) {
        leastFrames = max(ring, 4)
        (self.ring, self.memories, self.draw) = (ring, memories, draw)
    }

    func run(frames: Int) throws -> Timing {
        let start = now()
        for _ in 0..<frames {
            try draw(next)
            next = (next + 1) % ring
        }
        return Timing(frame: Double(now() - start) / Double(frames))
    }
}
