import AllocationCounter
import CGStreamer
import GstBridge
import GstTestSupport
import Synchronization
import Testing

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// Much at once: instances, slow sinks, large frames.
@Suite struct LoadTests {
    @Test func `sixty-four instances share nothing and cost the same each`() throws {
        var benches: [Bench] = []
        var memory = [residentMemory()]
        for count in [16, 32, 64] {
            while benches.count < count {
                let bench = Bench(["depth"], ["anchor": "fixed", "background-color": "\(0xff00_0000 + benches.count)"])
                bench.depth.start(Room.depth)
                bench.video.start(Room.shape)
                benches.append(bench)
            }
            for _ in 0..<3 {
                for bench in benches {
                    let start = bench.nextStart
                    bench.depth.push(Room.wall(3000), at: start)
                    bench.video.push(Room.picture, at: start)
                }
                for (index, bench) in benches.enumerated() {
                    let bytes = try #require(bench.output.next()).bytes
                    #expect(pixels(bytes, otherThan: [0, 0, UInt8(index)], Room.shape) == 0, "instance \(index)")
                }
            }
            memory.append(residentMemory())
        }
        let each = zip(memory.dropFirst(), memory).map { $0 - $1 }
        print("resident memory of 16, 16 and 32 instances: \(each) kB")
        // A sanitizer's allocator, which nothing counts, keeps what was freed.
        if allocations_of_this_thread() >= 0 { #expect(each[2] <= 4 * max(each[1], 1024), "\(each) kB") }
    }

    @Test func `a slow sink holds upstream back`() {
        let frames = 60
        let pipeline = Pipeline(
            """
            videotestsrc num-buffers=\(frames) ! video/x-raw,format=I420,width=32,height=24 ! matte.video
            videotestsrc num-buffers=\(frames) ! video/x-raw,format=GRAY16_LE,width=16,height=12 ! matte.depth
            depthmatte name=matte ! identity name=out sleep-time=5000 ! fakesink sync=false
            """)
        let lead = Lead(
            from: [(pipeline["matte"], "video"), (pipeline["matte"], "depth")], to: (pipeline["out"], "src"))
        #expect(pipeline.run() == .ended)
        #expect(lead.passed == frames)
        // One on the pad, one being made, one in the sink, and one on its way.
        #expect((1...4).contains(lead.longest), "\(lead.longest) frames ahead")
    }

    @Test func `waiting for depth takes no processor time`() {
        let bench = Bench.numbered()
        for number in 0..<3 { bench.video.push(Numbered.picture, at: time(ofFrame: number)) }
        #expect(bench.output.present().isEmpty)
        // A busy loop uses the processor all the time; other work of this process comes and goes.
        let shares = (0..<10).map { _ in
            let (clockBefore, wallBefore) = (clock(), g_get_monotonic_time())
            g_usleep(50_000)
            let used = Double(clock() - clockBefore) / Double(CLOCKS_PER_SEC)
            return used / (Double(g_get_monotonic_time() - wallBefore) / 1e6)
        }
        #expect(shares.contains { $0 < 0.05 }, "shares of processor time: \(shares)")
        bench.depth.end()
        #expect(bench.output.next() != nil)
    }

    @Test(arguments: [(16_384, 1), (1, 16_384), (3840, 2160), (7680, 4320)])
    func `a large frame is no other than a small one`(width: Int, height: Int) throws {
        let shape = VideoShape("GRAY8", width, height)
        let bench = Bench(["depth"], Numbered.properties)
        bench.depth.start(Numbered.depth)
        bench.video.start(shape)
        bench.depth.push(Numbered.map(16), at: 0)
        bench.video.push([UInt8](repeating: 99, count: shape.size), at: 0)
        let frame = try #require(bench.output.next())
        #expect(frame.bytes.count == shape.size)
        // The left half is near; where the middle is, the cubic filter decides.
        let stride = shape.components[0].stride
        for y in [0, height / 2, height - 1] where width > 16 {
            #expect(frame.bytes[y * stride] == 255 && frame.bytes[y * stride + width / 4] == 255)
            #expect(frame.bytes[y * stride + width * 3 / 4] == 0 && frame.bytes[y * stride + width - 1] == 0)
        }
        #expect(bench.bus.errors().isEmpty && bench.bus.warnings().isEmpty)
    }
}

/// Endurance under load.
@Suite struct LoadSoakTests {
    @Test func `three inputs at full speed leave the memory as it was`() {
        let frames = Soak.isFull ? 300_000 : 15_000
        let pipeline = Pipeline(
            """
            videotestsrc num-buffers=\(frames) ! video/x-raw,format=I420,width=64,height=48 ! queue ! matte.video
            videotestsrc num-buffers=\(frames) ! video/x-raw,format=GRAY16_LE,width=64,height=48 ! queue ! matte.depth
            videotestsrc num-buffers=\(frames) ! video/x-raw,format=I420,width=32,height=24 ! queue ! matte.background
            depthmatte name=matte ! fakesink name=sink sync=false
            """)
        let count = FrameCount(pipeline["sink"])
        #expect(pipeline.run(patience: 1_000) == .ended)
        #expect(count.frames == frames && count.disorders == 0)
        Soak.expectSmallGrowth(since: count.memoryWhenWarm, limit: 1024, after: "\(frames) frames of three inputs")
    }
}

extension Bench {
    /// Where the next frame of a steady stream begins.
    fileprivate var nextStart: GstClockTime {
        output.segment == nil ? 0 : GstClockTime(output.story.count { $0 == "frame" }) * frameDuration
    }
}

/// How far buffers that go into some pads are ahead of those that come out of another.
private final class Lead {
    private let state: State

