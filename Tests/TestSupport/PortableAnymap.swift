/// A binary PGM (P5) file, 8 or 16 bits.
package struct PortableAnymap {
    package let width: Int
    package let height: Int
    /// Row by row.
    package let samples: [Int]

    /// Returns nil unless `bytes` are such a file, without comments.
    package init?(bytes: [UInt8]) {
        let header = PortableAnymap.headerFields(bytes)
        guard header.count == 4, header[0].text == "P5",
            let width = Int(header[1].text), let height = Int(header[2].text), let largest = Int(header[3].text)
        else { return nil }
        self.width = width
        self.height = height
        let body = bytes[(header[3].end + 1)...]
        let bytesPerSample = largest > 255 ? 2 : 1
        guard body.count == width * height * bytesPerSample else { return nil }
        samples = stride(from: body.startIndex, to: body.endIndex, by: bytesPerSample).map { index in
            bytesPerSample == 1 ? Int(body[index]) : Int(body[index]) << 8 | Int(body[index + 1])
        }
    }

    /// The first four words and where each ends.
    private static func headerFields(_ bytes: [UInt8]) -> [(text: String, end: Int)] {
        var fields: [(String, Int)] = []
        var word = ""
        for (index, byte) in bytes.enumerated() where fields.count < 4 {
            if byte == 0x20 || byte == 0x0a {
                if !word.isEmpty { fields.append((word, index)) }
                word = ""
            } else {
                word.unicodeScalars.append(Unicode.Scalar(byte))
            }
        }
        return fields
    }
}
