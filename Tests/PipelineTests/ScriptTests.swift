import Foundation
import GstTestSupport
import Testing

/// The scripts where something is missing. Nothing is installed: the programs that would are stand-ins.
@Suite struct ScriptTests {
    /// All that a folder of stand-ins and a folder of links to the system's programs offer.
    struct Machine {
        /// The stand-ins.
        let programs: URL
        private let system: URL
        /// An empty home, in which no Swift was unpacked.
        let home: URL
        /// Where the steps keep their logs.
        let logs: URL
        private let record: URL

        /// Links to all programs: a thousand, which take as long as a test.
        private static let complete = Result { try links(to: { _ in true }) }

        /// A folder of links to those of the system's programs that have no stand-in and are chosen.
        private static func links(to isChosen: (String) -> Bool) throws -> URL {
            let (folder, system) = (try Places.makeFolder(), URL(filePath: "/usr/bin"))
            let replaced = ["swift", "sudo", "apt-get", "dpkg-query"]
            for name in try FileManager.default.contentsOfDirectory(atPath: system.path)
            where !replaced.contains(name) && isChosen(name) {
                try FileManager.default.createSymbolicLink(
                    at: folder.appending(path: name), withDestinationURL: system.appending(path: name))
            }
            return folder
        }

        /// - Parameters:
        ///   - swift: the version that Swift says it is; nil = there is no Swift.
        ///   - missing: programs that are not there.
        init(swift: String?, without missing: [String] = []) throws {
            system = try missing.isEmpty ? Machine.complete.get() : Machine.links { !missing.contains($0) }
            let folder = try Places.makeFolder()
            programs = folder.appending(path: "bin")
            record = folder.appending(path: "calls")
            home = folder.appending(path: "home")
            logs = folder.appending(path: "log")
            try FileManager.default.createDirectory(at: home, withIntermediateDirectories: true)
            try FileManager.default.createDirectory(at: programs, withIntermediateDirectories: true)
            for name in ["sudo", "apt-get"] { try replace(name, by: "echo \(name) \"$@\" >>'\(record.path)'") }
            // No package is installed.
            try replace("dpkg-query", by: "exit 1")
            guard let swift else { return }
            try replace(
                "swift",
                by: """
                    [ "$1" != --version ] || { echo "Swift version \(swift) (swift-\(swift)-RELEASE)"; exit; }
                    echo swift "$@" >>'\(record.path)'
                    exit 1
                    """)
        }

        /// Puts a script in the place of a program.
        func replace(_ name: String, by script: String) throws {
            let file = programs.appending(path: name)
            try "#!/bin/sh\n\(script)\n".write(to: file, atomically: true, encoding: .utf8)
            try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: file.path)
        }

        /// Runs a program, which finds no other programs than the machine's.
        func run(_ script: URL, _ arguments: [String] = [], _ change: (inout Command) -> Void = { _ in })
            -> Command.Result
        {
            var command = Command(script.path, arguments)
            command.environment["PATH"] = "\(programs.path):\(system.path)"
            for name in [
                "CI", "DEPTHMATTE_VERBOSE", "SWIFT_TOOLCHAIN", "SWIFTLY_BIN_DIR", "SWIFTLY_HOME_DIR",
            ] { command.environment[name] = nil }
            command.environment["HOME"] = home.path
            command.environment["DEPTHMATTE_LOGS"] = logs.path
            change(&command)
            return command.run()
        }

