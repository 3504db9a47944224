package import CGStreamer
package import GstBridge

/// A pipeline from a launch line, taken down with the last reference.
package final class Pipeline {
    package let pointer: UnsafeMutablePointer<GstElement>
    package let bus: Bus

    package init(_ line: String) {
        loadElements()
        var error: UnsafeMutablePointer<GError>?
        guard let parsed = gst_parse_launch(line, &error), error == nil else {
            preconditionFailure("bad launch line: \(error.map { String(cString: $0.pointee.message) } ?? line)")
        }
        pointer = parsed
        gst_object_ref_sink(parsed)
        bus = Bus(of: parsed)
    }

    deinit {
        gst_element_set_state(pointer, GST_STATE_NULL)
        gst_object_unref(pointer)
    }

    @discardableResult
    package func set(_ state: GstState) -> GstStateChangeReturn { gst_element_set_state(pointer, state) }

    /// Waits until the last state change is done, for a bounded while.
    package func reached() -> GstStateChangeReturn { gst_element_get_state(pointer, nil, nil, patience * 1000) }

    /// Plays to the end.
    ///
    /// - Parameter patience: seconds after which it counts as stuck.
    package func run(patience: Int = 20) -> Bus.Outcome {
        set(GST_STATE_PLAYING)
        return bus.waitForEnd(seconds: patience)
    }

    package func seek(to time: GstClockTime) -> Bool {
        let flags = GstSeekFlags(rawValue: GST_SEEK_FLAG_FLUSH.rawValue | GST_SEEK_FLAG_ACCURATE.rawValue)
        return gst_element_seek_simple(pointer, GST_FORMAT_TIME, flags, gint64(time)) != 0
    }

    /// A seek's parameters. Times are nanoseconds of stream time.
    package struct Seek: Sendable, CustomStringConvertible {
        package var rate = 1.0
        package var format = GST_FORMAT_TIME
        package var flags: [GstSeekFlags] = []
        package var start: Edge?
        package var stop: Edge?

        /// From where an edge counts, and how far it is from there.
        package enum Edge: Sendable { case set(gint64), end(gint64) }

        package init(
            rate: Double = 1, format: GstFormat = GST_FORMAT_TIME, flags: [GstSeekFlags] = [], start: Edge? = nil,
            stop: Edge? = nil
        ) {
            (self.rate, self.format, self.flags, self.start, self.stop) = (rate, format, flags, start, stop)
        }

        package var description: String {
            let names = ["FLUSH", "SEGMENT", "INSTANT_RATE_CHANGE"]
            let values = [GST_SEEK_FLAG_FLUSH, GST_SEEK_FLAG_SEGMENT, GST_SEEK_FLAG_INSTANT_RATE_CHANGE]
            let given = zip(names, values).filter { flags.contains($0.1) }.map(\.0)
            func text(_ edge: Edge?) -> String { edge.map { "\($0)" } ?? "none" }
            return "rate \(rate), format \(format.rawValue), \(given), \(text(start)) to \(text(stop))"
        }

        fileprivate var event: UnsafeMutablePointer<GstEvent>? {
            func parts(_ edge: Edge?) -> (GstSeekType, gint64) {
                switch edge {
                case nil: (GST_SEEK_TYPE_NONE, 0)
                case .set(let time): (GST_SEEK_TYPE_SET, time)
                case .end(let time): (GST_SEEK_TYPE_END, time)
                }
            }
            let (start, stop) = (parts(start), parts(stop))
            let all = GstSeekFlags(rawValue: flags.reduce(0) { $0 | $1.rawValue })
            return gst_event_new_seek(rate, format, all, start.0, start.1, stop.0, stop.1)
        }
    }

    /// Sends the seek to the whole pipeline, or to one element; its seqnum, or nil where it is refused.
    package func send(_ seek: Seek, to element: UnsafeMutablePointer<GstElement>? = nil) -> guint32? {
        guard let event = seek.event else { return nil }
        let seqnum = gst_event_get_seqnum(event)
        return gst_element_send_event(element ?? pointer, event) != 0 ? seqnum : nil
    }

    /// The element of that name, lent for as long as the pipeline lives.
    package subscript(name: String) -> UnsafeMutablePointer<GstElement> {
        guard
            let found = gst_bin_get_by_name(UnsafeMutableRawPointer(pointer).assumingMemoryBound(to: GstBin.self), name)
        else { preconditionFailure("no element \(name)") }
        gst_object_unref(found)
        return found
    }

    /// Pulls every buffer out of the app sink of that name, until its stream ends.
    package func frames(of name: String) -> [Frame] {
        var frames: [Frame] = []
        while let frame = nextFrame(of: name) { frames.append(frame) }
        return frames
    }

    package func nextFrame(of name: String) -> Frame? {
        let sink = UnsafeMutableRawPointer(self[name]).assumingMemoryBound(to: GstAppSink.self)
        guard let sample = gst_app_sink_try_pull_sample(sink, patience * 1000) else { return nil }
        defer { gst_sample_unref(sample) }
        guard let buffer = gst_sample_get_buffer(sample) else { return nil }
        return Frame(buffer: BufferRef(sharing: buffer), caps: gst_sample_get_caps(sample)?.text ?? "")
    }

    package typealias Frame = Recorder.Frame

    /// Pushes buffers into the app source of that name, more than one as a list.
    package func push(_ buffers: BufferRef..., into name: String) {
        guard buffers.count != 1 else {
            gst_app_src_push_buffer(source(name), gst_buffer_ref(buffers[0].pointer))
            return
        }
        let list = gst_buffer_list_new_sized(guint(buffers.count))
        for buffer in buffers { gst_buffer_list_insert(list, -1, gst_buffer_ref(buffer.pointer)) }
        gst_app_src_push_buffer_list(source(name), list)
    }

    /// Ends the stream of the app source of that name.
    package func end(_ name: String) { gst_app_src_end_of_stream(source(name)) }

    private func source(_ name: String) -> UnsafeMutablePointer<GstAppSrc> {
        UnsafeMutableRawPointer(self[name]).assumingMemoryBound(to: GstAppSrc.self)
    }
}
