import CGStreamer
import DepthKernels
import DepthMattePlugin
import GstBridge

/// The video frames of a case: their format as GStreamer and as the kernels see it.
struct VideoShape {
    let caps: String
    let layout: FrameLayout
    let pixels: PixelLayout

    init(_ wanted: Case) throws {
        caps = videoCaps(wanted.format, wanted.size)
        guard let layout = frameLayout(caps), let format = VideoFormat.all.first(where: { $0.name == wanted.format })
        else {
            throw Failure.cannot("there is no video such as \(wanted.format) \(wanted.size)")
        }
        self.layout = layout
        pixels = format.layout
    }
}

/// The depth maps of a case.
struct DepthShape {
    let caps: String
    let layout: FrameLayout

    init(_ wanted: Case) throws {
        caps = videoCaps("GRAY16_LE", wanted.depth)
        guard let layout = frameLayout(caps) else {
            throw Failure.cannot("there is no depth map of \(wanted.depth)")
        }
        self.layout = layout
    }
}

private func videoCaps(_ format: String, _ size: Size) -> String {
    "video/x-raw, format=(string)\(format), width=(int)\(size.width), height=(int)\(size.height), "
        + "framerate=(fraction)30/1"
}

private func frameLayout(_ text: String) -> FrameLayout? {
    guard let caps = gst_caps_from_string(text) else { return nil }
    defer { gst_caps_unref(caps) }
    var info = GstVideoInfo()
    return gst_video_info_from_caps(&info, caps) != 0 ? FrameLayout(info) : nil
}

/// The memory of one frame.
final class FrameMemory {
    let bytes: UnsafeMutableRawBufferPointer
    private let layout: FrameLayout

    init(_ layout: FrameLayout) {
        self.layout = layout
        bytes = .allocate(byteCount: layout.size, alignment: 64)
    }

    /// A frame of noise, the same for the same seed.
    convenience init(_ layout: FrameLayout, seed: Int) {
        self.init(layout)
        fillWithNoise(bytes, seed: seed)
    }

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

/// Textured video: every byte is another, so that no code profits from likeness.
func fillWithNoise(_ bytes: UnsafeMutableRawBufferPointer, seed: Int) {
    var random = SplitMix(seed: UInt64(truncatingIfNeeded: seed))
    for offset in stride(from: 0, to: bytes.count, by: 8) {
        let word = random.next()
        for index in offset..<min(offset + 8, bytes.count) {
            bytes[index] = UInt8(truncatingIfNeeded: word >> UInt64(8 * (index - offset)))
        }
    }
}

/// Writes the depth map of a scene into memory of that layout.
func draw(_ scene: Scene, _ size: Size, number: Int, layout: FrameLayout, into bytes: UnsafeMutableRawBufferPointer) {
    let map = scene.depthMap(size, number: number)
    for y in 0..<size.height {
        for x in 0..<size.width {
            bytes.storeBytes(
                of: map[y * size.width + x].littleEndian, toByteOffset: y * layout.planes[0].stride + x * 2,
                as: UInt16.self)
        }
    }
}
