import CGStreamer
import CGStreamerCheck
import GstBridge
import GstTestSupport
import Testing

/// Corners in which the room, or the process, was once lost.
@Suite struct EdgeTests {
    @Test func `another anchor does not inherit the distance of the last`() throws {
        let bench = Bench.room(["anchor": "point", "anchor-smoothing": "0", "cutoff": "1"])
        #expect(Room.shown(bench.pair(0, depth: Room.wall(3000))) == Room.all, "the wall itself is the anchor")
        bench.set("anchor", "auto")
        #expect(Room.leaked(bench.pair(1, depth: Room.wall(3000))) == 0, "no face was ever seen: the cutoff is 1 m")
    }

    @Test func `a gap without a timestamp is passed over`() {
        let bench = Bench.numbered()
        bench.depth.end()
        bench.video.push(Numbered.picture, at: 0)
        let gap = BufferRef(taking: gst_buffer_new())
        gap.pointer.pointee.mini_object.flags |= GST_BUFFER_FLAG_GAP.rawValue
        bench.video.push(gap)
        bench.video.push(Numbered.picture, at: time(ofFrame: 1))
        bench.video.end()
        #expect(bench.output.rest().count == 2)
    }

    @Test func `a gap that comes first after a flush does not overtake the segment`() {
        let bench = Bench.numbered()
        bench.depth.end()
        bench.video.push(Numbered.picture, at: 0)
        #expect(bench.output.next() != nil)
        for feed in [bench.depth, bench.video] { feed.beginFlush() }
        for feed in [bench.depth, bench.video] { feed.endFlush() }
        bench.depth.end()
        bench.video.gap(at: 0)
        bench.video.push(Numbered.picture, at: time(ofFrame: 1))
        bench.video.end()
        #expect(bench.output.rest().count == 1)
    }

    @Test(arguments: ["v210", "UYVP", "RGB8P", "P010_10LE"])
    func `a background format that cannot be converted is not offered`(format: String) {
        let bench = Bench(["depth", "background"])
        let caps = bench.background.allowedCaps()
        #expect(!caps.contains(format) && caps.contains("I420"))
    }

    @Test func `what was most likely forgotten is said once`() {
        let forgotten =
            [
                ([], [:], "depth pad"), (["depth"], ["background-mode": "image"], "property background"),
                (["depth"], ["background-mode": "stream"], "background pad"),
            ] as [([String], [String: String], String)]
        for (pads, properties, words) in forgotten {
            let bench = Bench(pads, properties)
            if pads == ["depth"] { bench.depth.end() }
            bench.video.start(Room.shape)
            for number in 0..<3 { bench.video.push(Room.picture, at: time(ofFrame: number)) }
            bench.video.end()
            #expect(bench.output.rest().count == 3)
            let warnings = bench.bus.warnings()
            #expect(warnings.count == 1 && warnings.first?.text.contains(words) == true, "\(warnings)")
        }
    }

    @Test func `a controller drives a property`() throws {
        let bench = Bench.numbered(["view": "composite", "background-mode": "color"])
        let source = try #require(gst_interpolation_control_source_new())
        let raw = UnsafeMutableRawPointer(source)
        var mode = GValue()
        g_value_init(&mode, gst_interpolation_mode_get_type())
        g_value_set_enum(&mode, gint(GST_INTERPOLATION_MODE_NONE.rawValue))
        g_object_set_property(raw.assumingMemoryBound(to: GObject.self), "mode", &mode)
        let values = raw.assumingMemoryBound(to: GstTimedValueControlSource.self)
        gst_timed_value_control_source_set(values, 0, 0)
        gst_timed_value_control_source_set(values, time(ofFrame: 1), 10)
        let object = UnsafeMutableRawPointer(bench.element).assumingMemoryBound(to: GstObject.self)
        let binding = gst_direct_control_binding_new_absolute(
            object, "margin", raw.assumingMemoryBound(to: GstControlSource.self))
        #expect(gst_object_add_control_binding(object, binding) != 0)
        gst_object_unref(source)
        bench.depth.end()
        bench.pushVideo(2)
        #expect(bench.output.rest().count == 2)
        #expect(number("margin", of: bench.element) == 10)
    }
}
