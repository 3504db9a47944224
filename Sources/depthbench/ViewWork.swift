import CGStreamer
import DepthKernels
import GstBridge

/// One way of looking at depth: an element that shows it, led by its `depth` pad.
struct View {
    let name: String
    let factory: String
    var properties: [String: String] = [:]
    /// `max-threads` of the element, where it has that property; 0 = as many as are of use. Of its kernels, where they are
    /// timed alone; those with 0 are not.
    var threads = 1
    var depthFormat = "GRAY16_LE"
    var depth = Size(width: 640, height: 480)
    /// Size of the video on the `video` pad; nil without that pad.
    var video: Size?
    var videoFormat = "I420"
    /// Of what leaves.
    var format = "BGRx"
    /// Times a memcpy of what leaves, at most; nil where there is no goal.
    var goal: Double?
    /// The element's work without GStreamer; nil where it is not timed alone.
    var kernel: Kernel?

    enum Kernel {
        case colors(DepthColorRange)
        case cloud
    }

    /// Of what leaves.
    var size: Size { video ?? depth }

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
    ]
}

/// The element of a view, between pads of our own.
final class ViewWork: Workload {
    let leastFrames: Int
    private let rig: ElementRig

    init(_ view: View, ring: Int) throws {
        leastFrames = max(ring, 8) + ElementRig.mostAhead
        rig = try ElementRig(
            view.factory,
            downstream: "video/x-raw, format=(string)\(view.format), width=(int)\(view.size.width), "
                + "height=(int)\(view.size.height)")
        rig.set(view.properties)
        rig.set(["max-threads": "\(view.threads)"])
        let maps = try KeptFrames(
            count: ring, size: view.depthBytes, fill: fourInTurn { view.drawDepth(number: $0, into: $1) })
        let caps =
            "\(view.isFloat ? "video/x-depth" : "video/x-raw"), format=(string)\(view.depthFormat), "
            + "width=(int)\(view.depth.width), height=(int)\(view.depth.height), framerate=(fraction)30/1"
        try rig.feed(gst_element_get_static_pad(rig.element, "depth"), caps, maps)
        if let size = view.video {
            var wanted = Case()
            (wanted.size, wanted.format) = (size, view.videoFormat)
            let shape = try VideoShape(wanted)
            let frames = try KeptFrames(count: ring, size: shape.layout.size) { fillWithNoise($1, seed: $0) }
            try rig.feed(gst_element_request_pad_simple(rig.element, "video"), shape.caps, frames)
        }
        try rig.play(orElse: "its properties are \(view.properties)")
    }

    func run(frames: Int) throws -> Timing {
        let round = try rig.run(frames: frames)
        return Timing(frame: round.mean, interval: median(round.intervals))
    }
}

/// The kernels of `depthcolorize`, without GStreamer.
final class ColorWork: Workload {
    let leastFrames: Int
    private let overlay = ColorOverlay()
    private let memories: [FrameMemory]
    private let maps: [DepthImage]
    private let targets: [ColorOverlay.Target]
    private let targetMemories: [FrameMemory]
    private let range: DepthColorRange
    private let placement: DepthPlacement
    private var next = 0

    init(_ view: View, _ range: DepthColorRange, ring: Int) throws {
        leastFrames = max(ring, 4)
        self.range = range
        placement = DepthPlacement(
            depthWidth: view.depth.width, depthHeight: view.depth.height, videoWidth: view.size.width,
            videoHeight: view.size.height)
        let layout = FrameLayout(
            width: view.depth.width, height: view.depth.height, bytesPerSample: view.isFloat ? 4 : 2)
        let fill = fourInTurn { view.drawDepth(number: $0, into: $1) }
        memories = (0..<ring).map { FrameMemory(layout, number: $0, fill: fill) }
        let encoding = view.isFloat ? DepthEncoding.float32LE : .gray16LE
        maps = memories.compactMap { memory in
            memory.planes[0].flatMap {
                DepthImage(
                    plane: $0.readOnly, width: view.depth.width, height: view.depth.height, encoding: encoding)
            }
        }
        var leaving = Case()
        (leaving.size, leaving.format) = (view.size, view.format)
        let output = try VideoShape(leaving).layout
        let bytesPerPixel = view.format.count == 3 ? 3 : 4
        targetMemories = (0..<ring).map { FrameMemory(output, seed: $0) }
        targets = targetMemories.compactMap { memory in
            memory.planes[0].flatMap {
                ColorOverlay.Target(
                    plane: $0, width: view.size.width, height: view.size.height, bytesPerPixel: bytesPerPixel, mix: nil)
            }
        }
        guard maps.count == ring, targets.count == ring else { throw Failure.cannot("a picture has no plane") }
    }

