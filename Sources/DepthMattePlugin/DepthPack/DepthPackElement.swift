import CGStreamer
import DepthAggregator
import DepthKernels
import GstBridge

/// One `depthpack` instance. Its reference pad is `video`.
///
/// Threads: see `ReferencePadAggregator`. `State` is used by the source pad's streaming thread only, or while that thread is stopped.
final class DepthPackElement: ReferencePadAggregator {
    typealias Role = DepthPack.PadRole

    static let log = LogCategory(name: DepthPack.factory, description: "Depth beside video in one picture")

    let instance: ElementPointer
    let table = Properties(DepthPack.properties, initial: DepthPackSettings())
    let streams = Streams()

    /// Streaming thread, or while that is stopped. `stop` replaces it.
    private var state = State()

    private final class State {
        /// The video's format; nil before its first caps.
        var video: (format: StreamFormat, caps: CapsRef)?
        var depth = RequestPadInput<DepthFormat>(Role.depth)
        /// Nil before the output is negotiated.
        var packer: Packer?
        /// The way in which depth is written, as the stream was told last.
        var sentTag: DepthVideoTag?
        var reserve = ScratchReserve()
    }

    init(_ instance: ElementPointer) {
        self.instance = instance
        addReferencePad()
    }

    func propertyChanged(_ name: String) {
        switch name {
        case "layout", "coding": markReconfigure()
        case "depth-ts-offset": timeShiftChanged()
        default: break
        }
    }

    // MARK: A frame

    func advanceInputs(to moment: Moment, mayWait: Bool, _ settings: DepthPackSettings) throws(FlowStop) {
        state.depth.refresh(self)
        if mayWait && state.depth.isEmpty(in: self, at: moment) { throw .needData }
        try state.depth.advance(in: self, to: moment, mayWait: mayWait)
    }

    func timeShift(of role: Role, _ settings: DepthPackSettings) -> Int64 {
        role == .depth ? settings.depthTimeOffset : 0
    }

    func selectedBuffer(_ role: Role, at moment: Moment, _ settings: DepthPackSettings) -> BufferPointer? {
        role == .depth ? choice(at: moment, settings)?.buffer : nil
    }

    private func choice(at moment: Moment, _ settings: DepthPackSettings) -> Pairing.Choice? {
        state.depth.pairing(at: moment, maxSkew: settings.maxSkew, holdTime: settings.holdTime).choice
    }

    func aggregateFrame(
        _ frame: inout OwnedBuffer, at moment: Moment, _ settings: DepthPackSettings
    ) throws(FlowStop) -> Bool {
        guard let packer = state.packer else { throw .refused(GST_FLOW_NOT_NEGOTIATED) }
        _ = try state.depth.takeAttachedDepth(of: frame.pointer, at: moment, maxPixels: maxPixels)
        var settings = settings
        let format = state.depth.format
        settings.depth.resolve(by: format, on: packer.picture.format.info)
        warnOfScale(settings.depth.scale, of: format)
        let span = span(settings)
        sendTag(settings, span, packer)
        warnIfDepthIsMissing(moment)
        let map = choice(at: moment, settings).flatMap { choice in
            format.map { DepthFrame(buffer: choice.buffer, format: $0, reading: settings.depth) }
        }
        let bytes = KernelMemory.colors(
            depth: format.map { .init($0.layout) } ?? .init(width: 1, height: 1),
            canvas: .init(packer.picture.format.layout))
        let canvas = try drawWithoutFallback("picture") { () throws(FrameFault) in
            try state.reserve.hold(bytes)
            return try packer.frames.undrawn(stampedLike: frame.pointer)
        }
        let isDrawn = try draw(frame.pointer, on: canvas.pointer, packer)
        try draw(isDrawn ? map : nil, on: canvas.pointer, packer, settings.coding, span)
        canvas.pointer.removePlacedMetas()
        attachedDepth.detach(from: canvas.pointer)
        frame = canvas
        return true
    }

    /// Draws the color half; false where it is black because the video cannot be read.
    private func draw(_ video: BufferPointer, on canvas: BufferPointer, _ packer: Packer) throws(FlowStop) -> Bool {
        do throws(FrameFault) {
            try packer.draw(video, on: canvas)
            return true
        } catch {
            report(error, of: videoFrameName, "a black picture is sent instead")
            try drawWithoutFallback("picture") { () throws(FrameFault) in try packer.drawBlack(on: canvas) }
            return false
        }
    }

    /// Draws the depth half, without any measured sample where there is no map that can be read.
    private func draw(
        _ map: DepthFrame?, on canvas: BufferPointer, _ packer: Packer, _ coding: DepthCoding, _ span: DepthSpan
    ) throws(FlowStop) {
        do throws(FrameFault) {
            try packer.draw(map, coding, span, on: canvas)
        } catch {
            report(error, of: depthMapName, "nothing of it is shown")
            try drawWithoutFallback("picture") { () throws(FrameFault) in
                try packer.draw(nil, coding, span, on: canvas)
            }
        }
    }

    /// Warns once of video without depth, where there is no depth pad.
    private func warnIfDepthIsMissing(_ moment: Moment) {
        guard moment.number == 0, !state.depth.exists, state.depth.currentChoice == nil else { return }
        let advice = DepthPath(above: referencePad, of: self)?.advice ?? "Link a depth stream to the depth pad."
        warn(ElementError(.settings, "No depth comes with the video: the depth half has none. \(advice)"))
    }

