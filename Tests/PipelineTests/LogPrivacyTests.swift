import Foundation
import Testing

/// What a program prints holds no pictures: neither at the highest log level, nor with an error, nor as it is killed by the
/// signal of a Swift trap.
@Suite struct LogPrivacyTests {
    /// The pixels of every picture, over and over.
    private static let marker = "SeCrEtPx"
    private static let frames = 8

    private let folder: URL
    /// Video and depth of 64x64, both made of the marker alone.
    private let sources: String

    init() throws {
        folder = try Places.makeFolder()
        let bytesPerFrame = 64 * 64 * 4
        let text = String(repeating: Self.marker, count: Self.frames * bytesPerFrame / Self.marker.utf8.count)
        try text.write(to: folder.appending(path: "marker.raw"), atomically: true, encoding: .utf8)
        sources = """
            filesrc location=marker.raw ! rawvideoparse format=bgra width=64 height=64 framerate=30/1 ! matte.video \
            filesrc location=marker.raw ! rawvideoparse format=gray16-le width=64 height=64 framerate=30/1 ! matte.depth
            """
    }

    private func shell(_ script: String) -> Command.Result {
        var command = Command("sh", ["-c", script], in: folder)
        // The two thirds of a log in which no element has a say.
        let others = "GST_REGISTRY:1,GST_PLUGIN_LOADING:1,GST_ELEMENT_FACTORY:1,GST_REFCOUNTING:1"
        command.environment["GST_DEBUG"] = "*:9,\(others)"
        command.environment["GST_DEBUG_NO_COLOR"] = "1"
        return command.run()
    }

    /// True where some text has the marker as text, or as hexadecimal bytes or words in either order.
    private static func isLeak(_ text: String) -> Bool {
        // Dumps have blanks between bytes, or between words.
        let blanks = Set(" \t\n\r".utf8)
        let dense = Data(text.utf8.lazy.filter { !blanks.contains($0) }.map { (65...90).contains($0) ? $0 | 32 : $0 })
        let bytes = marker.utf8.map { String($0, radix: 16) }
        return [marker.lowercased(), bytes.joined(), bytes.reversed().joined()].contains {
            dense.range(of: Data($0.utf8)) != nil
        }
    }

    @Test func `a dump of the pictures would be noticed`() {
        let result = shell(
            "gst-launch-1.0 --no-fault filesrc location=marker.raw blocksize=64 num-buffers=1 ! fakesink dump=true")
        #expect(result.status == 0)
        let dump = result.output
        #expect(Self.isLeak(dump))
        #expect(Self.isLeak(dump.replacing(Self.marker, with: "")))
    }

    @Test(arguments: ["blur", "image", "comic", "transparent"])
    func `a log of everything holds no picture`(_ mode: String) {
        let result = shell(
            "gst-launch-1.0 --no-fault depthmatte name=matte background-mode=\(mode) ! fakesink \(sources)")
        #expect(result.status == 0)
        #expect(result.output.contains("depthmatte"))
        #expect(!Self.isLeak(result.output))
    }

    @Test func `a warning of a lying frame holds no picture`() {
        // The depth map is smaller than its caps say.
        let result = shell(
            """
            gst-launch-1.0 --no-fault depthmatte name=matte ! fakesink \
            filesrc location=marker.raw ! rawvideoparse format=bgra width=64 height=64 ! matte.video \
            filesrc location=marker.raw ! rawvideoparse format=gray8 width=64 height=64 \
            ! capssetter caps=video/x-raw,format=GRAY16_LE ! matte.depth
            """)
        #expect(result.output.contains("the buffer's GstVideoMeta contradicts its caps"))
        #expect(!Self.isLeak(result.output))
    }

    @Test func `an error about a background holds no picture`() {
        let result = shell(
            "gst-launch-1.0 --no-fault depthmatte name=matte background=marker.raw ! fakesink \(sources)")
        #expect(result.status != 0)
        #expect(result.output.contains("The file \"marker.raw\" cannot be read"))
        #expect(!Self.isLeak(result.output))
    }

    @Test func `a program that a trap ends prints no picture`() {
        // Some frames have left when the signal comes, and the next is in the works.
        let result = shell(
            """
            mkfifo frames; exec 3<>frames
            gst-launch-1.0 --no-fault depthmatte name=matte background-mode=blur ! fdsink fd=3 \(sources) &
            program=$!
            head -c 32768 <&3 >first
            kill -ILL $program
            wait $program
            """)
        #expect(result.status == 128 + Int(SIGILL))
        #expect(!result.output.contains("Program crashed"))
        #expect(!Self.isLeak(result.output))
    }
}
