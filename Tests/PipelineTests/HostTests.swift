import Foundation
import TestSupport
import Testing

/// Programs that load the library, and how they end.
@Suite struct HostTests {
    private static let sources = Places.root.appending(path: "Tests/hosts")
    private static let packages = "gstreamer-base-1.0"

    private static let line = """
        depthtestsrc name=camera num-buffers=10 camera.video ! video/x-raw,width=320,height=240 ! tee name=video
        camera.depth ! video/x-raw,width=160,height=120 ! tee name=depth
        video. ! queue ! depthmatte name=matte max-threads=3 background=$BACKGROUND ! fakesink depth. ! queue ! matte.depth
        video. ! queue ! colors.video depth. ! queue ! depthcolorize name=colors ! fakesink
        depth. ! queue ! depthcloud max-threads=2 ! fakesink
        """.replacing("$BACKGROUND", with: Places.pipelines.appending(path: "background.jpg").path)

    private func build(_ command: String, in folder: URL) throws {
        let built = Command("/bin/sh", ["-ec", command, "sh", HostTests.sources.path], in: folder).run()
        try #require(built.status == 0, "\(built.output)")
    }

    private func host(_ name: String = "host") throws -> Command {
        let folder = try Places.makeFolder()
        try build(
            "\"${CC:-$(command -v cc || command -v clang)}\" -Wall -Wextra -Werror \"$1/\(name).c\" -o \(name) "
                + "$(pkg-config --cflags --libs \(HostTests.packages))", in: folder)
        var command = Command(folder.appending(path: name).path, [], in: folder)
        command.watchStreams()
        return command
    }

    @Test(arguments: ["deinit", "exit"])
    func `a program without a main loop plays to the end and ends`(end: String) throws {
        var command = try host()
        command.environment["G_DEBUG"] = "fatal-warnings"
        command.arguments = [end, HostTests.line]
        let result = command.run()
        #expect(result.status == 0 && result.output.isEmpty, "\(result)")
    }

    /// What the library has in static memory is used by threads that still run when the process goes.
    @Test func `a program may end while frames flow`() throws {
        var command = try host()
        command.arguments = ["playing", HostTests.line.replacing("num-buffers=10", with: "num-buffers=-1")]
        for round in 0..<10 {
            let result = command.run()
            #expect(result.status == 0 && result.output.isEmpty, "round \(round): \(result)")
        }
    }

    // MARK: Types derived from ours

    /// A launch line with every element of the plugin, of derived types; the files that it writes.
    private static func derivedLine() throws -> (line: String, files: [String]) {
        let line = """
            derived-depthtestsrc name=source num-buffers=3
            source.video ! video/x-raw,width=64,height=48 ! tee name=video
            source.depth ! video/x-raw,width=64,height=48 ! tee name=depth
            video. ! queue ! derived-depthmatte name=matte background-color=0xff00ff00 ! filesink location=matte
            depth. ! queue ! matte.depth
            video. ! queue ! colors.video depth. ! queue ! derived-depthcolorize name=colors ! filesink location=colors
            depth. ! queue ! derived-depthcloud ! filesink location=cloud
            derived-depthcamsrc name=camera driver=realsense align=none num-buffers=3
            library=\(try CompiledLibrary.build("fake_realsense.c"))
            camera.video ! filesink location=video camera.depth ! derived-depthalign ! filesink location=aligned
            """
        return (line, ["matte", "colors", "cloud", "video", "aligned"])
    }

    private func expectFrames(_ command: Command, _ files: [String]) throws {
        let result = command.run()
        #expect(result.status == 0, "\(result)")
        for file in files {
            let path = try #require(command.folder).appending(path: file).path
            let size = try? FileManager.default.attributesOfItem(atPath: path)[.size] as? Int
            #expect(size ?? 0 > 0, "\(file)")
        }
    }

