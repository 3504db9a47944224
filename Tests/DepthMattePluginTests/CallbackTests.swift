import CGStreamer
import GstBridge
import GstTestSupport
import Testing

/// What an application does from where the element calls it: no lock may be held there.
@Suite struct CallbackTests {
    /// Where the application is called.
    enum Place: CaseIterable {
        case notify, syncMessage, inputProbe, outputProbe, outputEventProbe
    }

    /// What it does to the element there.
    private static func useEverything(of element: UnsafeMutablePointer<GstElement>, _ follower: Follower) {
        for property in SettableProperty.all(of: element) where property.isReal {
            property.set(property.real(of: element), on: element)
        }
        for format in [GST_FORMAT_TIME, GST_FORMAT_BYTES] {
            gst_element_query_position(element, format, nil)
            gst_element_query_duration(element, format, nil)
        }
        if let query = gst_query_new_latency() {
            gst_element_query(element, query)
            gst_query_unref(query)
        }
        for name in ["src", follower.leading.pad] {
            guard let pad = gst_element_get_static_pad(element, name) else { continue }
            if let caps = gst_pad_query_caps(pad, nil) { gst_caps_unref(caps) }
            gst_object_unref(pad)
        }
        guard let other = follower.followed.last(where: { $0.pad != follower.partner }),
            let pad = gst_element_request_pad_simple(element, other.pad)
        else { return }
        gst_element_release_request_pad(element, pad)
        gst_object_unref(pad)
    }

    /// Work that is done once each time that it is asked for: what it does calls back again, and a signal that is sent from
    /// its own handler starts anew.
    private final class Callback: Sendable {
        private let state = Monitor((isWanted: false, calls: 0))
        private let work: @Sendable () -> Void

        init(_ work: @escaping @Sendable () -> Void) { self.work = work }

        var calls: Int { state.withLock { $0.calls } }

        func wish() { state.withLock { $0.isWanted = true } }

        func call() {
            let isWanted = state.withLock { state in
                defer { state.isWanted = false }
                return state.isWanted
            }
            guard isWanted else { return }
            work()
            state.withLock { $0.calls += 1 }
        }
    }

    private struct Element: @unchecked Sendable {  // guard: GStreamer's elements take calls from any thread
        let pointer: UnsafeMutablePointer<GstElement>
    }

    /// Keeps what calls back alive.
    private func connect(_ place: Place, _ bench: Bench, _ callback: Callback) throws -> AnyObject? {
        let data = Unmanaged.passUnretained(callback).toOpaque()
        switch place {
        case .notify:
            return Notices(bench.element) { _ in callback.call() }
        case .syncMessage:
            gst_bus_set_sync_handler(
                bench.bus.pointer,
                { _, _, data in
                    if let data { Unmanaged<Callback>.fromOpaque(data).takeUnretainedValue().call() }
                    return GST_BUS_PASS
                }, data, nil)
            return nil
        case .inputProbe:
            return PadProbe(bench.leading.target, GST_PAD_PROBE_TYPE_BUFFER) { _, _ in callback.call() }
        case .outputProbe, .outputEventProbe:
            let pad = staticPad("src", of: bench.element)
            let type = place == .outputProbe ? GST_PAD_PROBE_TYPE_BUFFER : GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM
            return PadProbe(pad, type) { _, _ in callback.call() }
        }
    }

    @Test(arguments: Follower.all, Place.allCases)
    func `everything may be used from where the element calls`(follower: Follower, place: Place) throws {
        let bench = Bench(follower, [follower.partner], statistics(follower))
        let element = Element(pointer: bench.element)
        let callback = Callback { CallbackTests.useEverything(of: element.pointer, follower) }
        let connection = try connect(place, bench, callback)
        bench[follower.partner].start(follower.stream(follower.partner).caps)
        bench.leading.start(follower.leading.caps)
        for number in 0..<20 {
            callback.wish()
            // A fault is a message, and a property that is set is a notification.
            if number == 5 { bench[follower.partner].push([1], at: time(ofFrame: number)) }
            SettableProperty.all(of: bench.element).first(where: \.isReal)?.set(0.5, on: bench.element)
            bench[follower.partner].push(follower.numbered(5), at: time(ofFrame: number))
            bench.leading.push(follower.leading.frame, at: time(ofFrame: number))
            try #require(bench.output.next() != nil, "frame \(number)")
        }
        #expect(callback.calls > 0)
        gst_bus_set_sync_handler(bench.bus.pointer, nil, nil, nil)
        withExtendedLifetime((connection, callback)) {}
    }