    /// The distances that are told apart; the coding's own where the properties name none.
    private func span(_ settings: DepthPackSettings) -> DepthSpan {
        let usual = settings.coding.usualRange
        let chosen = DepthSpan.chosen(near: settings.near, far: settings.far, usual: usual, for: settings.coding)
        if let complaint = chosen.complaint, streams.state.warnings.admits("range") {
            warn(ElementError(.settings, "\(complaint) \(usual.near) to \(usual.far) m is taken."))
        }
        return chosen.span
    }

    /// Says how depth is written, where that is not what the stream was told last.
    private func sendTag(_ settings: DepthPackSettings, _ span: DepthSpan, _ packer: Packer) {
        // A file may have begun since: switched on again, the comment is sent again.
        guard settings.sendsTag else { return state.sentTag = nil }
        // The optics of a map that lies elsewhere on the picture are not those of the half.
        let isWhole = settings.depth.fit == .stretch && settings.depth.offsetX == 0 && settings.depth.offsetY == 0
        let stream = state.depth.format?.stream
        let camera =
            isWhole && settings.depth.zoom == 1 && stream?.calibration?.color == nil ? stream?.calibration?.depth : nil
        let tag = DepthVideoTag(
            coding: settings.coding, layout: packer.layout, span: span,
            calibration: camera.map {
                Calibration(depth: $0.scaled(toWidth: packer.picture.width, height: packer.picture.height))
            })
        guard tag != state.sentTag, sendMandatoryEvents(), let event = newCommentTag(tag.text) else { return }
        if pushEvent(event) || !sourcePad.isFlushing { state.sentTag = tag }
    }

    // MARK: Caps

    func acceptCaps(_ caps: CapsPointer, on role: Role) throws(CapsRefusal) {
        switch role {
        case .video: _ = try videoFormat(caps)
        case .depth: _ = try DepthFormat(caps, maxPixels: maxPixels)
        }
    }

    private func videoFormat(_ caps: CapsPointer) throws(CapsRefusal) -> StreamFormat {
        let format = try StreamFormat(videoInfo(caps, maxPixels: maxPixels))
        guard format.width % 2 == 0, format.height % 2 == 0 else {
            let size = "\(format.width)x\(format.height)"
            throw CapsRefusal("\(size) has an odd side; scale the video to even width and height")
        }
        return format
    }

    func setCaps(_ caps: CapsPointer, on role: Role) throws(CapsRefusal) {
        switch role {
        case .video:
            state.video = (try videoFormat(caps), CapsRef(sharing: caps))
            markReconfigure()
        case .depth:
            warnIfReferencePadIsUnlinked()
            state.depth.setFormatIfNew(try DepthFormat(caps, maxPixels: maxPixels), self)
        }
    }

    func sinkQuery(_ query: QueryPointer, on pad: Pad, parent: () -> Bool) -> Bool {
        query.pointee.type == GST_QUERY_ACCEPT_CAPS && role(of: pad) == .depth && acceptsDepth(query) || parent()
    }

    var isNegotiated: Bool { state.packer != nil }

    func updateSrcCaps(downstream: CapsPointer) throws(FlowStop) -> CapsPointer? {
        guard let video = state.video else { return nil }
        let layout = table.current.packedLayout
        let size = layout.packed(video.format.width, video.format.height)
        guard let result = try accepted(of: possibleCaps(video, layout), downstream).fixated(near: size) else {
            throw .refused(GST_FLOW_NOT_NEGOTIATED)
        }
        do throws(CapsRefusal) {
            state.packer = try Packer(
                video.format.info, to: StreamFormat(videoInfo(result, maxPixels: .max)), layout)
        } catch {
            gst_caps_unref(result)
            throw .notNegotiated(ElementError(.core(GST_CORE_ERROR_NEGOTIATION), "The output: \(error.reason)."))
        }
        state.sentTag = nil
        Self.log(GST_LEVEL_DEBUG, self) { "video \(video.caps.pointer.text), output \(result.text)" }
        return result
    }

    /// The caps that the element can output: twice the video's size, and any other.
    private func possibleCaps(_ video: (format: StreamFormat, caps: CapsRef), _ layout: PackedLayout) -> String {
        let size = layout.packed(video.format.width, video.format.height)
        let rate = video.caps.pointer.fraction("framerate") ?? (0, 1)
        let info = video.format.info
        var colorimetry = info.colorimetry
        let isYUV = video.format.format.family == .yuv
        let name = isYUV ? takeString(gst_video_colorimetry_to_string(&colorimetry)) : nil
        let colors = name.map { ", colorimetry=(string)\"\($0)\"" } ?? ""
        let rest = ", pixel-aspect-ratio=(fraction)\(info.par_n)/\(info.par_d)" + colors
        func caps(_ width: String, _ height: String) -> String {
            VideoFormat.caps(of: DepthPack.formats, width: width, height: height, rate: "\(rate.0)/\(rate.1)") + rest
        }
        return caps("\(size.width)", "\(size.height)") + "; "
            + (layout.isSideBySide
                ? caps("[ 4, 32768, 4 ]", "[ 2, 32768, 2 ]") : caps("[ 2, 32768, 2 ]", "[ 4, 32768, 4 ]"))
    }

    func negotiationFailed() {
        guard let video = state.video else { return }
        state.packer = nil
        post(
            ElementError(
                .core(GST_CORE_ERROR_NEGOTIATION),
                "Downstream does not accept the picture that holds color and depth. Put an encoder, or videoconvert, after this "
                    + "element.",
                details: possibleCaps(video, table.current.packedLayout)))
    }

    func decideAllocation(_ query: QueryPointer) -> Bool {
        state.packer?.frames.decide(query)
        return true
    }

    // MARK: Stop

    func resetInputs() { state.depth.reset() }

    func stop() {
        state = State()
        stopStreams()
    }
}