    private final class State: Sendable {
        let passed = Atomic(0)
        let longest = Atomic(0)
    }

    private final class Entrance: Sendable {
        let entered = Atomic(0)
        let state: State

        init(_ state: State) { self.state = state }
    }

    init(
        from entrances: [(UnsafeMutablePointer<GstElement>, String)],
        to exit: (UnsafeMutablePointer<GstElement>, String)
    ) {
        state = State()
        for (element, name) in entrances {
            guard let pad = gst_element_get_static_pad(element, name) else { preconditionFailure("no pad \(name)") }
            gst_pad_add_probe(
                pad, GST_PAD_PROBE_TYPE_BUFFER,
                { _, _, data in
                    guard let data else { return GST_PAD_PROBE_OK }
                    let entrance = Unmanaged<Entrance>.fromOpaque(data).takeUnretainedValue()
                    let entered = entrance.entered.add(1, ordering: .relaxed).newValue
                    entrance.state.longest.max(
                        entered - entrance.state.passed.load(ordering: .relaxed), ordering: .relaxed)
                    return GST_PAD_PROBE_OK
                }, Unmanaged.passRetained(Entrance(state)).toOpaque(),
                { if let data = $0 { Unmanaged<Entrance>.fromOpaque(data).release() } })
            gst_object_unref(pad)
        }
        guard let pad = gst_element_get_static_pad(exit.0, exit.1) else { preconditionFailure("no pad \(exit.1)") }
        gst_pad_add_probe(
            pad, GST_PAD_PROBE_TYPE_BUFFER,
            { _, _, data in
                guard let data else { return GST_PAD_PROBE_OK }
                Unmanaged<State>.fromOpaque(data).takeUnretainedValue().passed.add(1, ordering: .relaxed)
                return GST_PAD_PROBE_OK
            }, Unmanaged.passRetained(state).toOpaque(),
            { if let data = $0 { Unmanaged<State>.fromOpaque(data).release() } })
        gst_object_unref(pad)
    }

    var passed: Int { state.passed.load(ordering: .relaxed) }
    var longest: Int { state.longest.load(ordering: .relaxed) }
}
