import CGStreamer
import GstTestSupport
import Testing

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// What the property `background` may name, and what becomes of all else: nothing is fetched, and nothing is written.
@Suite struct BadBackgroundTests {
    private let folder = TemporaryFolder()

    private static let picture = png(width: 64, height: 48) { x, y in [UInt8(x * 4), UInt8(y * 5), 9] }

    private func expectRefusal(_ background: String, words: String = "", naming name: String? = nil) {
        let error = refusal(ofBackground: background)
        let text = error?.text ?? "no error"
        #expect(text.contains(name ?? background) && (words.isEmpty || text.contains(words)), "\(text)")
        #expect(error?.domain == "gst-resource-error-quark", "\(String(describing: error))")
    }

    @Test func `a refused background stops the pipeline before a frame has left, and can be replaced`() {
        let pipeline = Pipeline(
            "depthtestsrc num-buffers=3 name=camera camera.video ! video/x-raw,width=32,height=24 ! matte.video "
                + "depthmatte name=matte ! fakesink name=sink")
        setProperty(pipeline["matte"], "background", folder["missing.png"])
        let frames = PassingEvents(staticPad("sink", of: pipeline["sink"]))
        #expect(pipeline.set(GST_STATE_PLAYING) == GST_STATE_CHANGE_FAILURE)
        #expect(pipeline.bus.nextError()?.text.contains(folder["missing.png"]) == true && frames.buffers == 0)
        pipeline.set(GST_STATE_NULL)
        setProperty(pipeline["matte"], "background", folder.write("whole.png", BadBackgroundTests.picture))
        #expect(pipeline.run() == .ended && frames.buffers == 3)
    }

    // MARK: Files

    /// A file that is no background: what it is, words of its error beside its name, and how it is made.
    struct Case: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let words: String
        let make: @Sendable (TemporaryFolder) throws -> String

