import CGStreamer
import CGStreamerShims

extension CapsPointer {
    /// As `gst-launch-1.0 -v` shows them.
    package var text: String { takeString(gst_caps_to_string(self)) ?? "" }

    /// The media type of the first structure.
    package var mediaType: String {
        guard gst_caps_is_any(self) == 0, let structure = gst_caps_get_structure(self, 0),
            let name = gst_structure_get_name(structure)
        else { return "" }
        return String(cString: name)
    }

    /// A fraction of the first structure's; nil where it has none of that name.
    package func fraction(_ name: String) -> (Int, Int)? {
        var (numerator, denominator): (gint, gint) = (0, 0)
        guard let structure = gst_caps_get_structure(self, 0),
            gst_structure_get_fraction(structure, name, &numerator, &denominator) != 0
        else { return nil }
        return (Int(numerator), Int(denominator))
    }

    /// A text of the first structure's; nil where it has none of that name.
    package func string(_ name: String) -> String? {
        gst_caps_get_structure(self, 0).flatMap { gst_structure_get_string($0, name) }.map { String(cString: $0) }
    }

    /// The first structure's width and height; nil where it fixes not both.
    package var size: (width: Int, height: Int)? {
        var (width, height): (gint, gint) = (0, 0)
        guard gst_caps_is_any(self) == 0, let structure = gst_caps_get_structure(self, 0),
            gst_structure_get_int(structure, "width", &width) != 0,
            gst_structure_get_int(structure, "height", &height) != 0
        else { return nil }
        return (Int(width), Int(height))
    }

    /// True where the first structure asks for system memory only.
    package var isPlainMemory: Bool {
        guard let features = gst_caps_get_features(self, 0) else { return true }
        return gst_caps_features_get_size(features) == 1
            && gst_caps_features_contains(features, "memory:SystemMemory") != 0
    }

    /// The same caps, or a copy where others hold them too; takes the caller's reference.
    package var writable: CapsPointer {
        gst_mini_object_make_writable(cast(to: GstMiniObject.self))?.cast(to: GstCaps.self) ?? self
    }

    /// The first structure fixated: pixels as square and pictures as whole as may be, else as GStreamer fixates, which takes the
    /// least of each range. Takes the caller's reference, and gives one.
    package func fixated() -> CapsPointer? {
        let caps = gst_caps_truncate(self)?.writable ?? self
        if gst_caps_is_empty(caps) == 0, let structure = gst_caps_get_structure(caps, 0) {
            let has = { gst_structure_has_field(structure, $0) != 0 }
            let (aspect, mode) = ("pixel-aspect-ratio", "interlace-mode")
            if has(aspect) { gst_structure_fixate_field_nearest_fraction(structure, aspect, 1, 1) }
            if has(mode) { gst_structure_fixate_field_string(structure, mode, "progressive") }
        }
        return gst_caps_fixate(caps)
    }

    /// The same, of the size nearest to one.
    package func fixated(near size: (width: Int, height: Int)) -> CapsPointer? {
        let caps = gst_caps_truncate(self)?.writable ?? self
        if gst_caps_is_empty(caps) == 0, let structure = gst_caps_get_structure(caps, 0) {
            gst_structure_fixate_field_nearest_int(structure, "width", gint(clamping: size.width))
            gst_structure_fixate_field_nearest_int(structure, "height", gint(clamping: size.height))
        }
        return caps.fixated()
    }

    /// A copy in which every structure has the given raw video format. Ownership passes to the caller.
    package func withFormat(_ name: String) -> CapsPointer? {
        guard let copy = gst_caps_copy(self) else { return nil }
        var value = newValue(GSTSHIMS_TYPE_STRING) { g_value_set_string($0, name) }
        gst_caps_set_value(copy, "format", &value)
        g_value_unset(&value)
        return copy
    }

    /// These caps, limited in some fields to the values that `others` allow, whatever their other fields and media types.
    /// Ownership passes to the caller.
    package func limited(by others: CapsPointer, in fields: [String]) -> CapsPointer? {
        if gst_caps_is_any(others) != 0 { return gst_caps_copy(self) }
        guard var result = gst_caps_new_empty() else { return nil }
        for own in 0..<gst_caps_get_size(self) {
            guard let structure = gst_caps_get_structure(self, own), let name = gst_structure_get_name(structure),
                let mine = OwnedCaps(taking: gst_caps_copy_nth(self, own))
            else { continue }
            for other in 0..<gst_caps_get_size(others) {
                guard let limits = gst_caps_get_structure(others, other), let limit = gst_structure_new_empty(name)
                else { continue }
                for field in fields {
                    if let value = gst_structure_get_value(limits, field) {
                        gst_structure_set_value(limit, field, value)
                    }
                }
                guard let allowed = OwnedCaps(taking: gst_caps_new_empty()) else { continue }
                gst_caps_append_structure(allowed.pointer, limit)
                result = gst_caps_merge(result, gst_caps_intersect(mine.pointer, allowed.pointer))
            }
        }
        return result
    }
}

/// Lends the caps of a CAPS event.
package func withCaps<Failure: Error>(
    of event: EventPointer,
    _ body: (CapsPointer) throws(Failure) -> Void
) throws(Failure) {
    var caps: CapsPointer?
    gst_event_parse_caps(event, &caps)
    if let caps { try body(caps) }
}

extension QueryPointer {
    /// Answers a CAPS query by caps, as far as its filter lets them pass.
    package func answer(_ caps: CapsPointer) {
        var filter: CapsPointer?
        gst_query_parse_caps(self, &filter)
        let filtered = filter.flatMap { gst_caps_intersect_full($0, caps, GST_CAPS_INTERSECT_FIRST) }
        defer { if let filtered { gst_caps_unref(filtered) } }
        gst_query_set_caps_result(self, filtered ?? caps)
    }

    /// Answers a CAPS query by what a sink pad's template says, limited in some fields by what downstream of a source pad takes.
    ///
    /// - Returns: false where there is no answer.
    package func answer(_ pad: PadPointer, limitedBy source: PadPointer, in fields: [String]) -> Bool {
        guard let downstream = OwnedCaps(taking: gst_pad_peer_query_caps(source, nil)),
            let template = OwnedCaps(taking: gst_pad_get_pad_template_caps(pad)),
            let limited = OwnedCaps(taking: template.pointer.limited(by: downstream.pointer, in: fields))
        else { return false }
        answer(limited.pointer)
        return true
    }
}
