import CGStreamer
import DepthCameras
import DepthKernels
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
    private typealias State = UnsafeMutablePointer<gpointer?>
    private typealias Next = @convention(c) (OpaquePointer, State, UInt, UnsafeMutableRawPointer) -> gboolean
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

    private typealias Mask =
        @convention(c) (
            UnsafeRawPointer, UnsafeMutablePointer<gint>, UnsafeMutablePointer<gint>, UnsafeMutablePointer<guint>,
            UnsafeMutablePointer<guint>
        ) -> BufferPointer?
    private typealias AddObject =
        @convention(c) (OpaquePointer, GQuark, gint, gint, gint, gint, gfloat, UnsafeMutableRawPointer) -> gboolean

    private let meta: Meta
    private let addMeta: Meta
    private let next: Next
    private let objectType: @convention(c) () -> UInt
    private let label: @convention(c) (UnsafeRawPointer) -> GQuark
    private let location: Location
    private let addObject: AddObject
    private let related: @convention(c) (OpaquePointer, guint, CInt, UInt, State, UnsafeMutableRawPointer) -> gboolean
    private let classType: @convention(c) () -> UInt
    private let classCount: @convention(c) (UnsafeRawPointer) -> gsize
    private let classLabel: @convention(c) (UnsafeRawPointer, gsize) -> GQuark
    /// Nil before 1.26, as those that follow.
    private let addMask: AddMask?
    private let maskType: (@convention(c) () -> UInt)?
    private let mask: Mask?
    private let regionCount: (@convention(c) (UnsafeRawPointer) -> gsize)?
    private let region: (@convention(c) (UnsafeRawPointer, gsize) -> guint)?

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
            related = try library.function("gst_analytics_relation_meta_get_direct_related")
            classType = try library.function("gst_analytics_cls_mtd_get_mtd_type")
            classCount = try library.function("gst_analytics_cls_mtd_get_length")
            classLabel = try library.function("gst_analytics_cls_mtd_get_quark")
            addMask = try? library.function("gst_analytics_relation_meta_add_segmentation_mtd")
            maskType = try? library.function("gst_analytics_segmentation_mtd_get_mtd_type")
            mask = try? library.function("gst_analytics_segmentation_mtd_get_mask")
            regionCount = try? library.function("gst_analytics_segmentation_mtd_get_region_count")
            region = try? library.function("gst_analytics_segmentation_mtd_get_region_id")
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

    /// Calls `body` with each mask on a buffer that may show a person, of the first `Detections.limit`: its picture, the rectangle that
    /// it covers, in pixels of the buffer, and its regions that are people. Those are, by the first of these that it is related to:
    ///
    /// - a classification: the regions at the indices of its labels of people;
    /// - an object: all regions but 0 if it is a person, else none;
    /// - neither: all regions but 0.
    func forEachMask(
        on buffer: BufferPointer, _ isPerson: (GQuark) -> Bool,
        _ body: (BufferPointer, Rectangle<Int>, RegionLevels) throws(FrameFault) -> Void
    ) throws(FrameFault) {
        guard let maskType, let mask, let regionCount, let region, let meta = meta(buffer) else { return }
        var (state, item, other, left): (gpointer?, Item, Item, Int) = (nil, Item(), Item(), Detections.limit)
        while left > 0, next(meta, &state, maskType(), &item) != 0 {
            left &-= 1
            var (levels, none): (RegionLevels, gpointer?) = (RegionLevels(repeating: 255), nil)
            levels[0] = 0
            if related(meta, item.id, .max, classType(), &none, &other) != 0 {
                let people = (0..<min(regionCount(&item), classCount(&other))).filter {
                    isPerson(classLabel(&other, $0))
                }
                if people.isEmpty { continue }
                levels = RegionLevels(repeating: 0)
                for number in people.map({ region(&item, $0) }) where number < 256 { levels[Int(number)] = 255 }
            } else if related(meta, item.id, .max, objectType(), &none, &other) != 0, !isPerson(label(&other)) {
                continue
            }
            var (x, y, width, height): (gint, gint, guint, guint) = (0, 0, 0, 0)
            guard let picture = OwnedBuffer(taking: mask(&item, &x, &y, &width, &height)) else { continue }
            try body(picture.pointer, Rectangle(x: Int(x), y: Int(y), width: Int(width), height: Int(height)), levels)
        }
    }
}
