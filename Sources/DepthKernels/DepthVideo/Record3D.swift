/// The optics and the range that Record3D tells beside its video, in metadata.json, at the end of its MP4, and over Wi-Fi.
///
/// Matrices are column by column, in pixels of the color half. Over Wi-Fi `K` belongs to `originalSize`; older versions tell no size, but
/// had a height of 256 (LiDAR) or 640 (Face ID).
///
/// Source: the page and the scripts of record3d-simple-wifi-streaming-demo and record3d-3d-video-demo.
package struct Record3DMetadata: Equatable, Sendable {
    /// fx, fy, cx, cy.
    private let optics: SIMD4<Double>
    /// Nil where the numbers are those of the picture.
    private let originalHeight: Double?
    package let span: DepthSpan

    /// - Throws: a sentence where the text has no such numbers.
    package init(_ text: [UInt8]) throws(CalibrationError) {
        let root: StructuredValue
        do throws(StructuredTextError) { root = try StructuredTextReader.read(text) } catch {
            throw CalibrationError(reason: "line \(error.line): \(error.reason)")
        }
        guard case .table(let fields) = root else { throw CalibrationError(reason: "it is no table") }
        func numbers(_ key: String) -> [Double] {
            guard case .list(let list)? = fields.first(where: { $0.key == key })?.value else { return [] }
            return list.compactMap { if case .number(let number) = $0 { number } else { nil } }
        }
        let (own, streamed) = (numbers("intrinsicMatrix"), numbers("K"))
        let matrix = own.isEmpty ? streamed : own
        guard matrix.count == 9, matrix[0] >= 1, matrix[4] >= 1, matrix.allSatisfy({ abs($0) < 1e6 }) else {
            throw CalibrationError(
                reason: "intrinsicMatrix or K has no nine numbers with focal lengths of a pixel or more")
        }
        optics = SIMD4(matrix[0], matrix[4], matrix[6], matrix[7])
        let size = numbers("originalSize")
        let told = size.count == 2 && size[1] >= 1 && size[1] < 1e6 ? size[1] : nil
        originalHeight = own.isEmpty ? told ?? (matrix[7] < 256 ? 256 : 640) : nil
        let range = numbers("rangeOfEncodedDepth")
        let read = range.count == 2 ? DepthSpan(near: range[0], far: range[1], for: .record3d) : nil
        span = read ?? DepthCoding.record3d.usualRange
    }

    /// The part of a file that holds the text: what begins with the last mark, up to the last brace; the whole file where there is none.
    package static func text(in file: [UInt8]) -> [UInt8] {
        let mark = Array("{\"intrinsic".utf8)
        guard let end = file.lastIndex(of: UInt8(ascii: "}")), end >= mark.count else { return file }
        var start = end &- mark.count
        while start >= 0 {
            if file[start...].starts(with: mark) { return Array(file[start...end]) }
            start &-= 1
        }
        return file
    }

    /// The camera of a picture of that size.
    package func camera(width: Int, height: Int) -> CameraIntrinsics {
        let scaled = optics * (originalHeight.map { Double(height) / $0 } ?? 1)
        return CameraIntrinsics(width: width, height: height, fx: scaled.x, fy: scaled.y, cx: scaled.z, cy: scaled.w)
    }
}
