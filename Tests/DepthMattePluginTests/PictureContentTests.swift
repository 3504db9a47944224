import GstBridge
import GstTestSupport
import Testing

/// Background pictures of unusual content: the right picture, or an error that names the file.
@Suite struct PictureContentTests {
    private let folder = TemporaryFolder()
    private static let color: [UInt8] = [200, 100, 50]

    /// The picture as a background, stretched over a frame; nil where it was refused by an error that names it.
    ///
    /// - Parameter reason: words of that error.
    private func shown(
        _ path: String, _ shape: VideoShape = VideoShape("RGB", 32, 24), refusal reason: String = ""
    ) throws -> [UInt8]? {
        if let error = refusal(ofBackground: path) {
            #expect(error.text.contains(path) && (reason.isEmpty || error.text.contains(reason)), "\(error)")
            return nil
        }
        let bench = Bench([], ["background": path, "background-fit": "stretch"])
        bench.video.start(shape)
        bench.video.push(noise(shape, seed: 1), at: 0)
        let bytes = try #require(bench.output.next()).bytes
        // Without depth there is another warning.
        #expect(bench.bus.errors().isEmpty && !bench.bus.warnings().contains { $0.text.contains(path) })
        return bytes
    }

    private func isNear(_ bytes: [UInt8], _ color: [UInt8], within tolerance: Int = 3) -> Bool {
        bytes.indices.allSatisfy { abs(Int(bytes[$0]) - Int(color[$0 % 3])) <= tolerance }
    }

