/// A folder that `fakenect-record` wrote: a file for each frame, and INDEX.txt with their names in the order in which they came.
///
/// A name is the frame's type (d: depth, r: video), the host's time in seconds and the camera's time in ticks, as
/// d-1288634398.115230-1735028192.pgm. The file is a PGM or PPM with a header of one line.
///
/// `fakenect-record` writes the camera's raw counts, and 65535 as the largest value. Depth with a largest value of 10000 is in
/// millimetres and registered to the video, which this recorder cannot write.
///
/// Files may be missing or cut off. So each is checked before it is played.
package struct FreenectRecording {
    package struct Entry {
        let isDepth: Bool
        /// When the host received it, in nanoseconds.
        package let time: Int64
        let ticks: UInt32
        package let name: String
    }

    let folder: String
    package let entries: [Entry]
    /// True for depth in millimetres as the color camera sees it, false for raw counts.
    let isRegistered: Bool
    package let info: CameraInfo

    private static let width = 640
    private static let height = 480

    package init(folder: String) throws(CameraError) {
        self.folder = folder
        let index = try Self.readIndex("\(folder)/INDEX.txt")
        entries = index.split(separator: UInt8(ascii: "\n")).compactMap { Self.entry($0) }
        let folder = self.folder
        let depth = entries.lazy.filter(\.isDepth).compactMap { Self.header($0, in: folder)?.largest }.first
        let video = entries.lazy.filter { !$0.isDepth }.compactMap { Self.header($0, in: folder)?.largest }.first
        guard depth != nil || video != nil else {
            throw .recording("\(folder)/INDEX.txt names no frames of 640x480 that are there.")
        }
        isRegistered = depth == 10_000
        let mode = CameraMode(width: Self.width, height: Self.height, rate: (30, 1), format: .rgb)
        var depthMode = mode
        depthMode.format = .gray16
        info = CameraInfo(
            name: "Recording of a Kinect v1", serial: "", driver: FreenectDriver.name,
            videoModes: video == nil ? [] : [mode], depthModes: depth == nil ? [] : [depthMode])
    }

    /// Reads a frame.
    ///
    /// - Returns: false where it does not fill the memory.
    package func read(_ entry: Entry, into memory: UnsafeMutableRawBufferPointer) -> Bool {
        guard let start = Self.header(entry, in: folder)?.length,
            let file = try? RegularFile("\(folder)/\(entry.name)")
        else { return false }
        return (try? file.read(from: start, into: memory)) == memory.count
    }

    private static func entry(_ line: ArraySlice<UInt8>) -> Entry? {
        let line = line.last == UInt8(ascii: "\r") ? line.dropLast() : line
        guard line.count < 250, !line.contains(UInt8(ascii: "/")), !line.contains(0) else { return nil }
        let parts = line.split(separator: UInt8(ascii: "-"), maxSplits: 2, omittingEmptySubsequences: false)
        guard parts.count == 3, let seconds = Double(String(decoding: parts[1], as: UTF8.self)),
            (0..<1e9 * 4).contains(seconds),
            let ticks = UInt32(String(decoding: parts[2].prefix { (0x30...0x39).contains($0) }, as: UTF8.self))
        else { return nil }
        let isDepth: Bool
        switch String(decoding: parts[0], as: UTF8.self) {
        case "d": isDepth = true
        case "r": isDepth = false
        default: return nil  // as the accelerometer's
        }
        return Entry(
            isDepth: isDepth, time: Int64(seconds * 1e9), ticks: ticks, name: String(decoding: line, as: UTF8.self))
    }

    /// The largest value that a frame's header names, and the header's length; nil unless the whole frame is there.
    private static func header(_ entry: Entry, in folder: String) -> (largest: Int?, length: Int)? {
        guard let file = try? RegularFile("\(folder)/\(entry.name)"), file.size < 1 << 26,
            let start = try? file.read(from: 0, atMost: 64), let end = start.firstIndex(of: UInt8(ascii: "\n"))
        else { return nil }
        let words = start[..<end].split(separator: UInt8(ascii: " ")).map { String(decoding: $0, as: UTF8.self) }
        let bytes = width * height * (entry.isDepth ? 2 : 3)
        guard words.count == 4, words[0] == (entry.isDepth ? "P5" : "P6"), words[1] == "\(width)",
            words[2] == "\(height)", file.size >= end + 1 + bytes
        else { return nil }
        return (Int(words[3]), end + 1)
    }

    private static func readIndex(_ path: String) throws(CameraError) -> [UInt8] {
        do throws(SystemFault) {
            let file = try RegularFile(path)
            var bytes: [UInt8] = []
            while true {
                let chunk = try file.read(from: bytes.count, atMost: 1 << 16)
                if chunk.isEmpty { return bytes }
                bytes += chunk
                guard bytes.count < 1 << 28 else { throw SystemFault(reason: "it is no index of a recording") }
            }
        } catch {
            throw .recording("\(path): \(error.reason).")
        }
    }
}
