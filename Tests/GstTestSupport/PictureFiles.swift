/// A GIF (GIF89a) of images of one color each, shown for some hundredths of a second.
package func gif(width: Int, height: Int, _ images: [(color: [UInt8], delay: Int)]) -> [UInt8] {
    var bytes: [UInt8] = Array("GIF89a".utf8) + little(width, 2) + little(height, 2) + [0x86, 0, 0]
    for index in 0..<128 { bytes += index < images.count ? images[index].color.prefix(3) : [0, 0, 0] }
    for (index, image) in images.enumerated() {
        bytes += [0x21, 0xF9, 4, 0] + little(image.delay, 2) + [0, 0]
        bytes += [0x2C, 0, 0, 0, 0] + little(width, 2) + little(height, 2) + [0, 7]
        // As long as the table of codes has fewer than 256 entries, each code is one byte: it is cleared often.
        var codes: [UInt8] = []
        for pixel in 0..<width * height {
            if pixel.isMultiple(of: 100) { codes.append(128) }
            codes.append(UInt8(index))
        }
        codes.append(129)
        for start in stride(from: 0, to: codes.count, by: 255) {
            let block = codes[start..<min(start + 255, codes.count)]
            bytes += [UInt8(block.count)] + block
        }
        bytes.append(0)
    }
    return bytes + [0x3B]
}

/// A Windows bitmap of one color.
package func bmp(width: Int, height: Int, _ color: [UInt8]) -> [UInt8] {
    let row = (width * 3 + 3) / 4 * 4
    let size = 54 + row * height
    let header = Array("BM".utf8) + little(size, 4) + little(0, 4) + little(54, 4)
    let info = little(40, 4) + little(width, 4) + little(height, 4) + little(1, 2) + little(24, 2)
    let pixels = (0..<width).flatMap { _ in color.reversed() } + [UInt8](repeating: 0, count: row - width * 3)
    return header + info + [UInt8](repeating: 0, count: 24) + (0..<height).flatMap { _ in pixels }
}

/// An uncompressed TIFF of one color, whose pixels stand before its directory.
package func tiff(width: Int, height: Int, _ color: [UInt8], isLittle: Bool = true) -> [UInt8] {
    let number: (Int, Int) -> [UInt8] = { isLittle ? little($0, $1) : little($0, $1).reversed() }
    let entry: (Int, Int) -> [UInt8] = { number($0, 2) + number(4, 2) + number(1, 4) + number($1, 4) }
    let pixels = (0..<width * height).flatMap { _ in color }
    // Size, bits, uncompressed, RGB, where the pixels are, their samples, rows in a strip, and how long it is.
    let entries = [
        (256, width), (257, height), (258, 8), (259, 1), (262, 2), (273, 8), (277, 3), (278, height),
        (279, pixels.count),
    ]
    let directory = number(entries.count, 2) + entries.flatMap(entry) + number(0, 4)
    return Array((isLittle ? "II" : "MM").utf8) + number(42, 2) + number(8 + pixels.count, 4) + pixels + directory
}

/// Uncompressed video (YUV4MPEG2) of frames of one gray each.
package func y4m(width: Int, height: Int, _ grays: [UInt8], rate: String = "10:1", interlacing: String = "p") -> [UInt8]
{
    let header = "YUV4MPEG2 W\(width) H\(height) F\(rate) I\(interlacing) A1:1 C444\n"
    let chroma = [UInt8](repeating: 128, count: 2 * width * height)
    return grays.reduce(into: Array(header.utf8)) { file, gray in
        file += Array("FRAME\n".utf8) + [UInt8](repeating: gray, count: width * height) + chroma
    }
}

