import Foundation
import Testing

/// The library as it is shipped.
@Suite struct LibraryTests {
    static let elements = [
        "depthmatte", "depthcolorize", "depthcloud", "depthalign", "depthpack", "depthunpack", "depthtestsrc",
        "depthcamsrc",
    ]

    @Test func `the library brings its Swift runtime and no Foundation`() {
        let result = Command("readelf", ["-d", Places.library.path]).run()
        let needed = result.lines.filter { $0.contains("(NEEDED)") }
        #expect(!needed.isEmpty)
        let unwanted = ["swift", "Foundation", "dispatch", "BlocksRuntime", "icu"]
        #expect(needed.filter { line in unwanted.contains { line.contains($0) } } == [])
        // SwiftPM adds the library's own folder, unless it is called with --disable-local-rpath.
        #expect(
            result.lines.filter { $0.contains("RPATH") || $0.contains("RUNPATH") }.allSatisfy {
                $0.contains("[$ORIGIN]")
            })
    }

    @Test func `the debug information is DWARF 4, which older tools read`() {
        let result = Command("readelf", ["--debug-dump=info", "--dwarf-depth=1", "-W", Places.library.path]).run()
        let versions = result.lines.compactMap { $0.firstMatch(of: /^ *Version: +([0-9]+)/).map { String($0.1) } }
        #expect(Set(versions) == ["4"])
    }

    @Test(.enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/bin/valgrind")))
    func `valgrind reads the library`() throws {
        var command = Command("valgrind", ["--tool=none", "gst-inspect-1.0", "depthmatte"])
        command.environment["GST_REGISTRY"] = try Places.makeFolder().appending(path: "registry.bin").path
        command.environment["GST_REGISTRY_FORK"] = "no"
        command.environment["GST_PLUGIN_SYSTEM_PATH"] = "/nowhere"
        let result = command.run()
        #expect(result.status == 0 && result.output.contains("GstDepthMatte"), "\(result.output.suffix(2000))")
    }

    @Test func `the library exports the plugin's two functions and nothing else`() {
        let result = Command("readelf", ["--dyn-syms", "-W", Places.library.path]).run()
        let exported: [String] = result.lines.compactMap { line in
            // Number, value, size, type, binding, visibility, section, name.
            let fields = line.split(separator: " ").map(String.init)
            guard fields.count == 8, ["GLOBAL", "WEAK"].contains(fields[4]), fields[6] != "UND" else { return nil }
            return fields[7]
        }
        #expect(exported.sorted() == ["gst_plugin_depthmatte_get_desc", "gst_plugin_depthmatte_register"])
    }

    /// `-enforce-exclusivity=checked`, which is the default of release builds too.
    @Test func `the library checks that variables are accessed by one at a time`() {
        let result = Command("objdump", ["-d", "--no-show-raw-insn", Places.library.path]).run()
        #expect(result.lines.count { $0.contains("call") && $0.contains("<swift_beginAccess") } > 100)
    }

    @Test(arguments: elements)
    func `a first look at an element prints no warning`(_ element: String) throws {
        var command = Command("gst-inspect-1.0", [element], in: try Places.makeFolder())
        command.environment["GST_REGISTRY"] = try Places.makeFolder().appending(path: "registry.bin").path
        command.environment["GST_PLUGIN_SYSTEM_PATH"] = "/nowhere"
        command.environment["GST_DEBUG"] = "2"
        command.environment["G_DEBUG"] = "fatal-warnings"
        let result = command.run()
        #expect(result.status == 0)
        let complaints = result.lines.filter { line in ["WARN", "ERROR", "CRITICAL"].contains { line.contains($0) } }
        #expect(complaints == [])
    }

    @Test func `the plugin loads where no Swift is installed`() throws {
        var command = Command("gst-inspect-1.0", ["depthmatte"])
        command.environment["GST_REGISTRY"] = try Places.makeFolder().appending(path: "registry.bin").path
        command.environment["PATH"] = "/usr/bin:/bin"
        command.environment["LD_LIBRARY_PATH"] = nil
        let copy = try Places.makeFolder()
        try FileManager.default.copyItem(at: Places.library, to: copy.appending(path: "libgstdepthmatte.so"))
        command.environment["GST_PLUGIN_PATH"] = copy.path
        let result = command.run()
        #expect(result.status == 0)
        #expect(result.output.contains("GstDepthMatte"))
    }

    @Test func `the plugin's origin is an address`() throws {
        let lines = Command("gst-inspect-1.0", ["depthmatte"]).run().lines
        let origin = try #require(lines.first { $0.contains("Origin URL") }?.split(separator: " ").last)
        let address = try #require(URL(string: String(origin)))
        #expect(address.scheme == "https" && address.host()?.contains(".") == true, "\(origin)")
    }

    @Test func `no element is chosen for unknown content`() {
        for element in LibraryTests.elements {
            let lines = Command("gst-inspect-1.0", [element]).run().lines
            #expect(lines.contains { $0.contains("Rank") && $0.contains("none (0)") }, "\(element)")
        }
    }
}