    @Test(arguments: [1, 2])
    func `types derived from the elements' types play, in C`(levels: Int) throws {
        let (line, files) = try HostTests.derivedLine()
        var command = try host("derived")
        command.arguments = ["\(levels)", line]
        try expectFrames(command, files)
    }

    @Test(.enabled(if: EmbedTests.python != nil, "Python has no GStreamer"))
    func `classes derived from the elements' classes play, in Python`() throws {
        let (line, files) = try HostTests.derivedLine()
        let script = HostTests.sources.appending(path: "derived.py").path
        var command = Command(try #require(EmbedTests.python), [script, line], in: try Places.makeFolder())
        command.watchStreams()
        // Of an object that a binding made, GStreamer says that it is not floating.
        command.environment["G_DEBUG"] = nil
        try expectFrames(command, files)
    }

    // MARK: Two plugins in Swift

    /// A second plugin, with a Swift runtime of its own; the folder that it is in.
    private static let second: Result<URL, any Error> = Result {
        let folder = try Places.makeFolder()
        try HostTests().build(
            """
            "${CC:-$(command -v cc || command -v clang)}" -fPIC -Wall -Wextra -Wno-missing-field-initializers \
                -Wno-unused-parameter -c "$1/second.c" -o second.o $(pkg-config --cflags \(packages))
            swiftc -O -static-stdlib -emit-library -module-name second "$1/second.swift" second.o \
                -o libgstswiftsecond.so $(pkg-config --libs \(packages))
            """, in: folder)
        return folder
    }

    @Test(arguments: [false, true])
    func `two plugins in Swift work in one process, whichever is loaded first`(isOursFirst: Bool) throws {
        let second = try HostTests.second.get()
        let camera = "depthtestsrc num-buffers=5 name=camera camera.video ! video/x-raw,width=64,height=48 "
        let elements = isOursFirst ? "! depthmatte ! swiftsecond " : "! swiftsecond ! depthmatte "
        // gst-launch-1.0 makes elements in the order of the line.
        let line =
            isOursFirst
            ? camera + elements + "! fakesink"
            : "videotestsrc num-buffers=5 ! video/x-raw,width=64,height=48 " + elements + "! fakesink"
        var command = Command.launch(line)
        command.environment["GST_PLUGIN_PATH", default: ""] += ":\(second.path)"
        command.environment["GST_REGISTRY"] = second.appending(path: "registry-\(isOursFirst)").path
        let result = command.run()
        #expect(result.status == 0, "\(result.output)")
        #expect(!result.output.contains("implemented in both"))
    }

    /// With the runtime's libraries, which are then the host's own, and with a runtime linked into the host.
    @Test(arguments: ["", "-static-stdlib"])
    func `a program in Swift plays two plugins in Swift`(flags: String) throws {
        let second = try HostTests.second.get()
        let folder = try Places.makeFolder()
        try build(
            """
            swiftc \(flags) "$1/host.swift" -o host -I "$1/../../pipelines/embed/swift" \
                $(pkg-config --cflags gstreamer-video-1.0 gstreamer-controller-1.0 | sed 's/\\(^\\| \\)-/ -Xcc -/g') \
                $(pkg-config --libs gstreamer-video-1.0 gstreamer-controller-1.0)
            """, in: folder)
        let line =
            "depthtestsrc num-buffers=5 name=camera camera.video ! video/x-raw,width=64,height=48 ! swiftsecond "
            + "! depthmatte name=matte ! swiftsecond ! fakesink camera.depth ! swiftsecond ! matte.depth"
        var command = Command(folder.appending(path: "host").path, [line], in: folder)
        command.watchStreams()
        command.environment["GST_PLUGIN_PATH", default: ""] += ":\(second.path)"
        command.environment["GST_REGISTRY"] = second.appending(path: "registry-host\(flags)").path
        let result = command.run()
        #expect(result.status == 0 && result.output.contains("ended with 5 frames"), "\(result.output)")
    }
}
