import Foundation

/// The frames that a launch line gives.
struct Frames {
    let caps: String
    /// One checksum for each frame.
    let checksums: [String]

    struct Unreadable: Error {
        let line: String
        let output: String
    }

    init(of line: String, in folder: URL) throws {
        let command = Command.launch("\(line) ! checksumsink name=check", options: ["-v"], in: folder)
        let result = command.run()
        guard result.status == 0 else { throw Unreadable(line: line, output: result.output) }
        let mark = "GstChecksumSink:check.GstPad:sink: caps = "
        caps = result.lines.last { $0.contains(mark) }?.components(separatedBy: mark).last ?? ""
        checksums = result.lines.compactMap { line in
            let words = line.split(separator: " ")
            return words.count == 2 && words[1].count == 40 && words[0].contains(":") ? String(words[1]) : nil
        }
    }

    /// True where the caps have each of the fields, written `name=value`; the first is the media type.
    func lacks(_ fields: [String]) -> [String] {
        let parts = caps.split(separator: ",").map { part in
            part.trimmingCharacters(in: .whitespaces).replacing(/\([a-z]+\)/, with: "")
        }
        return fields.filter { !parts.contains($0) }
    }
}

/// The last frame that a launch line gives, as RGBA.
struct Picture {
    let width: Int
    let height: Int
    let bytes: [UInt8]

    init(of line: String, in folder: URL) throws {
        let file = folder.appending(path: "picture-\(UUID().uuidString).raw")
        defer { try? FileManager.default.removeItem(at: file) }
        let whole = "\(line) ! videoconvert ! video/x-raw,format=RGBA ! filesink name=file location=\"\(file.path)\""
        let result = Command.launch(whole, options: ["-v"], in: folder).run()
        let mark = "GstFileSink:file.GstPad:sink: caps = "
        guard result.status == 0,
            let caps = result.lines.last(where: { $0.contains(mark) }).map(String.init),
            let width = caps.firstMatch(of: /width=\(int\)([0-9]+)/).flatMap({ Int($0.1) }),
            let height = caps.firstMatch(of: /height=\(int\)([0-9]+)/).flatMap({ Int($0.1) })
        else { throw Frames.Unreadable(line: whole, output: result.output) }
        let all = [UInt8](try Data(contentsOf: file))
        guard all.count >= width * height * 4 else { throw Frames.Unreadable(line: whole, output: "no whole frame") }
        self.width = width
        self.height = height
        bytes = Array(all.suffix(width * height * 4))
    }

    /// Red, green, blue, alpha.
    subscript(x: Int, y: Int) -> [Int] {
        let start = (y * width + x) * 4
        return bytes[start..<start + 4].map(Int.init)
    }
}
