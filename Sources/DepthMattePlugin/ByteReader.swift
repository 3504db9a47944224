import DepthCameras

/// The first line of a small file, as those that the kernel makes; nil where it cannot be read.
func line(ofFile path: String) -> String? {
    guard let file = ByteReader(path: path) else { return nil }
    var bytes: [UInt8] = []
    while bytes.count < 256, let byte = file.next(), byte != UInt8(ascii: "\n") { bytes.append(byte) }
    return String(decoding: bytes, as: UTF8.self)
}

/// Reads the bytes of a regular file, or of a copy of some memory, one after another.
package final class ByteReader {
    private let file: RegularFile?
    private let mayGoOn: () -> Bool
    private var chunk: [UInt8]
    /// Where the chunk begins in the file, and the next byte in the chunk.
    private var chunkStart = 0
    private var index = 0
    /// How many bytes there are, as far as the system knows: a file of the kernel's may have more.
    let size: Int
    /// The system's reason why the file could not be read on; it ends there.
    private(set) var fault: String?

    private static let chunkSize = 65_536

    /// - Parameter mayGoOn: asked before each piece of the file is read; where it says no, the file ends there.
    /// - Returns: nil where there is no regular file that can be opened.
    init?(path: String, while mayGoOn: @escaping () -> Bool = { true }) {
        do throws(SystemFault) {
            let file = try RegularFile(path)
            size = file.size
            self.file = consume file
        } catch {
            return nil
        }
        self.mayGoOn = mayGoOn
        chunk = []
    }

    package init(_ bytes: UnsafeRawBufferPointer) {
        file = nil
        mayGoOn = { false }
        chunk = Array(bytes)
        size = bytes.count
    }

    /// How many bytes stand before the next one.
    var position: Int { chunkStart + index }

    /// The next byte; nil at the end.
    func next() -> UInt8? {
        if index >= chunk.count && !readChunk() { return nil }
        defer { index += 1 }
        return chunk[index]
    }

    /// The bytes that follow, `limit` at most.
    func bytes(atMost limit: Int) -> [UInt8] {
        var bytes: [UInt8] = []
        while bytes.count < limit, let byte = next() { bytes.append(byte) }
        return bytes
    }

    /// A number of up to seven bytes, the largest first unless said otherwise; nil where the bytes end before it.
    func number(ofBytes count: Int, smallestFirst: Bool = false) -> Int? {
        var number = 0
        for position in 0..<min(count, 7) {
            guard let byte = next() else { return nil }
            number = smallestFirst ? number | Int(byte) << (8 * position) : number << 8 | Int(byte)
        }
        return number
    }

    /// Goes on at the next byte of that value, and says whether there is one.
    func seek(toNext value: UInt8) -> Bool {
        repeat {
            if let found = chunk[index...].firstIndex(of: value) {
                index = found
                return true
            }
            index = chunk.count
        } while readChunk()
        return false
    }

    /// Goes on at that byte; false where the bytes end before it.
    package func seek(to position: Int) -> Bool {
        guard 0...size ~= position else { return false }
        if chunkStart...chunkStart + chunk.count ~= position {
            index = position - chunkStart
            return true
        }
        guard file != nil else { return false }
        chunk = []
        chunkStart = position
        index = 0
        return true
    }

    /// Passes over some bytes; false where they end before that.
    func skip(_ count: Int) -> Bool { count <= 0 || seek(to: position + count) }

    /// Copies the bytes from `start` on; false where there are too few.
    func read(from start: Int, into memory: UnsafeMutableRawBufferPointer) -> Bool {
        var count = 0
        while count < memory.count {
            let end = min(count + ByteReader.chunkSize, memory.count)
            let piece = readPiece(
                from: start + count, into: UnsafeMutableRawBufferPointer(rebasing: memory[count..<end]))
            if piece == 0 { return false }
            count += piece
        }
        return true
    }

    private func readChunk() -> Bool {
        let start = chunkStart + chunk.count
        chunk = Array(unsafeUninitializedCapacity: ByteReader.chunkSize) { buffer, count in
            count = readPiece(from: start, into: UnsafeMutableRawBufferPointer(buffer))
        }
        chunkStart = start
        index = 0
        return !chunk.isEmpty
    }

    /// Reads some of the bytes that stand at `start`; 0 at the end.
    private func readPiece(from start: Int, into memory: UnsafeMutableRawBufferPointer) -> Int {
        guard fault == nil, mayGoOn() else { return 0 }
        do throws(SystemFault) {
            return try file?.read(from: start, into: memory) ?? 0
        } catch {
            fault = error.reason
            return 0
        }
    }
}
