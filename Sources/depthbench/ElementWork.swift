import CDepthMatte
import CGStreamer
import DepthMattePlugin
import GstBridge

/// Makes GStreamer and the elements of this package ready, without any plugin file of ours.
func loadElements() throws {
    gst_init(nil, nil)
    let isLoaded = gst_plugin_register_static(
        gint(GST_VERSION_MAJOR), gint(GST_VERSION_MINOR), "depthmatte", "The elements that are timed",
        { plugin in plugin.map { depthmatte_register_elements($0) } ?? 0 },
        DEPTHMATTE_VERSION, "LGPL", "gst-depthmatte", "gst-depthmatte", "https://example.org")
    if isLoaded == 0 { throw Failure.cannot("the elements cannot be registered") }
}

/// The element between pads of our own: threads push pictures that were made before, and a pad counts what leaves.
final class ElementWork: Workload {
    let leastFrames: Int
    private let element: UnsafeMutablePointer<GstElement>
    private let source: UnsafeMutablePointer<GstPad>
    private let sink: UnsafeMutablePointer<GstPad>
    private let progress = Monitor(Progress())
    private var feeders: [Feeder] = []
    /// Only a frame that gains an alpha channel may leave in other memory than it came in.
    private let mustWorkInPlace: Bool

    /// - Parameters:
    ///   - inPlace: whether the element may draw on the frames.
    ///   - still: the file behind the person.
    init(_ wanted: Case, inPlace: Bool, ring: Int, still: String) throws {
        leastFrames = max(2 * ring, 8)
        mustWorkInPlace = inPlace && wanted.background != .transparent
        guard let element = gst_element_factory_make("depthmatte", nil), let sink = gst_pad_new("sink", GST_PAD_SINK),
            let source = gst_element_get_static_pad(element, "src")
        else { throw Failure.cannot("there is no depthmatte") }
        gst_object_ref_sink(element)
        gst_object_ref_sink(sink)
        self.element = element
        self.source = source
        self.sink = sink
        try set(wanted, still: still)
        gst_pad_set_chain_function_full(sink, arrive, Unmanaged.passUnretained(progress).toOpaque(), nil)
        gst_pad_set_event_function_full(sink, ignoreEvent, nil, nil)
        guard gst_pad_set_active(sink, 1) != 0,
            gst_pad_link_full(source, sink, GST_PAD_LINK_CHECK_NOTHING) == GST_PAD_LINK_OK
        else { throw Failure.cannot("a pad cannot be linked") }
        try feed(wanted, inPlace: inPlace, ring: ring)
        guard gst_element_set_state(element, GST_STATE_PLAYING) == GST_STATE_CHANGE_SUCCESS else {
            throw Failure.cannot("depthmatte cannot play: is \(still) readable by the GStreamer that is installed?")
        }
    }

    deinit {
        gst_element_set_state(element, GST_STATE_NULL)
        for feeder in feeders { feeder.finish() }
        feeders = []
        gst_pad_set_active(sink, 0)
        gst_pad_unlink(source, sink)
        gst_object_unref(source)
        gst_object_unref(sink)
        gst_object_unref(element)
    }

    func run(frames: Int) throws -> Timing {
        let before = statistics()
        progress.withLock {
            $0.arrivals.removeAll(keepingCapacity: true)
            $0.arrivals.reserveCapacity(frames)
        }
        for feeder in feeders { feeder.feed(frames) }
        let seen = progress.wait(until: { $0.arrivals.count >= frames || $0.fault != nil }) { $0 }
        if let fault = seen.fault { throw Failure.cannot("depthmatte stopped: \(fault)") }
        if mustWorkInPlace && seen.copies > 0 { throw Failure.cannot("depthmatte did not work in place") }
        let after = statistics()
        if after.unpaired > 0 { throw Failure.cannot("depthmatte showed frames without their depth") }
        let intervals = zip(seen.arrivals.dropFirst(), seen.arrivals).map { Double($0 - $1) }
        return Timing(
            frame: intervals.reduce(0, +) / Double(max(intervals.count, 1)), interval: median(intervals),
            own: (after.work - before.work) / max(after.frames - before.frames, 1))
    }

    /// Whether the element can use several threads in this version.
    static func hasThreads() -> Bool {
        guard let element = gst_element_factory_make("depthmatte", nil) else { return false }
        gst_object_ref_sink(element)
        defer { gst_object_unref(element) }
        return hasProperty(element, "max-threads")
    }

    // MARK: Setting up

