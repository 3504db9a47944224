import CGStreamer
import CGStreamerCheck
import DepthKernels
import GstBridge
import GstTestSupport
import TestSupport
import Testing

/// Buffers whose planes lie elsewhere than the caps alone say, and truthfully say so.
@Suite struct LayoutTests {
    private static let depth = DepthShape("GRAY16_LE", 31, 24)
    private static let counts = sceneCounts(31, 24)

    /// A frame whose planes lie in reverse order, each row padded and each plane after a gap; in one memory or several.
    ///
    /// - Parameter isBottomUp: true for rows from the last to the first, as a negative stride says.
    static func rearranged(
        _ bytes: [UInt8], _ shape: VideoShape, memoryPerPlane: Bool, isBottomUp: Bool = false
    ) throws -> BufferRef {
        let info = shape.info
        let planes = Int(info.finfo.pointee.n_planes)
        var memories: [[UInt8]] = []
        var offsets = [gsize](repeating: 0, count: 4)
        var strides = [gint](repeating: 0, count: 4)
        var total = 0
        for plane in (0..<planes).reversed() {
            let stride = Int(element(plane, of: info.stride))
            let start = Int(element(plane, of: info.offset))
            let rows = shape.components.first { $0.plane == plane }.map(\.rows) ?? 0
            var memory = [UInt8](repeating: 0xee, count: 24)
            for index in 0..<rows {
                let row = isBottomUp ? rows - 1 - index : index
                memory += bytes[(start + row * stride)..<(start + (row + 1) * stride)]
                memory += [UInt8](repeating: 0xdd, count: 20)
            }
            offsets[plane] = gsize(total + 24 + (isBottomUp ? (rows - 1) * (stride + 20) : 0))
            strides[plane] = gint(isBottomUp ? -stride - 20 : stride + 20)
            total += memory.count
            memories.append(memory)
        }
        let buffer = guardedBuffer(memories: memoryPerPlane ? memories : [memories.flatMap { $0 }])
        _ = try #require(
            gst_buffer_add_video_meta_full(
                buffer.pointer, GST_VIDEO_FRAME_FLAG_NONE, info.finfo.pointee.format, guint(shape.width),
                guint(shape.height), guint(planes), &offsets, &strides))
        return buffer
    }

    /// The frame's samples in the layout that the caps imply.
    private func packed(_ frame: Recorder.Frame, _ shape: VideoShape) -> [UInt8] {
        var info = shape.info
        var mapped = GstVideoFrame()
        guard gst_video_frame_map(&mapped, &info, frame.buffer.pointer, GST_MAP_READ) != 0 else { return [] }
        defer { gst_video_frame_unmap(&mapped) }
        var result = [UInt8](repeating: 0, count: shape.size)
        let (data, strides) = (mapped.data, mapped.info.stride)
        for component in shape.components {
            let start = component.offset - Int(element(component.plane, of: info.offset))
            Reference.forEachSample(of: component) { column, row in
                let place = start + row * Int(element(component.plane, of: strides)) + column * component.step
                if let byte = element(component.plane, of: data)?.load(fromByteOffset: place, as: UInt8.self) {
                    result[component.index(column, row)] = byte
                }
            }
        }
        return result
    }

    private func check(
        _ shape: VideoShape, readsMetas: Bool, makeBuffer: ([UInt8]) throws -> BufferRef
    ) throws {
        let picture = noise(shape, seed: 5)
        let background = noise(shape, seed: 6)
        let bench = Bench(
            ["depth", "background"], ["anchor": "fixed", "blur-radius": "2"], readsMetas: readsMetas)
        bench.depth.start(LayoutTests.depth)
        bench.depth.push(LayoutTests.depth.bytes(counts: LayoutTests.counts), at: 0)
        bench.background.start(shape)
        bench.background.push(try makeBuffer(background), at: 0)
        bench.video.start(shape)
        bench.video.push(try makeBuffer(picture), at: 0)
        let frame = try #require(bench.output.next())
        let alpha = Oracle(shape, LayoutTests.depth) { $0.blurRadius = 2 }.alpha
        let expected = Reference.composite(video: picture, background: background, alpha: alpha, shape)
        let difference = Difference(readsMetas ? packed(frame, shape) : frame.bytes, expected, shape)
        #expect(difference.isWithinPromise, "\(shape), readsMetas \(readsMetas): \(difference)")
        #expect(bench.bus.warnings().isEmpty)
    }

    @Test(arguments: FormatTests.videoFormats, [(false, false), (true, false), (false, true), (true, true)])
    func `padded rows, reordered planes, memories of planes and rows from the last on equal the reference`(
        format: String, arrangement: (memoryPerPlane: Bool, isBottomUp: Bool)
    ) throws {
        let shape = VideoShape(format, 45, 31)
        for readsMetas in [true, false] {
            try check(shape, readsMetas: readsMetas) {
                try LayoutTests.rearranged(
                    $0, shape, memoryPerPlane: arrangement.memoryPerPlane, isBottomUp: arrangement.isBottomUp)
            }
        }
    }

    @Test func `a background of another format from the last row to the first stands upright`() throws {
        let (shape, picture) = (VideoShape("RGB", 40, 32), VideoShape("BGRx", 40, 32))
        let bytes = (0..<(40 * 32)).flatMap { $0 < 40 * 16 ? [200, 0, 0, 0] : [0, 0, 200, 0] as [UInt8] }
        let bench = Bench(["background"])
        bench.background.start(picture)
        bench.background.push(
            try LayoutTests.rearranged(bytes, picture, memoryPerPlane: false, isBottomUp: true), at: 0)
        bench.background.end()
        bench.video.start(shape)
        bench.video.push(noise(shape, seed: 1), at: 0)
        let frame = try #require(bench.output.next()).bytes
        #expect(Array(frame.prefix(3)) == [0, 0, 200] && Array(frame.suffix(3)) == [200, 0, 0])
    }

    @Test func `a depth map from the last row to the first gives the same matte`() throws {
        let (shape, map) = (VideoShape("RGB", 45, 31), VideoShape("GRAY16_LE", 31, 24))
        func matte(isBottomUp: Bool) throws -> [UInt8] {
            let bench = Bench(["depth"], ["anchor": "fixed", "view": "matte"])
            bench.depth.start(LayoutTests.depth)
            let bytes = LayoutTests.depth.bytes(counts: LayoutTests.counts)
            bench.depth.push(
                try LayoutTests.rearranged(bytes, map, memoryPerPlane: false, isBottomUp: isBottomUp), at: 0)
            bench.video.start(shape)
            bench.video.push(noise(shape, seed: 5), at: 0)
            return try #require(bench.output.next()).bytes
        }
        let upright = try matte(isBottomUp: false)
        #expect(try matte(isBottomUp: true) == upright && Set(upright).count > 2)
    }

    @Test(arguments: ["I420", "NV12", "RGB"])
    func `memories that end anywhere equal the reference`(format: String) throws {
        let shape = VideoShape(format, 45, 31)
        try check(shape, readsMetas: false) { bytes in
            let cuts = [0, 7, bytes.count / 3, bytes.count / 2 + 1, bytes.count]
            return guardedBuffer(memories: zip(cuts, cuts.dropFirst()).map { Array(bytes[$0..<$1]) })
        }
    }

    @Test(arguments: ["I420", "NV12", "Y42B", "A420"], [0.55, 0.7, 0.8, 0.9, 0.97])
    func `two memories with the cut inside a later plane equal the reference`(format: String, share: Double) throws {
        let shape = VideoShape(format, 64, 64)
        try check(shape, readsMetas: false) { bytes in
            let cut = Int(Double(bytes.count) * share)
            return guardedBuffer(memories: [Array(bytes[..<cut]), Array(bytes[cut...])])
        }
    }

    @Test func `a buffer larger than its frame is no fault`() throws {
        let shape = VideoShape("YUY2", 45, 31)
        try check(shape, readsMetas: false) { guardedBuffer($0 + [UInt8](repeating: 0xcc, count: 1000)) }
    }

    @Test func `depth with padded strides equals the reference`() throws {
        let shape = VideoShape("GRAY16_LE", 31, 24)
        let video = VideoShape("GRAY8", 60, 40)
        let bench = Bench(["depth"], ["anchor": "fixed", "view": "matte"])
        bench.depth.start(LayoutTests.depth)
        bench.depth.push(
            try LayoutTests.rearranged(
                LayoutTests.depth.bytes(counts: LayoutTests.counts), shape, memoryPerPlane: false), at: 0)
        bench.video.start(video)
        bench.video.push(noise(video, seed: 1), at: 0)
        let alpha = Oracle(video, LayoutTests.depth).alpha
        let difference = Difference(
            try #require(bench.output.next()).bytes, Reference.matteView(alpha: alpha, video), video)
        #expect(difference.isWithinPromise, "\(difference)")
    }

    @Test(arguments: [false, true])
    func `a buffer that upstream still holds is not written to, nor memory that it shares`(isCopied: Bool) throws {
        let picture = guardedBuffer(Room.picture)
        let held =
            isCopied
            ? BufferRef(taking: try #require(gst_buffer_copy(picture.pointer))) : BufferRef(sharing: picture.pointer)
        let bench = Bench.room()
        bench.depth.push(Room.wall(3000), at: 0)
        bench.video.push(picture, at: 0)
        #expect(Room.shown(bench.output.next()) == 0)
        #expect(held.bytes == Room.picture)
    }

    @Test func `what stands between the planes of a copied frame is nothing of the heap's`() throws {
        fill_new_memory(0x55)
        defer { fill_new_memory(0) }
        let shape = VideoShape("I420", 320, 239)
        let bench = Bench()
        bench.depth.end()
        bench.video.start(shape)
        for number in 0..<4 {
            let picture = guardedBuffer(noise(shape, seed: 1))
            let held = BufferRef(sharing: picture.pointer)
            bench.video.push(picture, at: time(ofFrame: number))
            let frame = try #require(bench.output.next())
            // Of an odd number of rows the last stands alone in its pair.
            #expect(frame.bytes[(320 * 239)..<(320 * 240)].allSatisfy { $0 == 0 })
            withExtendedLifetime(held) {}
        }
    }
}
