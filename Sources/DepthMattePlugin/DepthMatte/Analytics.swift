import CGStreamer
import DepthCameras
import GstBridge

/// GStreamer's analytics library, looked up while the program runs: the plugin is built against 1.22, which has none.
///
/// Source: gst-plugins-bad, `gst-libs/gst/analytics/`: `gstanalyticsmeta.h`, `gstanalyticsobjectdetectionmtd.h` (1.24) and
/// `gstanalyticssegmentationmtd.h` (1.26).
struct Analytics: Sendable {
    /// Loaded when first needed; nil where this GStreamer has none.
    static let library = Analytics()

    /// True once something in this process has used the library: without it no buffer has a meta of its.
    static var isInUse: Bool { g_type_from_name("GstAnalyticsRelationMetaAPI") != 0 }

    private static let names = ["libgstanalytics-1.0.so.0", "libgstanalytics-1.0.0.dylib"]

    /// GstAnalyticsMtd: one result in a GstAnalyticsRelationMeta.
    private struct Item {
        var id: guint = 0
        var meta: OpaquePointer?
    }

    /// A detected object, in pixels.
    struct Object {
        let label: GQuark
        let x: Int32
        let y: Int32
        let width: Int32
        let height: Int32
    }

    private typealias Meta = @convention(c) (BufferPointer) -> OpaquePointer?
    private typealias Next =
        @convention(c) (OpaquePointer, UnsafeMutablePointer<gpointer?>, UInt, UnsafeMutableRawPointer) -> gboolean
    private typealias Location =
        @convention(c) (
            UnsafeRawPointer, UnsafeMutablePointer<gint>, UnsafeMutablePointer<gint>, UnsafeMutablePointer<gint>,
            UnsafeMutablePointer<gint>, UnsafeMutablePointer<gfloat>
        ) -> gboolean
    private typealias AddMask =
        @convention(c) (
            OpaquePointer, BufferPointer, CInt, gsize, UnsafeMutablePointer<guint>, gint, gint, guint, guint,
            UnsafeMutableRawPointer
        ) -> gboolean

    private typealias AddObject =
        @convention(c) (OpaquePointer, GQuark, gint, gint, gint, gint, gfloat, UnsafeMutableRawPointer) -> gboolean

    private let meta: Meta
    private let addMeta: Meta
    private let next: Next
    private let objectType: @convention(c) () -> UInt
    private let label: @convention(c) (UnsafeRawPointer) -> GQuark
    private let location: Location
    private let addObject: AddObject
    /// Nil before 1.26.
    private let addMask: AddMask?

    private init?() {
        do {
            let library = try DynamicLibrary(anyOf: Analytics.names)
            meta = try library.function("gst_buffer_get_analytics_relation_meta")
            addMeta = try library.function("gst_buffer_add_analytics_relation_meta")
            next = try library.function("gst_analytics_relation_meta_iterate")
            objectType = try library.function("gst_analytics_od_mtd_get_mtd_type")
            label = try library.function("gst_analytics_od_mtd_get_obj_type")
            location = try library.function("gst_analytics_od_mtd_get_location")
            addObject = try library.function("gst_analytics_relation_meta_add_od_mtd")
            addMask = try? library.function("gst_analytics_relation_meta_add_segmentation_mtd")
        } catch {
            return nil
        }
    }

    /// Calls `body` with each object that a detector has put on a buffer, until it returns false.
    func forEachObject(on buffer: BufferPointer, _ body: (Object) -> Bool) {
        guard let meta = meta(buffer) else { return }
        var state: gpointer?
        var item = Item()
        while next(meta, &state, objectType(), &item) != 0 {
            var (x, y, width, height): (gint, gint, gint, gint) = (0, 0, 0, 0)
            var confidence: gfloat = 0
            guard location(&item, &x, &y, &width, &height, &confidence) != 0 else { continue }
            let object = Object(label: label(&item), x: x, y: y, width: width, height: height)
            if !body(object) { return }
        }
    }

    /// Adds a region of a buffer's picture as an object of the same type.
    ///
    /// - Parameter confidence: the probability that it is one, 0…1.
    func add(_ region: GstVideoRegionOfInterestMeta, confidence: Double, to buffer: BufferPointer) {
        guard let meta = meta(buffer) ?? addMeta(buffer) else { return }
        var item = Item()
        _ = addObject(
            meta, region.roi_type, gint(clamping: region.x), gint(clamping: region.y), gint(clamping: region.w),
            gint(clamping: region.h), gfloat(confidence), &item)
    }

    /// True where masks can be added to buffers.
    var takesMasks: Bool { addMask != nil }

    /// Adds a mask of the whole picture to a buffer, whose pixels are 0 for the background and 1 for the person.
    ///
    /// - Parameters:
    ///   - mask: with a GstVideoMeta.
    ///   - width, height: of the buffer's picture, in pixels.
    func add(mask: consuming OwnedBuffer, width: Int, height: Int, to buffer: BufferPointer) {
        guard let addMask, let meta = meta(buffer) ?? addMeta(buffer) else { return }
        var regions: [guint] = [0, 1]
        var item = Item()
        let semantic: CInt = 0
        _ = addMask(
            meta, mask.surrender(), semantic, 2, &regions, 0, 0, guint(clamping: width), guint(clamping: height), &item)
    }
}
