import CGStreamer
import CGStreamerShims

/// A TAG event with a comment on the stream.
package func newCommentTag(_ text: String) -> EventRef? {
    guard let tags = gst_tag_list_new_empty() else { return nil }
    var value = newValue(GSTSHIMS_TYPE_STRING) { g_value_set_string($0, text) }
    gst_tag_list_add_value(tags, GST_TAG_MERGE_REPLACE, GST_TAG_COMMENT, &value)
    g_value_unset(&value)
    return gst_event_new_tag(tags).map { EventRef(taking: $0) }
}

extension UnsafeMutablePointer<GstEvent> {
    /// The comments that a TAG event brings.
    package var comments: [String] {
        var tags: UnsafeMutablePointer<GstTagList>?
        gst_event_parse_tag(self, &tags)
        guard let tags else { return [] }
        return (0..<gst_tag_list_get_tag_size(tags, GST_TAG_COMMENT)).compactMap { number in
            var text: UnsafeMutablePointer<CChar>?
            return gst_tag_list_get_string_index(tags, GST_TAG_COMMENT, number, &text) != 0 ? takeString(text) : nil
        }
    }
}
