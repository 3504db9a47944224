import CGStreamer
import DepthKernels
import GstBridge
import GstTestSupport
import Testing

@Suite struct PictureConverterTests {
    /// A picture of one pixel value, converted into memory that holds `filler`.
    private func converted(
        _ source: VideoShape, _ pixel: [UInt8], to target: VideoShape, rows: Range<Int>, border: UInt32? = nil,
        filler: UInt8
    ) throws -> [UInt8] {
        let input = guardedBuffer((0..<source.size).map { pixel[$0 % pixel.count] })
        let output = guardedBuffer([UInt8](repeating: filler, count: target.size))
        try PictureConverter(
            source.info, to: target.info, from: Rectangle(width: source.width, height: source.height),
            into: Rectangle(x: 0, y: rows.lowerBound, width: target.width, height: rows.count), border: border
        ).convert(input.pointer, into: output.pointer)
        return output.bytes
    }

    @Test(arguments: templateFormats(ofPad: "video", of: "depthmatte"), [1, 2, 3, 4])
    func `every sample of a picture is written, of one row too`(format: String, height: Int) throws {
        for width in [1, 2, 5] {
            let (source, target) = (VideoShape("RGBA", width, height), VideoShape(format, width, height))
            let both = try [0x55, 0xaa].map {
                try converted(source, [200, 100, 50, 255], to: target, rows: 0..<height, filler: $0)
            }
            for component in target.components {
                for index in (0..<component.rows).flatMap({ row in
                    (0..<component.columns).map { component.index($0, row) }
                }) { #expect(both[0][index] == both[1][index], "\(target): byte \(index)") }
            }
        }
    }

    @Test func `one row has its colors in their places, and the border about it`() throws {
        let (source, pixel) = (VideoShape("RGBA", 3, 1), [UInt8]([200, 100, 50, 255]))
        let alone = try converted(source, pixel, to: VideoShape("ARGB", 3, 1), rows: 0..<1, filler: 7)
        #expect(alone == [255, 200, 100, 50, 255, 200, 100, 50, 255, 200, 100, 50])
        let target = VideoShape("ARGB", 1, 3)
        let framed = try converted(source, pixel, to: target, rows: 1..<2, border: 0xff01_0203, filler: 7)
        #expect(framed == [255, 1, 2, 3, 255, 200, 100, 50, 255, 1, 2, 3])
        let placed = try converted(source, pixel, to: target, rows: 1..<2, filler: 7)
        #expect(placed == [7, 7, 7, 7, 255, 200, 100, 50, 7, 7, 7, 7])
    }

    // Not VYUY: of an odd width GStreamer 1.22 swaps U and V in the last column.
    @Test(arguments: ["YUY2", "UYVY", "YVYU"])
    func `packed pictures of any width are scaled, and keep their color`(format: String) throws {
        let values: [Character: UInt8] = ["Y": 91, "U": 121, "V": 201, "2": 201]  // YUY2 ends with a V
        let pixel = format.compactMap { values[$0] }
        for from in [1, 2, 3, 7, 8, 15, 16, 17, 31, 32, 639, 640] {
            for to in [1, 2, 3, 8, 15, 16, 17, 32, 320] {
                let (source, target) = (VideoShape(format, from, 4), VideoShape(format, to, 3))
                let made = try converted(source, pixel, to: target, rows: 0..<3, filler: 7)
                for component in target.components {
                    for index in (0..<component.rows).flatMap({ row in
                        (0..<component.columns).map { component.index($0, row) }
                    }) {
                        // GstVideoConverter's filters round by as much.
                        let difference = abs(Int(made[index]) - Int(pixel[index % 4]))
                        #expect(difference <= 3, "\(from) to \(to): byte \(index)")
                    }
                }
            }
        }
    }

    @Test func `formats without a way between them are named`() throws {
        var encoded = VideoShape("RGBA", 8, 8).info
        encoded.finfo = gst_video_format_get_info(GST_VIDEO_FORMAT_ENCODED)
        let whole = Rectangle(width: 8, height: 8)
        #expect(throws: FrameFault.noConversion(from: "ENCODED", to: "I420")) {
            try PictureConverter(encoded, to: VideoShape("I420", 8, 8).info, from: whole, into: whole, border: 0)
        }
    }
}