/// The header of a picture file: the kind of file, and the size that it says.
package enum Claim: String, CaseIterable, Sendable {
    case png, jpeg, gif, bmp, littleTIFF, bigTIFF, lossyWebP, losslessWebP, extendedWebP, avi, y4m

    package func bytes(width: Int, height: Int) -> [UInt8] {
        let size = little(width, 2) + little(height, 2)
        switch self {
        case .png:
            let header = big(width, 4) + big(height, 4) + [8, 2, 0, 0, 0]
            return [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 0, 0, 0, 13] + Array("IHDR".utf8) + header
                + zeros(40)
        case .jpeg:
            let frame = [0xFF, 0xC0, 0, 11, 8] + big(height, 2) + big(width, 2) + [1, 1, 0x11, 0]
            return [0xFF, 0xD8] + frame + [0xFF, 0xDA, 0, 8, 1, 1, 0, 0, 63, 0, 0, 0, 0xFF, 0xD9]
        case .gif:
            let image = [0x2C, 0, 0, 0, 0] + size + [0, 2, 2, 0x44, 1, 0]
            return Array("GIF89a".utf8) + size + [0x80, 0, 0, 0, 0, 0, 255, 255, 255] + image + [0x3B]
        case .bmp:
            let info = little(40, 4) + little(width, 4) + little(height, 4) + little(1, 2) + little(24, 2)
            return Array("BM".utf8) + little(154, 4) + zeros(4) + little(54, 4) + info + zeros(124)
        case .littleTIFF: return claimTIFF("II", width: width, height: height) { little($0, $1) }
        case .bigTIFF: return claimTIFF("MM", width: width, height: height) { big($0, $1) }
        case .lossyWebP: return webP("VP8 ", [0x30, 0, 0, 0x9D, 1, 0x2A] + size)
        case .losslessWebP: return webP("VP8L", [0x2F] + little((width - 1) | (height - 1) << 14, 4))
        case .extendedWebP: return webP("VP8X", [0, 0, 0, 0] + little(width - 1, 3) + little(height - 1, 3))
        case .avi: return rawAVI(width: width, height: height)
        case .y4m: return Array("YUV4MPEG2 W\(width) H\(height) F25:1 Ip A1:1 C444\nFRAME\n".utf8) + zeros(99)
        }
    }

    /// A JPEG of 16 by 16 with another frame header.
    package func with(_ frame: UInt8, bits: UInt8, channels: UInt8) -> [UInt8] {
        let parts: [UInt8] = (1...channels).flatMap { channel -> [UInt8] in [channel, 0x11, 0] }
        var header: [UInt8] = [0xFF, frame, 0, 8 + 3 * channels, bits] + big(16, 2) + big(16, 2)
        header += [channels] + parts
        let tables: [UInt8] = (1...channels).flatMap { channel -> [UInt8] in [channel, 0] }
        let scan: [UInt8] = [0xFF, 0xDA, 0, 6 + 2 * channels, channels] + tables + [0, 63, 0]
        return [0xFF, 0xD8] + header + scan + [0, 0xFF, 0xD9]
    }

    /// The start of an animation: the flag in the extended header, and the chunk that decoders look for.
    package static var animatedWebP: [UInt8] {
        let extended = Array("VP8X".utf8) + little(10, 4) + [2, 0, 0, 0] + little(15, 3) + little(15, 3)
        let animation = Array("ANIM".utf8) + little(6, 4) + zeros(6) + Array("ANMF".utf8) + little(16, 4) + zeros(16)
        let body = Array("WEBP".utf8) + extended + animation
        return Array("RIFF".utf8) + little(body.count, 4) + body
    }

    private func claimTIFF(_ order: String, width: Int, height: Int, _ number: (Int, Int) -> [UInt8]) -> [UInt8] {
        let entries = [(256, width), (257, height), (258, 8), (259, 1), (262, 1), (273, 8), (278, height), (279, 9)]
        var bytes: [UInt8] = Array(order.utf8) + number(42, 2) + number(8, 4) + number(entries.count, 2)
        for (tag, value) in entries { bytes += number(tag, 2) + number(4, 2) + number(1, 4) + number(value, 4) }
        return bytes + zeros(4)
    }

    private func webP(_ chunk: String, _ data: [UInt8]) -> [UInt8] {
        let data = data + zeros(40)
        let body = Array("WEBP".utf8) + Array(chunk.utf8) + little(data.count, 4) + data
        return Array("RIFF".utf8) + little(body.count, 4) + body
    }

    /// Uncompressed pixels, of which there are few.
    private func rawAVI(width: Int, height: Int) -> [UInt8] {
        let main =
            little(40_000, 4) + zeros(8) + little(16, 4) + little(1, 4) + zeros(4) + little(1, 4) + zeros(4)
            + little(width, 4) + little(height, 4) + zeros(16)
        let stream =
            Array("vidsDIB ".utf8) + zeros(12) + little(1, 4) + little(25, 4) + zeros(4) + little(1, 4) + zeros(20)
        let format = little(40, 4) + little(width, 4) + little(height, 4) + little(1, 2) + little(24, 2) + zeros(24)
        let streamList = list("strl", chunk("strh", stream) + chunk("strf", format))
        let header = list("hdrl", chunk("avih", main) + streamList)
        return chunk("RIFF", Array("AVI ".utf8) + header + list("movi", chunk("00db", zeros(64))))
    }

    private func chunk(_ name: String, _ data: [UInt8]) -> [UInt8] { Array(name.utf8) + little(data.count, 4) + data }
    private func list(_ name: String, _ data: [UInt8]) -> [UInt8] { chunk("LIST", Array(name.utf8) + data) }
}

private func zeros(_ count: Int) -> [UInt8] { [UInt8](repeating: 0, count: count) }

private func little(_ value: Int, _ count: Int) -> [UInt8] {
    (0..<count).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
}

private func big(_ value: Int, _ count: Int) -> [UInt8] { little(value, count).reversed() }
