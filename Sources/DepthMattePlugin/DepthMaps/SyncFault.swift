import CGStreamer
import GstBridge

/// A fault of the depth map that depthmatte warns of. A query tells it to the elements before the depth pad, and its answer says
/// whether one of them corrects it from now on.
struct SyncFault {
    /// Nanoseconds by which depth is late.
    var lag: Int64 = 0
    /// Video pixels, to be added to the map's place.
    var x = 0.0
    var y = 0.0

    private static let name = "GstDepthMatteSyncFault"
    private static let answer = "is-corrected"

    init(lag: Int64) { self.lag = lag }

    init(x: Double, y: Double) { (self.x, self.y) = (x, y) }

    /// The content of a query; nil for queries of another kind.
    init?(_ query: QueryPointer) {
        var lag: gint64 = 0
        guard query.pointee.type == GST_QUERY_CUSTOM, let structure = gst_query_get_structure(query),
            gst_structure_has_name(structure, SyncFault.name) != 0,
            gst_structure_get_int64(structure, "lag", &lag) != 0,
            gst_structure_get_double(structure, "x", &x) != 0, gst_structure_get_double(structure, "y", &y) != 0
        else { return nil }
        self.lag = Int64(lag)
    }

    /// - Returns: true where an element before a sink pad corrects it.
    func isCorrected(above pad: PadPointer) -> Bool {
        guard let structure = gst_structure_new_empty(SyncFault.name) else { return false }
        structure.set("lag", to: lag)
        structure.set("x", to: x)
        structure.set("y", to: y)
        guard let query = gst_query_new_custom(GST_QUERY_CUSTOM, structure) else { return false }
        defer { gst_query_unref(query) }
        return pad.queryPeer(query) && gst_structure_has_field(gst_query_get_structure(query), SyncFault.answer) != 0
    }

    /// Answers a query: the fault is corrected.
    static func answer(_ query: QueryPointer) {
        gst_query_writable_structure(query)?.set(SyncFault.answer, to: true)
    }

    /// Where the map lies; only a shift of one axis has a sentence.
    var sentence: String {
        let side =
            x < 0 ? "to the right of" : x > 0 ? "to the left of" : y < 0 ? "below" : "above"
        return "The depth map lies \(wholeNumber(abs(x) + abs(y))) pixels \(side) the person's outline"
    }
}

/// The nearest whole number; 0 for one that is out of range.
func wholeNumber(_ number: Double) -> Int64 { Int64(exactly: number.rounded()) ?? 0 }
