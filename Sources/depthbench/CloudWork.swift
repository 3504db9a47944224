import DepthKernels
import GstBridge

/// The kernels of `depthcloud`, without GStreamer: a cloud in the colours of video that has the depth's size and the
/// output's format, turned by 20°.
final class CloudWork: Workload {
    let leastFrames: Int
    private let renderer = CloudRenderer()
    private let memories: [FrameMemory]
    private let maps: [DepthImage]
    private let pictures: [CloudPicture]
    private let targets: [MutablePlane]
    private let settings: CloudRenderer.Settings
    private let size: Size
    private var next = 0

    init(_ view: View, ring: Int) throws {
        leastFrames = max(ring, 4)
        size = view.depth
        if view.threads > 1 { renderer.crew = ThreadCrew(size: view.threads) }
        var settings = CloudRenderer.Settings(
            sensor: CloudSensor(width: size.width, height: size.height, fieldOfView: 70))
        settings.view.yaw = 20
        self.settings = settings
        let (depths, maps) = try view.depthShape.ring(.slope, count: ring)
        self.maps = maps
        let layout = FrameLayout(width: size.width, height: size.height, bytesPerSample: 4)
        let colors = (0..<ring).map { FrameMemory(layout, seed: $0) }
        let outputs = (0..<ring).map { FrameMemory(layout, seed: $0) }
        memories = depths + colors + outputs
        let placement = DepthPlacement(
            depthWidth: size.width, depthHeight: size.height, videoWidth: size.width, videoHeight: size.height)
        pictures = colors.compactMap { memory in
            memory.planes[0].flatMap { CloudPicture(plane: $0.readOnly, placement: placement) }
        }
        targets = outputs.compactMap { $0.planes[0] }
        guard pictures.count == ring, targets.count == ring else {
            throw Failure.cannot("a picture has no plane")
        }
    }

    func run(frames: Int) throws -> Timing {
        let start = now()
        for _ in 0..<frames {
            guard
                renderer.draw(
                    maps[next], scale: DepthScale(), colors: pictures[next], settings: settings, into: targets[next],
                    width: size.width, height: size.height)
            else { throw Failure.cannot("the cloud does not fit its picture") }
            next = (next + 1) % maps.count
        }
        return Timing(frame: Double(now() - start) / Double(frames))
    }
}
