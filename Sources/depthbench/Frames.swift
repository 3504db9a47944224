import CGStreamer
import DepthKernels
import DepthMattePlugin
import GstBridge

/// Writes the frame of a number into memory.
typealias FrameFill = (_ number: Int, _ bytes: UnsafeMutableRawBufferPointer) -> Void

/// The video frames of a case: their format as GStreamer and as the kernels see it.
struct VideoShape {
    let caps: String
    let layout: FrameLayout
    /// Nil for a format that depthmatte does not blend.
    let pixels: PixelLayout?

    init(_ wanted: Case) throws {
        caps = videoCaps("video/x-raw", wanted.format, wanted.size)
        var info = GstVideoInfo()
        guard let parsed = gst_caps_from_string(caps) else { throw Failure.cannot("bad caps: \(caps)") }
        defer { gst_caps_unref(parsed) }
        guard gst_video_info_from_caps(&info, parsed) != 0 else {
            throw Failure.cannot("there is no video such as \(wanted.format) \(wanted.size)")
        }
        layout = FrameLayout(info)
        pixels = VideoFormat.all.first { $0.name == wanted.format }?.layout
    }
}

/// Depth maps of one size and format.
struct DepthShape {
    let caps: String
    let layout: FrameLayout
    private let size: Size
    private let isFloat: Bool

    init(_ wanted: Case) { self.init("GRAY16_LE", wanted.depth) }

    init(_ format: String, _ size: Size) {
        self.size = size
        isFloat = format == "F32LE"
        caps = videoCaps(isFloat ? "video/x-depth" : "video/x-raw", format, size)
        layout = FrameLayout(
            width: size.width, height: size.height, bytesPerSample: isFloat ? 4 : 2, rowAlignment: 4)
    }

    /// The bytes of one map, in metres or millimetres.
    func map(_ scene: BenchScene, number: Int) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: layout.size)
        bytes.withUnsafeMutableBytes { bytes in
            for (index, metres) in scene.metres(size, number: number).enumerated() {
                let start = index / size.width * layout.planes[0].stride
                let column = index % size.width
                if isFloat {
                    let bits = Float(metres).bitPattern.littleEndian
                    bytes.storeBytes(of: bits, toByteOffset: start + column * 4, as: UInt32.self)
                } else {
                    let count = UInt16(clamping: Int((metres * 1000).rounded()))
                    bytes.storeBytes(of: count.littleEndian, toByteOffset: start + column * 2, as: UInt16.self)
                }
            }
        }
        return bytes
    }

    /// Fills a ring. Maps are slower to draw than to measure with: at most four are drawn, the others are copies.
    func fill(_ scene: BenchScene) -> FrameFill {
        let drawn = (0..<(scene.hasNoise ? 4 : 1)).map { map(scene, number: $0) }
        return { number, bytes in bytes.copyBytes(from: drawn[number % drawn.count]) }
    }

    /// A ring of maps for the kernels.
    func ring(_ scene: BenchScene, count: Int) throws -> (memories: [FrameMemory], maps: [DepthImage]) {
        let fill = fill(scene)
        let memories = (0..<count).map { FrameMemory(layout, number: $0, fill: fill) }
        let maps = memories.compactMap { memory in
            memory.planes[0].flatMap {
                DepthImage(
                    plane: $0.readOnly, width: size.width, height: size.height,
                    encoding: isFloat ? .float32LE : .gray16LE)
            }
        }
        guard maps.count == count else { throw Failure.cannot("a depth map of \(size) has no plane") }
        return (memories, maps)
    }
}

private func videoCaps(_ type: String, _ format: String, _ size: Size) -> String {
    "\(type), format=(string)\(format), width=(int)\(size.width), height=(int)\(size.height), "
        + "framerate=(fraction)30/1"
}

/// The memory of one frame.
final class FrameMemory {
    let bytes: UnsafeMutableRawBufferPointer
    private let layout: FrameLayout

    init(_ layout: FrameLayout, number: Int, fill: FrameFill) {
        self.layout = layout
        bytes = .allocate(byteCount: layout.size, alignment: 64)
        fill(number, bytes)
    }

    /// A frame of noise, the same for the same seed.
    convenience init(_ layout: FrameLayout, seed: Int) { self.init(layout, number: seed, fill: fillWithNoise) }

    deinit { bytes.deallocate() }

    var planes: Planes<MutablePlane> {
        var planes = Planes<MutablePlane>()
        for plane in layout.planes {
            guard let base = bytes.baseAddress,
                let view = MutablePlane(
                    base: base + plane.offset, length: bytes.count - plane.offset, rowBytes: plane.rowBytes,
                    rows: plane.rows, stride: plane.stride)
            else { continue }
            planes.append(view)
        }
        return planes
    }
}

/// Textured video: every word is another, so that no code profits from likeness.
func fillWithNoise(seed: Int, _ bytes: UnsafeMutableRawBufferPointer) {
    var random = SplitMix(seed: UInt64(truncatingIfNeeded: seed))
    for offset in stride(from: 0, to: bytes.count, by: 8) {
        withUnsafeBytes(of: random.next().littleEndian) { word in
            UnsafeMutableRawBufferPointer(rebasing: bytes[offset...]).copyMemory(
                from: UnsafeRawBufferPointer(rebasing: word.prefix(bytes.count - offset)))
        }
    }
}
