import CGStreamer
import GstBridge

/// An element between pads of our own: threads push pictures that were made before, and a pad counts what leaves.
final class ElementRig: Workload {
    let element: UnsafeMutablePointer<GstElement>
    private(set) var leastFrames = 0
    private let factory: String
    private let source: UnsafeMutablePointer<GstPad>
    private let sink: UnsafeMutablePointer<GstPad>
    private let progress = Monitor(Progress())
    private var feeders: [Feeder] = []

    /// - Parameters:
    ///   - downstream: the caps that are taken behind the element.
    ///   - properties: in their launch-line form; those that the element lacks are left out.
    init(_ factory: String, downstream: String = "ANY", _ properties: [String: String]) throws {
        guard let element = gst_element_factory_make(factory, nil),
            let source = gst_element_get_static_pad(element, "src"),
            let caps = gst_caps_from_string(downstream),
            let template = gst_pad_template_new("sink", GST_PAD_SINK, GST_PAD_ALWAYS, caps),
            let sink = gst_pad_new_from_template(template, "sink")
        else { throw Failure.cannot("there is no \(factory)") }
        gst_caps_unref(caps)
        gst_object_ref_sink(template)
        gst_object_unref(template)
        gst_object_ref_sink(element)
        gst_object_ref_sink(sink)
        (self.factory, self.element, self.source, self.sink) = (factory, element, source, sink)
        for (name, value) in properties { gst_util_set_object_arg(object, name, value) }
        // GstAggregator lets as many frames wait on a pad as are due in its latency; that of a pipeline that is not live is
        // nobody's delay.
        gst_util_set_object_arg(object, "latency", "1000000000")
        gst_pad_set_chain_function_full(sink, arrive, Unmanaged.passUnretained(progress).toOpaque(), nil)
        guard gst_pad_set_active(sink, 1) != 0,
            gst_pad_link_full(source, sink, GST_PAD_LINK_CHECK_NOTHING) == GST_PAD_LINK_OK
        else { throw Failure.cannot("a pad cannot be linked") }
    }

    deinit {
        gst_element_set_state(element, GST_STATE_NULL)
        progress.withLock { $0.isOver = true }
        for feeder in feeders { feeder.finish() }
        gst_pad_set_active(sink, 0)
        gst_pad_unlink(source, sink)
        gst_object_unref(source)
        gst_object_unref(sink)
        gst_object_unref(element)
    }

    var object: UnsafeMutablePointer<GObject> {
        UnsafeMutableRawPointer(element).assumingMemoryBound(to: GObject.self)
    }

    /// Frames that may wait in front of the element. A round must have some more.
    private static let mostAhead = 8

    /// Feeds a pad of the element. Frames that leave in other memory than that of a pool here are counted.
    func feed(_ name: String, _ caps: String, _ frames: FrameRing) throws {
        guard let pad = gst_element_get_static_pad(element, name) ?? gst_element_request_pad_simple(element, name)
        else { throw Failure.cannot("\(factory) has no pad \(name)") }
        let pool = frames.pool.map { Int(bitPattern: $0) }
        let lead = max(min(frames.count - 1, ElementRig.mostAhead), 1)
        // No feeder may wait for fewer frames than wake it.
        progress.withLock {
            $0.batch = min($0.batch, max(lead / 2, 1))
            $0.pool = pool ?? $0.pool
        }
        leastFrames = max(leastFrames, max(frames.count, 8) + ElementRig.mostAhead)
        feeders.append(try Feeder(pad, caps: caps, frames, lead: lead, progress))
    }

    /// - Parameter hint: what may be the cause where it cannot play.
    func play(orElse hint: String) throws {
        guard gst_element_set_state(element, GST_STATE_PLAYING) == GST_STATE_CHANGE_SUCCESS else {
            throw Failure.cannot("\(factory) cannot play: \(hint)")
        }
    }

    /// Frames so far that left in other memory than they came in.
    var copies: Int { progress.withLock { $0.copies } }

    /// Pushes so many frames into each pad, and waits for as many.
    func run(frames: Int) throws -> Timing {
        progress.withLock {
            $0.arrivals.removeAll(keepingCapacity: true)
            $0.arrivals.reserveCapacity(frames)
            $0.expected = frames
        }
        for feeder in feeders { feeder.feed(frames) }
        let seen = progress.wait(until: { $0.isRoundOver || $0.fault != nil }) { $0 }
        if let fault = seen.fault { throw Failure.cannot("\(factory) stopped: \(fault)") }
        // Those that waited before the first one left were fed in time that no interval has.
        let timed = seen.arrivals.dropFirst(ElementRig.mostAhead)
        let intervals = zip(timed.dropFirst(), timed).map { Double($0 - $1) }
        return Timing(frame: intervals.reduce(0, +) / Double(max(intervals.count, 1)), interval: median(intervals))
    }
}

/// The sink pad's function, on the element's thread.
private let arrive: GstPadChainFunction = { pad, _, buffer in
    let time = now()
    guard let buffer, let data = pad?.pointee.chaindata else { return GST_FLOW_ERROR }
    let pool = buffer.pointee.pool.map { Int(bitPattern: $0) }
    unref(buffer)
    Unmanaged<Monitor<Progress>>.fromOpaque(data).takeUnretainedValue().change(wakingIf: {
        $0.arrivals.append(time)
        $0.total += 1
        if pool != $0.pool { $0.copies += 1 }
        // Waking those who wait, once a frame, would be timed along with the element.
        return $0.isRoundOver || $0.total.isMultiple(of: $0.batch)
    })
    return GST_FLOW_OK
}
