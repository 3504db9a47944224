import CGStreamer
import GstTestSupport
import Testing

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// Backgrounds that cannot be read.
@Suite struct BadBackgroundTests {
    private let folder = TemporaryFolder()

    /// Starts a whole pipeline with that background; the error, and how many frames left before it.
    private func start(_ background: String) -> (error: Bus.Report?, frames: Int) {
        let pipeline = Pipeline(
            "depthtestsrc num-buffers=3 name=camera camera.video ! video/x-raw,width=32,height=24 ! matte.video "
                + "depthmatte name=matte ! appsink name=sink sync=false")
        setProperty(pipeline["matte"], "background", background)
        let failed = pipeline.set(GST_STATE_PLAYING) == GST_STATE_CHANGE_FAILURE
        let error = pipeline.bus.nextError()
        #expect(failed, "the state change itself fails")
        let sink = UnsafeMutableRawPointer(pipeline["sink"]).assumingMemoryBound(to: GstAppSink.self)
        var frames = 0
        while let sample = gst_app_sink_try_pull_sample(sink, 0) {
            gst_sample_unref(sample)
            frames += 1
        }
        return (error, frames)
    }

    private func expectRefusal(_ background: String, naming: String? = nil) {
        let (error, frames) = start(background)
        #expect(error?.text.contains(naming ?? background) == true, "\(background): \(String(describing: error))")
        #expect(error?.domain == "gst-resource-error-quark", "\(background): \(String(describing: error))")
        #expect(frames == 0, "\(background): \(frames) frames left")
    }

    private var picture: [UInt8] { png(width: 64, height: 48) { x, y in [UInt8(x * 4), UInt8(y * 5), 9] } }

    @Test func `a file that does not exist`() { expectRefusal(folder["missing.png"]) }

    @Test func `a picture larger than max-pixels is refused before it is decoded`() throws {
        let path = folder.write("large.png", png(width: 64, height: 48) { _, _ in [1, 2, 3] })
        let element = makeElement("depthmatte", ["background": path, "max-pixels": "3071"])
        defer { gst_object_unref(element) }
        let bus = Bus()
        gst_element_set_bus(element, bus.pointer)
        #expect(gst_element_set_state(element, GST_STATE_PAUSED) == GST_STATE_CHANGE_FAILURE)
        #expect(bus.nextError()?.text.contains("3072 pixels") == true)
        setProperty(element, "max-pixels", "3072")
        #expect(gst_element_set_state(element, GST_STATE_PAUSED) != GST_STATE_CHANGE_FAILURE)
        gst_element_set_state(element, GST_STATE_NULL)
        gst_element_set_bus(element, nil)
    }

    @Test func `a directory`() { expectRefusal(folder.path) }

    @Test func `an empty file`() { expectRefusal(folder.write("empty.png", [])) }

    @Test func `a text file`() {
        let path = folder.write("notes.txt", Array("This is no picture.\n".utf8) + Array("x y z\n".utf8))
        expectRefusal(path)
        expectRefusal(path, naming: "(readable are PNG, JPEG")
    }

    @Test func `bytes of no known kind`() {
        expectRefusal(folder.write("random.bin", noise(VideoShape("GRAY8", 64, 64), seed: 3)))
    }

    @Test func `a FIFO that nobody writes to`() { expectRefusal(folder.makeFIFO("pipe")) }

    @Test func `a device`() { expectRefusal("/dev/zero") }

    @Test func `an address on the network`() {
        expectRefusal("http://localhost/picture.png")
        expectRefusal("http://localhost/picture.png", naming: "are read only with allow-remote=true")
        expectRefusal("ftp://localhost/picture.png", naming: "only local files, and with allow-remote=true")
    }

    @Test func `a malformed URI`() { expectRefusal("file:") }

    @Test func `an empty name`() {
        let (error, frames) = start("")
        #expect(error != nil || frames > 0, "either a refusal or no background at all")
    }

    @Test(arguments: [1, 8, 20, 33, 40, 60, 500, 5000, 9000])
    func `a PNG that is cut off`(length: Int) {
        expectRefusal(folder.write("cut.png", Array(picture.prefix(length))))
    }

    @Test func `a PNG whose data are broken`() {
        var bytes = picture
        for index in 60..<bytes.count - 30 { bytes[index] ^= 0x5a }
        expectRefusal(folder.write("broken.png", bytes))
    }

    @Test(arguments: [0.1, 0.5, 0.95])
    func `a JPEG that is cut off`(share: Double) throws {
        let outcome = Pipeline(
            "videotestsrc num-buffers=1 ! video/x-raw,width=320,height=240 ! jpegenc ! filesink location=\(folder["whole.jpg"])"
        ).run()
        try #require(outcome == .ended)
        let whole = folder.read("whole.jpg")
        try #require(whole.count > 1000)
        expectRefusal(folder.write("cut.jpg", Array(whole.prefix(Int(Double(whole.count) * share)))))
    }

    @Test func `a whole PNG and a whole JPEG are read`() throws {
        let outcome = Pipeline(
            "videotestsrc num-buffers=1 ! video/x-raw,width=320,height=240 ! jpegenc ! filesink location=\(folder["whole.jpg"])"
        ).run()
        try #require(outcome == .ended)
        for path in [folder["whole.jpg"], folder.write("whole.png", picture)] {
            let pipeline = Pipeline(
                "depthtestsrc num-buffers=3 name=camera camera.video ! video/x-raw,width=32,height=24 ! matte.video "
                    + "depthmatte name=matte background=\(path) ! fakesink")
            #expect(pipeline.run() == .ended)
        }
    }

