import CGStreamer
import DepthKernels
import GstBridge

/// Reads face boxes from the region-of-interest metas of buffers. Its memory is kept from frame to frame.
struct Faces {
    /// The most boxes that are read; longer lists only cost time.
    static let limit = 64

    private(set) var boxes: [Rectangle<Double>] = []
    /// The types that mark faces: the property's text and the metas' quarks.
    private var types: (list: String, quarks: [GQuark]) = ("", [])

    /// Forgets the boxes of the last frame.
    ///
    /// - Parameter list: the meta types that mark faces, separated by commas.
    mutating func begin(types list: String) {
        boxes.removeAll(keepingCapacity: true)
        if types.list != list { types = (list, Faces.quarks(list)) }
    }

    /// Adds the region-of-interest metas of the listed types, in the buffer's pixels times the two scales.
    mutating func add(on buffer: BufferPointer, scaleX: Double = 1, scaleY: Double = 1) {
        let api = gst_video_region_of_interest_meta_api_get_type()
        var state: gpointer?
        while boxes.count < Faces.limit, let meta = gst_buffer_iterate_meta_filtered(buffer, &state, api) {
            let region = UnsafeMutableRawPointer(meta)
                .assumingMemoryBound(to: GstVideoRegionOfInterestMeta.self).pointee
            guard types.quarks.contains(region.roi_type) else { continue }
            boxes.append(
                Rectangle(
                    x: Double(region.x) * scaleX, y: Double(region.y) * scaleY, width: Double(region.w) * scaleX,
                    height: Double(region.h) * scaleY))
        }
    }

    private static func quarks(_ names: String) -> [GQuark] {
        names.split(separator: ",").map { g_quark_from_string(String($0.trimmed)) }
    }
}

extension Substring {
    /// The text without spaces at either end.
    fileprivate var trimmed: Substring {
        var rest = self
        while rest.first == " " { rest.removeFirst() }
        while rest.last == " " { rest.removeLast() }
        return rest
    }
}
