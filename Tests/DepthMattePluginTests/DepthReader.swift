import DepthKernels
import GstBridge
import GstTestSupport
import Testing

/// An element that makes a frame of each depth map, with settings under which one frame does not depend on the last.
///
/// Tests of what a map or a buffer may be run with each of `all`.
struct DepthReader: Sendable, CustomTestStringConvertible {
    let factory: String
    var properties: [String: String] = [:]
    /// The pad of the depth map, and that of the video, where it has one.
    var depthPad = "depth"
    var videoPad: String?
    /// The video's format, and caps that downstream takes.
    var videoFormat = "RGB"
    var downstream = "ANY"
    let testDescription: String

    static let all = [
        DepthReader(
            factory: "depthmatte", properties: ["method": "threshold", "anchor": "fixed", "blur-radius": "2"],
            videoPad: "video", testDescription: "depthmatte threshold"),
        DepthReader(
            factory: "depthmatte", properties: ["method": "threshold", "anchor": "nearest", "anchor-smoothing": "0"],
            videoPad: "video", videoFormat: "NV12", testDescription: "depthmatte nearest"),
        DepthReader(
            factory: "depthmatte", properties: ["method": "fusion", "anchor": "fixed", "settle": "0"],
            videoPad: "video", videoFormat: "I420", testDescription: "depthmatte fusion"),
        DepthReader(
            factory: "depthcolorize", properties: ["range": "equalize"], downstream: "video/x-raw, format=RGBA",
            testDescription: "depthcolorize equalize"),
        DepthReader(
            factory: "depthcolorize", properties: ["range": "fixed", "max": "4"], videoPad: "video",
            downstream: "video/x-raw, format=RGB", testDescription: "depthcolorize mixed"),
        DepthReader(
            factory: "depthcloud", properties: ["yaw": "10"], videoPad: "video", videoFormat: "RGBx",
            downstream: "video/x-raw, format=BGRx", testDescription: "depthcloud"),
        DepthReader(
            factory: "depthpack", properties: ["coding": "black"], videoPad: "video", videoFormat: "I420",
            testDescription: "depthpack"),
        .depthAlign,
    ]

    static let depthAlign = DepthReader(factory: "depthalign", depthPad: "sink", testDescription: "depthalign")

    /// The element with its pads. `start` begins the streams.
    func bench(_ more: [String: String] = [:]) -> Bench {
        let isLed = ["depthmatte", "depthpack"].contains(factory)
        return Bench(
            isLed ? ["depth"] : videoPad.map { [$0] } ?? [], properties.with(more), downstream: downstream,
            of: Bench.Kind(factory: factory, leading: isLed ? "video" : depthPad))
    }

    /// Caps of a map. They carry what `depthalign` needs: two cameras a little apart.
    func caps(_ depth: DepthShape) -> String {
        guard factory == "depthalign" else { return depth.caps }
        let (width, height) = (Double(depth.width), Double(depth.height))
        let camera = CameraIntrinsics(
            width: depth.width, height: depth.height, fx: width, fy: width, cx: (width - 1) / 2, cy: (height - 1) / 2)
        let calibration = Calibration(
            depth: camera, color: camera,
            depthToColor: CameraPose(rotation: CameraPose.identity.rotation, translation: SIMD3(0.02, 0, 0)))
        return depth.caps + ", calibration=(string)\"" + calibration.json.replacing("\"", with: "\\\"") + "\""
    }

    /// Begins the streams, or changes their caps.
    func start(_ bench: Bench, _ depth: DepthShape, _ video: VideoShape, isFirst: Bool = true) {
        for (pad, caps) in [(depthPad, caps(depth)), (videoPad ?? "", video.caps)] where !pad.isEmpty {
            isFirst ? bench[pad].start(caps) : bench[pad].setCaps(caps)
        }
    }

    /// One frame of a map and, where there is a video pad, of a picture.
    func frame(
        _ bench: Bench, _ number: Int = 0, depth: BufferRef, video: @autoclosure () -> BufferRef
    ) -> Recorder.Frame? {
        bench[depthPad].push(depth, at: time(ofFrame: number))
        if let videoPad { bench[videoPad].push(video(), at: time(ofFrame: number)) }
        return bench.output.next()
    }

    /// The frame that a new element makes of a map.
    func picture(_ map: [UInt8], _ depth: DepthShape, _ video: VideoShape, _ more: [String: String] = [:]) -> [UInt8]? {
        let bench = bench(more)
        start(bench, depth, video)
        return frame(bench, depth: guardedBuffer(map), video: guardedBuffer(noise(video, seed: 7)))?.bytes
    }

    /// A video of the reader's format.
    ///
    /// `depthpack` takes even sides alone.
    func video(_ width: Int, _ height: Int) -> VideoShape {
        let unit = factory == "depthpack" ? 2 : 1
        return VideoShape(videoFormat, width / unit * unit, height / unit * unit)
    }
}
