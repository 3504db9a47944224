import CGStreamer
import DepthKernels
import GstBridge

/// Reads the face boxes that detectors leave on buffers.
enum Faces {
    /// More boxes than any scene has: a list longer than this costs time and says nothing.
    static let limit = 64

    /// The region-of-interest metas of the listed types, in the units of the picture that they lie on, enlarged by
    /// the two scales.
    ///
    /// - Parameter types: names separated by commas.
    static func boxes(on buffer: BufferPointer, types: String, scaleX: Double = 1, scaleY: Double = 1) -> [Box] {
        let wanted = quarks(types)
        let api = gst_video_region_of_interest_meta_api_get_type()
        var state: gpointer?
        var boxes: [Box] = []
        while boxes.count < limit, let meta = gst_buffer_iterate_meta_filtered(buffer, &state, api) {
            let region = UnsafeMutableRawPointer(meta)
                .assumingMemoryBound(to: GstVideoRegionOfInterestMeta.self).pointee
            guard wanted.contains(region.roi_type) else { continue }
            boxes.append(
                Box(
                    x: Double(region.x) * scaleX, y: Double(region.y) * scaleY, width: Double(region.w) * scaleX,
                    height: Double(region.h) * scaleY))
        }
        return boxes
    }

    /// A name that no quark was ever made for cannot be the type of a meta.
    private static func quarks(_ names: String) -> [GQuark] {
        names.split(separator: ",").compactMap { name in
            let quark = g_quark_try_string(String(name.trimmed))
            return quark == 0 ? nil : quark
        }
    }
}

extension Substring {
    /// Without blanks at either end.
    fileprivate var trimmed: Substring {
        var rest = self
        while rest.first == " " { rest.removeFirst() }
        while rest.last == " " { rest.removeLast() }
        return rest
    }
}
