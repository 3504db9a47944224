import CGStreamer
import DepthKernels
import GstBridge

/// Reads the faces and people that detectors marked on buffers. Its memory is kept from frame to frame.
struct Detections {
    /// The most boxes of a kind, and masks of a buffer, that are read; longer lists only cost time.
    static let limit = 64

    /// In video pixels.
    private(set) var faces: [Rectangle<Double>] = []
    /// Upper bodies, in video pixels.
    private(set) var people: [Rectangle<Double>] = []
    private var faceLabels = Labels()
    private var personLabels = Labels()
    /// The size of the video in pixels.
    private var width = 0
    private var height = 0

    /// The text of a property and the quarks of its labels.
    private struct Labels {
        private var text = ""
        private(set) var quarks: [GQuark] = []

        mutating func set(_ text: String) {
            if self.text == text { return }
            self.text = text
            quarks = text.split(separator: ",").map { g_quark_from_string(String($0.trimmed)) }
        }
    }

    /// Forgets the boxes of the last frame.
    ///
    /// - Parameters:
    ///   - width, height: of the video, in pixels.
    ///   - faces, people: the labels that mark them, separated by commas.
    mutating func begin(width: Int, height: Int, faces faceTypes: String, people personTypes: String) {
        faces.removeAll(keepingCapacity: true)
        people.removeAll(keepingCapacity: true)
        faceLabels.set(faceTypes)
        personLabels.set(personTypes)
        (self.width, self.height) = (width, height)
    }

    /// Adds the detections on a buffer: its region-of-interest metas, and the objects in its analytics meta.
    ///
    /// - Parameters:
    ///   - scaleX, scaleY: video pixels for each pixel of the buffer.
    mutating func add(on buffer: BufferPointer, scaleX: Double = 1, scaleY: Double = 1) {
        let api = gst_video_region_of_interest_meta_api_get_type()
        var state: gpointer?
        while faces.count + people.count < Detections.limit,
            let meta = gst_buffer_iterate_meta_filtered(buffer, &state, api)
        {
            let region = meta.cast(to: GstVideoRegionOfInterestMeta.self).pointee
            add(
                region.roi_type, x: Double(region.x) * scaleX, y: Double(region.y) * scaleY,
                width: Double(region.w) * scaleX, height: Double(region.h) * scaleY)
        }
        guard Analytics.isInUse, let analytics = Analytics.library else { return }
        analytics.forEachObject(on: buffer) { object in
            add(
                object.label, x: Double(object.x) * scaleX, y: Double(object.y) * scaleY,
                width: Double(object.width) * scaleX, height: Double(object.height) * scaleY)
            return faces.count + people.count < Detections.limit
        }
    }

    /// True for the labels of people.
    func isPerson(_ label: GQuark) -> Bool { personLabels.quarks.contains(label) }

    private mutating func add(_ label: GQuark, x: Double, y: Double, width: Double, height: Double) {
        let box = Rectangle(x: x, y: y, width: width, height: height)
        if faceLabels.quarks.contains(label) {
            faces.append(box)
        } else if isPerson(label),
            let body = box.upperBody(frameWidth: self.width, frameHeight: self.height)
        {
            people.append(body)
        }
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
