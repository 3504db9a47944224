package import CGStreamer

/// An element with one input and one output, on GstBaseTransform: each buffer that comes in becomes one that leaves.
///
/// The functions below are those of its virtual functions that the elements here need, under their names in GStreamer. Every
/// one but `transform` has a default, for caps that stay the same. They run on the streaming thread unless they say
/// otherwise; `start` and `stop` run while it does not. Properties with a GstController follow it by themselves.
///
/// The steps to add an element are in `Sources/README.md`, "How to add".
package protocol Transform: Element {
    /// READY to PAUSED, before any data.
    func start() throws(ElementError)

    /// PAUSED to READY, after the last data.
    func stop()

    /// The caps that the other pad may have, given those of one pad; nil leaves them the same. Any thread. Ownership passes to
    /// the caller.
    ///
    /// - Parameters:
    ///   - caps: of the pad of `direction`.
    ///   - direction: GST_PAD_SINK asks for the source pad's caps, GST_PAD_SRC for the sink pad's.
    func transformCaps(_ caps: CapsPointer, of direction: GstPadDirection) -> CapsPointer?

    /// Fixes what `transformCaps` left open. Takes `other`; ownership of the result passes to the caller.
    ///
    /// - Parameters:
    ///   - other: possible caps of the other pad.
    ///   - caps: fixed ones, of the pad of `direction`.
    func fixateCaps(_ other: CapsPointer, for caps: CapsPointer, of direction: GstPadDirection) -> CapsPointer?

    /// The caps of both pads are known, before the first buffer of them.
    func setCaps(_ input: CapsPointer, _ output: CapsPointer) throws(CapsRefusal)

    /// The size of a frame of some caps, in bytes; nil where the caps do not say it. Any thread.
    func getUnitSize(_ caps: CapsPointer) -> Int?

    /// Fills `output`, which has the size of a frame of the source pad's caps and the input's timestamps, flags and metas.
    /// When this returns, GstBaseTransform pushes it, as `gst_pad_push` does.
    func transform(_ input: BufferPointer, into output: BufferPointer) throws(FlowStop)

    /// Returns true where a meta of the input, which describes its picture and not its memory, goes to the output. By default
    /// all do; an element that moves or scales the picture returns `parent()`, which drops regions of interest.
    func transformMeta(_ meta: UnsafeMutablePointer<GstMeta>, parent: () -> Bool) -> Bool

    /// A query from downstream; `parent` answers it or asks upstream. Any thread.
    func srcQuery(_ query: QueryPointer, parent: () -> Bool) -> Bool
}

extension Transform {
    package func start() throws(ElementError) {}
    package func stop() {}
    package func transformCaps(_ caps: CapsPointer, of direction: GstPadDirection) -> CapsPointer? { nil }
    package func fixateCaps(
        _ other: CapsPointer, for caps: CapsPointer, of direction: GstPadDirection
    ) -> CapsPointer? { other.fixated() }
    package func setCaps(_ input: CapsPointer, _ output: CapsPointer) throws(CapsRefusal) {}
    package func getUnitSize(_ caps: CapsPointer) -> Int? {
        var info = GstVideoInfo()
        return gst_video_info_from_caps(&info, caps) != 0 ? Int(clamping: info.size) : nil
    }
    package func transformMeta(_ meta: UnsafeMutablePointer<GstMeta>, parent: () -> Bool) -> Bool { true }
    package func srcQuery(_ query: QueryPointer, parent: () -> Bool) -> Bool { parent() }

    package var base: UnsafeMutablePointer<GstBaseTransform> { instance.cast(to: GstBaseTransform.self) }

    /// Asks for caps to be negotiated anew before the next buffer. Any thread.
    package func reconfigureSrc() { gst_base_transform_reconfigure_src(base) }
}

// MARK: - The C side: one closure per virtual function

private typealias TransformPointer = UnsafeMutablePointer<GstBaseTransform>

