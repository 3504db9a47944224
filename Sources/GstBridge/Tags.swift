import CGStreamer
import CGStreamerShims

/// A TAG event with a comment on the stream.
package func newCommentTag(_ text: String) -> EventRef? {
    guard let tags = gst_tag_list_new_empty() else { return nil }
    add(text, to: tags)
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

    /// The TAG event with other comments; nil where nothing is left of it.
    func withComments(_ comments: [String]) -> EventRef? {
        var tags: UnsafeMutablePointer<GstTagList>?
        gst_event_parse_tag(self, &tags)
        guard let tags, let changed = gst_tag_list_copy(tags) else { return nil }
        gst_tag_list_remove_tag(changed, GST_TAG_COMMENT)
        for comment in comments { add(comment, to: changed) }
        guard gst_tag_list_is_empty(changed) == 0, let event = gst_event_new_tag(changed) else {
            gst_tag_list_unref(changed)
            return nil
        }
        gst_event_set_seqnum(event, pointee.seqnum)
        return EventRef(taking: event)
    }
}

private func add(_ comment: String, to tags: UnsafeMutablePointer<GstTagList>) {
    var value = newValue(GSTSHIMS_TYPE_STRING) { g_value_set_string($0, comment) }
    gst_tag_list_add_value(tags, GST_TAG_MERGE_APPEND, GST_TAG_COMMENT, &value)
    g_value_unset(&value)
}
