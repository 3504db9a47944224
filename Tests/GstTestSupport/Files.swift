import CGStreamer

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// A folder that goes with everything in it when the test lets go of it.
package final class TemporaryFolder: Sendable {
    package let path: String

    package init() {
        guard let made = g_dir_make_tmp("depthmatte-XXXXXX", nil) else { preconditionFailure("no temporary folder") }
        path = String(cString: made)
        g_free(made)
    }

    deinit { TemporaryFolder.remove(path) }

    private static func remove(_ path: String) {
        guard let folder = g_dir_open(path, 0, nil) else { return _ = unlink(path) }
        while let name = g_dir_read_name(folder) { remove(path + "/" + String(cString: name)) }
        g_dir_close(folder)
        rmdir(path)
    }

    package subscript(name: String) -> String { path + "/" + name }

    /// Writes a file, and the folder that its name begins with, and returns its path.
    @discardableResult
    package func write(_ name: String, _ bytes: [UInt8]) -> String {
        let path = self[name]
        if let slash = path.lastIndex(of: "/") { g_mkdir_with_parents(String(path[..<slash]), 0o700) }
        let isWritten = bytes.withUnsafeBufferPointer { bytes in
            bytes.withMemoryRebound(to: CChar.self) {
                g_file_set_contents(path, $0.baseAddress, gssize($0.count), nil) != 0
            }
        }
        precondition(isWritten, "cannot write \(path)")
        return path
    }

    package func read(_ name: String) -> [UInt8] {
        var contents: UnsafeMutablePointer<CChar>?
        var length: gsize = 0
        guard g_file_get_contents(self[name], &contents, &length, nil) != 0, let contents else { return [] }
        defer { g_free(contents) }
        return UnsafeRawBufferPointer(start: contents, count: Int(length)).map { $0 }
    }

    /// The file's content.
    package var names: [String] {
        guard let folder = g_dir_open(path, 0, nil) else { return [] }
        defer { g_dir_close(folder) }
        var names: [String] = []
        while let name = g_dir_read_name(folder) { names.append(String(cString: name)) }
        return names.sorted()
    }

    package func makeFIFO(_ name: String) -> String {
        precondition(mkfifo(self[name], 0o600) == 0, "cannot make a FIFO")
        return self[name]
    }
}

/// An uncompressed PNG of 8-bit RGB or RGBA.
package func png(
    width: Int, height: Int, hasAlpha: Bool = false, _ pixel: (_ x: Int, _ y: Int) -> [UInt8]
) -> [UInt8] {
    png(width: width, height: height, bits: 8, colorType: hasAlpha ? 6 : 2) { y in
        (0..<width).flatMap { x in pixel(x, y).prefix(hasAlpha ? 4 : 3) }
    }
}

/// An uncompressed PNG (RFC 2083; its data are stored DEFLATE blocks, RFC 1951 §3.2.4).
///
/// - Parameters:
///   - bits: of a sample.
///   - colorType: 0 gray, 2 RGB, 3 palette, 4 gray and alpha, 6 RGBA.
///   - chunks: those between the header and the data.
///   - row: the bytes of a row.
package func png(
    width: Int, height: Int, bits: UInt8, colorType: UInt8, chunks: [(name: String, data: [UInt8])] = [],
    row: (_ y: Int) -> [UInt8]
) -> [UInt8] {
    let rows: [UInt8] = (0..<height).flatMap { y in [UInt8(0)] + row(y) }  // no filter
    var data: [UInt8] = [0x78, 0x01]
    for start in stride(from: 0, to: rows.count, by: 65_535) {
        let block = rows[start..<min(start + 65_535, rows.count)]
        let count = UInt16(block.count)
        data.append(start + block.count == rows.count ? 1 : 0)
        data += [UInt8(count & 255), UInt8(count >> 8), UInt8(~count & 255), UInt8(~count >> 8)]
        data += block
    }
    data += bigEndian(adler32(rows))
    let header = bigEndian(UInt32(width)) + bigEndian(UInt32(height)) + [bits, colorType, 0, 0, 0]
    return [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a] + chunk("IHDR", header)
        + chunks.flatMap { chunk($0.name, $0.data) } + chunk("IDAT", data) + chunk("IEND", [])
}

private func chunk(_ name: String, _ data: [UInt8]) -> [UInt8] {
    let body = Array(name.utf8) + data
    return bigEndian(UInt32(data.count)) + body + bigEndian(crc32(body))
}

private func bigEndian(_ value: UInt32) -> [UInt8] { (0..<4).map { UInt8(truncatingIfNeeded: value >> (24 - 8 * $0)) } }

private func adler32(_ bytes: [UInt8]) -> UInt32 {
    var (low, high): (UInt32, UInt32) = (1, 0)
    for byte in bytes {
        low = (low + UInt32(byte)) % 65_521
        high = (high + low) % 65_521
    }
    return high << 16 | low
}

private func crc32(_ bytes: [UInt8]) -> UInt32 {
    var crc = UInt32.max
    for byte in bytes {
        crc ^= UInt32(byte)
        for _ in 0..<8 { crc = crc & 1 == 1 ? crc >> 1 ^ 0xedb8_8320 : crc >> 1 }
    }
    return ~crc
}
