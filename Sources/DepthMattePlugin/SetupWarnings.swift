import CGStreamer
import DepthAggregator
import DepthKernels
import GstBridge
import Synchronization

/// Warnings of set-ups that are valid but most likely not meant: the output alone does not say why it shows nothing.
extension ReferencePadAggregator {
    /// Warns on the bus when another pad already receives data. Once a second at most.
    func warnIfReferencePadIsUnlinked() {
        guard referencePad?.isLinked == false, streams.state.warnings.admits("reference pad") else { return }
        warn(ElementError(.settings, unlinked))
    }

    /// Warns once of video on the stand-in pad that brings no depth; an error where none can. Any thread.
    func warnOfUnlinkedDepth() {
        guard let standIn = Role.standIn, !streams.hasWarnedOfStandIn.exchange(true, ordering: .relaxed) else { return }
        let path = DepthPath(above: streams.pads[standIn], of: self)
        if let path, path.hasNoDepth { return post(ElementError(.settings, path.advice)) }
        warn(ElementError(.settings, unlinked + (path.map { " \($0.advice)" } ?? "")))
    }

    private var unlinked: String {
        "The pad \(Role.reference.description) is not linked. Nothing is output until it is."
    }

    /// Warns of properties by which depth means nothing, or not what they seem to. Once a second at most.
    func warnOfScale(_ scale: DepthScale, of format: DepthFormat?) {
        guard let complaint = format.flatMap({ scale.complaint(about: $0.encoding) }) else { return }
        if streams.state.warnings.admits("scale") {
            warn(ElementError(.settings, complaint))
        }
    }

    /// Logs a color that is transparent although its red, green and blue are set: 0xRRGGBB is taken for 0xAARRGGBB.
    func logTransparentColor(_ property: String, _ argb: UInt32) {
        guard argb > 0, argb < 0x0100_0000 else { return }
        let opaque = hexadecimal(argb | 0xff00_0000)
        Self.log(GST_LEVEL_WARNING, self) {
            "\(property)=\(hexadecimal(argb)) has alpha 0, so it is transparent; the opaque color is \(opaque)"
        }
    }
}

private func hexadecimal(_ argb: UInt32) -> String {
    let digits = String(argb, radix: 16)
    return "0x" + String(repeating: "0", count: 8 - digits.count) + digits
}
