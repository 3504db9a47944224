import CGStreamer
import GstBridge
import GstTestSupport
import TestSupport
import Testing

/// Where the memory of the output comes from: the video's own where nobody else looks at it, else one buffer of a pool.
@Suite struct AllocationTests {
    private static let shape = VideoShape("I420", 45, 31)
    private static let picture = noise(shape, seed: 3)

    /// Pools are made before the element is.
    init() { loadElements() }

    /// Downstream, as it answers an ALLOCATION query.
    private struct Downstream {
        var readsMetas = true
        var least: guint = 0
        var most: guint = 0
        var alignment: GstVideoAlignment?
        var memory: GstAllocationParams?
        let pool = gst_video_buffer_pool_new()

        func answer(_ query: UnsafeMutablePointer<GstQuery>) {
            if readsMetas { gst_query_add_allocation_meta(query, gst_video_meta_api_get_type(), nil) }
            if var memory { gst_query_add_allocation_param(query, nil, &memory) }
            gst_query_add_allocation_pool(query, pool, guint(AllocationTests.shape.size), least, most)
        }

        /// Sets the pool up as a sink does that wants its frames padded.
        func prepare() {
            guard let alignment, let pool, let caps = gst_caps_from_string(AllocationTests.shape.caps) else { return }
            defer { gst_caps_unref(caps) }
            let size = guint(AllocationTests.shape.size)
            #expect(pool.align(caps, size: size, least: least, most: most, alignment: alignment))
        }
    }

    private func bench(_ downstream: Downstream) -> Bench {
        let bench = Bench([], ["view": "original"])
        downstream.prepare()
        answerQueries(on: bench.output.pad) { query in
            guard query.pointee.type == GST_QUERY_ALLOCATION else { return nil }
            downstream.answer(query)
            return true
        }
        bench.video.start(AllocationTests.shape)
        return bench
    }

    /// One frame that upstream keeps, so that it must be copied.
    private func copied(by bench: Bench, frame: Int = 0) throws -> Recorder.Frame {
        let buffer = guardedBuffer(AllocationTests.picture)
        let held = BufferRef(sharing: buffer.pointer)
        bench.video.push(buffer, at: time(ofFrame: frame))
        let out = try #require(bench.output.next())
        #expect(out.buffer.pointer != held.pointer)
        #expect(samples(of: out) == samples(AllocationTests.picture))
        withExtendedLifetime(held) {}
        return out
    }

    /// The picture's samples, wherever they lie.
    private func samples(of frame: Recorder.Frame) -> [UInt8] {
        var info = AllocationTests.shape.info
        var mapped = GstVideoFrame()
        guard gst_video_frame_map(&mapped, &info, frame.buffer.pointer, GST_MAP_READ) != 0 else { return [] }
        defer {
            gst_video_frame_unmap(&mapped)
            withExtendedLifetime(frame) {}
        }
        return AllocationTests.shape.components.flatMap { component in
            (0..<component.rows).flatMap { row in
                (0..<component.columns).compactMap { column in
                    element(component.plane, of: mapped.data)?.load(
                        fromByteOffset: row * Int(element(component.plane, of: mapped.info.stride)) + column,
                        as: UInt8.self)
                }
            }
        }
    }

    private func samples(_ bytes: [UInt8]) -> [UInt8] {
        AllocationTests.shape.components.flatMap { component in
            (0..<component.rows).flatMap { row in
                (0..<component.columns).map { bytes[component.index($0, row)] }
            }
        }
    }

    @Test func `a frame that is upstream's no more is worked on where it lies`() throws {
        let bench = bench(Downstream())
        for frame in 0..<5 {
            let buffer = guardedBuffer(AllocationTests.picture)
            let (address, memory) = (buffer.pointer, gst_buffer_peek_memory(buffer.pointer, 0))
            bench.video.push(buffer, at: time(ofFrame: frame))
            let out = try #require(bench.output.next())
            withExtendedLifetime(out) {
                #expect(out.buffer.pointer == address && gst_buffer_peek_memory(out.buffer.pointer, 0) == memory)
            }
        }
    }

    @Test func `a frame that upstream keeps is copied once, into downstream's pool`() throws {
        let downstream = Downstream()
        let bench = bench(downstream)
        #expect(try copied(by: bench).pool == downstream.pool)
    }

    @Test func `copies go round in a few buffers`() throws {
        let bench = bench(Downstream())
        var addresses: Set<BufferPointer> = []
        for frame in 0..<500 { addresses.insert(try copied(by: bench, frame: frame).buffer.pointer) }
        #expect(addresses.count <= 3)
    }

    @Test func `padding that downstream's pool has is where it wants it`() throws {
        let downstream = Downstream(
            alignment: GstVideoAlignment(top: 6, left: 16, bottom: 4, right: 32, rowAlignment: 64))
        let frame = try copied(by: bench(downstream))
        #expect(frame.pool == downstream.pool)
        let meta = try withExtendedLifetime(frame) {
            try #require(gst_buffer_get_video_meta(frame.buffer.pointer)).pointee
        }
        #expect(meta.stride.0 % 64 == 0 && meta.stride.0 >= 45 + 48)
        #expect(Int(meta.offset.0) >= 6 * Int(meta.stride.0) + 16, "six rows and sixteen columns come first")
    }

