import CGStreamer
import DepthKernels
import GstBridge

/// The optics of a depth map, as the property `calibration` tells them.
enum DepthOptics {
    case calibration(Calibration)
    case record3d(Record3DMetadata)

    /// - Parameter text: JSON, or the path of a file: a calibration, or Record3D's metadata or MP4.
    init(_ text: String) throws(ElementError) {
        let isText = text.utf8.first { $0 > UInt8(ascii: " ") } == UInt8(ascii: "{")
        let bytes = isText ? Array(text.utf8) : try calibrationBytes(text, fromEnd: 1 << 20)
        let part = Record3DMetadata.text(in: bytes)
        if let metadata = try? Record3DMetadata(part) {
            self = .record3d(metadata)
            return
        }
        self = .calibration(try readCalibration(part, named: text))
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
