package import CGStreamer
import GstBridge

/// An element that follows streams, between feeds and a recorder, playing.
package final class Bench {
    package let element: UnsafeMutablePointer<GstElement>
    package let bus = Bus()
    /// Feeds the pad that is always there.
    package let leading: Feed
    package let output: Recorder
    private let kind: Kind
    private let isLive: Bool
    private var requested: [String: Feed] = [:]

    /// Which element it is.
    package struct Kind: Sendable {
        let factory: String
        /// The pad that is always there.
        let leading: String
        /// The source pad that is recorded.
        package let output: String
        /// Set before those that a test asks for.
        let properties: [String: String]

        package init(factory: String, leading: String, output: String = "src", properties: [String: String] = [:]) {
            self.factory = factory
            self.leading = leading
            self.output = output
            self.properties = properties
        }

        /// By the threshold, of which a test can say for every sample what becomes of it; tests of the fusion ask for it.
        package static let depthMatte = Kind(
            factory: "depthmatte", leading: "video", properties: ["method": "threshold"])
    }

    /// - Parameters:
    ///   - inputs: the request pads to ask for.
    ///   - properties: values in the form that launch lines have.
    ///   - downstream: the caps that are taken behind the element.
    ///   - clock: makes the inputs say that they are live.
    package init(
        _ inputs: [String] = ["depth"], _ properties: [String: String] = [:], downstream: String = "ANY",
        readsMetas: Bool = false, clock: UnsafeMutablePointer<GstClock>? = nil, of kind: Kind = .depthMatte
    ) {
        self.kind = kind
        element = makeElement(kind.factory, kind.properties.merging(properties) { $1 })
        isLive = clock != nil
        gst_element_set_bus(element, bus.pointer)
        if let clock { gst_element_set_clock(element, clock) }
        guard let source = gst_element_get_static_pad(element, kind.output),
            let sink = gst_element_get_static_pad(element, kind.leading)
        else { preconditionFailure("\(kind.factory) has no \(kind.leading) or \(kind.output) pad") }
        output = Recorder(source, caps: downstream, readsMetas: readsMetas)
        leading = Feed(sink, isLive: clock != nil)
        for name in inputs { request(name) }
        precondition(
            gst_element_set_state(element, GST_STATE_PLAYING) == GST_STATE_CHANGE_SUCCESS,
            "\(kind.factory) cannot play")
    }

    deinit {
        gst_element_set_state(element, GST_STATE_NULL)
        gst_element_set_bus(element, nil)
        requested = [:]
        gst_object_unref(element)
    }

    /// Emits an action signal without arguments.
    package func emit(_ signal: String) {
        var instance = GValue()
        let type = element.cast(to: GTypeInstance.self).pointee.g_class.pointee.g_type
        g_value_init(&instance, type)
        g_value_set_object(&instance, element)
        let id = g_signal_lookup(signal, type)
        precondition(id != 0, "there is no signal \(signal)")
        g_signal_emitv(&instance, id, 0, nil)
        g_value_unset(&instance)
    }

    package var video: Feed { self["video"] }
    package var depth: Feed { self["depth"] }
    package var face: Feed { self["face"] }
    package var background: Feed { self["background"] }

    /// The feed of the pad of that name.
    package subscript(name: String) -> Feed {
        if name == kind.leading { return leading }
        guard let feed = requested[name] else { preconditionFailure("\(name) was not asked for") }
        return feed
    }

    @discardableResult
    package func request(_ name: String) -> Feed {
        guard let pad = gst_element_request_pad_simple(element, name) else {
            preconditionFailure("\(kind.factory) has no \(name) pad")
        }
        let feed = Feed(pad, isLive: isLive)
        requested[name] = feed
        return feed
    }

    /// Gives a request pad back.
    package func release(_ name: String) {
        guard let feed = requested.removeValue(forKey: name) else { return }
        feed.settle()
        gst_element_release_request_pad(element, feed.target)
    }

    /// Sets a property from its launch-line form.
    package func set(_ name: String, _ value: String) { setProperty(element, name, value) }
}

/// A new element with a reference of the caller's own.
package func makeElement(_ factory: String, _ properties: [String: String] = [:]) -> UnsafeMutablePointer<GstElement> {
    loadElements()
    guard let element = gst_element_factory_make(factory, nil) else { preconditionFailure("no \(factory)") }
    gst_object_ref_sink(element)
    for (name, value) in properties { setProperty(element, name, value) }
    return element
}

/// An element's pad, lent for as long as the element lives.
package func staticPad(_ name: String, of element: UnsafeMutablePointer<GstElement>) -> UnsafeMutablePointer<GstPad> {
    guard let pad = gst_element_get_static_pad(element, name) else { preconditionFailure("no pad \(name)") }
    gst_object_unref(pad)
    return pad
}

/// Sets a property from its launch-line form.
package func setProperty(_ element: UnsafeMutablePointer<GstElement>, _ name: String, _ value: String) {
    gst_util_set_object_arg(UnsafeMutableRawPointer(element).assumingMemoryBound(to: GObject.self), name, value)
}

/// What `read` makes of a property's value, which has the type that is named, or the property's own.
private func value<Result>(
    _ name: String, of element: UnsafeMutablePointer<GstElement>, as type: String? = nil,
    _ read: (inout GValue) -> Result
) -> Result {
    var value = GValue()
    if let type { g_value_init(&value, g_type_from_name(type)) }
    g_object_get_property(UnsafeMutableRawPointer(element).assumingMemoryBound(to: GObject.self), name, &value)
    defer { g_value_unset(&value) }
    return read(&value)
}

/// The value of a property that is a whole number, or a truth as 0 or 1.
package func integer(_ name: String, of element: UnsafeMutablePointer<GstElement>) -> Int {
    value(name, of: element, as: "gint64") { Int(g_value_get_int64(&$0)) }
}

/// The value of a property that is a number.
package func number(_ name: String, of element: UnsafeMutablePointer<GstElement>) -> Double {
    value(name, of: element, as: "gdouble") { g_value_get_double(&$0) }
}

/// The value of a property in its launch-line form.
package func propertyText(_ name: String, of element: UnsafeMutablePointer<GstElement>) -> String {
    value(name, of: element) { takeString(gst_value_serialize(&$0)) ?? "" }
}

/// The raw video formats that a pad's template lists.
package func templateFormats(ofPad name: String, of factory: String, isRequest: Bool = false) -> [String] {
    let element = makeElement(factory)
    defer { gst_object_unref(element) }
    let pad = isRequest ? gst_element_request_pad_simple(element, name) : gst_element_get_static_pad(element, name)
    guard let pad else { return [] }
    defer { gst_object_unref(pad) }
    guard let caps = gst_pad_get_pad_template_caps(pad) else { return [] }
    defer { gst_caps_unref(caps) }
    guard let structure = gst_caps_get_structure(caps, 0), let list = gst_structure_get_value(structure, "format")
    else { return [] }
    if let format = gst_structure_get_string(structure, "format") { return [String(cString: format)] }
    return (0..<gst_value_list_get_size(list)).compactMap { index in
        gst_value_list_get_value(list, index).flatMap { g_value_get_string($0) }.map { String(cString: $0) }
    }
}
