import Foundation
import GstTestSupport
import Testing

/// Backgrounds that a server sends, with `allow-remote` and without.
@Suite struct RemoteBackgroundTests {
    private let folder = TemporaryFolder()
    /// The folder in which the element makes its copies.
    private let copies = TemporaryFolder()
    private let server: FileServer

    init() throws {
        folder.write("picture.png", png(width: 32, height: 24) { x, y in [UInt8(x * 8), UInt8(y * 10), 77] })
        folder.write("moving.gif", gif(width: 32, height: 24, [([1, 2, 3], 10), ([4, 5, 6], 10)]))
        folder.write("list.m3u8", Array("#EXTM3U\n#EXTINF:2,\nfile:///etc/hostname\n#EXT-X-ENDLIST\n".utf8))
        server = try FileServer(folder.path)
    }

    /// Shows that background alone, as there is no depth, and writes the pictures to a file.
    private func play(_ background: String, allowed: Bool = true, to file: String = "out") -> Command.Result {
        var command = Command.launch(
            "depthtestsrc num-buffers=3 name=camera camera.video ! video/x-raw,format=BGRx,width=32,height=24 "
                + "! depthmatte background=\(background) allow-remote=\(allowed) ! filesink location=\(folder[file])")
        command.environment["TMPDIR"] = copies.path
        return command.run()
    }

    private func expectRefusal(_ path: String, _ reason: String) {
        let result = play(server.uri(path))
        #expect(result.status != 0 && result.output.contains(server.uri(path)), "\(result)")
        #expect(result.output.contains(reason), "\(result)")
        #expect(folder.read("out").isEmpty, "frames left")
    }

    @Test func `the server ends with its test`() throws {
        var own: FileServer? = try FileServer(folder.path)
        let process = try #require(own?.identifier)
        #expect(kill(process, 0) == 0)
        own = nil
        #expect(kill(process, 0) != 0 && errno == ESRCH)
    }

    @Test(arguments: ["picture.png", "moving.gif"])
    func `a file of the network is shown as the local one`(name: String) throws {
        try #require(play(server.uri(name)).status == 0)
        try #require(play(folder[name], to: "expected").status == 0)
        #expect(folder.read("out") == folder.read("expected"))
        #expect(folder.read("out").count == 3 * 32 * 24 * 4)
    }

    @Test func `a file of the network is refused unless it is allowed`() {
        let result = play(server.uri("picture.png"), allowed: false)
        #expect(result.status != 0 && result.output.contains("only with allow-remote=true"), "\(result)")
        #expect(server.requests == [], "the server was asked")
    }

    @Test func `a file that is not there`() { expectRefusal("missing.png", "File not found") }

    @Test func `a file that never ends`() { expectRefusal("endless", "it has more than 268435456 bytes") }

    @Test func `a server that never answers`() { expectRefusal("silent", "not downloaded in 10 seconds") }

    @Test func `a redirection to a local file`() { expectRefusal("redirect", "cannot be read") }

    @Test func `a playlist`() { expectRefusal("list.m3u8", "cannot be read") }

    @Test(arguments: ["picture.png", "moving.gif", "missing.png", "redirect", "list.m3u8"])
    func `no copy is left behind`(path: String) throws {
        _ = play(server.uri(path))
        #expect(server.requests.contains("/\(path)"))
        #expect(try FileManager.default.contentsOfDirectory(atPath: copies.path) == [])
    }
}

/// A server on loopback: the files of a folder, and answers that a server should not give.
private final class FileServer {
    private let process = Process()
    private let port: Int
    private let log: String

    init(_ folder: String) throws {
        log = "\(folder)/requests"
        let output = Pipe()
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        try process.start(["python3", "-c", FileServer.script, folder])
        var line = Data()
        while line.last != UInt8(ascii: "\n"), let byte = try output.fileHandleForReading.read(upToCount: 1) {
            line += byte
        }
        port = try #require(Int(String(decoding: line.dropLast(), as: UTF8.self)))
    }

    deinit { process.end() }

    var identifier: Int32 { process.processIdentifier }

    func uri(_ path: String) -> String { "http://127.0.0.1:\(port)/\(path)" }

    /// The paths that were asked for.
    var requests: [String] {
        ((try? String(contentsOfFile: log, encoding: .utf8)) ?? "").split(separator: "\n").map(String.init)
    }

    private static let script = """
        import http.server, sys, threading
        class Handler(http.server.SimpleHTTPRequestHandler):
            def do_GET(self):
                with open(sys.argv[1] + "/requests", "a") as log:
                    log.write(self.path + "\\n")
                if self.path == "/endless":
                    self.send_response(200)
                    self.end_headers()
                    while True:
                        self.wfile.write(bytes(1 << 20))
                elif self.path == "/silent":
                    threading.Event().wait(60)
                elif self.path == "/redirect":
                    self.send_response(302)
                    self.send_header("Location", "file:///etc/hostname")
                    self.end_headers()
                else:
                    super().do_GET()
        server = http.server.ThreadingHTTPServer(
            ("127.0.0.1", 0), lambda *words: Handler(*words, directory=sys.argv[1]))
        print(server.server_port, flush=True)
        server.serve_forever()
        """
}
