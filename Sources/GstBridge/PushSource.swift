package import CGStreamer

/// A source element whose pads each run a thread of their own.
package protocol PushSource: Element {
    typealias Pad = UnsafeMutablePointer<GstPad>

    /// The pad becomes able to send, or no longer is; the thread that runs `step` is to be started or stopped.
    func activate(_ pad: Pad, _ isActive: Bool) -> Bool

    /// Sends what is due next on the pad's thread, and is called again until that is paused.
    func step(_ pad: Pad)

    /// Handles an event from downstream, on the sender's thread. Takes ownership: unref the event, or pass it to `parent`, which
    /// then owns it.
    func srcEvent(
        _ event: UnsafeMutablePointer<GstEvent>, on pad: Pad, parent: (UnsafeMutablePointer<GstEvent>) -> Bool
    ) -> Bool

    /// A query from downstream, on the asker's thread.
    func srcQuery(_ query: UnsafeMutablePointer<GstQuery>, on pad: Pad, parent: () -> Bool) -> Bool
}

extension PushSource {
    /// Makes and adds the source pad of an always template.
    package func addSourcePad(_ name: String) -> Pad? {
        guard let template = padTemplate(name), let pad = gst_pad_new_from_template(template, name) else { return nil }
        gst_pad_set_activatemode_function_full(pad, activateMode, nil, nil)
        gst_pad_set_event_function_full(pad, sourceEvent, nil, nil)
        gst_pad_set_query_function_full(pad, sourceQuery, nil, nil)
        gst_element_add_pad(instance, pad)
        // Bins send the application's EOS to the elements with this flag.
        instance.pointee.object.flags |= GST_ELEMENT_FLAG_SOURCE.rawValue
        return pad
    }

    /// Starts the pad's thread.
    package func startTask(_ pad: Pad) -> Bool {
        gst_pad_start_task(pad, runStep, UnsafeMutableRawPointer(pad), nil) != 0
    }
}

extension Element {
    /// The class's template of that name.
    func padTemplate(_ name: String) -> UnsafeMutablePointer<GstPadTemplate>? {
        guard
            let ownClass = UnsafeMutableRawPointer(instance).assumingMemoryBound(to: GTypeInstance.self).pointee.g_class
        else { return nil }
        return gst_element_class_get_pad_template(
            UnsafeMutableRawPointer(ownClass).assumingMemoryBound(to: GstElementClass.self), name)
    }
}

extension UnsafeMutablePointer<GstPad> {
    /// True where the pad, or something behind it, was linked since the pad was last checked for RECONFIGURE.
    package var isLinkedAnew: Bool { gst_pad_is_linked(self) != 0 && gst_pad_needs_reconfigure(self) != 0 }

    package var isFlushing: Bool {
        UnsafeMutableRawPointer(self).assumingMemoryBound(to: GstObject.self).pointee.flags
            & GST_PAD_FLAG_FLUSHING.rawValue
            != 0
    }

    /// Runs while nothing else can be sent on the pad.
    package func withStreamLock<Result>(_ body: () -> Result) -> Result {
        g_rec_mutex_lock(&pointee.stream_rec_lock)
        defer { g_rec_mutex_unlock(&pointee.stream_rec_lock) }
        return body()
    }
}

// MARK: - The C side

private func source(_ parent: UnsafeMutablePointer<GstObject>?) -> (any PushSource)? {
    swiftElement(parent) as? any PushSource
}

private let activateMode:
    @convention(c) (UnsafeMutablePointer<GstPad>?, UnsafeMutablePointer<GstObject>?, GstPadMode, gboolean) -> gboolean =
        {
            pad, parent, mode, isActive in
            guard let pad, mode == GST_PAD_MODE_PUSH, let element = source(parent) else { return 0 }
            return gboolean(element.activate(pad, isActive != 0))
        }

private let runStep: GstTaskFunction = { data in
    guard let data else { return }
    let pad = data.assumingMemoryBound(to: GstPad.self)
    guard let parent = gst_pad_get_parent_element(pad) else { return }
    defer { gst_object_unref(parent) }
    (swiftElement(parent) as? any PushSource)?.step(pad)
}

private let sourceEvent:
    @convention(c) (UnsafeMutablePointer<GstPad>?, UnsafeMutablePointer<GstObject>?, UnsafeMutablePointer<GstEvent>?) ->
        gboolean = { pad, parent, event in
            guard let pad, let event else { return 0 }
            let callDefault = { (event: UnsafeMutablePointer<GstEvent>) in
                gst_pad_event_default(pad, parent, event) != 0
            }
            return gboolean(
                source(parent)?.srcEvent(event, on: pad, parent: callDefault) ?? callDefault(event))
        }

private let sourceQuery:
    @convention(c) (UnsafeMutablePointer<GstPad>?, UnsafeMutablePointer<GstObject>?, UnsafeMutablePointer<GstQuery>?) ->
        gboolean = { pad, parent, query in
            guard let pad, let query else { return 0 }
            let callDefault = { gst_pad_query_default(pad, parent, query) != 0 }
            return gboolean(source(parent)?.srcQuery(query, on: pad, parent: callDefault) ?? callDefault())
        }