    private func set(_ wanted: Case, still: String) throws {
        var properties = [
            "anchor": "fixed", "cutoff": "\(Scene.cutoff)", "blur-radius": "\(wanted.sigma)",
            "gamma": "\(wanted.gamma)",
            "upscale": wanted.upscale.name, "background-mode": wanted.background.rawValue,
            "background-color": "0xff204060",
        ]
        if wanted.background == .image { properties["background"] = still }
        if ElementWork.hasProperty(element, "max-threads") {
            properties["max-threads"] = "\(wanted.threads)"
        } else if wanted.threads != 1 {
            throw Failure.cannot("this depthmatte works on one thread only")
        }
        for (name, value) in properties { gst_util_set_object_arg(object, name, value) }
    }

    private func feed(_ wanted: Case, inPlace: Bool, ring: Int) throws {
        let (video, depth) = (try VideoShape(wanted), try DepthShape(wanted))
        let size = video.layout.size
        let frames: any FrameSource
        if inPlace {
            let returning = try ReturningFrames(count: ring, size: size) { fillWithNoise($1, seed: $0) }
            progress.withLock { $0.pool = returning.pool }
            frames = returning
        } else {
            frames = try KeptFrames(count: ring, size: size) { fillWithNoise($1, seed: $0) }
        }
        let maps = try KeptFrames(count: ring, size: depth.layout.size) {
            draw(wanted.scene, wanted.depth, number: $0, layout: depth.layout, into: $1)
        }
        try link(gst_element_get_static_pad(element, "video"), video.caps, frames)
        try link(gst_element_request_pad_simple(element, "depth"), depth.caps, maps)
        if wanted.background == .stream {
            let behind = try KeptFrames(count: ring, size: size) { fillWithNoise($1, seed: -1 - $0) }
            try link(gst_element_request_pad_simple(element, "background"), video.caps, behind)
        }
    }

    private func link(_ pad: UnsafeMutablePointer<GstPad>?, _ caps: String, _ frames: any FrameSource) throws {
        guard let pad else { throw Failure.cannot("depthmatte lacks a pad") }
        feeders.append(try Feeder(pad, caps: caps, frames, progress))
    }

    // MARK: Properties

    private var object: UnsafeMutablePointer<GObject> {
        UnsafeMutableRawPointer(element).assumingMemoryBound(to: GObject.self)
    }

    private static func hasProperty(_ element: UnsafeMutablePointer<GstElement>, _ name: String) -> Bool {
        let instance = UnsafeMutableRawPointer(element).assumingMemoryBound(to: GTypeInstance.self)
        let type = UnsafeMutableRawPointer(instance.pointee.g_class).assumingMemoryBound(to: GObjectClass.self)
        return g_object_class_find_property(type, name) != nil
    }

    /// Frames so far, those of them without depth of their own, and nanoseconds of work on all.
    private func statistics() -> (frames: Double, unpaired: Double, work: Double) {
        var value = GValue()
        g_value_init(&value, gst_structure_get_type())
        defer { g_value_unset(&value) }
        g_object_get_property(object, "stats", &value)
        guard let structure = gst_value_get_structure(&value) else { return (0, 0, 0) }
        func count(_ field: String) -> Double {
            var number: guint64 = 0
            gst_structure_get_uint64(structure, field, &number)
            return Double(number)
        }
        let frames = count("frames")
        return (frames, frames - count("paired"), frames * count("time-per-frame"))
    }
}

// MARK: - The sink pad's functions, on the element's thread

private let arrive:
    @convention(c) (UnsafeMutablePointer<GstPad>?, UnsafeMutablePointer<GstObject>?, UnsafeMutablePointer<GstBuffer>?)
        ->
        GstFlowReturn = { pad, _, buffer in
            let time = now()
            guard let buffer, let data = pad?.pointee.chaindata else { return GST_FLOW_ERROR }
            let pool = buffer.pointee.pool
            unref(buffer)
            Unmanaged<Monitor<Progress>>.fromOpaque(data).takeUnretainedValue().withLock {
                $0.arrivals.append(time)
                if pool != $0.pool { $0.copies += 1 }
            }
            return GST_FLOW_OK
        }

private let ignoreEvent:
    @convention(c) (UnsafeMutablePointer<GstPad>?, UnsafeMutablePointer<GstObject>?, UnsafeMutablePointer<GstEvent>?) ->
        gboolean = { _, _, event in
            gst_event_unref(event)
            return 1
        }