        init(_ what: String, _ words: String = "", _ make: @escaping @Sendable (TemporaryFolder) throws -> String) {
            (testDescription, self.words, self.make) = (what, words, make)
        }
    }

    static let cases =
        [
            Case("a file that does not exist", "does not exist") { $0["missing.png"] },
            Case("a directory", "it is a directory") { $0.path },
            Case("a FIFO that nobody writes to", "it is not a regular file") { $0.makeFIFO("pipe") },
            Case("a device", "it is not a regular file") { _ in "/dev/zero" },
            Case("a malformed URI", "the URI is malformed") { _ in "file:" },
            Case("a chain of links that never ends") { folder in
                #expect(symlink("b.png", folder["a.png"]) == 0 && symlink("a.png", folder["b.png"]) == 0)
                return folder["a.png"]
            },
            Case("an empty file") { $0.write("empty.png", []) },
            Case("a text file", "(readable are PNG, JPEG") {
                $0.write("notes.txt", Array("This is no picture.\nx y z\n".utf8))
            },
            Case("bytes of no known kind") { $0.write("random.bin", noise(VideoShape("GRAY8", 64, 64), seed: 3)) },
            Case("a PNG whose data are broken") { folder in
                var bytes = picture
                for index in 60..<bytes.count - 30 { bytes[index] ^= 0x5a }
                return folder.write("broken.png", bytes)
            },
            Case("a file of sound alone", "there is no video in it") {
                try $0.make("sound.wav", "audiotestsrc num-buffers=5 ! wavenc")
            },
            Case("a playlist of local files", "refers to other files or to the network") { folder in
                let secret = folder.write("secret.ts", picture)
                let text = "#EXTM3U\n#EXT-X-TARGETDURATION:10\n#EXTINF:10,\nfile://\(secret)\n#EXT-X-ENDLIST\n"
                return folder.write("list.m3u8", Array(text.utf8))
            },
        ]
        + [0.1, 0.5, 0.95].map { share in
            Case("a JPEG that is cut off at \(share) of it") { folder in
                _ = try folder.make(
                    "whole.jpg", "videotestsrc num-buffers=1 ! video/x-raw,width=320,height=240 ! jpegenc")
                let whole = folder.read("whole.jpg")
                try #require(whole.count > 1000)
                return folder.write("cut.jpg", Array(whole.prefix(Int(Double(whole.count) * share))))
            }
        }

    @Test(arguments: cases) func `a file that is no background is refused by its name`(row: Case) throws {
        expectRefusal(try row.make(folder), words: row.words)
    }

    /// Root may read everything, so the process gives that up.
    @Test func `a file that may not be read`() async {
        await #expect(processExitsWith: .success) {
            let folder = TemporaryFolder()
            let path = folder.write("secret.png", png(width: 8, height: 6) { _, _ in [1, 2, 3] })
            try #require(chmod(path, 0) == 0 && chmod(folder.path, 0o755) == 0)
            loadElements()
            if geteuid() == 0 { try #require(seteuid(65_534) == 0) }
            let text = refusal(ofBackground: path)?.text ?? "no error"
            if getuid() == 0 { try #require(seteuid(0) == 0) }
            try #require(text.contains(path), "\(text)")
        }
    }

    @Test func `a file that shows no picture is given up after two seconds`() throws {
        // The scan of a JPEG that goes on for eight gigabytes, none of which are on the disk.
        let path = folder.write("endless.jpg", Array(Claim.jpeg.bytes(width: 64, height: 48).dropLast(2)))
        #expect(truncate(path, 8 << 30) == 0)
        let start = g_get_monotonic_time()
        expectRefusal(path, words: "no picture came out of it in 2 seconds")
        #expect(g_get_monotonic_time() - start < 10_000_000)
    }

    @Test func `a file is only read`() throws {
        let path = folder.write("a.png", BadBackgroundTests.picture)
        let names = folder.names
        #expect(refusal(ofBackground: path) == nil)
        let bench = Bench([], ["background": path])
        bench.video.start(Room.shape)
        bench.video.push(Room.picture, at: 0)
        #expect(bench.output.next() != nil)
        #expect(folder.names == names && folder.read("a.png") == BadBackgroundTests.picture)
    }

    // MARK: Names

    @Test func `a link, and a way up and down, lead to the file`() {
        let path = folder.write("sub/whole.png", BadBackgroundTests.picture)
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

    @Test(arguments: [[0xff, 0xfe], [0xc3, 0x28], [0xe2, 0x82]] as [[UInt8]])
    func `a name that is no UTF-8 is read, or named in the error`(bytes: [UInt8]) {
        let name = (Array("\(folder.path)/".utf8) + bytes + [0]).map { CChar(bitPattern: $0) }
        let file = fopen(name, "w")
        BadBackgroundTests.picture.withUnsafeBytes { _ = fwrite($0.baseAddress, 1, $0.count, file) }
        fclose(file)
        let error = refusal([:]) { element in
            var value = GValue()
            g_value_init(&value, g_type_from_name("gchararray"))
            g_value_set_string(&value, name)
            g_object_set_property(
                UnsafeMutableRawPointer(element).assumingMemoryBound(to: GObject.self), "background", &value)
            g_value_unset(&value)
        }
        #expect(error?.text.contains(folder.path) != false)
        _ = unlink(name)
    }

    @Test(arguments: [
        "fd://0", "data:image/png;base64,iVBORw0KGgo=", "appsrc://x", "videotestsrc://", "v4l2:///dev/video0", "pipe:0",
        "-",
        "file://elsewhere/picture.png", "file:///dev/zero", "file://", "/dev/stdin", "/dev/null", "/dev/urandom",
        "/dev/../dev/zero", "/proc/self/fd/0", "/proc/self/mem", "/proc/self/environ", "/proc/self/maps", "//", "/",
        ".", "..",
        "../..", "| cat /etc/passwd", "$(id)", "a\nb", "%00", "file:///%00", "file:///etc/%2e%2e/dev/zero", "~",
        "~root",
    ])
    func `a name of anything but a picture is refused`(name: String) {
        #expect(refusal(ofBackground: name) != nil)
    }

    // MARK: The network

    @Test(arguments: ["http", "https", "ftp", "rtsp", "rtmp", "tcp", "udp", "mms", "srt", "dav", "ws", "hls+http"])
    func `an address on the network is refused and connects to nobody`(scheme: String) throws {
        let server = try #require(Listener())
        let isRead = ["http", "https"].contains(scheme)
        expectRefusal(
            "\(scheme)://127.0.0.1:\(server.port)/picture.png",
            words: isRead ? "are read only with allow-remote=true" : "only local files, and with allow-remote=true")
        #expect(server.connections == 0)
    }

    private static let playlist =
        "#EXTM3U\n#EXT-X-TARGETDURATION:10\n#EXTINF:10,\nhttp://SERVER/secret.ts\n#EXT-X-ENDLIST\n"

    /// Files that name an address, in which SERVER stands for one of this machine.
    private static let references = [
        ("holiday.m3u8", playlist), ("holiday.jpg", playlist),
        (
            "holiday.mpd",
            """
            <?xml version="1.0"?>
            <MPD xmlns="urn:mpeg:dash:schema:mpd:2011" type="static" mediaPresentationDuration="PT10S" \
            minBufferTime="PT1S" profiles="urn:mpeg:dash:profile:isoff-on-demand:2011">
            <BaseURL>http://SERVER/</BaseURL><Period duration="PT10S"><AdaptationSet mimeType="video/mp4">
            <Representation id="1" bandwidth="1000" width="64" height="48" codecs="avc1.42c00d">
            <SegmentList duration="10"><Initialization sourceURL="i.mp4"/><SegmentURL media="s.mp4"/></SegmentList>
            </Representation></AdaptationSet></Period></MPD>
            """
        ),
        (
            "holiday.ismc",
            """
            <?xml version="1.0"?>
            <SmoothStreamingMedia MajorVersion="2" MinorVersion="0" Duration="100000000">
            <StreamIndex Type="video" Url="http://SERVER/q({bitrate})/f({start time})" QualityLevels="1" Chunks="1">
            <QualityLevel Index="0" Bitrate="1000" FourCC="H264" MaxWidth="64" MaxHeight="48"/>
            <c d="100000000"/></StreamIndex></SmoothStreamingMedia>
            """
        ),
    ]

    @Test(arguments: references)
    func `a playlist or a manifest connects to nobody`(name: String, text: String) throws {
        let server = try #require(Listener())
        let path = folder.write(name, Array(text.replacing("SERVER", with: "127.0.0.1:\(server.port)").utf8))
        expectRefusal(path, words: "refers to other files or to the network")
        #expect(server.connections == 0)
    }

    // MARK: Elements that others have installed

    @Test func `an element that brings a source of its own is not used`() async {
        await #expect(processExitsWith: .success) {
            loadElements()
            StrangeElement.demuxerWithSource.register()
            let folder = TemporaryFolder()
            let path = folder.write("strange.avi", Claim.avi.bytes(width: 64, height: 48))
            let text = try #require(refusal(ofBackground: path)?.text)
            try #require(text.contains("it refers to another file or to the network"))
            try #require(!StrangeElement.hasSourceStarted)
        }
    }

    @Test func `a decoder that never ends holds up neither the start nor the end`() async {
        await #expect(processExitsWith: .success) {
            loadElements()
            StrangeElement.endlessDecoder.register()
            let folder = TemporaryFolder()
            let path = folder.write("slow.bmp", bmp(width: 64, height: 48, [1, 2, 3]))
            let start = g_get_monotonic_time()
            let text = try #require(refusal(ofBackground: path)?.text)
            try #require(text.contains("no picture came out of it in 2 seconds"))
            try #require(g_get_monotonic_time() - start < 10_000_000)
        }
    }
}
