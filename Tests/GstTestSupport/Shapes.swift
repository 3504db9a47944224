package import CGStreamer
import GstBridge

/// The caps of a video stream, as tests speak of them.
package struct VideoShape: Sendable, CustomStringConvertible {
    package let format: String
    package let width: Int
    package let height: Int
    /// Further fields of the caps, in their string form.
    package var fields = ""

    package init(_ format: String, _ width: Int, _ height: Int, fields: String = "") {
        self.format = format
        self.width = width
        self.height = height
        self.fields = fields
    }

    package var description: String { "\(format) \(width)x\(height)" }

    package var caps: String {
        "video/x-raw, format=(string)\(format), width=(int)\(width), height=(int)\(height), framerate=(fraction)30/1"
            + (fields.isEmpty ? "" : ", \(fields)")
    }

    /// Worked out from the caps, as are the properties below: nothing to ask for once a pixel.
    package var info: GstVideoInfo {
        loadElements()  // the arguments of a test are made before any test runs
        var info = GstVideoInfo()
        guard let caps = gst_caps_from_string(caps) else { preconditionFailure("bad caps: \(caps)") }
        defer { gst_caps_unref(caps) }
        guard gst_video_info_from_caps(&info, caps) != 0 else { preconditionFailure("bad caps: \(self.caps)") }
        return info
    }

    /// Bytes of a frame laid out as the caps say.
    package var size: Int { Int(info.size) }

    /// The components of the format: where each one's samples lie, and how many pixels share one.
    package var components: [Component] {
        let info = info
        let description = info.finfo.pointee
        return (0..<Int(description.n_components)).map { index in
            let plane = Int(element(index, of: description.plane))
            let columns = 1 << Int(element(index, of: description.w_sub))
            let rows = 1 << Int(element(index, of: description.h_sub))
            return Component(
                plane: plane,
                offset: Int(element(plane, of: info.offset)) + Int(element(index, of: description.poffset)),
                stride: Int(element(plane, of: info.stride)), step: Int(element(index, of: description.pixel_stride)),
                columnsPerSample: columns, rowsPerSample: rows, columns: (width + columns - 1) / columns,
                rows: (height + rows - 1) / rows)
        }
    }

    /// True where the format keeps luma and chroma apart.
    package var isYUV: Bool { info.finfo.pointee.flags.rawValue & GST_VIDEO_FORMAT_FLAG_YUV.rawValue != 0 }
    package var isGray: Bool { info.finfo.pointee.flags.rawValue & GST_VIDEO_FORMAT_FLAG_GRAY.rawValue != 0 }
    package var hasAlpha: Bool { info.finfo.pointee.flags.rawValue & GST_VIDEO_FORMAT_FLAG_ALPHA.rawValue != 0 }

    /// One component (a color, luma, or alpha) in the memory of a frame.
    package struct Component: Sendable {
        package let plane: Int
        /// Bytes from the start of the frame to the first sample.
        package let offset: Int
        package let stride: Int
        /// Bytes from one sample to the next.
        package let step: Int
        package let columnsPerSample: Int
        package let rowsPerSample: Int
        package let columns: Int
        package let rows: Int

        /// Index of a sample's byte in the frame.
        package func index(_ column: Int, _ row: Int) -> Int { offset + row * stride + column * step }
    }
}

/// The caps of a depth stream, and how distances become its bytes.
package struct DepthShape: Sendable, CustomStringConvertible {
    package let format: String
    package let width: Int
    package let height: Int

    /// Further fields of the caps, in their string form.
    package var fields = ""

    package init(_ format: String, _ width: Int, _ height: Int, fields: String = "") {
        self.format = format
        self.width = width
        self.height = height
        self.fields = fields
    }

    package var description: String { "\(format) \(width)x\(height)" }

    package var isFloat: Bool { format.hasPrefix("F") }

    package var caps: String {
        "\(isFloat ? "video/x-depth" : "video/x-raw"), format=(string)\(format), width=(int)\(width), "
            + "height=(int)\(height), framerate=(fraction)30/1" + (fields.isEmpty ? "" : ", \(fields)")
    }

    /// The bytes of a frame; raw video pads each row to a multiple of four.
    package func bytes(counts: [Int]) -> [UInt8] {
        rows(counts) { count -> [UInt8] in
            switch format {
            case "GRAY8": [UInt8(count)]
            case "GRAY16_BE": [UInt8(count >> 8), UInt8(count & 255)]
            default: [UInt8(count & 255), UInt8(count >> 8)]
            }
        }
    }

    package func bytes(metres: [Float]) -> [UInt8] {
        rows(metres) { value -> [UInt8] in
            let bits = format == "F16LE" ? UInt32(Float16(value).bitPattern) : value.bitPattern
            return (0..<(format == "F16LE" ? 2 : 4)).map { UInt8(truncatingIfNeeded: bits >> (8 * $0)) }
        }
    }

    private func rows<Sample>(_ samples: [Sample], _ bytes: (Sample) -> [UInt8]) -> [UInt8] {
        var result: [UInt8] = []
        for y in 0..<height {
            result += samples[(y * width)..<((y + 1) * width)].flatMap(bytes)
            while !isFloat, !result.count.isMultiple(of: 4) { result.append(0) }
        }
        return result
    }
}

/// Element `index` of a C array that Swift imports as a four-tuple.
package func element<T>(_ index: Int, of tuple: (T, T, T, T)) -> T {
    [tuple.0, tuple.1, tuple.2, tuple.3][index]
}
