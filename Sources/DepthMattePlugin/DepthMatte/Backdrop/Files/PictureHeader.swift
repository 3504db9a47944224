import GstBridge

/// The header of a still or an animation, read before a decoder allocates anything, and a check that a JPEG is complete.
///
/// GStreamer's JPEG decoders fill missing parts with gray without an error, so a truncated download would become half a
/// background.
package struct PictureHeader {
    package enum Kind {
        case png, jpeg, gif, bmp, tiff, webp
    }

    package let kind: Kind
    /// The number of pixels that a decoder allocates; nil if the header does not say.
    package private(set) var pixels: Int?
    /// True for a JPEG without its end.
    package private(set) var isTruncated = false
    /// The end of the picture, in bytes.
    package private(set) var length: Int
    /// Why decoders may not read it, as a clause for errors; nil for a picture of a usual kind.
    private(set) var rarity: String?
    /// How a JPEG's camera was held.
    private(set) var orientation = PictureOrientation.upright

    /// Returns nil if the bytes are no picture of a known kind.
    package init?(_ bytes: ByteReader) {
        guard let kind = Kind(bytes) else { return nil }
        self.kind = kind
        length = bytes.size
        switch kind {
        case .png: pixels = bytes.readPNG()
        case .gif: pixels = bytes.readGIF()
        case .bmp: pixels = bytes.readBMP()
        case .tiff: pixels = bytes.readTIFF()
        case .webp:
            guard let image = bytes.readWebP() else { break }
            (pixels, length) = (image.pixels, image.length)
            if image.isAnimated { rarity = "it is an animated WebP; make it a GIF or a video" }
        case .jpeg:
            let image = bytes.readJPEG()
            (pixels, isTruncated, orientation) = (image.pixels, !image.isWhole, image.orientation)
            rarity = image.rarity.map { "it is \($0); save it in RGB with 8 bits a channel" }
            if image.isWhole { length = bytes.position }
        }
    }
}

extension PictureHeader.Kind {
    /// Reads the magic number; nil if it is unknown. Reading continues after it.
    fileprivate init?(_ bytes: ByteReader) {
        switch bytes.number(ofBytes: 2) {
        case 0x8950: self = .png
        case 0xFFD8: self = .jpeg
        case 0x4749 where bytes.number(ofBytes: 2) == 0x4638: self = .gif  // GIF8
        case 0x424D: self = .bmp  // BM
        case 0x4949, 0x4D4D: self = .tiff  // II or MM
        case 0x5249 where bytes.seek(to: 8) && bytes.number(ofBytes: 4) == 0x5745_4250: self = .webp  // RI(FF), WEBP
        default: return nil
        }
    }
}

/// The part of a file that holds one picture.
package struct PicturePiece {
    package let bytes: Range<Int>
    /// The picture's duration, if the file contains it.
    let duration: RunningTime?
}

/// Codecs whose pictures begin with their own size, whatever the container says.
package enum CodedPicture: Equatable {
    case still, gif, vp8, theora, mpegVideo, proRes

    /// Returns the number of pixels that a decoder allocates for these bytes; nil if they do not say.
    package func pixels(_ bytes: ByteReader) -> Int? {
        switch self {
        case .still: return stillPixels(bytes)
        case .gif: return PictureHeader(bytes)?.pixels
        case .vp8: return bytes.readVP8()
        case .theora: return bytes.readTheora()
        case .mpegVideo: return bytes.readMPEGVideo()
        case .proRes: return bytes.readProRes()
        }
    }

    /// One buffer of an interlaced video may hold several JPEGs.
    private func stillPixels(_ bytes: ByteReader) -> Int? {
        guard let header = PictureHeader(bytes) else { return nil }
        guard header.kind == .jpeg, header.pixels != nil else { return header.pixels }
        var most = header.pixels
        while bytes.seek(toNext: 0xFF) {
            var code = bytes.next()
            while code == 0xFF { code = bytes.next() }  // fill bytes
            guard code == JPEGMarker.startOfImage else { continue }
            if let pixels = bytes.readJPEG().pixels { most = max(most ?? 0, pixels) }
        }
        return most
    }
}