    /// A kind of PNG, all of one color.
    struct Kind: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let bytes: [UInt8]
        let color: [UInt8]
    }

    private static func kind(
        _ name: String, _ width: Int, _ height: Int, bits: UInt8 = 8, type: UInt8 = 2, pixel: [UInt8],
        chunks: [(name: String, data: [UInt8])] = [], shown: [UInt8] = color
    ) -> Kind {
        Kind(
            testDescription: name,
            bytes: png(width: width, height: height, bits: bits, colorType: type, chunks: chunks) { _ in
                bits < 8
                    ? [UInt8](repeating: pixel[0], count: (width * Int(bits) + 7) / 8)
                    : (0..<width).flatMap { _ in pixel }
            }, color: shown)
    }

    static let kinds: [Kind] = [
        kind("one pixel", 1, 1, pixel: color),
        kind("one row", 500, 1, pixel: color),
        kind("one column", 1, 500, pixel: color),
        kind("gray", 16, 12, type: 0, pixel: [77], shown: [77, 77, 77]),
        kind("gray of one bit", 16, 12, bits: 1, type: 0, pixel: [0xff], shown: [255, 255, 255]),
        kind("gray of 16 bits", 16, 12, bits: 16, type: 0, pixel: [77, 77], shown: [77, 77, 77]),
        kind("gray and alpha", 16, 12, type: 4, pixel: [77, 255], shown: [77, 77, 77]),
        kind("palette", 16, 12, type: 3, pixel: [1], chunks: [("PLTE", [1, 2, 3] + color)]),
        kind("palette of 4 bits", 16, 12, bits: 4, type: 3, pixel: [0x11], chunks: [("PLTE", [1, 2, 3] + color)]),
        kind(
            "a color profile that is none", 16, 12, pixel: color,
            chunks: [("iCCP", Array("x\0\0".utf8) + [0x78, 1, 1, 3, 0, 252, 255, 1, 2, 3])]),
        kind("a gamma of 0", 16, 12, pixel: color, chunks: [("gAMA", [0, 0, 0, 0])]),
        kind("text of nothing", 16, 12, pixel: color, chunks: [("tEXt", []), ("zTXt", [0]), ("iTXt", [0, 0, 0])]),
    ]

    @Test(arguments: kinds)
    func `a PNG of an unusual kind is shown as it is`(kind: Kind) throws {
        let bytes = try #require(try shown(folder.write("a.png", kind.bytes)))
        #expect(isNear(bytes, kind.color), "\(bytes.prefix(3))")
    }

    /// Their decoder writes the samples one place late, in GStreamer 1.22.
    @Test(arguments: [(UInt8(2), 3), (4, 2), (6, 4)])
    func `a PNG of 16 bits in color is refused with the reason`(type: UInt8, channels: Int) throws {
        let bytes = png(width: 16, height: 12, bits: 16, colorType: type) { _ in
            [UInt8](repeating: 200, count: 16 * 2 * channels)
        }
        let report = try #require(refusal(ofBackground: folder.write("a.png", bytes)))
        #expect(report.text.contains("a PNG with 16 bits for each color"), "\(report)")
    }

    /// Palettes in which the color is not; the first is none at all.
    private static let palettes: [[UInt8]?] = [nil, [], [1, 2, 3], [1, 2, 3, 4]]

    @Test(arguments: palettes)
    func `a palette that lacks the color is the picture's fault alone`(palette: [UInt8]?) throws {
        let bytes = png(
            width: 16, height: 12, bits: 8, colorType: 3, chunks: palette.map { [("PLTE", $0)] } ?? []
        ) { _ in [UInt8](repeating: 200, count: 16) }
        let frame = try shown(folder.write("a.png", bytes))
        // libpng shows black for such a color.
        if let frame { #expect(Set(frame).count <= 3, "one color") }
    }

    @Test(arguments: [UInt8?.none, 0, 2])
    func `a JPEG for printers is shown right or refused`(transform: UInt8?) throws {
        let components = transform == 2 ? [128, 128, 128, 255] : [200, 100, 50, 255]
        let bytes = cmykJPEG(width: 32, height: 24, components, transform: transform)
        let frame = try shown(
            folder.write("a.jpg", bytes), refusal: "it is a CMYK JPEG, as for printing; save it in RGB")
        if let frame {
            let expected: [UInt8] = transform == 2 ? [128, 128, 128] : PictureContentTests.color
            #expect(isNear(frame, expected, within: 12), "\(frame.prefix(3))")
        }
    }

    /// Kinds that no decoder here reads: the bytes, and the words for them.
    private static let rareKinds: [(bytes: [UInt8], words: String)] = [
        (Claim.jpeg.with(0xC3, bits: 8, channels: 3), "it is a lossless JPEG"),
        (Claim.jpeg.with(0xC1, bits: 12, channels: 3), "it is a JPEG of 12 bits a channel"),
        (Claim.jpeg.with(0xC0, bits: 8, channels: 2), "no decoder takes what is in it; readable are"),
        (Claim.animatedWebP, "it is an animated WebP; make it a GIF or a video"),
        (Array("8BPS\0\u{1}".utf8) + [UInt8](repeating: 0, count: 900), "(readable are PNG, JPEG"),
    ]

    @Test(arguments: rareKinds)
    func `a picture of a kind that no decoder reads is refused by what it is`(bytes: [UInt8], words: String) throws {
        let path = folder.write("a", bytes)
        let error = refusal(ofBackground: path)?.text
        #expect(error?.contains(words) == true && error?.contains("data stream error") == false, "\(error ?? "")")
    }

    // MARK: Orientation

    /// Colors of the corners: top left, top right, bottom left, bottom right.
    private static let corners: [[UInt8]] = [[230, 20, 20], [20, 230, 20], [20, 20, 230], [230, 230, 230]]

    private func quarters() throws -> [UInt8] {
        let path = folder.write(
            "quarters.png", png(width: 64, height: 32) { x, y in PictureContentTests.corners[x / 32 + y / 16 * 2] })
        try #require(
            Pipeline(
                "filesrc location=\(path) ! pngdec ! videoconvert ! jpegenc quality=95 "
                    + "! filesink location=\(folder["quarters.jpg"])"
            ).run() == .ended)
        return folder.read("quarters.jpg")
    }

    /// Values of the tag, and which corner of the file is then in each corner of the picture.
    static let orientations: [(Int, [Int])] = [
        (1, [0, 1, 2, 3]), (2, [1, 0, 3, 2]), (3, [3, 2, 1, 0]), (4, [2, 3, 0, 1]), (5, [0, 2, 1, 3]),
        (6, [2, 0, 3, 1]),
        (7, [3, 1, 2, 0]), (8, [1, 3, 0, 2]), (0, [0, 1, 2, 3]), (9, [0, 1, 2, 3]),
    ]

    @Test(arguments: orientations)
    func `a photograph stands upright however the camera was held`(orientation: Int, places: [Int]) throws {
        let isUpright = 5...8 ~= orientation
        let shape = isUpright ? VideoShape("RGB", 32, 64) : VideoShape("RGB", 64, 32)
        let path = folder.write("photo.jpg", oriented(jpeg: try quarters(), UInt8(orientation)))
        let bytes = try #require(try shown(path, shape))
        let (x, y) = ([shape.width / 4, shape.width * 3 / 4], [shape.height / 4, shape.height * 3 / 4])
        let found = [(0, 0), (1, 0), (0, 1), (1, 1)].map { column, row -> Int? in
            let start = shape.components[0].index(x[column], y[row])
            let pixel = bytes[start..<start + 3].map { Int($0) }
            return PictureContentTests.corners.firstIndex { color in
                zip(color, pixel).allSatisfy { abs(Int($0) - $1) < 40 }
            }
        }
        #expect(found == places)
    }

    // MARK: Cut off

    /// Each length of the file: the whole picture, or an error that names it; nothing in between.
    @Test func `a picture that is cut off anywhere is shown whole or refused`() throws {
        let (width, height) = (12, 9)
        let files: [(String, [UInt8])] = [
            ("a.png", png(width: width, height: height) { _, _ in PictureContentTests.color }),
            ("a.gif", gif(width: width, height: height, [(PictureContentTests.color, 0)])),
            ("a.bmp", bmp(width: width, height: height, PictureContentTests.color)),
            ("a.tif", tiff(width: width, height: height, PictureContentTests.color)),
        ]
        for (name, whole) in files {
            var count = 0
            for length in stride(from: 1, through: whole.count, by: 13) {
                guard let frame = try shown(folder.write(name, Array(whole.prefix(length)))) else { continue }
                #expect(isNear(frame, PictureContentTests.color), "\(name), \(length) of \(whole.count) bytes")
                count += 1
            }
            let frame = try #require(try shown(folder.write(name, whole)), "\(name)")
            #expect(isNear(frame, PictureContentTests.color) && count < whole.count / 26, "\(name): \(count) shown")
        }
    }
}