    @Test func `a file of sound alone`() throws {
        let path = folder["sound.wav"]
        try #require(Pipeline("audiotestsrc num-buffers=5 ! wavenc ! filesink location=\(path)").run() == .ended)
        expectRefusal(path, naming: "\(path)\" cannot be read: there is no video in it")
    }

    @Test func `a file that shows no picture is given up after two seconds`() throws {
        // The scan of a JPEG that goes on for eight gigabytes, none of which are on the disk.
        let path = folder.write("endless.jpg", Array(Claim.jpeg.bytes(width: 64, height: 48).dropLast(2)))
        #expect(truncate(path, 8 << 30) == 0)
        let start = g_get_monotonic_time()
        expectRefusal(path, naming: "no picture came out of it in 2 seconds")
        #expect(g_get_monotonic_time() - start < 10_000_000)
    }

    // MARK: Files that refer to others

    /// Starts the element with a file that names an address of this machine; how many connections came there.
    private func connections(_ name: String, _ text: (String) -> String) throws -> Int {
        let server = try #require(Listener())
        let path = folder.write(name, Array(text("127.0.0.1:\(server.port)").utf8))
        let (error, frames) = start(path)
        #expect(frames == 0)
        let words = error?.text ?? "no error"
        #expect(words.contains(path) && words.contains("refers to other files or to the network"), "\(words)")
        return server.connections
    }

    @Test func `a playlist connects to nobody`() throws {
        for name in ["holiday.m3u8", "holiday.jpg"] {
            #expect(
                try connections(name) {
                    "#EXTM3U\n#EXT-X-TARGETDURATION:10\n#EXTINF:10,\nhttp://\($0)/secret.ts\n#EXT-X-ENDLIST\n"
                } == 0)
        }
    }

    @Test func `a manifest connects to nobody`() throws {
        #expect(
            try connections("holiday.mpd") {
                """
                <?xml version="1.0"?>
                <MPD xmlns="urn:mpeg:dash:schema:mpd:2011" type="static" mediaPresentationDuration="PT10S" \
                minBufferTime="PT1S" profiles="urn:mpeg:dash:profile:isoff-on-demand:2011">
                <BaseURL>http://\($0)/</BaseURL><Period duration="PT10S"><AdaptationSet mimeType="video/mp4">
                <Representation id="1" bandwidth="1000" width="64" height="48" codecs="avc1.42c00d">
                <SegmentList duration="10"><Initialization sourceURL="i.mp4"/><SegmentURL media="s.mp4"/></SegmentList>
                </Representation></AdaptationSet></Period></MPD>
                """
            } == 0)
        #expect(
            try connections("holiday.ismc") {
                """
                <?xml version="1.0"?>
                <SmoothStreamingMedia MajorVersion="2" MinorVersion="0" Duration="100000000">
                <StreamIndex Type="video" Url="http://\($0)/q({bitrate})/f({start time})" QualityLevels="1" Chunks="1">
                <QualityLevel Index="0" Bitrate="1000" FourCC="H264" MaxWidth="64" MaxHeight="48"/>
                <c d="100000000"/></StreamIndex></SmoothStreamingMedia>
                """
            } == 0)
    }

    @Test func `a playlist of local files is not followed`() throws {
        let secret = folder.write("secret.ts", picture)
        let text = "#EXTM3U\n#EXT-X-TARGETDURATION:10\n#EXTINF:10,\nfile://\(secret)\n#EXT-X-ENDLIST\n"
        expectRefusal(folder.write("list.m3u8", Array(text.utf8)), naming: "refers to other files or to the network")
    }

    @Test func `an element that brings a source of its own is not used`() async {
        await #expect(processExitsWith: .success) {
            loadElements()
            StrangeElement.demuxerWithSource.register()
            let folder = TemporaryFolder()
            let path = folder.write("strange.avi", Claim.avi.bytes(width: 64, height: 48))
            let element = makeElement("depthmatte", ["background": path])
            let bus = Bus()
            gst_element_set_bus(element, bus.pointer)
            try #require(gst_element_set_state(element, GST_STATE_PAUSED) == GST_STATE_CHANGE_FAILURE)
            let text = try #require(bus.nextError()?.text)
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
            let element = makeElement("depthmatte", ["background": path])
            let bus = Bus()
            gst_element_set_bus(element, bus.pointer)
            let start = g_get_monotonic_time()
            try #require(gst_element_set_state(element, GST_STATE_PAUSED) == GST_STATE_CHANGE_FAILURE)
            try #require(bus.nextError()?.text.contains("no picture came out of it in 2 seconds") == true)
            setProperty(element, "background", "")
            gst_element_set_state(element, GST_STATE_NULL)
            try #require(g_get_monotonic_time() - start < 10_000_000)
        }
    }

    @Test func `a refused background can be replaced and the pipeline started`() {
        let pipeline = Pipeline(
            "depthtestsrc num-buffers=3 name=camera camera.video ! video/x-raw,width=32,height=24 ! matte.video "
                + "depthmatte name=matte ! fakesink")
        setProperty(pipeline["matte"], "background", folder["missing.png"])
        #expect(pipeline.set(GST_STATE_PLAYING) == GST_STATE_CHANGE_FAILURE)
        pipeline.set(GST_STATE_NULL)
        setProperty(pipeline["matte"], "background", folder.write("whole.png", picture))
        #expect(pipeline.run() == .ended)
    }
}