/// Returns width times height; nil if one of them is missing.
private func area(_ width: Int?, _ height: Int?) -> Int? {
    guard let width, let height, width > 0, height > 0 else { return nil }
    let (pixels, overflow) = width.multipliedReportingOverflow(by: height)
    return overflow ? .max : pixels
}

// MARK: - Formats, each read from the end of its magic number

extension ByteReader {
    private func littleEndian(_ count: Int) -> Int? { number(ofBytes: count, smallestFirst: true) }

    /// PNG (ISO/IEC 15948, 11.2.2): the size is 16 bytes after the start.
    fileprivate func readPNG() -> Int? {
        guard seek(to: 16) else { return nil }
        return area(number(ofBytes: 4), number(ofBytes: 4))
    }

    /// The reason why a PNG is not read, if it is one: GStreamer's `pngdec` writes colors of 16 bits one sample too late, beyond the end
    /// of its memory.
    var pngFault: String? {
        guard seek(to: 0), number(ofBytes: 2) == 0x8950, seek(to: 24), next() == 16, next() != 0 else { return nil }
        return "it is a PNG with 16 bits for each color, which GStreamer decodes wrongly; save it with 8 bits"
    }

    /// GIF89a (section 18): the size of the screen on which all images lie.
    fileprivate func readGIF() -> Int? {
        guard seek(to: 6) else { return nil }
        return area(littleEndian(2), littleEndian(2))
    }

    /// The whole images of a GIF, each with the blocks before it (GIF89a, section 12 and appendix A).
    package func readGIFImages() -> [PicturePiece] {
        var images: [PicturePiece] = []
        var duration: RunningTime?
        guard seek(to: 10), let screen = next(), skip(2), skipColorTable(screen) else { return [] }
        while let block = next() {
            switch block {
            case 0x21:  // an extension
                guard let label = next() else { return images }
                if label == 0xF9 { duration = readGIFDelay() }
            case 0x2C:  // an image
                guard skip(8), let image = next(), skipColorTable(image), skip(1) else { return images }
            default: return images
            }
            guard skipGIFSubBlocks() else { return images }
            if block == 0x2C {
                images.append(PicturePiece(bytes: (images.last?.bytes.upperBound ?? 0)..<position, duration: duration))
                duration = nil
            }
        }
        return images
    }

    /// The delay in a graphic control extension, which counts hundredths of a second. Less than two of them become ten,
    /// as in browsers.
    private func readGIFDelay() -> RunningTime? {
        let start = position
        guard skip(2), let delay = littleEndian(2), seek(to: start) else { return nil }
        return 10_000_000 * RunningTime(delay < 2 ? 10 : delay)
    }

    private func skipColorTable(_ flags: UInt8) -> Bool { flags & 0x80 == 0 || skip(3 << (Int(flags & 7) + 1)) }

    private func skipGIFSubBlocks() -> Bool {
        while let length = next() {
            if length == 0 { return true }
            guard skip(Int(length)) else { return false }
        }
        return false
    }

    /// BMP: two numbers of 16 bits in the header of OS/2, of 32 bits in those of Windows, where a height below 0 says
    /// that the rows go downwards.
    fileprivate func readBMP() -> Int? {
        guard seek(to: 14), let headerSize = littleEndian(4) else { return nil }
        if headerSize == 12 { return area(littleEndian(2), littleEndian(2)) }
        guard let width = littleEndian(4), let height = littleEndian(4) else { return nil }
        return area(width, abs(Int(Int32(truncatingIfNeeded: height))))
    }

    /// WebP (RFC 9649, 2.5 to 2.7): the size of the canvas, and where the file ends.
    fileprivate func readWebP() -> (pixels: Int?, length: Int, isAnimated: Bool)? {
        guard seek(to: 4), let length = littleEndian(4), skip(4), let chunk = number(ofBytes: 4) else { return nil }
        let isExtended = chunk == 0x5650_3858  // VP8X
        let isAnimated = isExtended && seek(to: 20) && (next() ?? 0) & 2 != 0
        return (webPCanvas(chunk), min(size, 8 + length), isAnimated)
    }

