package import CGStreamer
import CGStreamerShims

/// A custom meta that carries a sample, a buffer with its caps, on a buffer of video: nothing is copied.
///
/// The meta's tags make elements that change the picture's size or orientation drop it, unless they scale and `follows` agrees.
package final class SampleMeta: Sendable {
    private let name: StaticString
    private let field: StaticString
    private let isRegistered: Bool

    /// Decides whether the sample fits the picture still, scaled from the one size to the other.
    package typealias ScaleRule = @Sendable (_ from: GstVideoInfo, _ to: GstVideoInfo) -> Bool

    /// Registers the meta, for as long as the process lives.
    ///
    /// - Parameters:
    ///   - field: of the meta's structure; it holds the sample.
    ///   - follows: asked where the picture is scaled.
    package init(_ name: StaticString, field: StaticString, follows: @escaping ScaleRule) {
        self.name = name
        self.field = field
        // GST_META_TAG_VIDEO_STR, GST_META_TAG_VIDEO_SIZE_STR and GST_META_TAG_VIDEO_ORIENTATION_STR.
        let tags: [StaticString] = ["video", "size", "orientation"]
        var list: [UnsafePointer<CChar>?] = tags.map { $0.characters } + [nil]
        let rule = owned(Box(follows))
        isRegistered = gst_meta_register_custom(name.characters, &list, SampleMeta.transform, rule, nil) != nil
    }

    /// Attaches a sample to a writable buffer. One that is there already is replaced: it belongs to an earlier picture.
    package func attach(_ content: BufferPointer, _ caps: CapsPointer, to buffer: BufferPointer) {
        guard isRegistered,
            let meta = gst_buffer_get_custom_meta(buffer, name.characters)
                ?? gst_buffer_add_custom_meta(buffer, name.characters),
            let structure = gst_custom_meta_get_structure(meta), let sample = gst_sample_new(content, caps, nil, nil)
        else { return }
        var value = newValue(gst_sample_get_type()) { g_value_take_boxed($0, UnsafeRawPointer(sample)) }
        gst_structure_take_value(structure, field.characters, &value)
        var stamp = newValue(GSTSHIMS_TYPE_UINT64) { g_value_set_uint64($0, guint64(buffer.pointee.pts)) }
        gst_structure_take_value(structure, SampleMeta.stampField.characters, &stamp)
    }

    /// The sample's buffer and caps, lent by the meta, and the content's timestamp less that which the carrier had when it was
    /// attached: elements change timestamps. `skew` is nil where there are no times.
    package typealias Content = (buffer: BufferPointer, caps: CapsPointer, skew: RunningTime?)

    /// The sample that is attached to a buffer. Nil where there is none, where its buffer or fixed caps are missing, and where the
    /// carrier has a timestamp but the skew is unknown.
    package func content(of buffer: BufferPointer) -> Content? {
        guard isRegistered, let meta = gst_buffer_get_custom_meta(buffer, name.characters),
            let structure = gst_custom_meta_get_structure(meta),
            let value = gst_structure_get_value(structure, field.characters),
            g_type_check_value_holds(value, gst_sample_get_type()) != 0,
            let sample = g_value_get_boxed(value).map({ OpaquePointer($0) }),
            let content = gst_sample_get_buffer(sample), let caps = gst_sample_get_caps(sample),
            gst_caps_is_fixed(caps) != 0
        else { return nil }
        var stamp = buffer.pointee.pts
        gst_structure_get_uint64(structure, SampleMeta.stampField.characters, &stamp)
        let isTimed = stamp != noClockTime && content.pointee.pts != noClockTime
        guard isTimed || buffer.pointee.pts == noClockTime else { return nil }
        return (
            content, caps, isTimed ? RunningTime(clamping: content.pointee.pts) &- RunningTime(clamping: stamp) : nil
        )
    }

    /// Removes the sample from a buffer that nobody else holds.
    package func detach(from buffer: BufferPointer) {
        guard isRegistered, gst_mini_object_is_writable(buffer.cast(to: GstMiniObject.self)) != 0,
            let meta = gst_buffer_get_custom_meta(buffer, name.characters)
        else { return }
        gst_buffer_remove_meta(buffer, meta.cast(to: GstMeta.self))
    }

    /// Not a `String`: that would be copied to C for each frame.
    private static let stampField: StaticString = "pts"

    /// Copies the meta with its buffer, and to a scaled picture by the rule. GStreamer's default copies it always.
    private static let transform: GstCustomMetaTransformFunction = { target, meta, _, kind, data, rule in
        guard let target, let meta, let structure = gst_custom_meta_get_structure(meta), let data else { return 0 }
        switch kind {
        case copyTransform:
            if data.assumingMemoryBound(to: GstMetaTransformCopy.self).pointee.region != 0 { return 0 }
        case scaleTransform:
            let sizes = data.assumingMemoryBound(to: GstVideoMetaTransform.self).pointee
            guard let rule = lent(rule, as: Box<ScaleRule>.self), let from = sizes.in_info, let to = sizes.out_info,
                rule.value(from.pointee, to.pointee)
            else { return 0 }
        default: return 0
        }
        // The structure has the meta's name.
        guard let name = gst_structure_get_name(structure), let copy = gst_buffer_add_custom_meta(target, name),
            let copied = gst_custom_meta_get_structure(copy)
        else { return 0 }
        for index in 0..<guint(clamping: gst_structure_n_fields(structure)) {
            guard let field = gst_structure_nth_field_name(structure, index),
                let value = gst_structure_get_value(structure, field)
            else { continue }
            gst_structure_set_value(copied, field, value)
        }
        return 1
    }
}

// GstVideoMetaTransform: the quark itself is behind a macro in C.
private let scaleTransform = gst_video_meta_transform_scale_get_quark()
