import CGStreamer
import GstBridge
import GstTestSupport
import Testing

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// What the property `background` may name, and what becomes of all else: nothing is fetched, and nothing is written.
@Suite struct BackgroundPathTests {
    private let folder = TemporaryFolder()
    private let picture = png(width: 8, height: 6) { _, _ in [1, 2, 3] }

    private func expectRefusal(_ background: String, naming name: String? = nil) {
        let error = refusal(ofBackground: background)
        #expect(error?.text.contains(name ?? background) == true, "\(String(describing: error))")
        #expect(error?.domain == "gst-resource-error-quark")
    }

    // MARK: Names

    @Test func `a chain of links that never ends`() {
        #expect(symlink("b.png", folder["a.png"]) == 0 && symlink("a.png", folder["b.png"]) == 0)
        expectRefusal(folder["a.png"])
    }

    @Test func `a link, and a way up and down, lead to the file`() {
        let path = folder.write("sub/whole.png", picture)
        #expect(symlink(path, folder["link.png"]) == 0)
        for name in [folder["link.png"], folder["sub/../sub/./whole.png"], "file://\(path)"] {
            #expect(refusal(ofBackground: name) == nil, "\(name)")
        }
    }

    @Test(arguments: [255, 4096, 100_000])
    func `a name of many bytes`(count: Int) {
        let name = folder[String(repeating: "x", count: count)]
        expectRefusal(name, naming: String(name.prefix(100)))
    }

    @Test func `a name that is no UTF-8 is read, or named in the error`() {
        for bytes: [UInt8] in [[0xff, 0xfe], [0xc3, 0x28], [0xe2, 0x82]] {
            let name = folder.path.utf8.map { CChar(bitPattern: $0) } + [47] + bytes.map { CChar(bitPattern: $0) } + [0]
            let file = name.withUnsafeBufferPointer { fopen($0.baseAddress, "w") }
            picture.withUnsafeBytes { _ = fwrite($0.baseAddress, 1, $0.count, file) }
            fclose(file)
            let element = makeElement("depthmatte")
            let bus = Bus()
            gst_element_set_bus(element, bus.pointer)
            var value = GValue()
            g_value_init(&value, g_type_from_name("gchararray"))
            name.withUnsafeBufferPointer { g_value_set_string(&value, $0.baseAddress) }
            g_object_set_property(
                UnsafeMutableRawPointer(element).assumingMemoryBound(to: GObject.self), "background", &value)
            g_value_unset(&value)
            if gst_element_set_state(element, GST_STATE_PAUSED) == GST_STATE_CHANGE_FAILURE {
                #expect(bus.errors().first?.text.contains(folder.path) == true)
            } else {
                #expect(bus.errors().isEmpty)
            }
            gst_element_set_state(element, GST_STATE_NULL)
            gst_element_set_bus(element, nil)
            gst_object_unref(element)
            _ = name.withUnsafeBufferPointer { $0.baseAddress.map { unlink($0) } }
        }
    }

    /// Root may read everything, so the process gives that up.
    @Test func `a file that may not be read`() async {
        await #expect(processExitsWith: .success) {
            let folder = TemporaryFolder()
            let path = folder.write("secret.png", png(width: 8, height: 6) { _, _ in [1, 2, 3] })
            try #require(chmod(path, 0) == 0 && chmod(folder.path, 0o755) == 0)
            loadElements()
            if geteuid() == 0 { try #require(seteuid(65_534) == 0) }
            let element = makeElement("depthmatte", ["background": path])
            let bus = Bus()
            gst_element_set_bus(element, bus.pointer)
            let isRefused = gst_element_set_state(element, GST_STATE_PAUSED) == GST_STATE_CHANGE_FAILURE
            let text = bus.errors().first?.text ?? "no error"
            gst_element_set_state(element, GST_STATE_NULL)
            if getuid() == 0 { try #require(seteuid(0) == 0) }
            try #require(isRefused && text.contains(path), "\(text)")
        }
    }

    // MARK: Addresses

    @Test(arguments: ["http", "https", "ftp", "rtsp", "rtmp", "tcp", "udp", "mms", "srt", "dav", "ws", "hls+http"])
    func `an address on the network is refused and connects to nobody`(scheme: String) throws {
        let server = try #require(Listener())
        expectRefusal("\(scheme)://127.0.0.1:\(server.port)/picture.png")
        #expect(server.connections == 0)
    }

    @Test(arguments: [
        "fd://0", "data:image/png;base64,iVBORw0KGgo=", "appsrc://x", "videotestsrc://", "v4l2:///dev/video0", "pipe:0",
        "-",
        "file://elsewhere/picture.png", "file:///dev/zero", "file:", "file://", "/dev/stdin", "/dev/null",
        "/dev/urandom",
        "/dev/../dev/zero", "/proc/self/fd/0", "/proc/self/mem", "/proc/self/environ", "/proc/self/maps", "//", "/",
        ".", "..",
        "../..", "| cat /etc/passwd", "$(id)", "a\nb", "%00", "file:///%00", "file:///etc/%2e%2e/dev/zero", "~",
        "~root",
    ])
    func `a name of anything but a picture is refused`(name: String) {
        #expect(refusal(ofBackground: name) != nil)
    }

    @Test func `a file is only read`() throws {
        let path = folder.write("a.png", picture)
        let names = folder.names
        #expect(refusal(ofBackground: path) == nil)
        let bench = Bench([], ["background": path])
        bench.video.start(Room.shape)
        bench.video.push(Room.picture, at: 0)
        #expect(bench.output.next() != nil)
        #expect(folder.names == names && folder.read("a.png") == picture)
    }
}
