import CGStreamer
import GstTestSupport

/// Video all of one color that no background of a soak run has, in any format: where it shows, the room does.
struct SoakMarker {
    let shape: VideoShape
    let bytes: [UInt8]
    private let components: [VideoShape.Component]
    /// The bytes of the color, in the order of the components, without alpha.
    private let color: [UInt8]

    init(_ shape: VideoShape) {
        self.shape = shape
        components = shape.components
        color = shape.isGray ? [201] : shape.isYUV ? [150, 90, 200] : [201, 37, 113]
        bytes = flat(shape, color + [255])
    }

    /// Colors for `background-color`, all of them far from the marker.
    static let backgroundColors: [UInt32] = [
        0xff00_0000, 0xffff_ffff, 0xff00_ff00, 0xff00_00ff, 0xff10_2030, 0x0000_ff00, 0x8010_2030,
    ]

    /// Pixels of the marker's color, whatever their alpha, in some columns of a frame of this size whose format is
    /// the same but for an alpha channel.
    func count(in frame: [UInt8], of output: VideoShape, columns: Range<Int>) -> Int {
        let parts = output.hasAlpha == shape.hasAlpha ? components : output.components
        return frame.withUnsafeBufferPointer { frame in
            var count = 0
            for y in 0..<shape.height {
                for x in columns where isMarked(frame, parts, x, y) { count += 1 }
            }
            return count
        }
    }

    private func isMarked(
        _ frame: UnsafeBufferPointer<UInt8>, _ parts: [VideoShape.Component], _ x: Int, _ y: Int
    ) -> Bool {
        for index in color.indices {
            let part = parts[index]
            let value = frame[part.index(x / part.columnsPerSample, y / part.rowsPerSample)]
            if abs(Int(value) - Int(color[index])) > SoakMarker.tolerance { return false }
        }
        return true
    }

    /// Blending rounds, and so may leave a byte or two between the color and what is seen of it.
    private static let tolerance = 4

    /// The least and the most alpha in some columns of a frame; nil where the format has none.
    static func alpha(in frame: [UInt8], of output: VideoShape, columns: Range<Int>) -> ClosedRange<UInt8>? {
        guard output.hasAlpha, let part = output.components.last else { return nil }
        var (least, most) = (UInt8.max, UInt8.min)
        for y in 0..<output.height {
            for x in columns {
                let value = frame[part.index(x / part.columnsPerSample, y / part.rowsPerSample)]
                (least, most) = (min(least, value), max(most, value))
            }
        }
        return least <= most ? least...most : nil
    }

    /// The format that `background-mode=transparent` makes of another.
    static func withAlpha(_ format: String) -> String {
        ["I420": "A420", "RGBx": "RGBA", "BGRx": "BGRA", "xRGB": "ARGB", "xBGR": "ABGR"][format] ?? format
    }
}
