import CGStreamer
import GstBridge

/// A fault of the depth map that depthmatte found. It tells it upstream of its depth pad by a query, whose answer says whether an
/// element there corrects it from now on.
enum SyncFault {
    /// Nanoseconds by which depth is late.
    case lag(Int64)
    /// Video pixels by which the map lies too far to the right.
    case right(Double)
    /// Video pixels by which the map lies too far down.
    case down(Double)

    private static let name = "GstDepthMatteSyncFault"
    private static let correctedField = "is-corrected"

    /// The content of a query; nil for queries of another kind.
    init?(_ query: QueryPointer) {
        guard query.pointee.type == GST_QUERY_CUSTOM, let structure = gst_query_get_structure(query),
            gst_structure_has_name(structure, SyncFault.name) != 0
        else { return nil }
        var (lag, pixels): (gint64, Double) = (0, 0)
        if gst_structure_get_int64(structure, "lag", &lag) != 0 {
            self = .lag(Int64(lag))
        } else if gst_structure_get_double(structure, "right", &pixels) != 0 {
            self = .right(pixels)
        } else if gst_structure_get_double(structure, "down", &pixels) != 0 {
            self = .down(pixels)
        } else {
            return nil
        }
    }

    /// - Returns: true where an element upstream of a sink pad corrects it.
    func askUpstream(of pad: PadPointer) -> Bool {
        guard let structure = gst_structure_new_empty(SyncFault.name) else { return false }
        switch self {
        case .lag(let lag): structure.set("lag", to: lag)
        case .right(let pixels): structure.set("right", to: pixels)
        case .down(let pixels): structure.set("down", to: pixels)
        }
        guard let query = gst_query_new_custom(GST_QUERY_CUSTOM, structure) else { return false }
        defer { gst_query_unref(query) }
        return pad.queryPeer(query)
            && gst_structure_has_field(gst_query_get_structure(query), SyncFault.correctedField) != 0
    }

    static func markCorrected(_ query: QueryPointer) {
        gst_query_writable_structure(query)?.set(correctedField, to: true)
    }

    /// The place of a map that is shifted; nil for a lag.
    var sentence: String? {
        let (pixels, side): (Double, String)
        switch self {
        case .lag: return nil
        case .right(let right): (pixels, side) = (right, right > 0 ? "to the right of" : "to the left of")
        case .down(let down): (pixels, side) = (down, down > 0 ? "below" : "above")
        }
        return "The depth map lies \(wholeNumber(abs(pixels))) pixels \(side) the person's outline"
    }
}

/// The nearest whole number; 0 for one that is out of range.
func wholeNumber(_ number: Double) -> Int64 { Int64(exactly: number.rounded()) ?? 0 }