    private func statistics(_ follower: Follower) -> [String: String] {
        follower.factory == "depthmatte" ? ["stats-interval": "1"] : [:]
    }

    @Test(arguments: Follower.all, [Place.syncMessage, .inputProbe, .outputProbe])
    func `a stop may be asked for from where the element calls`(follower: Follower, place: Place) throws {
        for round in 0..<10 {
            let bench = Bench(follower, [follower.partner], statistics(follower))
            let element = Element(pointer: bench.element)
            let callback = Callback {
                gst_element_call_async(
                    element.pointer,
                    { element, _ in
                        if let element { gst_element_set_state(element, GST_STATE_NULL) }
                    }, nil, nil)
            }
            let connection = try connect(place, bench, callback)
            callback.wish()
            bench[follower.partner].start(follower.stream(follower.partner).caps)
            bench.leading.start(follower.leading.caps)
            for number in 0..<5 {
                bench[follower.partner].push(number == 1 ? [1] : follower.numbered(5), at: time(ofFrame: number))
                bench.leading.push(follower.leading.frame, at: time(ofFrame: number))
            }
            #expect(eventually { callback.calls > 0 }, "round \(round)")
            #expect(eventually { bench.element.pointee.current_state == GST_STATE_NULL }, "round \(round)")
            #expect(bench.leading.hasSettled && bench[follower.partner].hasSettled, "round \(round)")
            gst_bus_set_sync_handler(bench.bus.pointer, nil, nil, nil)
            withExtendedLifetime((connection, callback)) {}
        }
    }

    // MARK: Seeks from downstream

    /// A player that seeks while its probe holds a frame back.
    @Test(arguments: Follower.all)
    func `a seek from within a probe that blocks the output is followed`(follower: Follower) throws {
        let line = Pipeline(
            follower.camera.replacing("depthtestsrc", with: "depthtestsrc num-buffers=300")
                + "appsink name=sink sync=false max-buffers=2")
        let pad = staticPad("src", of: line["element"])
        let element = Element(pointer: line.pointer)
        let seeks = Monitor(0)
        // The seek is another thread's, as the flush waits for the one that is blocked.
        let callback = Callback {
            gst_element_call_async(
                element.pointer,
                { element, data in
                    guard let element, let data else { return }
                    let seeks = Unmanaged<Monitor<Int>>.fromOpaque(data).takeUnretainedValue()
                    let flags = GstSeekFlags(rawValue: GST_SEEK_FLAG_FLUSH.rawValue | GST_SEEK_FLAG_ACCURATE.rawValue)
                    if gst_element_seek_simple(element, GST_FORMAT_TIME, flags, gint64(time(ofFrame: 60))) != 0 {
                        seeks.withLock { $0 += 1 }
                    }
                }, Unmanaged.passUnretained(seeks).toOpaque(), nil)
        }
        callback.wish()
        var blocked: PadProbe? = PadProbe(pad, GST_PAD_PROBE_TYPE_BLOCK, GST_PAD_PROBE_TYPE_BUFFER) { _, _ in
            callback.call()
        }
        line.set(GST_STATE_PLAYING)
        #expect(eventually { seeks.withLock { $0 } == 1 }, "the seek returns while the pad is blocked")
        withExtendedLifetime(blocked) {}
        blocked = nil
        let found = sequence(state: ()) { _ in line.nextFrame(of: "sink")?.timing.start }.prefix(20)
            .contains(time(ofFrame: 60))
        #expect(found && line.bus.errors().isEmpty)
    }
}
