import CGStreamer
import GstBridge
import GstTestSupport
import Testing

/// An error or a warning names what is wrong: short memory is not memory that cannot be mapped, nor a faulty buffer.
@Suite struct FaultCauseTests {
    private func isOfShortMemory(_ report: Bus.Report?) -> Bool {
        guard let report else { return false }
        return report.text.contains("no memory") && report.domain == "gst-resource-error-quark"
            && report.code == Int(GST_RESOURCE_ERROR_NO_SPACE_LEFT.rawValue)
    }

    /// The messages of an element that gets a frame in poor memory after a good one.
    private func told(
        by follower: Follower, _ memory: PoorMemory
    ) throws -> (warnings: [Bus.Report], error: Bus.Report?) {
        let bench = Bench.numbered(follower)
        bench[follower.partner].push(follower.numbered(1), at: 0)
        // A frame that somebody else holds is copied by the element.
        let frames = (0..<2).map { _ in guardedBuffer(follower.leading.frame) }
        let kept = frames.map { BufferRef(sharing: $0.pointer) }
        bench.leading.push(frames[0], at: 0)
        let first = try #require(bench.output.next())
        #expect(bench.bus.warnings().isEmpty)
        return with(memory) {
            bench[follower.partner].push(follower.numbered(2), at: time(ofFrame: 1))
            bench.leading.push(frames[1], at: time(ofFrame: 1))
            var error: Bus.Report?
            #expect(
                eventually {
                    error = bench.bus.errors().first
                    return error != nil
                })
            withExtendedLifetime((first, kept)) {}
            return (bench.bus.warnings(), error)
        }
    }

    @Test(arguments: Follower.all)
    func `a frame for which there is no memory is told of as that`(follower: Follower) throws {
        let (warnings, error) = try told(by: follower, .none)
        #expect(isOfShortMemory(error), "\(String(describing: error))")
        #expect(warnings.count { !isOfShortMemory($0) } == 0, "\(warnings)")
    }

    @Test(arguments: Follower.all)
    func `memory of our own that cannot be mapped is not told of as short`(follower: Follower) throws {
        let (warnings, error) = try told(by: follower, .unmappable)
        for report in warnings + [try #require(error)] {
            #expect(report.text.contains("cannot be mapped"), "\(report)")
        }
    }

    @Test(arguments: [("depth", Room.all * 4), ("quad", Room.shape.size), ("matte", Room.all)])
    func `a view for which there is no memory is an error that says so`(view: String, size: Int) throws {
        let bench = Bench.room(["view": view, "anchor": "face"])
        // The canvas of the view, or the matte without a person, and no less.
        let error = with(.none, of: size...size) {
            bench.depth.push(Room.wall(700), at: 0)
            bench.video.push(Room.picture, at: 0)
            return bench.bus.nextError()
        }
        #expect(isOfShortMemory(error), "\(String(describing: error))")
    }

    @Test(arguments: ["video", "depth", "matte"])
    func `a test picture for which there is no memory is an error that says so`(pad: String) throws {
        let pipeline = Pipeline("depthtestsrc name=camera camera.\(pad) ! fakesink")
        let error = with(.none) {
            pipeline.set(GST_STATE_PLAYING)
            return pipeline.bus.nextError()
        }
        #expect(isOfShortMemory(error), "\(String(describing: error))")
    }

    /// An element that has shown the background's color, and is about to show its first picture.
    private func benchBeforeBackground(_ picture: VideoShape, _ buffer: BufferRef) throws -> Bench {
        let bench = Bench(["depth", "background"], ["anchor": "fixed", "background-color": "0xff102030"])
        bench.background.start(picture)
        bench.background.push(buffer, at: time(ofFrame: 1))
        bench.background.end()
        bench.depth.start(Room.depth)
        bench.video.start(Room.shape)
        #expect(isColor(try #require(bench.pair(0, depth: Room.wall(3000)))))
        return bench
    }

    private func isColor(_ frame: Recorder.Frame) -> Bool {
        pixels(frame.bytes, otherThan: [0x10, 0x20, 0x30], Room.shape) == 0
    }

    @Test func `a background for which there is no memory is a warning that says so`() throws {
        let picture = VideoShape("RGB", 80, 60)
        let bench = try benchBeforeBackground(picture, guardedBuffer(flat(picture, [9, 9, 9])))
        let frame = with(.none, of: Room.shape.size...Room.shape.size) { bench.pair(1, depth: Room.wall(3000)) }
        #expect(isColor(try #require(frame)))
        let warnings = bench.bus.warnings()
        #expect(warnings.count == 1 && isOfShortMemory(warnings.first), "\(warnings)")
        #expect(warnings.first?.text.contains("background") == true)
        let next = try #require(bench.pair(2, depth: Room.wall(3000)))
        #expect(pixels(next.bytes, otherThan: [9, 9, 9], Room.shape) == 0, "with memory again, the picture")
    }

    @Test(arguments: [Room.shape, VideoShape("RGB", 80, 60)])
    func `a background that cannot be mapped is a warning that says so`(picture: VideoShape) throws {
        let bench = try benchBeforeBackground(picture, unmappableBuffer(size: picture.size))
        #expect(isColor(try #require(bench.pair(1, depth: Room.wall(3000)))))
        let warnings = bench.bus.warnings()
        #expect(warnings.count == 1 && warnings.first?.text.contains("cannot be mapped") == true, "\(warnings)")
    }

    @Test(arguments: [Room.shape, VideoShape("RGB", 80, 60)])
    func `a background that is cut short is a warning that says so`(picture: VideoShape) throws {
        let bench = try benchBeforeBackground(picture, guardedBuffer([1, 2, 3]))
        #expect(isColor(try #require(bench.pair(1, depth: Room.wall(3000)))))
        let warnings = bench.bus.warnings()
        #expect(warnings.count == 1 && warnings[0].text.hasPrefix("A frame on the background pad is faulty: "))
        #expect(warnings.first?.text.hasSuffix(" bytes; background-color is shown instead.") == true, "\(warnings)")
        #expect(warnings.first?.details.contains("holds 3 bytes where its caps need \(picture.size)") == true)
    }
}
