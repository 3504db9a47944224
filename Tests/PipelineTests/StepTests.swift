import Foundation
import Testing

/// What the scripts print: one line a step, everything where it is asked for, and what each is for with --help.
@Suite struct StepTests {
    private static let step = Places.pipelines.appending(path: "step.sh")

    @Test func `a step prints one line, and its log has the rest`() throws {
        let machine = try ScriptTests.Machine(swift: nil)
        let warning = "warning: 'gst-depthmatte': prohibited flag(s): -pthread"
        let result = machine.run(Self.step, ["a", "working", "sh", "-c", "echo \"\(warning)\"; seq 100 >&2"])
        #expect(result.status == 0)
        #expect(result.lines.count == 1)
        #expect(result.output.hasPrefix("working … (log: ") && result.output.hasSuffix("/log/a.log)\n"))
        let log = try String(contentsOf: machine.logs.appending(path: "a.log"), encoding: .utf8)
        let all = (1...100).map { "\($0)\n" }.joined()
        #expect(log == all)
    }

    @Test func `a step that fails shows the end of its log`() throws {
        let machine = try ScriptTests.Machine(swift: nil)
        let result = machine.run(Self.step, ["a", "working", "sh", "-c", "seq 100; exit 3"])
        #expect(result.status == 3)
        #expect(result.output.contains("working failed, with status 3. The end of \(machine.logs.path)/a.log:"))
        let end = (81...100).map { "\($0)\n" }.joined()
        #expect(result.output.hasSuffix(end), "\(result.output)")
    }

    @Test(arguments: [("CI", "true", 101), ("DEPTHMATTE_VERBOSE", "1", 101), ("CI", "false", 1), ("CI", "0", 1)])
    func `everything is shown where it is asked for`(variable: String, value: String, lines: Int) throws {
        let machine = try ScriptTests.Machine(swift: nil)
        let result = machine.run(Self.step, ["a", "working", "seq", "100"]) { $0.environment[variable] = value }
        #expect(result.lines.count == lines, "\(result.output)")
        #expect(result.status == 0)
    }

    @Test(arguments: [[], ["--verbose"]])
    func `the tests are one line a step, and the failures`(options: [String]) throws {
        let machine = try ScriptTests.Machine(swift: "6.3")
        try machine.replace(
            "swift",
            by: """
                case $1 in
                --version) echo 'Swift version 6.3' ;;
                build) seq 500 ;;
                test) seq 500; echo '✘ Test "that" failed'; seq 500; exit 1 ;;
                esac
                """)
        let result = machine.run(Places.root.appending(path: "Tests/run.sh"), options)
        #expect(result.status == 1)
        #expect(result.output.contains("building everything …") && result.output.contains("testing …"))
        #expect(result.lines.last == "✘ Test \"that\" failed", "\(result.output)")
        let quiet = result.lines.count < 20
        #expect(quiet == options.isEmpty, "\(result.output)")
    }

    @Test func `tests that pass end with their number`() throws {
        let machine = try ScriptTests.Machine(swift: "6.3")
        try machine.replace(
            "swift",
            by: """
                case $1 in
                --version) echo 'Swift version 6.3' ;;
                test) echo '✔ Test run with 5 tests in 1 suite passed'; echo ;;
                esac
                """)
        let result = machine.run(Places.root.appending(path: "Tests/run.sh"))
        #expect(result.status == 0)
        #expect(result.lines.last == "✔ Test run with 5 tests in 1 suite passed", "\(result.output)")
    }

    /// Every program among the scripts: those in Python that others only import have no main part.
    private static let scripts = ["pipelines", "Tests", "meson-shim"].flatMap { top -> [String] in
        let all =
            FileManager.default.enumerator(atPath: Places.root.appending(path: top).path)?
            .compactMap { $0 as? String } ?? []
        return all.map { "\(top)/\($0)" }.filter { path in
            let file = Places.root.appending(path: path).path
            guard path.hasSuffix(".py") else { return path.hasSuffix(".sh") }
            return FileManager.default.isExecutableFile(atPath: file)
                || (try? String(contentsOfFile: file, encoding: .utf8))?.contains("__name__ ==") == true
        }.sorted()
    }

    @Test(arguments: scripts)
    func `a script says what it is for`(path: String) throws {
        let machine = try ScriptTests.Machine(swift: nil)
        let file = Places.root.appending(path: path)
        let python = URL(filePath: "/usr/bin/python3")
        let result =
            path.hasSuffix(".py") ? machine.run(python, [file.path, "--help"]) : machine.run(file, ["--help"])
        #expect(result.status == 0)
        #expect(result.output.count > 40 && !result.output.contains("Traceback"), "\(result.output)")
        #expect(machine.calls == [])
    }
}
