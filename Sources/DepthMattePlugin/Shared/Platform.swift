// What the plugin asks of the C library, but for the writing of files, which is in WholeFile.swift: another platform
// needs no more than these two.
#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// e to the power of x.
func exponential(_ x: Double) -> Double { exp(x) }

/// A variable of the environment; nil where it is not set.
func environment(_ name: String) -> String? { getenv(name).map { String(cString: $0) } }

/// The names in a folder, sorted; none where it cannot be read.
func names(inFolder path: String) -> [String] {
    guard let folder = opendir(path), let start = MemoryLayout<dirent>.offset(of: \.d_name) else { return [] }
    defer { closedir(folder) }
    var names: [String] = []
    while let entry = readdir(folder) {
        // An entry ends with its name: `d_name` as a whole, all 256 bytes of it, is not there to be copied.
        let name = String(cString: UnsafeRawPointer(entry).advanced(by: start).assumingMemoryBound(to: CChar.self))
        if name != "." && name != ".." { names.append(name) }
    }
    return names.sorted()
}

/// The first line of a small file, as those that the kernel makes; nil where it cannot be read.
func line(ofFile path: String) -> String? {
    guard let file = FileBytes(path: path) else { return nil }
    var bytes: [UInt8] = []
    while bytes.count < 256, let byte = file.next(), byte != UInt8(ascii: "\n") { bytes.append(byte) }
    return String(decoding: bytes, as: UTF8.self)
}

/// A file read byte by byte.
final class FileBytes {
    private let file: UnsafeMutablePointer<FILE>

    /// - Returns: nil where the file cannot be opened.
    init?(path: String) {
        guard let file = fopen(path, "rb") else { return nil }
        self.file = file
    }

    deinit { fclose(file) }

    /// The next byte; nil at the end of the file.
    func next() -> UInt8? {
        let byte = getc(file)
        return byte < 0 ? nil : UInt8(truncatingIfNeeded: byte)
    }

    /// A number of up to seven bytes, the largest first; nil where the file ends before it.
    func number(ofBytes count: Int) -> Int? {
        var number = 0
        for _ in 0..<min(count, 7) {
            guard let byte = next() else { return nil }
            number = number << 8 | Int(byte)
        }
        return number
    }

    /// Passes over some bytes; false where the file ends before them.
    func skip(_ count: Int) -> Bool {
        for _ in 0..<max(count, 0) where next() == nil { return false }
        return true
    }
}