        /// The calls of stand-ins that would change something.
        var calls: [String] {
            (try? String(contentsOf: record, encoding: .utf8))?.split(separator: "\n").map(String.init) ?? []
        }
    }

    private static let builders = [
        ("pipelines/demo.sh", []), ("pipelines/install.sh", ["run", "build"]), ("Tests/run.sh", []),
        ("Tests/soak.sh", []), ("Tests/speed.sh", []), ("Tests/sanitize.sh", ["address"]),
        ("meson-shim/package.sh", []), ("meson-shim/build.sh", [Places.root.path, "/nowhere", "/nowhere"]),
    ]

    /// Expects commands by which Swift can be installed, and the version that is needed.
    private func expectHelp(_ output: String) {
        for text in [
            "needs Swift 6.2 or newer", "https://download.swift.org/swiftly/linux/swiftly-$(uname -m).tar.gz",
            "./swiftly init", "swiftly install", "https://www.swift.org/install/linux/",
        ] { #expect(output.contains(text), "\(output)") }
    }

    @Test(arguments: builders, [nil, "5.9.2"])
    func `without Swift, or with one that is too old, nothing is installed, and it is said how Swift is`(
        script: (String, [String]), version: String?
    ) throws {
        let machine = try Machine(swift: version)
        let result = machine.run(Places.root.appending(path: script.0), script.1)
        #expect(result.status == 1)
        expectHelp(result.output)
        #expect(result.output.contains(version == nil ? "there is no swift in the path" : "is version 5.9"))
        #expect(machine.calls == [])
    }

    @Test(arguments: ["6.2", "6.10.1", "7.0"])
    func `with a Swift that is new enough the packages are installed before the build`(version: String) throws {
        let machine = try Machine(swift: version)
        let result = machine.run(Places.pipelines.appending(path: "demo.sh"))
        #expect(result.status == 1)
        #expect(!result.output.contains("needs Swift"))
        let calls = machine.calls
        #expect(calls.first?.contains("apt-get update") == true, "\(calls)")
        #expect(calls.last == "swift build -c release --product gstdepthmatte --disable-local-rpath", "\(calls)")
    }

    @Test func `without root and sudo it is said what root is to install`() throws {
        let machine = try Machine(swift: "6.3")
        try machine.replace("id", by: "echo 1000")
        try FileManager.default.removeItem(at: machine.programs.appending(path: "sudo"))
        let result = machine.run(Places.pipelines.appending(path: "demo.sh"))
        #expect(result.status == 1)
        #expect(result.output.contains("As root:"), "\(result.output)")
        #expect(result.output.contains("apt-get install --no-install-recommends pkg-config "), "\(result.output)")
        #expect(machine.calls == [])
    }

    // MARK: demo.sh --camera

    /// A copy of the scripts beside the library that was built, on a machine where Swift has nothing to build.
    private func built() throws -> (machine: Machine, root: URL) {
        let (machine, root) = (try Machine(swift: "6.3"), try unbuilt())
        try machine.replace("swift", by: "[ \"$1\" != --version ] || echo 'Swift version 6.3'")
        let folder = root.appending(path: ".build")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try FileManager.default.createSymbolicLink(
            at: folder.appending(path: "release"), withDestinationURL: Places.build)
        return (machine, root)
    }

    /// False on a machine with a depth camera.
    private static let lacksCamera = Command.launch("depthcamsrc num-buffers=1 ! fakesink").run().status != 0

    @Test(.enabled(if: lacksCamera, "a depth camera is plugged in"), arguments: [[], ["--output", "a.mkv"]])
    func `the demo of a camera says what was looked for where there is none`(more: [String]) throws {
        let (machine, root) = try built()
        let folder = try Places.makeFolder()
        let result = machine.run(root.appending(path: "pipelines/demo.sh"), ["--camera"] + more) {
            $0.folder = folder
        }
        #expect(result.status == 1)
        for text in [
            "no depth camera gives pictures", "librealsense2", "freenect", "OpenNI2", "Next step:",
            "\(root.path)/pipelines/cameras.md",
        ] { #expect(result.output.contains(text), "\(result.output)") }
        // The element's own words, without the rest of what gst-launch-1.0 prints.
        #expect(result.output.contains("not found") || result.output.contains("No depth camera was found."))
        #expect(!result.output.contains("Additional debug info"))
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == [])
    }

    @Test func `the demo of a camera records it, and a picture of the steps`() throws {
        let (machine, root) = try built()
        let record = root.appending(path: "lines").path
        try machine.replace("gst-launch-1.0", by: "echo \"$@\" >>'\(record)'")
        let result = machine.run(root.appending(path: "pipelines/demo.sh"), ["--output=a.mkv", "--camera"])
        #expect(result.status == 0, "\(result.output)")
        let lines = try String(contentsOfFile: record, encoding: .utf8).split(separator: "\n")
        try #require(lines.count == 3, "\(lines)")
        #expect(lines.allSatisfy { $0.contains(" depthcamsrc ") && !$0.contains("depthtestsrc") }, "\(lines)")
        #expect(lines[1].contains("matroskamux ! filesink location=\"a.mkv\""), "\(lines)")
        #expect(lines[2].contains("view=quad") && lines[2].contains("location=\"a.png\""), "\(lines)")
    }

    @Test(arguments: [["--camra"], ["a.mkv"], ["--output"], ["--camera", "--output="]])
    func `the demo refuses arguments that it does not know`(arguments: [String]) throws {
        let machine = try Machine(swift: nil)
        let result = machine.run(Places.pipelines.appending(path: "demo.sh"), arguments)
        #expect(result.status == 2)
        #expect(result.output.contains("usage:"))
    }

    // MARK: leftovers.sh

    /// True while a process sleeps for that unlikely time.
    private func sleeps(_ seconds: String) -> Bool { Command("pgrep", ["-fx", "sleep \(seconds)"]).run().status == 0 }

    @Test func `what a run leaves behind is named, ended and a failure`() {
        let left = Places.root.appending(path: "Tests/leftovers.sh").path
        #expect(Command(left, ["true"]).run().status == 0)
        #expect(Command(left, ["sh", "-c", "exit 7"]).run().status == 7)
        // In a session of its own, so that no group of processes holds it.
        let result = Command(left, ["sh", "-c", "setsid sleep 98761 & exit 0"]).run()
        #expect(result.status == 99 && result.output.contains(": sleep 98761"), "\(result)")
        #expect(!sleeps("98761"))
    }

    @Test func `what a run has started ends where the run is killed`() {
        let left = Places.root.appending(path: "Tests/leftovers.sh").path
        let result = Command(
            "sh", ["-c", "setsid '\(left)' sh -c 'setsid sleep 98762 & kill -KILL $PPID; sleep 98763'; true"]
        ).run()
        #expect(result.status == 0, "\(result)")
        for seconds in ["98762", "98763"] { #expect(eventually { !sleeps(seconds) }, "sleep \(seconds)") }
    }

    // MARK: run.sh

    /// A copy of the scripts, beside which nothing is built.
    private func unbuilt() throws -> URL {
        let root = try Places.makeFolder()
        for name in ["Package.swift", "pipelines"] {
            try FileManager.default.copyItem(at: Places.root.appending(path: name), to: root.appending(path: name))
        }
        let line = root.appending(path: "a.launch")
        try "depthtestsrc num-buffers=1 ! fakesink".write(to: line, atomically: true, encoding: .utf8)
        return root
    }

    @Test(arguments: [nil, "6.3.1"])
    func `a launch line without the plugin says how it is built`(swift: String?) throws {
        let (machine, root) = (try Machine(swift: swift), try unbuilt())
        let registry = try Places.makeFolder().appending(path: "registry.bin").path
        let result = machine.run(
            root.appending(path: "pipelines/run.sh"), [root.appending(path: "a.launch").path]
        ) { command in
            command.environment["GST_PLUGIN_PATH"] = nil
            command.environment["GST_PLUGIN_SYSTEM_PATH"] = "/nowhere"
            command.environment["GST_REGISTRY"] = registry
        }
        #expect(result.status == 1)
        #expect(result.output.contains("swift build -c release --product gstdepthmatte"), "\(result.output)")
        if swift == nil { expectHelp(result.output) } else { #expect(!result.output.contains("needs Swift")) }
        #expect(machine.calls == [])
    }

    @Test func `a launch line needs no Swift where the plugin is installed`() throws {
        let (machine, root) = (try Machine(swift: nil), try unbuilt())
        let result = machine.run(root.appending(path: "pipelines/run.sh"), [root.appending(path: "a.launch").path])
        #expect(result.status == 0, "\(result.output)")
    }

    /// False on a machine that can show pictures on a console.
    private static let lacksGraphics = !FileManager.default.fileExists(atPath: "/dev/dri")

    @Test(.enabled(if: lacksGraphics, "there is a graphics device"))
    func `without a display a line with a window does not start, and another sink is named`() throws {
        let (machine, root) = try built()
        try machine.replace("gst-launch-1.0", by: "echo started")
        let line = root.appending(path: "a.launch")
        try "#: SINK=autovideosink  the sink\ndepthtestsrc ! $SINK".write(to: line, atomically: true, encoding: .utf8)
        for (sink, status, text) in [(nil, 1, "a sink without one"), ("fakesink", 0, "started")] {
            let arguments = [line.path] + (sink.map { ["SINK=\($0)"] } ?? [])
            let result = machine.run(root.appending(path: "pipelines/run.sh"), arguments) { command in
                command.environment["DISPLAY"] = nil
                command.environment["WAYLAND_DISPLAY"] = nil
            }
            #expect(result.status == status, "\(result.output)")
            #expect(result.output.contains(text), "\(result.output)")
            #expect(result.output.contains("started") == (sink != nil), "\(result.output)")
        }
    }

    @Test func `without GStreamer's tools it is said how they are installed`() throws {
        let machine = try Machine(swift: nil, without: ["gst-launch-1.0", "gst-inspect-1.0"])
        let root = try unbuilt()
        let result = machine.run(root.appending(path: "pipelines/run.sh"), [root.appending(path: "a.launch").path])
        #expect(result.status == 1)
        #expect(result.output.contains("install.sh run"), "\(result.output)")
    }
}
