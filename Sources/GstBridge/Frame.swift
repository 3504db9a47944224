import CGStreamer
package import DepthKernels

/// Lends a buffer's planes for reading.
package func withFrame<Result>(
    reading buffer: BufferPointer, _ layout: FrameLayout,
    _ body: (Planes<Plane>) throws(FrameFault) -> Result
) throws(FrameFault) -> Result {
    var mapping = try FrameMapping(buffer, layout, GST_MAP_READ)
    defer { mapping.unmap() }
    return try body(mapping.planes.readOnly)
}

/// Lends a writable buffer's planes for reading and writing.
package func withFrame<Result>(
    changing buffer: BufferPointer, _ layout: FrameLayout,
    _ body: (Planes<MutablePlane>) throws(FrameFault) -> Result
) throws(FrameFault) -> Result {
    var mapping = try FrameMapping(buffer, layout, readWrite)
    defer { mapping.unmap() }
    return try body(mapping.planes)
}

extension FrameLayout {
    /// Zeroes what a writable buffer's memory holds besides the picture: what lies before, between and behind the planes
    /// and at the end of their rows, and samples that are no pixel's.
    ///
    /// - Returns: false, with nothing changed, where the planes do not follow one another in one memory of which the buffer
    ///   has all.
    package func clearAround(_ buffer: BufferPointer) throws(FrameFault) -> Bool {
        guard gst_buffer_n_memory(buffer) == 1, buffer.hasWholeMemories else { return false }
        var mapping = try FrameMapping(buffer, self, readWrite)
        defer { mapping.unmap() }
        guard mapping.clearAround() else { return false }
        clearSpareLuma(mapping.planes)
        return true
    }

    /// Zeroes the luma samples that are no pixel's.
    package func clearSpareLuma(_ planes: Planes<MutablePlane>) {
        guard let spareLuma, let plane = planes[0] else { return }
        for y in 0..<plane.rows { plane.row(y).storeBytes(of: 0, toByteOffset: spareLuma, as: UInt8.self) }
    }
}

private let readWrite = GstMapFlags(rawValue: GST_MAP_READ.rawValue | GST_MAP_WRITE.rawValue)

/// The mapped memory of one frame, each plane checked against what is really there.
///
/// `gst_video_frame_map` only looks for the memory that holds a plane's first byte and trusts the meta for the rest,
/// so a meta that lies makes the reader run off its end. Here the whole plane must lie in what was mapped.
private struct FrameMapping {
    private var maps = InlineArray<4, GstMapInfo>(repeating: GstMapInfo())
    private var mapped = 0
    private let buffer: BufferPointer
    private(set) var planes = Planes<MutablePlane>()

    init(_ buffer: BufferPointer, _ layout: FrameLayout, _ access: GstMapFlags) throws(FrameFault) {
        self.buffer = buffer
        let wanted = try layout.planes(of: buffer)
        do throws(FrameFault) {
            if let memories = FrameMapping.memories(of: buffer, holding: wanted) {
                try mapEach(wanted, memories, layout, access)
            } else {
                try mapWhole(wanted, layout, access)
            }
        } catch {
            unmap()
            throw error
        }
    }

    mutating func unmap() {
        while mapped > 0 {
            mapped -= 1
            gst_buffer_unmap(buffer, &maps[mapped])
        }
    }

    /// Zeroes what lies around the planes in the one memory that they are in; false where they or their rows do not follow
    /// one another in it, and then nothing is changed.
    func clearAround() -> Bool {
        guard let data = maps[0].data else { return false }
        let start = UnsafeMutableRawPointer(data)
        var end = start
        for index in 0..<planes.count {
            guard let plane = planes[index], plane.stride > 0, plane.base >= end else { return false }
            end = plane.row(plane.rows - 1) + plane.rowBytes
        }
        end = start
        for index in 0..<planes.count {
            guard let plane = planes[index] else { continue }
            for y in 0..<plane.rows {
                zero(from: end, to: plane.row(y))
                end = plane.row(y) + plane.rowBytes
            }
        }
        zero(from: end, to: start + Int(clamping: maps[0].size))
        return true
    }

    private func zero(from start: UnsafeMutableRawPointer, to end: UnsafeMutableRawPointer) {
        start.initializeMemory(as: UInt8.self, repeating: 0, count: end - start)
    }

    /// The memory in which each plane lies, where the buffer has several and no plane crosses from one to the next.
    ///
    /// Mapping a part of a buffer that crosses would put a merged copy in its place, and the planes mapped before
    /// would be drawn into memory that the buffer no longer has.
    private static func memories(
        of buffer: BufferPointer, holding planes: Planes<FrameLayout.Plane>
    ) -> Planes<PlaneMemory>? {
        guard gst_buffer_n_memory(buffer) > 1 else { return nil }
        var result = Planes<PlaneMemory>()
        for index in 0..<planes.count {
            var (first, count, skip): (guint, guint, gsize) = (0, 0, 0)
            guard let plane = planes[index],
                let extent = Plane.extent(rowBytes: plane.rowBytes, rows: plane.rows, stride: plane.stride),
                gst_buffer_find_memory(
                    buffer, gsize(clamping: plane.offset), gsize(clamping: extent), &first, &count, &skip) != 0,
                count == 1
            else { return nil }
            result.append(PlaneMemory(index: first, skip: Int(clamping: skip)))
        }
        return result
    }

    /// Where a plane starts: the number of a memory and the bytes in it before the plane.
    private struct PlaneMemory {
        let index: guint
        let skip: Int
    }

    /// All planes in one memory, or in one that the buffer's memories are merged into.
    private mutating func mapWhole(
        _ wanted: Planes<FrameLayout.Plane>, _ layout: FrameLayout, _ access: GstMapFlags
    ) throws(FrameFault) {
        guard gst_buffer_map(buffer, &maps[0], access) != 0 else { throw .notMappable }
        mapped = 1
        if maps[0].data == nil { throw .tooShort(bytes: 0, layout: layout) }
        for index in 0..<wanted.count {
            guard let plane = wanted[index] else { continue }
            guard add(plane, at: plane.offset, in: maps[0]) else {
                throw .tooShort(bytes: Int(clamping: maps[0].size), layout: layout)
            }
        }
    }

    /// Each plane in a memory of its own.
    private mutating func mapEach(
        _ wanted: Planes<FrameLayout.Plane>, _ memories: Planes<PlaneMemory>, _ layout: FrameLayout,
        _ access: GstMapFlags
    ) throws(FrameFault) {
        for index in 0..<wanted.count {
            guard let plane = wanted[index], let memory = memories[index] else { throw .metaDisagrees }
            guard gst_buffer_map_range(buffer, memory.index, 1, &maps[mapped], access) != 0 else { throw .notMappable }
            mapped += 1
            guard add(plane, at: memory.skip, in: maps[mapped - 1]) else {
                throw .tooShort(bytes: Int(clamping: gst_buffer_get_size(buffer)), layout: layout)
            }
        }
    }

    /// Adds a plane that begins at an offset of mapped memory; false where it does not lie in that.
    private mutating func add(_ plane: FrameLayout.Plane, at offset: Int, in map: GstMapInfo) -> Bool {
        let size = Int(clamping: map.size)
        guard let data = map.data, offset <= size,
            let view = MutablePlane(
                base: UnsafeMutableRawPointer(data) + offset, length: size - offset, rowBytes: plane.rowBytes,
                rows: plane.rows, stride: plane.stride)
        else { return false }
        planes.append(plane.isBottomUp ? view.upsideDown : view)
        return true
    }
}
