import CDepthMatte
import CGStreamer

/// Where the figures were taken.
struct Machine {
    let version = DEPTHMATTE_VERSION
    let cores = Int(g_get_num_processors())
    /// As Linux names it; empty elsewhere.
    let processor = Machine.processorName()

    private static func processorName() -> String {
        let text = readFile("/proc/cpuinfo") ?? ""
        let line = text.split(separator: "\n").first { $0.hasPrefix("model name") }
        return line.flatMap { $0.split(separator: ":").last }.map { String($0.drop { $0 == " " }) } ?? ""
    }
}

/// The text of a file; nil where it cannot be read.
private func readFile(_ path: String) -> String? {
    var contents: UnsafeMutablePointer<CChar>?
    guard g_file_get_contents(path, &contents, nil, nil) != 0, let contents else { return nil }
    defer { g_free(contents) }
    return String(cString: contents)
}

/// Writes a text file, in place of what was there.
func writeFile(_ path: String, _ text: String) throws {
    var error: UnsafeMutablePointer<GError>?
    let isWritten = text.withCString { g_file_set_contents(path, $0, gssize(text.utf8.count), &error) != 0 }
    defer { if let error { g_error_free(error) } }
    if !isWritten {
        throw Failure.cannot(error.map { String(cString: $0.pointee.message) } ?? "\(path) cannot be written")
    }
}
