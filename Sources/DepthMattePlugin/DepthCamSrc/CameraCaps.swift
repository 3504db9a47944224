import CGStreamer
import DepthCameras
import GstBridge

/// The modes of a camera as caps.
enum CameraCaps {
    /// The caps of the modes of one pad, which the caller owns; nil where there are none.
    static func caps(of modes: [CameraMode], _ role: DepthCamSrc.PadRole) -> UnsafeMutablePointer<GstCaps>? {
        gst_caps_from_string(modes.flatMap { texts(of: $0, role) }.joined(separator: "; "))
    }

    /// The caps of one mode, best first. Depth can be sent in counts of a millimetre, or in metres.
    static func texts(of mode: CameraMode, _ role: DepthCamSrc.PadRole) -> [String] {
        let fields =
            "width=(int)\(mode.width), height=(int)\(mode.height), "
            + "framerate=(fraction)\(mode.rate.numerator)/\(mode.rate.denominator), "
            + "pixel-aspect-ratio=(fraction)1/1"
        let raw = "video/x-raw, format=(string)\(mode.format.rawValue), interlace-mode=(string)progressive, \(fields)"
        return role == .video ? [raw] : [raw, "video/x-depth, format=(string)F32LE, \(fields)"]
    }

    /// The best pair of modes of which downstream takes both: of one rate, if it can be; then the first in the camera's
    /// order.
    ///
    /// - Parameters:
    ///   - video: caps that downstream of the pad takes; nil where nothing is linked.
    static func choose(
        _ info: CameraInfo, video: UnsafeMutablePointer<GstCaps>?, depth: UnsafeMutablePointer<GstCaps>?
    ) -> (video: CameraMode?, depth: CameraMode?)? {
        let videoModes = info.videoModes.filter { accepts(video, $0, .video) }
        let depthModes = info.depthModes.filter { accepts(depth, $0, .depth) }
        if videoModes.isEmpty && !info.videoModes.isEmpty || depthModes.isEmpty && !info.depthModes.isEmpty {
            return nil
        }
        for one in videoModes {
            if let other = depthModes.first(where: { $0.rate == one.rate }) { return (one, other) }
        }
        return (videoModes.first, depthModes.first)
    }

    private static func accepts(
        _ caps: UnsafeMutablePointer<GstCaps>?, _ mode: CameraMode, _ role: DepthCamSrc.PadRole
    ) -> Bool {
        guard let caps else { return true }
        return texts(of: mode, role).contains { text in
            guard let offered = gst_caps_from_string(text) else { return false }
            defer { gst_caps_unref(offered) }
            return gst_caps_can_intersect(offered, caps) != 0
        }
    }
}