    func run(frames: Int) -> Timing {
        let start = now()
        for _ in 0..<frames {
            overlay.draw(
                maps[next], scale: DepthScale(), range: range, colors: DepthColors(), placement: placement,
                on: targets[next])
            next = (next + 1) % maps.count
        }
        return Timing(frame: Double(now() - start) / Double(frames))
    }
}

extension View {
    var isFloat: Bool { depthFormat == "F32LE" }
    var depthBytes: Int { depth.pixels * (isFloat ? 4 : 2) }

    /// Writes map `number`, rows one after the other.
    func drawDepth(number: Int, into bytes: UnsafeMutableRawBufferPointer) {
        for (index, metres) in slopingWall(depth, number: number).enumerated() {
            if isFloat {
                bytes.storeBytes(of: metres.bitPattern.littleEndian, toByteOffset: index * 4, as: UInt32.self)
            } else {
                let count = UInt16(clamping: Int((metres * 1000).rounded()))
                bytes.storeBytes(of: count.littleEndian, toByteOffset: index * 2, as: UInt16.self)
            }
        }
    }
}

/// A wall that goes from 0.6 m at the left to 3.6 m at the right, in metres, with the noise of a structured-light camera
/// (2 mm at 1 m, growing with the square) and 2 % not measured (0).
private func slopingWall(_ size: Size, number: Int) -> [Float] {
    var random = SplitMix(seed: UInt64(number) &+ 1)
    return (0..<size.pixels).map { index in
        if random.next() % 50 == 0 { return 0 }
        let distance = 0.6 + 3 * Double(index % size.width) / Double(size.width)
        return Float(distance + random.nextNormal() * 0.002 * distance * distance)
    }
}

/// One line of the table of views.
struct ViewFigure {
    let view: View
    /// Frames that were used in turn.
    let ring: Int
    /// Milliseconds for a frame: median and quartiles of the rounds.
    let time: Double
    let low: Double
    let high: Double
    let copy: Double
    /// Time over memcpy.
    let ratio: Double
    /// Milliseconds of the kernels alone.
    let kernel: Double?

    init(_ view: View, ring: Int, _ samples: Samples) {
        self.view = view
        self.ring = ring
        let times = samples.values(0) { $0.frame / 1e6 }
        time = median(times)
        low = quantile(times, 0.25)
        high = quantile(times, 0.75)
        copy = median(samples.values(1) { $0.frame / 1e6 })
        ratio = samples.ratio(0, to: 1)
        kernel = view.kernel.map { _ in median(samples.values(2) { $0.frame / 1e6 }) }
    }

    static let header = line("view", "depth", "output", "ms", "kernel", "memcpy", "ratio")

    var line: String {
        ViewFigure.line(
            view.name, "\(view.depth) \(view.depthFormat)", "\(view.size) \(view.format)", fixed(time, 3),
            kernel.map { fixed($0, 3) } ?? "", fixed(copy, 3),
            fixed(ratio, 2))
    }

    private static func line(
        _ name: String, _ depth: String, _ output: String, _ time: String, _ kernel: String, _ copy: String,
        _ ratio: String
    ) -> String {
        padded(name, to: 36) + padded(depth, to: 20) + padded(output, to: 18) + rightAligned(time, to: 9)
            + rightAligned(kernel, to: 9) + rightAligned(copy, to: 9) + rightAligned(ratio, to: 8)
    }
}

extension Bench {
    /// Measures the elements that show depth, each beside a memcpy of what leaves it.
    func measureViews() throws {
        printLine(ViewFigure.header)
        for view in View.all {
            var leaving = Case()
            (leaving.size, leaving.format) = (view.size, view.format)
            let ring = try effort.ring(leaving)
            processors.use(onlyOne: view.threads == 1)
            var works: [any Workload] = [try ViewWork(view, ring: ring), try CopyWork(leaving, effort, threads: 1)]
            switch view.kernel {
            case .colors(let range): works.append(try ColorWork(view, range, ring: ring))
            case .cloud: works.append(try CloudWork(view, ring: ring))
            case nil: break
            }
            let figure = ViewFigure(view, ring: ring, try Samples(of: works, effort))
            printLine(figure.line)
            add(figure)
            if let goal = view.goal { judge("\(view.name), \(view.depth): times a memcpy", figure.ratio, atMost: goal) }
        }
    }
}