    private func webPCanvas(_ chunk: Int) -> Int? {
        switch chunk {
        case 0x5650_3820: return seek(to: 20) ? readVP8() : nil  // "VP8 "
        case 0x5650_384C:  // VP8L
            guard seek(to: 21), let bits = littleEndian(4) else { return nil }
            return area(bits & 0x3FFF + 1, bits >> 14 & 0x3FFF + 1)
        case 0x5650_3858:  // VP8X
            guard seek(to: 24), let width = littleEndian(3), let height = littleEndian(3) else { return nil }
            return area(width + 1, height + 1)
        default: return nil
        }
    }

    /// TIFF 6.0 (section 2): the largest size in the first directory and in its subdirectories. Where the first picture
    /// is a thumbnail, a decoder takes one of those.
    fileprivate func readTIFF() -> Int? {
        guard seek(to: 0), let order = next() else { return nil }
        let isLittle = order == UInt8(ascii: "I")
        guard seek(to: 4), var directory = number(ofBytes: 4, smallestFirst: isLittle) else { return nil }
        var most: Int?
        for _ in 0..<8 {  // a file may refer to itself
            guard let found = readTIFFDirectory(at: directory, isLittle: isLittle) else { return nil }
            most = max(most ?? 0, found.pixels)
            guard let part = found.part else { return most }
            directory = part
        }
        return nil
    }

    private func readTIFFDirectory(at start: Int, isLittle: Bool) -> (pixels: Int, part: Int?)? {
        guard seek(to: start), let count = number(ofBytes: 2, smallestFirst: isLittle) else { return nil }
        var (width, height, part): (Int?, Int?, Int?)
        for entry in 0..<count {
            guard seek(to: start + 2 + 12 * entry), let tag = number(ofBytes: 2, smallestFirst: isLittle),
                let type = number(ofBytes: 2, smallestFirst: isLittle),
                let values = number(ofBytes: 4, smallestFirst: isLittle)
            else { return nil }
            guard [256, 257, 330].contains(tag) else { continue }
            let isLong = type == 4 || type == 13
            guard var value = number(ofBytes: isLong ? 4 : 2, smallestFirst: isLittle) else { return nil }
            switch tag {
            case 256: width = max(width ?? 0, value)
            case 257: height = max(height ?? 0, value)
            default:
                if values > 1 {  // then the value is where the list of directories stands
                    guard seek(to: value), let first = number(ofBytes: 4, smallestFirst: isLittle) else { return nil }
                    value = first
                }
                part = value
            }
        }
        return area(width, height).map { ($0, part) }
    }

    /// JPEG (ITU-T T.81, annex B), behind the marker that starts an image: walks the markers as far as the end of the
    /// image.
    fileprivate func readJPEG() -> (pixels: Int?, isWhole: Bool, orientation: PictureOrientation, rarity: String?) {
        var pixels: Int?
        var rarity: String?
        var orientation: PictureOrientation?
        var marker = nextMarker()
        while let found = marker {
            if found == JPEGMarker.endOfImage { return (pixels, true, orientation ?? .upright, rarity) }
            guard let length = number(ofBytes: 2) else { break }
            let end = position + length - 2
            if JPEGMarker.isFrameHeader(found), let bits = next() {
                let (height, width, channels) = (number(ofBytes: 2), number(ofBytes: 2), next())
                let isLossless = [0xC3, 0xC7, 0xCB, 0xCF].contains(found)
                rarity =
                    isLossless
                    ? "a lossless JPEG"
                    : bits != 8
                        ? "a JPEG of \(bits) bits a channel" : channels == 4 ? "a CMYK JPEG, as for printing" : nil
                if let found = area(width, height) { pixels = max(pixels ?? 0, found) }
            } else if found == JPEGMarker.application1, orientation == nil {
                orientation = readExifOrientation(upTo: end)
            }
            guard seek(to: end) else { break }
            marker = found == JPEGMarker.startOfScan ? markerAfterScan() : nextMarker()
        }
        return (pixels, false, orientation ?? .upright, rarity)
    }

