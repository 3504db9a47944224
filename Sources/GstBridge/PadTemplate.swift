package import CGStreamer

/// A pad that every instance of an element has, or can be asked for.
package struct PadTemplate: Sendable {
    package enum Presence: Sendable {
        case always, request
    }

    package let name: String
    package let direction: GstPadDirection
    package let presence: Presence
    /// Shown by gst-inspect-1.0 among the element's details, as "Pad-NAME".
    package let note: String
    /// Caps in their string form.
    package let caps: String

    package init(_ name: String, _ direction: GstPadDirection, _ presence: Presence, _ note: String, caps: String) {
        self.name = name
        self.note = note
        self.direction = direction
        self.presence = presence
        self.caps = caps
    }

    /// Adds the template to a class. Pads made from it are of `padType`, or plain pads where that is nil.
    func add(to elementClass: UnsafeMutablePointer<GstElementClass>, padType: GType?) {
        guard let caps = OwnedCaps(taking: gst_caps_from_string(caps)) else { return }
        let presence = presence == .always ? GST_PAD_ALWAYS : GST_PAD_REQUEST
        let template =
            if let padType {
                gst_pad_template_new_with_gtype(name, direction, presence, caps.pointer, padType)
            } else {
                gst_pad_template_new(name, direction, presence, caps.pointer)
            }
        gst_element_class_add_pad_template(elementClass, template)
        gst_element_class_add_metadata(elementClass, "pad-\(name)", note)
    }
}
