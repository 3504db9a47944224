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

    convenience init(_ layout: FrameLayout, number: Int, fill: (Int, UnsafeMutableRawBufferPointer) -> Void) {
        self.init(layout)
        fill(number, bytes)
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

/// Fills a ring's depth maps, which are slower to draw than to measure with: four are drawn, the others are copies.
func fourInTurn(
    _ draw: @escaping (Int, UnsafeMutableRawBufferPointer) -> Void
) -> (Int, UnsafeMutableRawBufferPointer) -> Void {
    var drawn: [[UInt8]] = []
    return { number, bytes in
        if drawn.count < 4 {
            draw(number, bytes)
            drawn.append(Array(bytes))
        } else {
            bytes.copyBytes(from: drawn[number % drawn.count])
        }
    }
}

/// Textured video: every byte is another, so that no code profits from likeness.
func fillWithNoise(_ bytes: UnsafeMutableRawBufferPointer, seed: Int) {
    var random = SplitMix(seed: UInt64(truncatingIfNeeded: seed))
    let words = bytes.count / 8
    for index in 0..<words {
        bytes.storeBytes(of: random.next().littleEndian, toByteOffset: index * 8, as: UInt64.self)
    }
    let rest = random.next()
    for index in (words * 8)..<bytes.count { bytes[index] = UInt8(truncatingIfNeeded: rest >> UInt64(8 * (index % 8))) }
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