    /// Reads a marker: 0xFF, any number of times, and a code, which is returned.
    private func nextMarker() -> UInt8? {
        guard next() == 0xFF else { return nil }
        var code = next()
        while code == 0xFF { code = next() }
        return code
    }

    /// Skips compressed data, in which 0xFF precedes only 0 or a restart code, and returns the marker after it.
    private func markerAfterScan() -> UInt8? {
        while seek(toNext: 0xFF) {
            guard let code = nextMarker() else { return nil }
            if code != 0, !JPEGMarker.restarts.contains(code) { return code }
        }
        return nil
    }

    /// VP8 (RFC 6386, 9.1): a key frame, whose first bit is 0, has the size after its start code. The upper two bits
    /// of each number are a scale, which decoders do not apply.
    fileprivate func readVP8() -> Int? {
        guard let tag = littleEndian(3), tag & 1 == 0, number(ofBytes: 3) == 0x9D012A, let width = littleEndian(2),
            let height = littleEndian(2)
        else { return nil }
        return area(width & 0x3FFF, height & 0x3FFF)
    }

    /// Theora (specification, 6.2): the identification header has the size of the coded frame in blocks of 16. In the
    /// codec data of a Matroska file the length of that header comes first.
    fileprivate func readTheora() -> Int? {
        guard let first = next() else { return nil }
        if first != 0x80 && !(first == 0 && skip(1) && next() == 0x80) { return nil }
        guard number(ofBytes: 6) == 0x7468_656F_7261, skip(3), let width = number(ofBytes: 2),  // theora
            let height = number(ofBytes: 2)
        else { return nil }
        return area(16 * width, 16 * height)
    }

    /// MPEG-1 and -2 video (ITU-T H.262, 6.2.2): twelve bits of each number in a sequence header, two more in the
    /// extension behind it.
    fileprivate func readMPEGVideo() -> Int? {
        var (most, width, height): (Int?, Int, Int) = (nil, 0, 0)
        while let code = nextStartCode() {
            if code == 0xB3, let bits = number(ofBytes: 3) {
                (width, height) = (bits >> 12, bits & 0xFFF)
            } else if code == 0xB5, let bits = number(ofBytes: 3), bits >> 20 == 1 {
                (width, height) = (width | (bits >> 7 & 3) << 12, height | (bits >> 5 & 3) << 12)
            } else {
                continue
            }
            if let pixels = area(width, height) { most = max(most ?? 0, pixels) }
        }
        return most
    }

    /// Skips to the next start code 0, 0, 1, and returns the byte after it.
    private func nextStartCode() -> UInt8? {
        while seek(toNext: 1) {
            let start = position
            guard start >= 2, seek(to: start - 2), number(ofBytes: 3) == 1 else {
                guard seek(to: start + 1) else { return nil }
                continue
            }
            return next()
        }
        return nil
    }

    /// ProRes (SMPTE RDD 36, 5.1): the size is in the frame header, after the frame's size and identifier.
    fileprivate func readProRes() -> Int? {
        guard skip(4), number(ofBytes: 4) == 0x6963_7066, skip(8) else { return nil }  // icpf
        return area(number(ofBytes: 2), number(ofBytes: 2))
    }
}

private enum JPEGMarker {
    static let startOfImage: UInt8 = 0xD8
    static let endOfImage: UInt8 = 0xD9
    static let startOfScan: UInt8 = 0xDA
    /// Holds Exif, or something else.
    static let application1: UInt8 = 0xE1
    /// Separate the intervals of one scan.
    static let restarts: ClosedRange<UInt8> = 0xD0...0xD7

    /// SOF0 to SOF15, except the three markers of tables in this range.
    static func isFrameHeader(_ marker: UInt8) -> Bool {
        0xC0...0xCF ~= marker && ![0xC4, 0xC8, 0xCC].contains(marker)
    }
}
