import CGStreamer
import DepthAggregator
import DepthKernels
import DepthScene
import GstBridge

/// Frames a second.
typealias FrameRate = (numerator: gint, denominator: gint)

/// The stream of one source pad: its format, its position, and the renderer of its frames.
///
/// Used by the pad's thread, or by other threads while they hold its stream lock.
final class TestStream: SourceStream {
    let role: DepthTestSrc.PadRole
    let pad: PadPointer
    var needsStreamStart = true
    /// True if the next frame is discontinuous.
    var isInterrupted = true
    /// Number of the next frame.
    var frame: UInt64 = 0
    /// The seqnum of the current segment; nil before the first.
    private(set) var segmentSeqnum: guint32?
    /// The value of `Shared.pauses` up to which the stream has skipped missed frames.
    var pausesSeen = 0
    private(set) var format: Format?
    /// The caps of maps that leave with the video.
    var attachedCaps: CapsRef?
    private var renderer: SceneRenderer?
    private var converter: PictureConverter?
    /// The pools that the buffers of the maps are taken from, by the buffers' size in bytes.
    private var pools: [Int: PicturePool] = [:]

    /// The format of the pad's caps.
    struct Format {
        let width: Int
        let height: Int
        let rate: FrameRate
        let content: Content

        /// One plane of samples of a frame's size.
        func layout(bytesPerSample: Int, rowAlignment: Int = 1) -> FrameLayout {
            FrameLayout(width: width, height: height, bytesPerSample: bytesPerSample, rowAlignment: rowAlignment)
        }

        enum Content {
            case video(GstVideoInfo)
            case depthCounts(bigEndian: Bool)
            case depthMetres
            case matte
        }
    }

    init(_ role: DepthTestSrc.PadRole, pad: PadPointer) {
        self.role = role
        self.pad = pad
    }

    func reset() {
        needsStreamStart = true
        isInterrupted = true
        frame = 0
        segmentSeqnum = nil
        pausesSeen = 0
        format = nil
        renderer = nil
        converter = nil
        attachedCaps = nil
        pools = [:]
    }

    // MARK: Format

    /// Returns fixed caps that downstream accepts, which the caller owns; nil if there are none.
    ///
    /// - Parameters:
    ///   - size: the preferred size.
    ///   - rate: the preferred frame rate.
    func fixedCaps(
        near size: (width: gint, height: gint), rate: FrameRate = DepthTestSrc.preferredRate
    ) -> CapsPointer? {
        guard let template = OwnedCaps(taking: gst_pad_get_pad_template_caps(pad)),
            let peer = OwnedCaps(taking: gst_pad_peer_query_caps(pad, template.pointer)),
            let allowed = gst_caps_intersect_full(peer.pointer, template.pointer, GST_CAPS_INTERSECT_FIRST)
        else { return nil }
        guard gst_caps_is_empty(allowed) == 0 else {
            gst_caps_unref(allowed)
            return nil
        }
        return fixed(allowed, near: size, rate)
    }

    /// Fixates the first structure of caps, whose ownership is taken.
    private func fixed(_ caps: CapsPointer, near size: (width: gint, height: gint), _ rate: FrameRate) -> CapsPointer? {
        guard let writable = gst_caps_truncate(caps)?.writable, let structure = gst_caps_get_structure(writable, 0)
        else { return nil }
        gst_structure_fixate_field_nearest_int(structure, "width", size.width)
        gst_structure_fixate_field_nearest_int(structure, "height", size.height)
        gst_structure_fixate_field_nearest_fraction(structure, "framerate", rate.numerator, rate.denominator)
        // The defaults of raw video, written out because some elements refuse caps without them.
        if writable.mediaType == "video/x-raw" {
            if gst_structure_has_field(structure, "pixel-aspect-ratio") == 0 {
                structure.set("pixel-aspect-ratio", toFraction: 1, 1)
            }
            if gst_structure_has_field(structure, "interlace-mode") == 0 {
                structure.set("interlace-mode", to: "progressive")
            }
        }
        return writable.fixated()
    }

