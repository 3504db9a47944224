import CGStreamer
import DepthCameras
import GstBridge

/// The modes of a camera as caps.
enum CameraCaps {
    /// The caps of the modes of one pad, which the caller owns; empty where there are none.
    static func caps(of modes: [CameraMode], _ role: DepthCamSrc.PadRole) -> CapsPointer? {
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

    /// The depth modes of a camera as they leave the element.
    ///
    /// - Parameter isAligned: true where depth is registered to the video: each map has the size of a video mode.
    static func depthModes(_ info: CameraInfo, isAligned: Bool) -> [CameraMode] {
        guard isAligned, !info.videoModes.isEmpty else { return info.depthModes }
        var seen: Set<CameraMode> = []
        return info.videoModes.flatMap { video in
            let ofItsRate = info.depthModes.filter { $0.rate == video.rate }
            return (ofItsRate.isEmpty ? info.depthModes : ofItsRate).map { leaving($0, video, isAligned: true) }
        }.filter { seen.insert($0).inserted }
    }

    /// The best pair of modes of which downstream takes both: of one rate, if it can be; then the first in the camera's
    /// order.
    ///
    /// - Parameters:
    ///   - isAligned: true where depth is registered to the video, and so has its size.
    ///   - video: caps that downstream of the pad takes; nil where nothing is linked.
    static func choose(
        _ info: CameraInfo, isAligned: Bool, video: CapsPointer?,
        depth: CapsPointer?
    ) -> (video: CameraMode?, depth: CameraMode?)? {
        let videoModes = info.videoModes.filter { accepts(video, $0, .video) }
        func depthModes(beside one: CameraMode?) -> [CameraMode] {
            info.depthModes.filter { accepts(depth, leaving($0, one, isAligned: isAligned), .depth) }
        }
        for one in videoModes {
            if let other = depthModes(beside: one).first(where: { $0.rate == one.rate }) { return (one, other) }
        }
        let depthModes = depthModes(beside: videoModes.first)
        if videoModes.isEmpty && !info.videoModes.isEmpty || depthModes.isEmpty && !info.depthModes.isEmpty {
            return nil
        }
        return (videoModes.first, depthModes.first)
    }

    /// A depth mode as it leaves the element, beside a video mode.
    private static func leaving(_ depth: CameraMode, _ video: CameraMode?, isAligned: Bool) -> CameraMode {
        guard isAligned, let video else { return depth }
        return CameraMode(width: video.width, height: video.height, rate: depth.rate, format: depth.format)
    }

    private static func accepts(_ caps: CapsPointer?, _ mode: CameraMode, _ role: DepthCamSrc.PadRole) -> Bool {
        guard let caps else { return true }
        return texts(of: mode, role).contains { text in
            guard let offered = OwnedCaps(taking: gst_caps_from_string(text)) else { return false }
            return gst_caps_can_intersect(offered.pointer, caps) != 0
        }
    }
}