    @Test func `padding without a reader of metas is left out`() throws {
        let alignment = GstVideoAlignment(left: 16, rowAlignment: 64)
        let frame = try copied(by: bench(Downstream(readsMetas: false, alignment: alignment)))
        #expect(samples(frame.bytes) == samples(AllocationTests.picture), "where the caps alone say")
    }

    @Test(arguments: [false, true])
    func `memory is aligned, prefixed and padded as downstream asks`(offersPool: Bool) throws {
        var memory = GstAllocationParams()
        memory.align = 255
        memory.prefix = 64
        memory.padding = 128
        let downstream = Downstream(memory: memory)
        let bench = Bench([], ["view": "original"])
        answerQueries(on: bench.output.pad) { query in
            guard query.pointee.type == GST_QUERY_ALLOCATION else { return nil }
            if offersPool {
                downstream.answer(query)
            } else {
                gst_query_add_allocation_param(query, nil, &memory)
            }
            return true
        }
        bench.video.start(AllocationTests.shape)
        let out = try copied(by: bench)
        defer { withExtendedLifetime(out) {} }
        let first = try #require(gst_buffer_peek_memory(out.buffer.pointer, 0))
        #expect(first.pointee.align & 255 == 255)
        #expect(first.pointee.offset >= 64)
        #expect(first.pointee.maxsize - first.pointee.size - first.pointee.offset >= 128)
        var mapped = GstMapInfo()
        #expect(gst_memory_map(first, &mapped, GST_MAP_READ) != 0)
        #expect(UInt(bitPattern: mapped.data) % 64 == 0)
        gst_memory_unmap(first, &mapped)
    }

    @Test func `memory is aligned for vectors where downstream asks for nothing`() throws {
        let bench = Bench([], ["view": "original"], readsMetas: true)
        bench.video.start(AllocationTests.shape)
        let out = try copied(by: bench)
        defer { withExtendedLifetime(out) {} }
        #expect(out.pool != nil)
        #expect(try #require(gst_buffer_peek_memory(out.buffer.pointer, 0)).pointee.align & 63 == 63)
    }

    @Test(arguments: [1, 2])
    func `downstream that holds every buffer of its pool stops nothing`(most: guint) throws {
        let downstream = Downstream(least: most, most: most)
        let bench = bench(downstream)
        var held: [Recorder.Frame] = []
        for frame in 0..<10 { held.append(try copied(by: bench, frame: frame)) }
        #expect(held.count { $0.pool == downstream.pool } == Int(most))
        held.removeAll()
        #expect(try copied(by: bench, frame: 10).pool == downstream.pool, "given back, used again")
    }

    @Test func `a pool that cannot be had is no fault`() throws {
        let downstream = Downstream()
        // Downstream's own use of it, at another size, is not over.
        let configuration = gst_buffer_pool_get_config(downstream.pool)
        let caps = gst_caps_from_string(VideoShape("I420", 16, 16).caps)
        gst_buffer_pool_config_set_params(configuration, caps, 384, 1, 1)
        gst_caps_unref(caps)
        #expect(gst_buffer_pool_set_config(downstream.pool, configuration) != 0)
        #expect(gst_buffer_pool_set_active(downstream.pool, 1) != 0)
        var busy: BufferPointer?
        #expect(gst_buffer_pool_acquire_buffer(downstream.pool, &busy, nil) == GST_FLOW_OK)
        let bench = bench(downstream)
        for frame in 0..<3 { #expect(try copied(by: bench, frame: frame).pool != downstream.pool) }
        #expect(bench.bus.errors().isEmpty && bench.bus.warnings().isEmpty)
        if let busy { unref(busy) }
    }

    @Test func `a pool whose memory cannot be mapped is passed over`() throws {
        let downstream = Downstream()
        let allocator = unmappableAllocator()
        defer { gst_object_unref(allocator) }
        let (configuration, caps) = (
            gst_buffer_pool_get_config(downstream.pool), gst_caps_from_string(AllocationTests.shape.caps)
        )
        gst_buffer_pool_config_set_params(configuration, caps, guint(AllocationTests.shape.size), 0, 0)
        gst_caps_unref(caps)
        gst_buffer_pool_config_set_allocator(configuration, allocator, nil)
        #expect(gst_buffer_pool_set_config(downstream.pool, configuration) != 0)
        let bench = bench(downstream)
        for frame in 0..<3 { #expect(try copied(by: bench, frame: frame).pool != downstream.pool) }
        #expect(bench.bus.errors().isEmpty && bench.bus.warnings().isEmpty)
    }

    @Test func `another size is another pool`() throws {
        let bench = bench(Downstream())
        _ = try copied(by: bench)
        let small = VideoShape("I420", 16, 16)
        let first = Downstream()
        answerQueries(on: bench.output.pad) { query in
            guard query.pointee.type == GST_QUERY_ALLOCATION else { return nil }
            gst_query_add_allocation_pool(query, first.pool, guint(small.size), 0, 0)
            return true
        }
        bench.video.setCaps(small.caps)
        let buffer = guardedBuffer(noise(small, seed: 2))
        let held = BufferRef(sharing: buffer.pointer)
        bench.video.push(buffer, at: time(ofFrame: 1))
        let out = try #require(bench.output.next())
        #expect(out.pool == first.pool && out.bytes == held.bytes)
    }
}

extension Recorder.Frame {
    /// The pool to which the frame's buffer goes back.
    fileprivate var pool: UnsafeMutablePointer<GstBufferPool>? {
        withExtendedLifetime(buffer) { buffer.pointer.pointee.pool }
    }
}
