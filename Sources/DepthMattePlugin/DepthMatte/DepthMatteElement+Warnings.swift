import CGStreamer
import DepthAggregator
import DepthKernels
import GstBridge

/// Warnings about settings under which the output shows nothing.
extension DepthMatteElement {
    /// Warns at the first frame of inputs that the settings need and that are not there.
    func warnOfMissingInputs(_ settings: DepthMatteSettings) {
        let needsDepth = settings.view != .original && settings.onMissingDepth != .pass
        if !state.inputs.depth.exists && needsDepth {
            warnOfSettings("The depth pad is not linked, so no frame has depth. Link a depth stream to it.")
        }
        if let complaint = settings.backgroundMode.mode.complaint(settings, hasPad: state.inputs.background.exists) {
            warnOfSettings(complaint)
        }
    }

    /// Warns of a range of depth with nothing in it, once for the same settings and once a second at most.
    func warnIfRangeIsEmpty(_ settings: MatteSettings) {
        let cutoff = state.maker.report.cutoff
        let isEmpty = settings.mask == .cutoff && !settings.invert && cutoff > 0 && settings.near >= cutoff
        guard isEmpty, settings != state.emptyRangeSettings, streams.state.warnings.admits("empty range") else {
            return
        }
        state.emptyRangeSettings = settings
        warnOfSettings(
            "near (\(settings.near) m) is not below the cutoff (\(cutoff) m), so everything is background. "
                + "Lower near, or raise cutoff or margin.")
    }

    private func warnOfSettings(_ sentence: String) {
        warn(ElementError(.resource(GST_RESOURCE_ERROR_SETTINGS), sentence))
    }
}
