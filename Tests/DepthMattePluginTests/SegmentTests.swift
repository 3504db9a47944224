import CGStreamer
import GstBridge
import GstTestSupport
import Testing

/// Segments of any rate, offset and direction.
@Suite struct SegmentTests {
    /// A segment of that rate, of the second from `start` on.
    private func segment(rate: Double, start: GstClockTime, base: GstClockTime = 0) -> GstSegment {
        var segment = GstSegment.time(rate: rate, start: start, stop: start + 1000 * millisecond, base: base)
        if rate < 0 { segment.position = segment.stop }
        return segment
    }

    @Test(arguments: [0.5, 1, 2, 1000, -0.5, -1, -2])
    func `both streams at one rate are paired one to one`(rate: Double) {
        let bench = Bench(["depth"], Numbered.properties.with(["max-skew": "0", "hold-time": "0"]))
        bench.depth.start(Numbered.depth, segment(rate: rate, start: 5_000 * millisecond))
        bench.video.start(Numbered.video, segment(rate: rate, start: 2_000 * millisecond))
        let order = rate < 0 ? Array((0..<9).reversed()) : Array(0..<9)
        for number in order {
            bench.depth.push(Numbered.map(number + 1), at: 5_000 * millisecond + time(ofFrame: number))
            bench.video.push(Numbered.picture, at: 2_000 * millisecond + time(ofFrame: number))
        }
        bench.depth.end()
        bench.video.end()
        let frames = bench.output.rest()
        #expect(frames.map(Numbered.number) == order.map { $0 + 1 })
        #expect(frames.map(\.timing.start) == order.map { 2_000 * millisecond + time(ofFrame: $0) })
        #expect(bench.output.segment?.rate == rate && bench.output.segment?.start == 2_000 * millisecond)
    }

    @Test(arguments: [0.5, 1, 2, 1000, -0.5, -1, -2])
    func `a shift of depth is one of its timestamps, at any rate`(rate: Double) {
        let bench = Bench(
            ["depth"],
            Numbered.properties.with(["depth-ts-offset": "-66000000", "max-skew": "1", "hold-time": "0"]))
        bench.depth.start(Numbered.depth, segment(rate: rate, start: 5_000 * millisecond))
        bench.video.start(Numbered.video, segment(rate: rate, start: 5_000 * millisecond))
        let order = rate < 0 ? Array((0..<9).reversed()) : Array(0..<9)
        for number in order {
            let due = 5_000 * millisecond + time(ofFrame: number)
            bench.depth.push(Numbered.map(number + 1), at: due + 66 * millisecond)
            bench.video.push(Numbered.picture, at: due)
        }
        bench.depth.end()
        bench.video.end()
        #expect(bench.numbers() == order.map { $0 + 1 })
    }

    @Test func `a slower map backwards serves the frames that follow it in time`() {
        let bench = Bench(["depth"], Numbered.properties.with(["max-skew": "20000000"]))
        bench.depth.start(Numbered.depth, segment(rate: -1, start: 0))
        bench.video.start(Numbered.video, segment(rate: -1, start: 0))
        for number in [9, 6, 3] { bench.depth.push(Numbered.map(number), at: time(ofFrame: number)) }
        for number in (2..<10).reversed() { bench.video.push(Numbered.picture, at: time(ofFrame: number)) }
        bench.depth.end()
        bench.video.end()
        #expect(bench.numbers() == [9, 9, 9, 6, 6, 6, 3, 3])
    }

    @Test func `backwards, the position falls`() throws {
        let bench = Bench([], Numbered.properties)
        bench.video.start(Numbered.video, segment(rate: -1, start: 0))
        for number in [9, 8, 7] { bench.video.push(Numbered.picture, at: time(ofFrame: number)) }
        bench.video.end()
        _ = bench.output.rest()
        var position: gint64 = 0
        #expect(gst_pad_peer_query_position(bench.output.pad, GST_FORMAT_TIME, &position) != 0)
        #expect(position == gint64(time(ofFrame: 7)))
    }

    @Test func `a gap in depth that runs backwards covers the frames it spans`() {
        let bench = Bench(["depth"], Numbered.properties)
        bench.depth.start(Numbered.depth, segment(rate: -1, start: 0))
        bench.video.start(Numbered.video, segment(rate: -1, start: 0))
        bench.depth.push(Numbered.map(9), at: time(ofFrame: 9))
        bench.depth.gap(at: time(ofFrame: 5), 4 * frameDuration)
        bench.depth.push(Numbered.map(4), at: time(ofFrame: 4))
        for number in (4..<10).reversed() { bench.video.push(Numbered.picture, at: time(ofFrame: number)) }
        bench.depth.end()
        bench.video.end()
        let numbers = bench.numbers()
        #expect(numbers == [9, 0, 0, 0, 0, 4])
    }

    @Test(arguments: [2.0, 4, 0.3])
    func `a gap in depth ends where the next frame begins, at any rate`(rate: Double) {
        for first in 0..<30 {
            let bench = Bench(["depth"], Numbered.properties)
            bench.depth.start(Numbered.depth, segment(rate: rate, start: 0))
            bench.video.start(Numbered.video, segment(rate: rate, start: 0))
            let (start, next) = (time(ofFrame: first), time(ofFrame: first + 1))
            bench.depth.gap(at: start, next - start)
            bench.depth.push(Numbered.map(4), at: next)
            for due in [start, next] { bench.video.push(Numbered.picture, at: due) }
            bench.depth.end()
            bench.video.end()
            #expect(bench.numbers() == (first < 29 ? [0, 4] : [0]), "frame \(first)")
        }
    }