/// GstBaseTransform's own virtual functions.
private func parent(_ instance: TransformPointer) -> GstBaseTransformClass? {
    parentClass(instance)?.assumingMemoryBound(to: GstBaseTransformClass.self).pointee
}

private func element(_ instance: TransformPointer?) -> (any Transform)? { swiftElement(instance) as? any Transform }

func installTransformFunctions(_ table: UnsafeMutablePointer<GstBaseTransformClass>) {
    table.pointee.start = { instance in
        guard let element = element(instance) else { return 0 }
        return gboolean(element.succeeds { () throws(ElementError) in try element.start() })
    }
    table.pointee.stop = { instance in
        element(instance)?.stop()
        return 1
    }
    table.pointee.transform_caps = { instance, direction, caps, filter in
        guard let instance, let caps, let element = element(instance) else { return nil }
        let possible = element.transformCaps(caps, of: direction) ?? gst_caps_ref(caps)
        guard let filter, let possible else { return possible }
        defer { gst_caps_unref(possible) }
        return gst_caps_intersect_full(filter, possible, GST_CAPS_INTERSECT_FIRST)
    }
    table.pointee.fixate_caps = { instance, direction, caps, other in
        guard let caps, let other, let element = element(instance) else { return other }
        return element.fixateCaps(other, for: caps, of: direction)
    }
    table.pointee.set_caps = { instance, input, output in
        guard let input, let output, let element = element(instance) else { return 0 }
        do throws(CapsRefusal) {
            try element.setCaps(input, output)
            return 1
        } catch {
            let (sentence, details) = ("Caps not supported: \(error.reason).", "sink \(input.text), src \(output.text)")
            element.post(ElementError(.core(GST_CORE_ERROR_NEGOTIATION), sentence, details: details))
            return 0
        }
    }
    table.pointee.get_unit_size = { instance, caps, size in
        guard let caps, let size, let bytes = element(instance)?.getUnitSize(caps) else { return 0 }
        size.pointee = gsize(clamping: bytes)
        return 1
    }
    table.pointee.before_transform = { instance, buffer in
        guard let instance, let buffer, instance.pointee.segment.format == GST_FORMAT_TIME else { return }
        let time = gst_segment_to_stream_time(&instance.pointee.segment, GST_FORMAT_TIME, buffer.pointee.pts)
        if time != noClockTime {
            gst_object_sync_values(instance.cast(to: GstObject.self), time)
        }
    }
    // One frame in, one frame out, however long the input is: a short one is the element's to report.
    table.pointee.transform_size = { instance, _, _, _, other, size in
        guard let other, let size, let bytes = element(instance)?.getUnitSize(other) else { return 0 }
        size.pointee = gsize(clamping: bytes)
        return 1
    }
    table.pointee.transform = { instance, input, output in
        guard let input, let output, let element = element(instance) else { return GST_FLOW_ERROR }
        return element.flow { () throws(FlowStop) in try element.transform(input, into: output) }
    }
    table.pointee.transform_meta = { instance, output, meta, input in
        guard let instance, let meta, let element = element(instance) else { return 0 }
        return gboolean(
            element.transformMeta(meta) { parent(instance)?.transform_meta?(instance, output, meta, input) ?? 0 != 0 })
    }
    table.pointee.query = { instance, direction, query in
        guard let instance, let query, let element = element(instance) else { return 0 }
        let ask = { parent(instance)?.query?(instance, direction, query) ?? 0 != 0 }
        return gboolean(direction == GST_PAD_SRC ? element.srcQuery(query, parent: ask) : ask())
    }
    table.pointee.sink_event = { instance, event in
        guard let instance, let event else { return 0 }
        // GstBaseTransform would pass it on, before a segment that says what its time means.
        if event.pointee.type == GST_EVENT_GAP, instance.pointee.segment.format == GST_FORMAT_UNDEFINED {
            gst_event_unref(event)
            return 0
        }
        return parent(instance)?.sink_event?(instance, event) ?? 0
    }
}
