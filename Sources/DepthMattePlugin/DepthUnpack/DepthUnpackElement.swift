import CGStreamer
import DepthKernels
import GstBridge

/// One `depthunpack` instance.
///
/// Threads: `state` belongs to the streaming thread, or to `start` and `stop` while that does not run.
final class DepthUnpackElement: Splitter {
    typealias Role = DepthUnpack.PadRole

    static let log = LogCategory(name: DepthUnpack.factory, description: "Depth out of a picture")

    let instance: ElementPointer
    let table = Properties(DepthUnpack.properties, initial: DepthUnpackSettings())
    var properties: any PropertyAccess { table }
    let split = Split<Role>()

    static let sharedFields = [
        "format", "framerate", "pixel-aspect-ratio", "colorimetry", "chroma-site", "interlace-mode",
    ]

    private var state = State()

    private final class State {
        /// The optics of the property `calibration`; nil where it names none.
        var optics: DepthOptics?
        var input: (format: StreamFormat, caps: CapsRef)?
        /// The stream's comment on its depth; nil where there is none.
        var tag: DepthVideoTag?
        /// Nil before the source pads have caps.
        var unpacker: Unpacker?
        var depthCaps: CapsRef?
        var warnings = WarningLimiter()
        var reserve = ScratchReserve()
        /// True where the last picture was dropped.
        var isInterrupted = false
    }

    init(_ instance: ElementPointer) {
        self.instance = instance
        addPads()
    }

    func start() throws(ElementError) {
        guard let text = table.current.calibration, !text.isEmpty else { return }
        state.optics = try DepthOptics(text)
    }

    func stop() { state = State() }

    // MARK: The stream

    func setCaps(_ caps: CapsPointer) throws(CapsRefusal) {
        let format = try StreamFormat(videoInfo(caps, maxPixels: Int(table.current.maxPixels)))
        state.input = (format, CapsRef(sharing: caps))
    }

    func streamStarted() { state.tag = nil }

    func take(comment: String) -> Bool {
        do throws(StructuredTextError) {
            guard let tag = try DepthVideoTag(comment: comment) else { return false }
            if state.tag ?? tag != tag, state.warnings.admits("another comment") {
                let sentence =
                    "The stream's comment on its depth changes, and is followed. Files keep the first comment alone."
                warn(ElementError(.stream(GST_STREAM_ERROR_FORMAT), sentence))
            }
            state.tag = tag
        } catch {
            guard state.warnings.admits("comment") else { return true }
            let reason = String(error.reason.prefix(60))
            let sentence = "The stream's comment on its depth cannot be read: \(reason). Set the property coding."
            warn(ElementError(.stream(GST_STREAM_ERROR_FORMAT), sentence))
        }
        return true
    }

    /// How depth is written: by the properties, the stream's comment, and the coding's own ways, in this order.
    private func description(_ settings: DepthUnpackSettings) -> DepthVideoTag {
        let coding = settings.coding.value ?? state.tag?.coding ?? .gray
        let told = state.tag.flatMap { $0.coding == coding ? $0 : nil }
        let usual = (coding == .record3d ? state.optics?.span : nil) ?? told?.span ?? coding.usualRange
        let chosen = DepthSpan.chosen(near: settings.near, far: settings.far, usual: usual, for: coding)
        if let complaint = chosen.complaint, state.warnings.admits("range") {
            warn(ElementError(.settings, "\(complaint) The stream's own is taken."))
        }
        return DepthVideoTag(
            coding: coding, layout: settings.layout.value ?? state.tag?.layout ?? coding.usualLayout,
            span: chosen.span,
            calibration: told?.calibration)
    }

    // MARK: Caps

    func sourceCaps(_ role: Role) throws(FlowStop) -> CapsPointer? {
        guard let input = state.input else { return nil }
        // The pads are asked one after the other, video first.
        if role == .video {
            let description = description(table.current)
            do throws(CapsRefusal) {
                state.unpacker = try Unpacker(input.format, description)
            } catch {
                state.unpacker = nil
                throw .notNegotiated(ElementError(.stream(GST_STREAM_ERROR_FORMAT), "The input: \(error.reason)."))
            }
        }
        guard let unpacker = state.unpacker else { return nil }
        let isDepth = role == .depth
        guard let caps = unpacker.caps(isDepth: isDepth, like: input.caps.pointer) else {
            throw .refused(GST_FLOW_ERROR)
        }
        if isDepth {
            let (width, height) = (unpacker.picture.width, unpacker.picture.height)
            let camera =
                state.optics?.camera(width: width, height: height) ?? unpacker.description.calibration?.depth
            StreamCalibration(
                depthUnit: 0.001,
                calibration: camera.map { Calibration(depth: $0.scaled(toWidth: width, height: height)) }
            ).write(to: caps)
            state.depthCaps = CapsRef(sharing: caps)
        }
        Self.log(GST_LEVEL_DEBUG, self) { "\(role.rawValue): \(caps.text)" }
        return caps
    }

    func decideAllocation(_ query: QueryPointer, on role: Role) {
        (role == .depth ? state.unpacker?.maps : state.unpacker?.frames)?.decide(query)
    }

    func propertyChanged(_ name: String) { if ["coding", "layout", "near", "far"].contains(name) { renegotiate() } }

    // MARK: A frame

    func split(_ buffer: BufferPointer) throws(FlowStop) {
        guard let unpacker = state.unpacker, let depthCaps = state.depthCaps else {
            throw .refused(GST_FLOW_NOT_NEGOTIATED)
        }
        if buffer.isGap {
            let (start, duration) = (buffer.pointee.pts, buffer.pointee.duration)
            if start != noClockTime, let gap = gst_event_new_gap(start, duration) { push(EventRef(taking: gap)) }
            return
        }
        let settings = table.current
        let edges = settings.edges.value ?? unpacker.description.coding.usualEdges
        let isLinked = split.isLinked(.depth)
        let isWanted = isLinked || settings.attachesDepth
        do throws(FrameFault) {
            try state.reserve.hold(unpacker.kernelMemory)
            // Whoever has the memory of the picture has the depth in it.
            let frame = try unpacker.video(of: buffer, isShared: isWanted)
            if isWanted {
                let map = try unpacker.depth(of: buffer, edges)
                if state.isInterrupted { map.pointer.markDiscontinuity() }
                if isLinked {
                    push(map, on: .depth)
                } else {
                    attachedDepth.attach(map.pointer, depthCaps.pointer, to: frame.pointer)
                }
            }
            if state.isInterrupted { frame.pointer.markDiscontinuity() }
            state.isInterrupted = false
            push(frame, on: .video)
        } catch {
            state.isInterrupted = true
            guard state.warnings.admits(error.cause) else { return }
            warn(ElementError(error, in: "picture on the sink pad", "it is dropped"))
        }
    }
}
