import CGStreamer
import GstBridge
import GstTestSupport
import Testing

#if canImport(Glibc)
    import Glibc

    /// A system that gives no more threads. Each test has a process of its own, in which nobody else asks for one.
    @Suite struct NoThreadTests {
        @Test func `a snapshot for which there is no thread is a warning, and the stream ends`() async {
            await #expect(processExitsWith: .success) {
                let shape = DepthShape("GRAY16_LE", 8, 4)
                let folder = TemporaryFolder()
                let bench = Bench(
                    [], ["location": folder["cloud.ply"]], of: Bench.Kind(factory: "depthcloud", leading: "depth"))
                bench.depth.start(shape)
                let map = shape.bytes(counts: [Int](repeating: 900, count: 8 * 4))
                bench.depth.push(map, at: 0)
                _ = try #require(bench.output.next())
                refuseThreads()
                bench.set("snapshot", "true")
                bench.depth.push(map, at: time(ofFrame: 1))
                let warning = try #require(bench.bus.nextWarning())
                try #require(warning.text.contains("cloud.ply was not written: no thread could be started"))
                bench.depth.end()
                try #require(bench.output.rest().count == 1)
                try #require(gst_element_set_state(bench.element, GST_STATE_NULL) == GST_STATE_CHANGE_SUCCESS)
                try #require(folder.names == [])
            }
        }

        @Test func `a background for which there is no thread is a warning, and the old one stays`() async {
            await #expect(processExitsWith: .success) {
                let bench = Bench()
                bench.depth.start(Room.depth)
                bench.video.start(Room.shape)
                bench.depth.push(Room.wall(700), at: 0)
                bench.video.push(Room.picture, at: 0)
                _ = try #require(bench.output.next())
                refuseThreads()
                bench.set("background", "/another/room.png")
                let warning = try #require(bench.bus.nextWarning())
                try #require(warning.text.contains("The file is not replaced"))
                bench.depth.push(Room.wall(700), at: time(ofFrame: 1))
                bench.video.push(Room.picture, at: time(ofFrame: 1))
                _ = try #require(bench.output.next())
                try #require(gst_element_set_state(bench.element, GST_STATE_NULL) == GST_STATE_CHANGE_SUCCESS)
            }
        }

        @Test func `heat that no thread watches is a warning, once, and a stop waits for nobody`() async {
            await #expect(processExitsWith: .success) {
                let bench = Bench(["depth"])
                refuseThreads()
                for _ in 0..<3 {
                    bench.set("thermal", "report")
                    bench.set("thermal", "ignore")
                }
                try #require(
                    bench.bus.warnings().map(\.text) == [
                        "The temperature is not watched: no thread could be started."
                    ])
                try #require(gst_element_set_state(bench.element, GST_STATE_NULL) == GST_STATE_CHANGE_SUCCESS)
            }
        }
    }

    /// Asks for more stack for each new thread than there are addresses.
    private func refuseThreads() {
        var attributes = pthread_attr_t()
        pthread_attr_init(&attributes)
        defer { pthread_attr_destroy(&attributes) }
        pthread_attr_setstacksize(&attributes, 1 << 48)
        // By its name: it is one of GNU's own, which Swift does not import.
        typealias Setter = @convention(c) (UnsafePointer<pthread_attr_t>) -> CInt
        guard let setter = dlsym(nil, "pthread_setattr_default_np") else { preconditionFailure("no such function") }
        precondition(unsafeBitCast(setter, to: Setter.self)(&attributes) == 0)
        precondition(g_thread_try_new("refused", { _ in nil }, nil, nil) == nil, "there are threads")
    }
#endif
