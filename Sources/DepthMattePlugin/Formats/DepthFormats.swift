import CGStreamer
import DepthKernels
package import GstBridge

/// The format of depth buffers, read from their caps.
package struct DepthFormat: Equatable, Sendable {
    let encoding: DepthEncoding
    package let layout: FrameLayout
    /// The width of a sample by its height, as it is shown.
    let pixelAspect: Double
    /// The unit and the optics that the caps tell.
    let stream: StreamCalibration

    /// Pad template caps for every depth stream.
    static let caps: String = {
        let sizes = "width=(int)[ 1, 2147483647 ], height=(int)[ 1, 2147483647 ]"
        let rates = "framerate=(fraction)[ 0/1, 2147483647/1 ]"
        return "video/x-raw, format=(string){ GRAY16_LE, GRAY16_BE, GRAY8 }, \(sizes), \(rates); "
            + "video/x-depth, format=(string){ F32LE, F16LE }, \(sizes), \(rates)"
    }()

    /// Pad template caps: the depth formats that are written as well as read.
    static let writtenCaps =
        "video/x-raw, format=(string){ GRAY16_LE, GRAY16_BE }, \(anySize), \(anyRate); "
        + "video/x-depth, format=(string)F32LE, \(anySize), \(anyRate)"

    /// - Throws: a sentence saying what was wrong with the caps.
    package init(_ caps: CapsPointer, maxPixels: Int) throws(CapsRefusal) {
        guard let structure = gst_caps_get_structure(caps, 0), let name = gst_structure_get_name(structure) else {
            throw CapsRefusal("empty caps")
        }
        guard caps.isPlainMemory else {
            throw CapsRefusal("depth must lie in the system's memory, and the caps say otherwise")
        }
        stream = try StreamCalibration(caps)
        let aspect = caps.fraction("pixel-aspect-ratio") ?? (1, 1)
        pixelAspect = aspect.0 > 0 && aspect.1 > 0 ? Double(aspect.0) / Double(aspect.1) : 1
        switch String(cString: name) {
        case "video/x-raw":
            let info = try videoInfo(caps, maxPixels: maxPixels)
            guard let encoding = DepthFormat.encoding(of: info.finfo.pointee.format) else {
                throw CapsRefusal(
                    "\(String(cString: info.finfo.pointee.name)) is not a depth format; "
                        + "send GRAY16_LE, GRAY16_BE or GRAY8, or video/x-depth with F32LE or F16LE")
            }
            self.encoding = encoding
            layout = FrameLayout(info)
        case "video/x-depth":
            encoding = try DepthFormat.floatEncoding(structure)
            guard let (width, height) = caps.size, width > 0, height > 0 else {
                throw CapsRefusal("width and height must be fixed and above 0")
            }
            try checkSize(width, height, maxPixels: maxPixels)
            layout = FrameLayout(width: width, height: height, bytesPerSample: encoding.bytesPerSample)
        case let other:
            throw CapsRefusal("\(other) is not a depth stream; send video/x-raw or video/x-depth")
        }
    }

    private static func encoding(of format: GstVideoFormat) -> DepthEncoding? {
        switch format {
        case GST_VIDEO_FORMAT_GRAY16_LE: .gray16LE
        case GST_VIDEO_FORMAT_GRAY16_BE: .gray16BE
        case GST_VIDEO_FORMAT_GRAY8: .gray8
        default: nil
        }
    }

    private static func floatEncoding(_ structure: StructurePointer) throws(CapsRefusal)
        -> DepthEncoding
    {
        switch gst_structure_get_string(structure, "format").map({ String(cString: $0) }) {
        case "F32LE": return .float32LE
        case "F16LE": return .float16LE
        case nil: throw CapsRefusal("the format is missing; use F32LE or F16LE")
        case let format?: throw CapsRefusal("video/x-depth has no format \(format); use F32LE or F16LE")
        }
    }
}

/// Answers whether a depth pad takes caps, where they are those of any picture: a wrong format is let in here and refused
/// as an event, where a reason can be given.
///
/// - Returns: false where it is left unanswered.
func acceptsDepth(_ query: QueryPointer) -> Bool {
    var caps: CapsPointer?
    gst_query_parse_accept_caps(query, &caps)
    guard let caps, ["video/x-raw", "video/x-depth"].contains(caps.mediaType) else { return false }
    gst_query_set_accept_caps_result(query, 1)
    return true
}
