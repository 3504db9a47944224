package import CGStreamer
package import DepthKernels

/// Where the planes of a frame lie in its memory, worked out once from caps.
package struct FrameLayout: Equatable, Sendable {
    package struct Plane: Equatable, Sendable {
        /// Bytes of a row that belong to the picture.
        package var rowBytes: Int
        package var rows: Int
        package var stride: Int
        /// Bytes from the start of the frame's memory to the first of the plane's.
        package var offset: Int
        /// True where the last row comes first in memory.
        package var isBottomUp = false
    }

    package let width: Int
    package let height: Int
    package let planes: [Plane]
    /// Bytes of a frame laid out as the caps say.
    package let size: Int
    /// The format that a GstVideoMeta must state; UNKNOWN for caps that GstVideoInfo does not know.
    package let format: GstVideoFormat

    /// The layout that video caps imply.
    package init(_ info: GstVideoInfo) {
        self.width = Int(info.width)
        self.height = Int(info.height)
        size = Int(clamping: info.size)
        format = info.finfo.pointee.format
        let description = info.finfo.pointee
        let strides = info.stride
        let offsets = info.offset
        planes = (0..<Int(description.n_planes)).map { plane in
            let extent = planeExtent(plane, of: description, width: Int(info.width), height: Int(info.height))
            return Plane(
                rowBytes: extent.rowBytes, rows: extent.rows, stride: Int(item(plane, of: strides)),
                offset: Int(clamping: item(plane, of: offsets)))
        }
    }

    /// One plane of samples: the layout of caps that are no raw video format.
    ///
    /// - Parameter rowAlignment: bytes to a multiple of which each row is padded; GStreamer's gray formats have 4.
    package init(width: Int, height: Int, bytesPerSample: Int, rowAlignment: Int = 1) {
        let rowBytes = width &* bytesPerSample
        let stride = (rowBytes &+ rowAlignment &- 1) / rowAlignment &* rowAlignment
        self.width = width
        self.height = height
        planes = [Plane(rowBytes: rowBytes, rows: height, stride: stride, offset: 0)]
        size = stride &* height
        format = GST_VIDEO_FORMAT_UNKNOWN
    }

    /// Bytes of a frame that belong to the picture.
    package var pictureSize: Int { planes.reduce(0) { $0 &+ $1.rowBytes &* $1.rows } }

    /// Where the planes of this buffer lie: by its GstVideoMeta; by the caps where it has none.
    ///
    /// - Throws: `metaDisagrees` where the meta contradicts the caps or itself.
    func planes(of buffer: BufferPointer) throws(FrameFault) -> Planes<Plane> {
        var result = Planes<Plane>()
        guard format != GST_VIDEO_FORMAT_UNKNOWN, let meta = gst_buffer_get_video_meta(buffer)?.pointee else {
            for plane in planes { result.append(plane) }
            return result
        }
        guard meta.format == format, Int(meta.width) == width, Int(meta.height) == height,
            Int(meta.n_planes) == planes.count
        else { throw .metaDisagrees }
        for (index, plane) in planes.enumerated() {
            var actual = plane
            let stride = Int(item(index, of: meta.stride))
            actual.stride = abs(stride)
            actual.isBottomUp = stride < 0
            actual.offset = Int(clamping: item(index, of: meta.offset))
            // The meta has the offset of the first row, which is then the last in memory.
            if actual.isBottomUp { actual.offset &-= actual.stride &* (actual.rows &- 1) }
            guard actual.stride >= actual.rowBytes, actual.offset >= 0 else { throw .metaDisagrees }
            result.append(actual)
        }
        return result
    }

    /// A buffer that shares the memory of another and shows a part of its picture, by a GstVideoMeta.
    ///
    /// - Parameters:
    ///   - area: begins at a whole sample of each plane.
    ///   - info: of the part.
    /// - Returns: nil where the picture is upside down.
    package func part(
        of buffer: BufferPointer, _ area: Rectangle<Int>, _ layout: PixelLayout, _ info: GstVideoInfo
    ) throws(FrameFault) -> OwnedBuffer? {
        let planes = try planes(of: buffer)
        var (offsets, strides) = ([gsize](repeating: 0, count: 4), [gint](repeating: 0, count: 4))
        for index in 0..<planes.count {
            guard let plane = planes[index], !plane.isBottomUp else { return nil }
            let skipped = layout.rows(plane: index, height: area.y) &* plane.stride
            offsets[index] = gsize(clamping: plane.offset &+ skipped &+ layout.rowBytes(plane: index, width: area.x))
            strides[index] = gint(clamping: plane.stride)
        }
        guard let part = OwnedBuffer(taking: gst_buffer_copy(buffer)) else { throw .outOfMemory(bytes: size) }
        part.pointer.removePlacedMetas()
        if let old = gst_buffer_get_video_meta(part.pointer) {
            gst_buffer_remove_meta(part.pointer, old.cast(to: GstMeta.self))
        }
        gst_buffer_add_video_meta_full(
            part.pointer, GST_VIDEO_FRAME_FLAG_NONE, info.finfo.pointee.format, guint(clamping: info.width),
            guint(clamping: info.height), guint(planes.count), &offsets, &strides)
        return part
    }

    /// True where the picture fills the buffer's memory, down to the last byte.
    package func fillsAll(of buffer: BufferPointer) -> Bool {
        guard spareLuma == nil, buffer.hasWholeMemories, let actual = try? planes(of: buffer) else { return false }
        var end = 0
        for index in 0..<actual.count {
            guard let plane = actual[index], plane.offset == end, plane.stride == plane.rowBytes else { return false }
            end &+= plane.stride &* plane.rows
        }
        return end == Int(clamping: gst_buffer_get_size(buffer))
    }

    /// The byte of each row that is no pixel's, and that not everybody writes: packed 4:2:2 has two luma samples at the end
    /// of an odd row too. Nil where there is none.
    var spareLuma: Int? {
        guard width & 1 == 1 else { return nil }
        return switch format {
        case GST_VIDEO_FORMAT_YUY2: 2 &* width
        case GST_VIDEO_FORMAT_UYVY: 2 &* width &+ 1
        default: nil
        }
    }

    /// True where the buffer's planes lie where the caps alone say, so that readers who ignore metas see the picture.
    package func isDefault(for buffer: BufferPointer) -> Bool {
        guard let actual = try? planes(of: buffer) else { return false }
        return planes.indices.allSatisfy { actual[$0] == planes[$0] }
    }
}

/// Row bytes and rows of one plane, from the widest and tallest component in it.
private func planeExtent(
    _ plane: Int, of format: GstVideoFormatInfo, width: Int, height: Int
) -> (rowBytes: Int, rows: Int) {
    var rowBytes = 0
    var rows = 0
    for component in 0..<Int(format.n_components) where Int(item(component, of: format.plane)) == plane {
        let columns = shrunk(width, by: item(component, of: format.w_sub))
        rowBytes = max(rowBytes, columns &* Int(item(component, of: format.pixel_stride)))
        rows = max(rows, shrunk(height, by: item(component, of: format.h_sub)))
    }
    return (rowBytes, rows)
}

/// A size divided by 2^shift, rounded up.
private func shrunk(_ size: Int, by shift: guint) -> Int {
    let bits = Int(min(shift, 8))
    return (size &+ (1 << bits) &- 1) >> bits
}
