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
        rig = try ElementRig(view.factory, downstream: try VideoShape(view.leaving).caps)
        rig.set(view.properties)
        rig.set(["max-threads": "\(view.threads)"])
        let depth = view.depthShape
        let maps = try FrameRing(count: ring, size: depth.layout.size, fill: depth.fill(.slope))
        try rig.feed("depth", depth.caps, maps)
        if view.video != nil {
            var video = view.leaving
            video.format = view.videoFormat
            let shape = try VideoShape(video)
            let frames = try FrameRing(count: ring, size: shape.layout.size, fill: fillWithNoise)
            try rig.feed("video", shape.caps, frames)
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
        (memories, maps) = try view.depthShape.ring(.slope, count: ring)
        let output = try VideoShape(view.leaving).layout
        let bytesPerPixel = view.format.count == 3 ? 3 : 4
        targetMemories = (0..<ring).map { FrameMemory(output, seed: $0) }
        targets = targetMemories.compactMap { memory in
            memory.planes[0].flatMap {
                ColorOverlay.Target(
                    plane: $0, width: view.size.width, height: view.size.height, bytesPerPixel: bytesPerPixel, mix: nil)
            }
        }
        guard targets.count == ring else { throw Failure.cannot("a picture has no plane") }
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
    var depthShape: DepthShape { DepthShape(depthFormat, depth) }

    /// The video that leaves.
    var leaving: Case {
        var leaving = Case()
        (leaving.size, leaving.format) = (size, format)
        return leaving
    }

    /// The element, a memcpy of what leaves, and the kernels where they are timed alone.
    func works(ring: Int, _ effort: Options.Effort) throws -> [any Workload] {
        var works: [any Workload] = [try ViewWork(self, ring: ring), try CopyWork(leaving, effort, threads: 1)]
        switch kernel {
        case .colors(let range): works.append(try ColorWork(self, range, ring: ring))
        case .cloud: works.append(try CloudWork(self, ring: ring))
        case nil: break
        }
        return works
    }
}
