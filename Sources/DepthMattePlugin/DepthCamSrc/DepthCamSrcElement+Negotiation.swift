import CGStreamer
import DepthCameras
import DepthKernels
import GstBridge
import Synchronization

/// Caps, queries and events.
extension DepthCamSrcElement {
    /// The modes that downstream of both pads takes, and the settings.
    func chosenSettings(_ session: CaptureSession) throws(FlowStop) -> CameraSettings {
        guard let info = session.info else { throw .refused(GST_FLOW_FLUSHING) }
        let caps = streams.map { $0.pad.isLinked ? gst_pad_peer_query_caps($0.pad, nil) : nil }
        defer { for case let caps? in caps { gst_caps_unref(caps) } }
        for (stream, caps) in zip(streams, caps) where caps != nil {
            let modes = stream.role == .video ? info.videoModes : info.depthModes
            if modes.isEmpty { throw missing(stream.role, "stream", session) }
        }
        let values = table.current
        guard caps.count == 2,
            let modes = CameraCaps.choose(info, isAligned: values.align == .video, video: caps[0], depth: caps[1])
        else {
            throw noMode("video \(caps.first??.text ?? "not linked"), depth \(caps.last??.text ?? "not linked")")
        }
        var settings = CameraSettings()
        settings.video = modes.video
        // Depth of which nobody takes anything is not captured.
        settings.depth = caps[1] == nil && !values.attachDepth ? nil : modes.depth
        settings.isAligned = values.align == .video
        shared.withLock { $0.isAligned = values.align == .video }
        settings.emitter = values.emitter.isOn
        settings.exposure = values.exposure == 0 ? nil : Int(values.exposure)
        settings.preset = values.preset ?? ""
        return settings
    }

    /// Agrees on the caps of a stream that runs.
    ///
    /// - Returns: false where the camera was asked for other modes instead.
    func negotiate(_ stream: CameraStream, _ camera: CameraStreams) throws(FlowStop) -> Bool {
        let mode = stream.role == .video ? camera.video : camera.depth
        guard let session else { throw .refused(GST_FLOW_FLUSHING) }
        guard let mode else { return try restart(session, orEndWith: missing(stream.role, "stream", session)) }
        let isAligned = shared.withLock { $0.isAligned }
        guard let peer = OwnedCaps(taking: gst_pad_peer_query_caps(stream.pad, nil)), stream.pad.isLinked else {
            throw .refused(GST_FLOW_NOT_LINKED)
        }
        for output in try CameraOutput.choices(stream.role, mode, camera, isAligned: isAligned) {
            guard let owned = OwnedCaps(taking: gst_caps_from_string(output.caps)) else { continue }
            let caps = owned.pointer
            output.stream.write(to: caps)
            guard gst_caps_can_intersect(caps, peer.pointer) != 0 else { continue }
            if stream.format != output {
                Self.log(GST_LEVEL_DEBUG, self) { "\(stream.role.rawValue) caps: \(caps.text)" }
                guard gst_pad_push_event(stream.pad, gst_event_new_caps(caps)) != 0 else { throw stream.pad.refusal }
                try stream.setFormat(output, from: mode, unit: camera.depthUnit)
                if stream.role == .depth { try writeCalibration(output.stream) }
            }
            // The maps of a camera that came back may be others beside the same video.
            if stream.role == .video { try prepareAttachment(camera) }
            return true
        }
        // The same modes would be refused again: depth that was to be registered, and could not be.
        return try restart(session, orEndWith: noMode("\(stream.role.rawValue) \(peer.pointer.text)"))
    }

    /// Asks the camera for other modes, where downstream wants others than it did at the start.
    ///
    /// - Returns: false. Throws `stop` where it wants the same.
    private func restart(_ session: CaptureSession, orEndWith stop: FlowStop) throws(FlowStop) -> Bool {
        let settings = try chosenSettings(session)
        guard settings != session.request else { throw stop }
        session.start(settings)
        for stream in streams { gst_pad_mark_reconfigure(stream.pad) }
        return false
    }

    /// Sets the format of the depth maps that are attached to the video's buffers.
    private func prepareAttachment(_ camera: CameraStreams) throws(FlowStop) {
        guard table.current.attachDepth, let attachment else { return }
        attachment.reset()
        let isAligned = shared.withLock { $0.isAligned }
        guard let mode = camera.depth,
            let output = try CameraOutput.choices(.depth, mode, camera, isAligned: isAligned).first,
            let caps = gst_caps_from_string(output.caps).map({ CapsRef(taking: $0) })
        else { return }
        output.stream.write(to: caps.pointer)
        try attachment.setFormat(output, from: mode, unit: camera.depthUnit)
        attachment.attachedCaps = caps
        // A linked depth pad writes it at its own negotiation.
        if !attachment.pad.isLinked { try writeCalibration(output.stream) }
    }

