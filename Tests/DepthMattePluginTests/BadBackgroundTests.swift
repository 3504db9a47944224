import CGStreamer
import GstTestSupport
import Testing

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
        expectRefusal(folder.write("notes.txt", Array("This is no picture.\n".utf8) + Array("x y z\n".utf8)))
    }

    @Test func `bytes of no known kind`() {
        expectRefusal(folder.write("random.bin", noise(VideoShape("GRAY8", 64, 64), seed: 3)))
    }

    @Test func `a FIFO that nobody writes to`() { expectRefusal(folder.makeFIFO("pipe")) }

    @Test func `a device`() { expectRefusal("/dev/zero") }

    @Test func `an address on the network`() { expectRefusal("http://localhost/picture.png") }

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
