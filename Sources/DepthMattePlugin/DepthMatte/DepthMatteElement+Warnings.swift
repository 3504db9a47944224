import CGStreamer
import DepthAggregator
import DepthKernels
import GstBridge

/// Warnings about settings under which the output shows nothing.
extension DepthMatteElement {
    /// Warns at the first frame of inputs that the settings need and that are not there.
    func warnOfMissingInputs(_ settings: DepthMatteSettings) {
        if let complaint = settings.backgroundMode.mode.complaint(settings, hasPad: state.inputs.background.exists) {
            warnOfSettings(complaint)
        }
    }

    /// Warns of video without depth, where there is no depth pad: once, until a frame brings its depth. Throws where none can.
    func checkDepthIsThere(_ settings: DepthMatteSettings) throws(FlowStop) {
        guard !state.inputs.depth.exists, state.inputs.depth.currentChoice == nil else {
            state.hasWarnedOfMissingDepth = false
            return
        }
        guard settings.view != .original, settings.onMissingDepth != .pass, !state.hasWarnedOfMissingDepth else {
            return
        }
        state.hasWarnedOfMissingDepth = true
        guard let path = DepthPath(above: referencePad, of: self) else {
            return warnOfSettings(
                "The depth pad is not linked, so no frame has depth. Link a depth stream to it; a map that comes with the "
                    + "video passes no encoder, file or network.")
        }
        if path.hasNoDepth { throw .failed(ElementError(.settings, path.advice)) }
        warnOfSettings(path.advice)
    }

    /// Warns of depth whose caps say that it is seen from the depth camera's place.
    func warnIfUnregistered(_ depth: DepthFormat) {
        guard depth.stream.calibration?.color != nil, streams.state.warnings.admits("unregistered depth") else {
            return
        }
        warnOfSettings(
            "The depth map is not registered to the video, so its edges lie beside the person's. Put depthalign before the "
                + "depth pad, or set align=video at depthcamsrc.")
    }

    /// Warns of a cutoff that shows or hides nothing, once for the same settings and once a second at most.
    func warnOfCutoff(_ settings: MatteSettings) {
        guard settings != state.complainedOf, let encoding = state.inputs.depth.format?.encoding,
            let complaint = settings.complaint(about: encoding, cutoff: state.maker.report.cutoff),
            streams.state.warnings.admits("cutoff")
        else { return }
        state.complainedOf = settings
        warnOfSettings(complaint)
    }

    /// Warns of a room that was not captured.
    func warnOfRefusedCapture(_ settings: MatteSettings) {
        guard state.maker.report.isCaptureRefused else { return }
        warnOfSettings(
            settings.room == .off || settings.method != .fusion
                ? "The room was not captured: set room-memory=learn or keep, and method=fusion."
                : "The room was not captured, because somebody is in it. Leave the picture for a second, and capture again."
        )
    }

    /// Warns of a picture of the room that is not used.
    func warnOfRoomPicture(_ picture: Picture, _ format: StreamFormat) {
        warnOfSettings(
            "The room is not taken from room-picture: the picture has \(picture.info.width)x\(picture.info.height) pixels, the "
                + "video \(format.width)x\(format.height).")
    }

    /// Warns once of depth maps none of which belongs to a frame: streams with time stamps of different origins look like that.
    func warnIfNeverPaired(_ pairing: Pairing, _ settings: DepthMatteSettings) {
        guard case .missing(let nearest?) = pairing, let frames = state.unpairedFrames else { return }
        state.unpairedFrames = frames + 1
        guard frames + 1 == DepthMatteElement.framesToPair else { return }
        let milliseconds = nearest / 1_000_000
        warnOfSettings(
            "No depth map was within max-skew (\(settings.maxSkew / 1_000_000) ms) of any frame; the nearest to this one is "
                + "\(milliseconds) ms away. Mend the time stamps, or raise max-skew.")
    }

    /// Unpaired frames before the warning: a camera's depth may start some frames after its video.
    private static let framesToPair = 30

    func warnOfSettings(_ sentence: String) {
        warn(ElementError(.settings, sentence))
    }
}