    /// Sets the format; false for caps that are not supported.
    func setFormat(_ caps: CapsPointer) -> Bool {
        guard let read = TestStream.read(caps, role) else { return false }
        let isRateChange = format.map { $0.rate != read.rate } ?? false
        if isRateChange, let old = format {
            // The same stream time, in frames of the new rate.
            let time = TestStream.time(ofFrame: frame, rate: old.rate)
            frame = TestStream.firstFrame(atOrAfter: time, rate: read.rate)
        }
        format = read
        renderer = nil
        converter = nil
        pools = [:]
        return true
    }

    private static func read(_ caps: CapsPointer, _ role: DepthTestSrc.PadRole) -> Format? {
        guard let (width, height) = caps.size, let (numerator, denominator) = caps.fraction("framerate"), width > 0,
            height > 0, width * height <= SceneRenderer.pixelLimit, numerator >= 0, denominator > 0,
            let content = content(caps, role)
        else { return nil }
        let rate = (gint(clamping: numerator), gint(clamping: denominator))
        return Format(width: width, height: height, rate: rate, content: content)
    }

    private static func content(_ caps: CapsPointer, _ role: DepthTestSrc.PadRole) -> Format.Content? {
        if role == .depth, caps.mediaType == "video/x-depth" { return .depthMetres }
        var info = GstVideoInfo()
        guard gst_video_info_from_caps(&info, caps) != 0 else { return nil }
        switch role {
        case .video: return .video(info)
        case .depth: return .depthCounts(bigEndian: info.finfo.pointee.format == GST_VIDEO_FORMAT_GRAY16_BE)
        case .matte: return .matte
        }
    }

    // MARK: Time

    /// Returns the start of a frame, in nanoseconds of stream time.
    static func time(ofFrame frame: UInt64, rate: FrameRate) -> GstClockTime {
        guard rate.numerator > 0 else { return frame == 0 ? 0 : noClockTime }
        return gst_util_uint64_scale(guint64(frame), guint64(rate.denominator) * 1_000_000_000, guint64(rate.numerator))
    }

    /// Returns the first frame that starts at `time` or later.
    static func firstFrame(atOrAfter time: GstClockTime, rate: FrameRate) -> UInt64 {
        guard rate.numerator > 0 else { return time == 0 ? 0 : 1 }
        return UInt64(
            gst_util_uint64_scale_ceil(time, guint64(rate.numerator), guint64(rate.denominator) * 1_000_000_000))
    }

    /// Moves to the start of a segment.
    func begin(_ timeline: Timeline) {
        segmentSeqnum = timeline.seqnum
        frame = TestStream.firstFrame(
            atOrAfter: timeline.segment.position, rate: format?.rate ?? DepthTestSrc.preferredRate)
        isInterrupted = true
    }

    // MARK: Frames

    /// Returns true for a frame that `dropouts` leaves out.
    func isDropped(_ frame: UInt64, _ settings: DepthTestSrcSettings) -> Bool {
        role == .depth && SceneRenderer.isDropped(frame, seed: settings.seed, share: settings.dropouts)
    }

    func draw(
        _ format: Format, at time: GstClockTime, _ settings: DepthTestSrcSettings
    ) throws(FrameFault) -> OwnedBuffer {
        let delay = role == .depth ? settings.depthDelay : 0
        let sceneTime = Double(time) - Double(delay)
        let renderer = try renderer(for: format, settings.scene(at: sceneTime))
        let seconds = settings.still ? 0 : sceneTime / 1e9
        switch format.content {
        case .video(let info):
            let buffer = try drawVideo(format, info, renderer, seconds)
            if settings.face { addFaces(to: buffer, format, renderer.faces(seconds: seconds)) }
            return buffer
        case .depthMetres:
            return try drawDepth(format, renderer, seconds, settings)
        case .depthCounts(let bigEndian):
            let metres = try drawDepth(format, renderer, seconds, settings)
            return try counts(metres, format, bigEndian: bigEndian)
        case .matte:
            let layout = format.layout(bytesPerSample: 1, rowAlignment: 4)
            return try drawn(layout) { renderer.drawMatte(seconds: seconds, into: $0) }
        }
    }

