import CGStreamer
import GstBridge
import GstTestSupport
import Testing

/// Caps that change in mid-stream, and flushes.
@Suite struct CapsChangeTests {
    @Test func `every video frame is read with the caps it came with`() {
        let shapes = [
            VideoShape("RGB", 64, 48), VideoShape("I420", 33, 17), VideoShape("RGB", 1, 1), VideoShape("NV12", 128, 96),
            VideoShape("AYUV", 5, 7), VideoShape("RGB", 64, 48),
        ]
        let bench = Bench(["depth"], ["anchor": "fixed", "view": "original"])
        bench.depth.start(Room.depth)
        bench.depth.end()
        bench.video.start(shapes[0])
        for frame in 0..<24 {
            if frame > 0, frame.isMultiple(of: 4) { bench.video.setCaps(shapes[frame / 4].caps) }
            bench.video.push(noise(shapes[frame / 4], seed: UInt64(frame)), at: time(ofFrame: frame))
        }
        bench.video.end()
        for (frame, picture) in bench.output.rest().enumerated() {
            let shape = shapes[frame / 4]
            #expect(
                picture.caps.contains("format=(string)\(shape.format), width=(int)\(shape.width)"), "\(picture.caps)")
            #expect(Difference(picture.bytes, noise(shape, seed: UInt64(frame)), shape).isNone, "frame \(frame)")
        }
        #expect(bench.output.story.count { $0 == "caps" } == 6)
        #expect(bench.output.story.count { $0 == "frame" } == 24)
        #expect(bench.bus.errors().isEmpty && bench.bus.warnings().isEmpty)
    }

    @Test func `every map is read with the caps it came with`() {
        let shapes = [
            DepthShape("GRAY16_LE", 32, 4), DepthShape("GRAY16_BE", 32, 4), DepthShape("F32LE", 32, 4),
            DepthShape("GRAY16_LE", 64, 9), DepthShape("F16LE", 32, 1),
        ]
        let bench = Bench(["depth"], Numbered.properties)
        bench.video.start(Numbered.video)
        bench.depth.start(shapes[0])
        for (index, shape) in shapes.enumerated() {
            if index > 0 { bench.depth.setCaps(shape.caps) }
            for frame in (index * 3)..<(index * 3 + 3) {
                let near = (frame + 1) * shape.width / 32
                let counts = (0..<shape.width * shape.height).map { $0 % shape.width < near ? 700 : 3000 }
                let bytes =
                    shape.isFloat ? shape.bytes(metres: counts.map { Float($0) / 1000 }) : shape.bytes(counts: counts)
                bench.depth.push(bytes, at: time(ofFrame: frame))
            }
        }
        bench.depth.end()
        bench.pushVideo(15)
        #expect(bench.numbers() == Array(1...15))
        #expect(bench.bus.errors().isEmpty && bench.bus.warnings().isEmpty, "\(bench.bus.warnings())")
    }

    @Test func `a face picture of another size still names the same face`() {
        let bench = Bench(["depth", "face"], ["anchor": "face", "blur-radius": "0"])
        bench.depth.start(Room.depth)
        bench.video.start(Room.shape)
        bench.face.start(VideoShape("RGB", 64, 48))
        for (frame, divisor) in [1, 2, 4].enumerated() {
            let shape = VideoShape("RGB", 64 / divisor, 48 / divisor)
            if frame > 0 { bench.face.setCaps(shape.caps) }
            let picture = guardedBuffer(noise(shape, seed: 1))
            let size = UInt32(48 / divisor)
            picture.addRegion(0, 0, size, size)
            bench.face.push(picture, at: time(ofFrame: frame))
            #expect(Room.shown(bench.pair(frame, depth: Room.wall(700))) == Room.all, "1/\(divisor)")
        }
    }

    @Test func `a map that outlives the caps it came with is not used`() {
        let bench = Bench.numbered()
        bench.depth.push(Numbered.map(9), at: 0)
        bench.video.push(Numbered.picture, at: 0)
        #expect(bench.output.next().map(Numbered.number) == 9)
        bench.depth.setCaps(DepthShape("F32LE", 320, 240).caps)
        bench.depth.end()
        bench.video.push(Numbered.picture, at: time(ofFrame: 1))
        #expect(bench.output.next().map(Numbered.number) == 0)
        #expect(bench.bus.warnings().isEmpty)
    }

    // MARK: Caps that repeat the last ones

    @Test(arguments: FollowerPad.all)
    func `caps that repeat the last ones negotiate nothing and drop nothing`(pad: FollowerPad) {
        let follower = pad.follower
        let bench = Bench(follower, follower.followed.map(\.pad))
        let queries = Monitor(0)
        answerQueries(on: bench.output.pad) { query in
            if query.pointee.type == GST_QUERY_ALLOCATION { queries.withLock { $0 += 1 } }
            return nil
        }
        for stream in follower.streams { bench[stream.pad].start(stream.caps) }
        for stream in follower.followed {
            let frame = stream.pad == follower.partner ? follower.numbered(7) : stream.frame
            bench[stream.pad].push(frame, at: 0)
        }
        bench.leading.push(follower.leading.frame, at: 0)
        #expect(bench.output.next().map(follower.number) == 7)
        let before = queries.withLock { $0 }
        bench[pad.pad].setCaps(pad.stream.caps)
        for stream in follower.followed { bench[stream.pad].end() }
        bench.leading.push(follower.leading.frame, at: time(ofFrame: 1))
        #expect(bench.output.next().map(follower.number) == 7)
        #expect(queries.withLock { $0 } == before)
    }

    @Test(arguments: ["video", "depth"])
    func `a fused matte goes on after caps that repeat the last ones`(pad: String) {
        let (video, depth) = (VideoShape("RGB", 64, 48), DepthShape("GRAY16_LE", 64, 48))
        func frames(repeatingCaps: Bool) -> [[UInt8]] {
            let bench = Bench(
                ["depth"],
                ["anchor": "fixed", "cutoff": "1.5", "method": "fusion", "settle": "0.95", "view": "matte"])
            bench.video.start(video)
            bench.depth.start(depth)
            return (0..<6).map { frame in
                if repeatingCaps { bench[pad].setCaps(pad == "video" ? video.caps : depth.caps) }
                let counts = sceneCounts(64, 48).enumerated().map { $0 % 7 == frame ? 0 : $1 }
                let picture = noise(video, seed: UInt64(frame))
                return bench.pair(frame, depth: depth.bytes(counts: counts), video: picture)?.bytes ?? []
            }
        }
        let expected = frames(repeatingCaps: false)
        #expect(Set(expected).count > 1)
        #expect(frames(repeatingCaps: true) == expected)
    }

    // MARK: Flushes

    private func flush(_ bench: Bench, to segment: GstSegment) {
        bench.video.beginFlush()
        bench.depth.beginFlush()
        bench.video.endFlush(then: segment)
        bench.depth.endFlush(then: segment)
    }

    @Test func `a flush forgets the depth and starts a new segment`() {
        let bench = Bench.numbered()
        bench.depth.push(Numbered.map(9), at: 0)
        bench.video.push(Numbered.picture, at: 0)
        #expect(bench.output.next().map(Numbered.number) == 9)
        flush(bench, to: .time(start: 10_000 * millisecond))
        bench.video.push(Numbered.picture, at: 10_000 * millisecond)
        bench.depth.push(Numbered.map(4), at: 10_200 * millisecond)
        #expect(bench.output.next().map(Numbered.number) == 0, "the map from before the flush is gone")
        bench.video.push(Numbered.picture, at: 10_200 * millisecond)
        #expect(bench.output.next().map(Numbered.number) == 4)
        #expect(bench.output.segment?.start == 10_000 * millisecond)
    }

    @Test func `a flush while the element waits for depth lets it go on`() {
        let bench = Bench.numbered()
        bench.video.push(Numbered.picture, at: 0)
        bench.video.push(Numbered.picture, at: time(ofFrame: 1))
        flush(bench, to: .time())
        bench.depth.push(Numbered.map(6), at: 0)
        bench.video.push(Numbered.picture, at: 0)
        #expect(bench.output.next().map(Numbered.number) == 6)
    }
}
