import CGStreamer
import DepthKernels
import GstBridge
import GstTestSupport
import Testing

/// Mapped frames. Every buffer ends at a page that nobody may touch, and the whole of each lent plane is read.
@Suite struct FrameTests {
    /// Maps a frame and reads every byte of its planes; the sum, or what was wrong.
    private func readAll(_ buffer: BufferRef, _ layout: FrameLayout) -> Result<Int, FrameFault> {
        do throws(FrameFault) {
            return .success(
                try withFrame(reading: buffer.pointer, layout) { planes in
                    (0..<planes.count).compactMap { planes[$0] }.reduce(0) { sum, plane in
                        (0..<plane.rows).reduce(sum) { sum, y in
                            let row = UnsafeRawBufferPointer(start: plane.row(y), count: plane.rowBytes)
                            return row.reduce(sum) { $0 + Int($1) }
                        }
                    }
                })
        } catch {
            return .failure(error)
        }
    }

    /// How many bytes of a frame belong to its picture.
    private func pictureBytes(_ layout: FrameLayout) -> Int { layout.planes.reduce(0) { $0 + $1.rowBytes * $1.rows } }

    @Test(arguments: templateFormats(ofPad: "video", of: "depthmatte"), [(1, 1), (7, 5), (16, 2)])
    func `the planes of every format hold its picture and end with the buffer`(format: String, size: (Int, Int)) {
        let shape = VideoShape(format, size.0, size.1)
        let layout = FrameLayout(shape.info)
        let ones = [UInt8](repeating: 1, count: shape.size)
        #expect(readAll(guardedBuffer(ones), layout) == .success(pictureBytes(layout)))
        let perByte = guardedBuffer(memories: ones.map { [$0] }.prefix(10).map { $0 } + [Array(ones.dropFirst(10))])
        #expect(readAll(perByte, layout) == .success(pictureBytes(layout)))
    }

    @Test(arguments: [1, 63, 64, 4096, 3_110_400])
    func `new memory is zeroed and begins with a line of the cache`(size: Int) throws {
        let buffer = try newSharedBuffer(size: size)
        var map = GstMapInfo()
        try #require(gst_buffer_map(buffer.pointer, &map, GST_MAP_READ) != 0)
        defer { gst_buffer_unmap(buffer.pointer, &map) }
        #expect(UInt(bitPattern: map.data) % 64 == 0 && map.size == size)
        #expect(UnsafeRawBufferPointer(start: map.data, count: size).allSatisfy { $0 == 0 })
    }

    @Test(arguments: templateFormats(ofPad: "video", of: "depthmatte"))
    func `no shortening of a buffer is read past its end`(format: String) {
        let shape = VideoShape(format, 9, 7)
        let layout = FrameLayout(shape.info)
        for length in 0..<shape.size {
            let ones = [UInt8](repeating: 1, count: length)
            for buffer in [
                guardedBuffer(ones),
                guardedBuffer(memories: [Array(ones.prefix(length / 2)), Array(ones.dropFirst(length / 2))]),
            ] {
                switch readAll(buffer, layout) {
                case .success(let sum):
                    // Only the padding after the last row may be missing.
                    #expect(sum == pictureBytes(layout), "\(length) bytes")
                case .failure(let fault):
                    #expect(fault == .tooShort(bytes: length, layout: layout), "\(length) bytes: \(fault)")
                }
            }
        }
    }

    @Test func `a meta whose numbers overflow is a fault`() throws {
        let shape = VideoShape("I420", 16, 16)
        let layout = FrameLayout(shape.info)
        for offset in [gsize.max, gsize.max / 2, 1 << 62, 400] {
            for stride in [gint.max, 17, 16] {
                let buffer = guardedBuffer([UInt8](repeating: 1, count: shape.size))
                let meta = try #require(
                    gst_buffer_add_video_meta(buffer.pointer, GST_VIDEO_FRAME_FLAG_NONE, GST_VIDEO_FORMAT_I420, 16, 16))
                meta.pointee.offset.1 = offset
                meta.pointee.stride.1 = stride
                if case .success = readAll(buffer, layout) { Issue.record("offset \(offset), stride \(stride)") }
            }
        }
    }

    @Test func `a stride shorter than a row contradicts the caps`() throws {
        let shape = VideoShape("I420", 16, 16)
        let buffer = guardedBuffer([UInt8](repeating: 1, count: shape.size))
        let meta = try #require(
            gst_buffer_add_video_meta(buffer.pointer, GST_VIDEO_FRAME_FLAG_NONE, GST_VIDEO_FORMAT_I420, 16, 16))
        for (stride, isEnough) in [(8, true), (7, false), (0, false), (-7, false), (-8, true)] {
            meta.pointee.stride.1 = gint(stride)
            let result = readAll(buffer, FrameLayout(shape.info))
            #expect(isEnough ? result == .success(shape.size) : result == .failure(.metaDisagrees), "\(result)")
        }
    }

    @Test func `read-only memory is not written to`() throws {
        let layout = FrameLayout(width: 4, height: 4, bytesPerSample: 1)
        let buffer = guardedBuffer([UInt8](repeating: 1, count: 16))
        let memory = try #require(gst_buffer_get_memory(buffer.pointer, 0))
        memory.pointee.mini_object.flags |= GST_MEMORY_FLAG_READONLY.rawValue
        let witness = BufferRef(taking: try #require(gst_buffer_new()))
        gst_buffer_append_memory(witness.pointer, memory)
        try withFrame(changing: buffer.pointer, layout) { planes in
            planes[0]?.row(0).storeBytes(of: 9, as: UInt8.self)
        }
        #expect(witness.bytes == [UInt8](repeating: 1, count: 16))
        #expect(buffer.bytes.first == 9)
    }
}