    private func renderer(for format: Format, _ scene: Scene) throws(FrameFault) -> SceneRenderer {
        if let renderer, renderer.scene == scene { return renderer }
        // Arrays hold the scene, and those end the program where there is no memory.
        let bytes = SceneRenderer.mostMemory(width: format.width, height: format.height)
        guard MemoryReserve.isAvailable(bytes: bytes) else { throw .outOfMemory(bytes: bytes) }
        let fresh = SceneRenderer(scene: scene, width: format.width, height: format.height)
        renderer = fresh
        return fresh
    }

    private func drawVideo(
        _ format: Format, _ info: GstVideoInfo, _ renderer: SceneRenderer, _ seconds: Double
    ) throws(FrameFault) -> OwnedBuffer {
        let layout = format.layout(bytesPerSample: 4)
        let picture = try drawn(layout) { renderer.drawVideo(seconds: seconds, frame: frame, into: $0) }
        if info.finfo.pointee.format == GST_VIDEO_FORMAT_BGRx { return picture }
        let converted = try newBuffer(size: Int(clamping: info.size))
        try converter(to: info, format).convert(picture.pointer, into: converted.pointer)
        return converted
    }

    private func converter(to info: GstVideoInfo, _ format: Format) throws(FrameFault) -> PictureConverter {
        if let converter { return converter }
        let drawn = try GstVideoInfo.of(GST_VIDEO_FORMAT_BGRx, width: format.width, height: format.height)
        let made = try PictureConverter(drawn, to: info)
        converter = made
        return made
    }

    private func drawDepth(
        _ format: Format, _ renderer: SceneRenderer, _ seconds: Double, _ settings: DepthTestSrcSettings
    ) throws(FrameFault) -> OwnedBuffer {
        let layout = format.layout(bytesPerSample: 4)
        return try drawn(layout) {
            renderer.drawDepth(
                seconds: seconds, frame: frame, sensor: settings.sensor, parallax: settings.parallax,
                noise: settings.noise, holes: settings.holes, into: $0)
        }
    }

    private func counts(
        _ metres: borrowing OwnedBuffer, _ format: Format, bigEndian: Bool
    ) throws(FrameFault) -> OwnedBuffer {
        let source = format.layout(bytesPerSample: 4)
        let target = format.layout(bytesPerSample: 2, rowAlignment: 4)
        return try drawn(target) { counts throws(FrameFault) in
            try withFrame(reading: metres.pointer, source) { planes throws(FrameFault) in
                writeCounts(
                    metres: try planes.first(), unit: DepthTestSrc.depthUnit, bigEndian: bigEndian, into: counts)
            }
        }
    }

    /// Returns a new buffer of one plane that `body` has drawn on.
    private func drawn(
        _ layout: FrameLayout, _ body: (MutablePlane) throws(FrameFault) -> Void
    ) throws(FrameFault) -> OwnedBuffer {
        let buffer = role == .depth ? try pooled(layout) : try newBuffer(size: layout.size)
        try withFrame(changing: buffer.pointer, layout) { planes throws(FrameFault) in try body(try planes.first()) }
        return buffer
    }

    private func pooled(_ layout: FrameLayout) throws(FrameFault) -> OwnedBuffer {
        let pool = pools[layout.size] ?? PicturePool(size: layout.size)
        pools[layout.size] = pool
        return try pool.buffer(layout)
    }

    private func addFaces(to buffer: borrowing OwnedBuffer, _ format: Format, _ faces: [Rectangle<Double>]) {
        let (width, height) = (Double(format.width), Double(format.height))
        for face in faces {
            let box = Rectangle(
                x: face.x * width, y: face.y * height, width: face.width * width, height: face.height * height)
            buffer.pointer.addRegion("face", box, width: format.width, height: format.height)
        }
    }
}
