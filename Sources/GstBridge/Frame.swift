package import CGStreamer
package import DepthKernels

/// What can be wrong with one buffer. It costs that frame, not the stream.
package enum FrameFault: Error, Equatable, CustomStringConvertible {
    /// The memory ends before the picture does.
    case tooShort(bytes: Int, expected: Int)
    /// The GstVideoMeta contradicts the caps or itself.
    case metaDisagrees
    case notMappable

    package var description: String {
        switch self {
        case .tooShort(let bytes, let expected): "the buffer holds \(bytes) bytes where its caps need \(expected)"
        case .metaDisagrees: "the buffer's GstVideoMeta contradicts its caps"
        case .notMappable: "the buffer's memory cannot be mapped"
        }
    }
}

/// Lends a buffer's planes for reading.
package func withFrame<Result>(
    reading buffer: UnsafeMutablePointer<GstBuffer>, _ layout: FrameLayout,
    _ body: (Planes<Plane>) throws(FrameFault) -> Result
) throws(FrameFault) -> Result {
    var mapping = try FrameMapping(buffer, layout, GST_MAP_READ)
    defer { mapping.unmap() }
    return try body(mapping.planes.readOnly)
}

/// Lends a writable buffer's planes for reading and writing.
package func withFrame<Result>(
    changing buffer: UnsafeMutablePointer<GstBuffer>, _ layout: FrameLayout,
    _ body: (Planes<MutablePlane>) throws(FrameFault) -> Result
) throws(FrameFault) -> Result {
    let access = GstMapFlags(rawValue: GST_MAP_READ.rawValue | GST_MAP_WRITE.rawValue)
    var mapping = try FrameMapping(buffer, layout, access)
    defer { mapping.unmap() }
    return try body(mapping.planes)
}

/// The mapped memory of one frame, each plane checked against what is really there.
///
/// `gst_video_frame_map` only looks for the memory that holds a plane's first byte and trusts the meta for the rest,
/// so a meta that lies makes the reader run off its end. Here the whole plane must lie in what was mapped.
private struct FrameMapping {
    private var maps = InlineArray<4, GstMapInfo>(repeating: GstMapInfo())
    private var mapped = 0
    private let buffer: UnsafeMutablePointer<GstBuffer>
    private(set) var planes = Planes<MutablePlane>()

    init(
        _ buffer: UnsafeMutablePointer<GstBuffer>, _ layout: FrameLayout, _ access: GstMapFlags
    ) throws(FrameFault) {
        self.buffer = buffer
        let wanted = try layout.planes(of: buffer)
        do throws(FrameFault) {
            if gst_buffer_n_memory(buffer) == 1 {
                try mapWhole(wanted, layout, access)
            } else {
                try mapEach(wanted, layout, access)
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

    /// The usual case: all planes in one memory.
    private mutating func mapWhole(
        _ wanted: Planes<FrameLayout.Plane>, _ layout: FrameLayout, _ access: GstMapFlags
    ) throws(FrameFault) {
        guard gst_buffer_map(buffer, &maps[0], access) != 0 else { throw .notMappable }
        mapped = 1
        let size = Int(clamping: maps[0].size)
        guard let data = maps[0].data else { throw .tooShort(bytes: 0, expected: layout.size) }
        for index in 0..<wanted.count {
            guard let plane = wanted[index] else { continue }
            guard plane.offset <= size,
                let view = MutablePlane(
                    base: UnsafeMutableRawPointer(data) + plane.offset, length: size - plane.offset,
                    rowBytes: plane.rowBytes, rows: plane.rows, stride: plane.stride)
            else { throw .tooShort(bytes: size, expected: layout.size) }
            planes.append(view)
        }
    }

    /// One memory per plane, or planes spread over several: each is mapped with the memories that it spans.
    private mutating func mapEach(
        _ wanted: Planes<FrameLayout.Plane>, _ layout: FrameLayout, _ access: GstMapFlags
    ) throws(FrameFault) {
        let size = Int(clamping: gst_buffer_get_size(buffer))
        for index in 0..<wanted.count {
            guard let plane = wanted[index] else { continue }
            guard let extent = Plane.extent(rowBytes: plane.rowBytes, rows: plane.rows, stride: plane.stride) else {
                throw .metaDisagrees
            }
            var first: guint = 0
            var count: guint = 0
            var skip: gsize = 0
            guard gst_buffer_find_memory(buffer, gsize(plane.offset), gsize(extent), &first, &count, &skip) != 0 else {
                throw .tooShort(bytes: size, expected: layout.size)
            }
            guard gst_buffer_map_range(buffer, first, gint(clamping: count), &maps[mapped], access) != 0 else {
                throw .notMappable
            }
            mapped += 1
            let available = Int(clamping: maps[mapped - 1].size) - Int(clamping: skip)
            guard let data = maps[mapped - 1].data,
                let view = MutablePlane(
                    base: UnsafeMutableRawPointer(data) + Int(clamping: skip), length: available,
                    rowBytes: plane.rowBytes, rows: plane.rows, stride: plane.stride)
            else { throw .tooShort(bytes: size, expected: layout.size) }
            planes.append(view)
        }
    }
}
