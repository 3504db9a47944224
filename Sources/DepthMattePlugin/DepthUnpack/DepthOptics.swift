import CGStreamer
import DepthKernels
import GstBridge

/// The optics of a depth map, as the property `calibration` tells them.
enum DepthOptics {
    case calibration(Calibration)
    case record3d(Record3DMetadata)

    /// Bytes at the end of a file in which Record3D's text is looked for.
    private static let tail = 1 << 20

    /// - Parameter text: JSON, or the path of a file: a calibration, or Record3D's metadata or MP4.
    init(_ text: String) throws(ElementError) {
        let isText = text.utf8.first { $0 > UInt8(ascii: " ") } == UInt8(ascii: "{")
        let bytes = isText ? Array(text.utf8) : try DepthOptics.end(ofFile: text)
        let part = Record3DMetadata.text(in: bytes)
        if let metadata = try? Record3DMetadata(part) {
            self = .record3d(metadata)
            return
        }
        do throws(CalibrationError) {
            self = .calibration(try Calibration(text: part))
        } catch {
            throw ElementError(.settings, "The calibration \"\(text)\" is faulty: \(error.reason).")
        }
    }

    private static func end(ofFile path: String) throws(ElementError) -> [UInt8] {
        guard let reader = ByteReader(path: path) else {
            throw ElementError(.resource(GST_RESOURCE_ERROR_NOT_FOUND), "The calibration \"\(path)\" cannot be read.")
        }
        guard reader.seek(to: max(0, reader.size - tail)) else { return [] }
        return reader.bytes(atMost: tail)
    }

    /// The range of distances that is told with them.
    var span: DepthSpan? { if case .record3d(let metadata) = self { metadata.span } else { nil } }

    /// The camera of a map of that size.
    func camera(width: Int, height: Int) -> CameraIntrinsics {
        switch self {
        case .calibration(let calibration): calibration.depth.scaled(toWidth: width, height: height)
        case .record3d(let metadata): metadata.camera(width: width, height: height)
        }
    }
}
