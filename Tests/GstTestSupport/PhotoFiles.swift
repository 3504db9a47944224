/// A JPEG of one color in four components, as print shops use: baseline, of blocks that have only their mean (ITU-T T.81).
///
/// - Parameters:
///   - components: cyan, magenta, yellow and black, inverted as Adobe writes them.
///   - transform: the color transform that the Adobe marker names; nil leaves the marker out.
package func cmykJPEG(width: Int, height: Int, _ components: [Int], transform: UInt8?) -> [UInt8] {
    func segment(_ marker: UInt8, _ body: [UInt8]) -> [UInt8] {
        [0xff, marker, UInt8((body.count + 2) >> 8), UInt8((body.count + 2) & 255)] + body
    }
    let quantization = segment(0xdb, [0] + [UInt8](repeating: 1, count: 64))
    let size = [UInt8(height >> 8), UInt8(height & 255), UInt8(width >> 8), UInt8(width & 255)]
    let frame = segment(0xc0, [8] + size + [4] + (1...4).flatMap { [UInt8($0), 0x11, 0] })
    // Means by the length of their bits, with the code lengths of annex K; of the other coefficients, only their end.
    let lengths: [UInt8] = [0, 1, 5, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0]
    let means = segment(0xc4, [0] + lengths + (0...11).map { UInt8($0) })
    let others = segment(0xc4, [0x10, 1] + [UInt8](repeating: 0, count: 15) + [0])
    let scan = segment(0xda, [4] + (1...4).flatMap { [UInt8($0), 0] } + [0, 63, 0])
    let codes = [
        "00", "010", "011", "100", "101", "110", "1110", "11110", "111110", "1111110", "11111110", "111111110",
    ]
    var bits = ""
    for block in 0..<((width + 7) / 8 * ((height + 7) / 8)) {
        for component in components {
            // Each block's mean is written as its difference from the one before.
            let mean = block == 0 ? 8 * (component - 128) : 0
            let count = mean == 0 ? 0 : Int.bitWidth - abs(mean).leadingZeroBitCount
            let value = mean < 0 ? mean + (1 << count) - 1 : mean
            bits += codes[count] + (0..<count).reversed().map { value >> $0 & 1 == 1 ? "1" : "0" }.joined() + "0"
        }
    }
    while !bits.utf8.count.isMultiple(of: 8) { bits += "1" }
    let digits = Array(bits.utf8)
    let data = stride(from: 0, to: digits.count, by: 8).flatMap { start -> [UInt8] in
        let byte = digits[start..<start + 8].reduce(UInt8(0)) { $0 << 1 | ($1 & 1) }
        return byte == 0xff ? [0xff, 0] : [byte]
    }
    let adobe = transform.map { segment(0xee, Array("Adobe".utf8) + [0, 100, 0, 0, 0, 0, $0]) } ?? []
    return [0xff, 0xd8] + adobe + quantization + frame + means + others + scan + data + [0xff, 0xd9]
}

/// Writes into a JPEG how the camera was held (Exif 2.3, tag 0x0112).
package func oriented(jpeg: [UInt8], _ orientation: UInt8) -> [UInt8] {
    let tag: [UInt8] = [0x12, 1, 3, 0, 1, 0, 0, 0, orientation, 0, 0, 0]
    let body = Array("Exif\0\0II*\0".utf8) + [8, 0, 0, 0, 1, 0] + tag + [0, 0, 0, 0]
    return jpeg.prefix(2) + [0xff, 0xe1, 0, UInt8(body.count + 2)] + body + jpeg.dropFirst(2)
}
