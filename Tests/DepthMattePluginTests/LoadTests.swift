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

/// Much at once: slow sinks, large frames.
@Suite struct LoadTests {
    @Test func `a slow sink holds upstream back`() {
        let frames = 60
        let pipeline = Pipeline(
            """
            videotestsrc num-buffers=\(frames) ! video/x-raw,format=I420,width=32,height=24 ! matte.video
            videotestsrc num-buffers=\(frames) ! video/x-raw,format=GRAY16_LE,width=16,height=12 ! matte.depth
            depthmatte name=matte ! identity name=out sleep-time=5000 ! fakesink sync=false
            """)
        let (passed, longestLead) = (Count(), Count())
        var probes = [
            PadProbe(staticPad("src", of: pipeline["out"]), GST_PAD_PROBE_TYPE_BUFFER) { _, _ in
                passed.value.add(1, ordering: .relaxed)
            }
        ]
        for name in ["video", "depth"] {
            let entered = Count()
            probes.append(
                PadProbe(staticPad(name, of: pipeline["matte"]), GST_PAD_PROBE_TYPE_BUFFER) { _, _ in
                    let entered = entered.value.add(1, ordering: .relaxed).newValue
                    longestLead.value.max(entered - passed.value.load(ordering: .relaxed), ordering: .relaxed)
                })
        }
        #expect(pipeline.run() == .ended)
        #expect(passed.value.load(ordering: .relaxed) == frames)
        // One on the pad, one being made, one in the sink, and one on its way.
        let longest = longestLead.value.load(ordering: .relaxed)
        #expect((1...4).contains(longest), "\(longest) frames ahead")
        withExtendedLifetime(probes) {}
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

private final class Count: Sendable {
    let value = Atomic(0)
}