    /// The error of a linked pad for which something is missing: its stream, or any frame of that.
    func missing(_ role: DepthCamSrc.PadRole, _ lack: String, _ session: CaptureSession) -> FlowStop {
        let recording = session.options.choice.recording
        let owner = recording.isEmpty ? "camera \(session.info?.name ?? "")" : "recording \(recording)"
        return .failed(
            ElementError(
                .resource(GST_RESOURCE_ERROR_NOT_FOUND),
                "The \(owner) has no \(role == .video ? "color" : "depth") \(lack). Leave the pad \(role.rawValue) unlinked.",
                details: "It offers \(session.info?.modes ?? "nothing")."))
    }

    private func noMode(_ wanted: String) -> FlowStop {
        .notNegotiated(
            ElementError(
                .core(GST_CORE_ERROR_NEGOTIATION),
                "The camera has no mode that downstream accepts. Put videoconvert and videoscale after the pad video.",
                details: "The camera offers \(session?.info?.modes ?? "nothing"). Downstream accepts: \(wanted)"))
    }

    /// Writes the file of the property `calibration-location`.
    private func writeCalibration(_ stream: StreamCalibration) throws(FlowStop) {
        guard let path = table.current.calibrationLocation, !path.isEmpty else { return }
        guard var calibration = stream.calibration else {
            return warn(ElementError(.settings, "The camera tells no calibration; \"\(path)\" is not written."))
        }
        calibration.depthUnit = stream.depthUnit
        do throws(FileFault) {
            try writeWhole(Array((calibration.json + "\n").utf8), to: path)
        } catch {
            throw .failed(
                ElementError(
                    .resource(GST_RESOURCE_ERROR_WRITE), "The calibration \"\(path)\" cannot be written.",
                    details: error.reason))
        }
    }

    func srcQuery(_ query: QueryPointer, on stream: CameraStream, parent: () -> Bool) -> Bool {
        var format = GST_FORMAT_TIME
        switch query.pointee.type {
        case GST_QUERY_CAPS: return answerCaps(query, stream) || parent()
        case GST_QUERY_LATENCY: return answerLatency(query, stream)
        case GST_QUERY_SEEKING:
            gst_query_parse_seeking(query, &format, nil, nil, nil)
            gst_query_set_seeking(query, format, 0, 0, -1)
            return true
        case GST_QUERY_CUSTOM where stream.role == .depth: return takeLag(query) || parent()
        default: return parent()
        }
    }

    /// Answers what the camera offers; false while none is open.
    private func answerCaps(_ query: QueryPointer, _ stream: CameraStream) -> Bool {
        guard let info = session?.info else { return false }
        let modes =
            stream.role == .video
            ? info.videoModes : CameraCaps.depthModes(info, isAligned: table.current.align == .video)
        guard let caps = OwnedCaps(taking: CameraCaps.caps(of: modes, stream.role)) else { return false }
        query.answer(caps.pointer)
        return true
    }

    // MARK: The end of a stream

    func finish(_ stream: CameraStream, isRefused: Bool) {
        beginSegment(stream)
        stream.push(gst_event_new_eos())
    }

    /// Posts an error and ends both streams.
    func fail(_ stream: CameraStream, _ error: ElementError) {
        let isFirst = shared.withLock { shared in
            defer { shared.hasFailed = true }
            return !shared.hasFailed
        }
        if isFirst { post(error) }
        session?.end()
        finish(stream, isRefused: false)
    }
}

extension CameraInfo {
    /// The sizes and rates that the camera offers, for messages.
    fileprivate var modes: String {
        func list(_ name: String, _ modes: [CameraMode]) -> String {
            let texts = modes.map { mode in
                let rate = mode.rate.denominator == 1 ? "" : "/\(mode.rate.denominator)"
                return "\(mode.format.rawValue) \(mode.width)x\(mode.height) at \(mode.rate.numerator)\(rate)"
            }
            return "\(name): \(texts.joined(separator: ", "))"
        }
        return list("video", videoModes) + "; " + list("depth", depthModes)
    }
}