    @Test func `a pad's offset moves its stream`() {
        let bench = Bench(["depth"], Numbered.properties.with(["max-skew": "0", "hold-time": "0"]))
        gst_pad_set_offset(bench.depth.target, -gint64(time(ofFrame: 30)))
        bench.depth.start(Numbered.depth)
        bench.video.start(Numbered.video)
        for number in 0..<4 {
            bench.depth.push(Numbered.map(number + 1), at: time(ofFrame: 30) + time(ofFrame: number))
            bench.video.push(Numbered.picture, at: time(ofFrame: number))
        }
        bench.depth.end()
        bench.video.end()
        #expect(bench.numbers() == [1, 2, 3, 4])
    }

    @Test func `maps outside their segment count for nothing and are let go`() {
        let bench = Bench(["depth"], Numbered.properties)
        bench.depth.start(Numbered.depth, .time(start: 200 * millisecond, stop: 300 * millisecond))
        bench.video.start(Numbered.video)
        let early = guardedBuffer(Numbered.map(1))
        let late = guardedBuffer(Numbered.map(3))
        let held = [BufferRef(sharing: early.pointer), BufferRef(sharing: late.pointer)]
        bench.depth.push(early, at: 160 * millisecond)
        bench.depth.push(Numbered.map(2), at: 190 * millisecond)
        bench.depth.push(late, at: 310 * millisecond)
        bench.depth.end()
        for frame in 0..<6 { bench.video.push(Numbered.picture, at: time(ofFrame: frame)) }
        bench.video.end()
        // The one that reaches into the segment starts 10 ms before its beginning, which is running time 0.
        #expect(bench.numbers().allSatisfy { $0 == 2 })
        #expect(held.allSatisfy { $0.pointer.pointee.mini_object.refcount == 1 })
    }

    @Test func `a late frame at half speed lasts twice as long`() {
        let bench = Bench([], Numbered.properties)
        bench.video.start(Numbered.video, .time(rate: 0.5))
        bench.video.push(Numbered.picture, at: 0)
        #expect(bench.output.next() != nil)
        gst_pad_push_event(
            bench.output.pad, gst_event_new_qos(GST_QOS_TYPE_UNDERFLOW, 1, GstClockTimeDiff(100 * millisecond), 0))
        for frame in 1..<4 { bench.video.push(Numbered.picture, at: time(ofFrame: frame)) }
        bench.video.end()
        // Frame 1 is shown from 67 to 133 ms.
        #expect(bench.output.rest().map(\.timing.start) == (1..<4).map { time(ofFrame: $0) })
    }

    @Test(arguments: [GstClockTime.max / 2, GstClockTime.max - 2])
    func `timestamps at the end of time trap nothing`(stamp: GstClockTime) {
        for rate in [1, -1, 1e-9, 1e9] {
            let bench = Bench(["depth"], Numbered.properties)
            let stop = rate < 0 ? stamp : noClockTime
            bench.depth.start(Numbered.depth, .time(rate: rate, stop: stop))
            bench.video.start(Numbered.video, .time(rate: rate, stop: stop))
            bench.depth.push(Numbered.map(1), at: stamp, GstClockTime.max - 1)
            bench.depth.gap(at: stamp, GstClockTime.max - 1)
            bench.video.push(Numbered.picture, at: stamp, GstClockTime.max - 1)
            bench.depth.end()
            bench.video.end()
            _ = bench.output.rest()
            #expect(bench.output.hasEnded)
        }
    }

    @Test(arguments: ["video", "depth"])
    func `a segment that runs backwards from nowhere is refused with an error`(pad: String) {
        let bench = Bench(["depth"])
        let feed = pad == "video" ? bench.video : bench.depth
        feed.start(pad == "video" ? Room.shape.caps : Room.depth.caps, .time(rate: -1))
        feed.push(Room.picture, at: 0)
        #expect(feed.settle() != GST_FLOW_OK)
        #expect(bench.output.present().isEmpty)
        #expect(bench.bus.errors().first?.text.contains(pad) == true)
    }

    /// As the reference says of these properties, which every GstAggregator has.
    @Test(arguments: Follower.all, ["zero", "first", "set"])
    func `the start time is the leading stream's, whatever is selected`(follower: Follower, selection: String) {
        let bench = Bench.numbered(follower, ["start-time-selection": selection, "start-time": "777"])
        bench[follower.partner].push(follower.numbered(2), at: 1000 * millisecond)
        bench.leading.push(follower.leading.frame, at: 1000 * millisecond)
        bench[follower.partner].end()
        bench.leading.end()
        let frames = bench.output.rest()
        #expect(frames.map(follower.number) == [2] && frames.first?.timing.start == 1000 * millisecond)
        #expect(bench.output.segment?.start == 0)
    }

    @Test func `frames whose timestamps repeat or fall leave in the order they came`() {
        let bench = Bench.numbered()
        for number in 0..<4 { bench.depth.push(Numbered.map(number + 1), at: time(ofFrame: number)) }
        bench.depth.end()
        for frame in [0, 1, 1, 3, 2, 3] { bench.video.push(Numbered.picture, at: time(ofFrame: frame)) }
        bench.video.end()
        let frames = bench.output.rest()
        #expect(frames.map(\.timing.start) == [0, 1, 1, 3, 2, 3].map { time(ofFrame: $0) })
        #expect(frames.map(Numbered.number) == [1, 2, 2, 4, 4, 4], "a map that is behind is not taken again")
    }
}
