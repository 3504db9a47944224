import Foundation
import Testing

/// The library in GStreamer's registry: scans that go wrong, and what is there after them.
@Suite struct RegistryTests {
    /// The folder of one test, in which a registry of its own is written.
    private let folder: URL

    init() throws { folder = try Places.makeFolder() }

    /// A copy of the library in a folder of its own; returns the folder.
    private func copy(_ name: String) throws -> URL {
        let place = folder.appending(path: name)
        try FileManager.default.createDirectory(at: place, withIntermediateDirectories: true)
        try FileManager.default.copyItem(at: Places.library, to: place.appending(path: "libgstdepthmatte.so"))
        return place
    }

    /// Replaces a text of the library by another of the same length.
    private func replace(_ old: String, by new: String, in place: URL) throws {
        let file = place.appending(path: "libgstdepthmatte.so")
        var bytes = try Data(contentsOf: file)
        var count = 0
        while let range = bytes.range(of: Data(old.utf8)) {
            bytes.replaceSubrange(range, with: Data(new.utf8))
            count += 1
        }
        try #require(count > 0 && old.utf8.count == new.utf8.count)
        try FileManager.default.removeItem(at: file)
        try bytes.write(to: file)
    }

    private func inspect(_ arguments: [String], _ places: [URL], _ more: [String: String] = [:]) -> Command.Result {
        var command = Command("gst-inspect-1.0", arguments, in: folder)
        command.environment["GST_PLUGIN_PATH"] = places.map(\.path).joined(separator: ":")
        command.environment["GST_PLUGIN_SYSTEM_PATH"] = "/nowhere"
        command.environment["GST_REGISTRY"] = folder.appending(path: "registry.bin").path
        command.environment["G_DEBUG"] = "fatal-criticals"
        command.environment.merge(more) { $1 }
        return command.run()
    }

    private func fileName(_ result: Command.Result) -> Substring? {
        result.lines.first { $0.contains("Filename") }?.split(separator: " ", maxSplits: 1).last.map {
            $0.trimmingPrefix { $0 == " " }
        }
    }

    // MARK: Faulty libraries

    @Test func `the library is on nobody's list of faulty plugins`() throws {
        let place = try copy("plugins")
        #expect(inspect(["depthmatte"], [place]).status == 0)
        let list = inspect(["-b"], [place])
        #expect(list.status == 0 && !list.output.contains("libgstdepthmatte"), "\(list.output)")
    }

    @Test func `a library that is missing is named; once it is there and the file is touched, so are the elements`()
        throws
    {
        let place = try copy("plugins")
        let (there, missing) = ("libgstvideo-1.0.so.0", "libgstvide0-1.0.so.0")
        try replace(there, by: missing, in: place)
        let libraries = folder.appending(path: "libraries")
        try FileManager.default.createDirectory(at: libraries, withIntermediateDirectories: true)
        let path = ["LD_LIBRARY_PATH": libraries.path]

        let failed = inspect(["depthmatte"], [place], path)
        #expect(failed.status != 0 && failed.output.contains(missing), "\(failed.output)")
        #expect(inspect(["-b"], [place], path).output.contains("libgstdepthmatte.so"))

        let linked = Command("ldd", [Places.library.path]).run().lines.first { $0.contains(there) }
        let target = try #require(linked?.split(separator: " ").first { $0.hasPrefix("/") }, "\(linked ?? "")")
        try FileManager.default.createSymbolicLink(
            atPath: libraries.appending(path: missing).path, withDestinationPath: String(target))
        // As README says: GStreamer remembers a failure until the file changes.
        #expect(inspect(["depthmatte"], [place], path).status != 0)
        try FileManager.default.setAttributes(
            [.modificationDate: Date.now + 60], ofItemAtPath: place.appending(path: "libgstdepthmatte.so").path)
        let cured = inspect(["depthmatte"], [place], path)
        #expect(cured.status == 0 && cured.output.contains("GstDepthMatte"), "\(cured.output)")
        #expect(!inspect(["-b"], [place], path).output.contains("libgstdepthmatte.so"))
    }

    @Test func `a file that is cut off does not hide a whole one elsewhere`() throws {
        let (broken, whole) = (try copy("a"), try copy("b"))
        let file = broken.appending(path: "libgstdepthmatte.so")
        let bytes = try Data(contentsOf: file)
        try bytes.prefix(4096).write(to: file)
        for places in [[broken, whole], [whole, broken]] {
            try? FileManager.default.removeItem(at: folder.appending(path: "registry.bin"))
            for _ in 0..<2 {
                let result = inspect(["depthmatte"], places)
                #expect(result.status == 0, "\(result.output)")
                #expect(fileName(result)?.hasPrefix(whole.path) == true, "\(result.output)")
            }
        }
    }

    // MARK: Two copies

    @Test func `of two copies, an old and a new one, one is registered, and it plays`() throws {
        let version = try #require(
            Command("gst-inspect-1.0", ["depthmatte"]).run().lines.first { $0.contains("Version") }?
                .split(separator: " ").last)
        let (new, old) = (try copy("new"), try copy("old"))
        try replace("\(version)\0", by: String("0.0.0-very-old".prefix(version.count)) + "\0", in: old)
        for places in [[new, old], [old, new]] {
            let registry = folder.appending(path: "registry.bin")
            try? FileManager.default.removeItem(at: registry)
            for _ in 0..<2 {  // with a registry that is written, and one that is read
                let list = inspect([], places)
                #expect(list.status == 0 && !list.output.contains("CRITICAL"), "\(list.output)")
                for element in LibraryTests.elements {
                    #expect(list.lines.count { $0.hasPrefix("depthmatte:  \(element): ") } == 1, "\(element)")
                }
                let one = inspect(["depthmatte"], places)
                #expect(one.status == 0 && fileName(one) != nil, "\(one.output)")
            }
            var line = Command.launch(
                """
                depthtestsrc num-buffers=2 name=camera camera.video ! video/x-raw,width=64,height=48 ! depthmatte name=matte
                ! fakesink camera.depth ! video/x-raw,width=32,height=24 ! matte.depth
                """, in: folder)
            line.environment["GST_PLUGIN_PATH"] = places.map(\.path).joined(separator: ":")
            line.environment["GST_REGISTRY"] = folder.appending(path: "registry-\(places[0].lastPathComponent)").path
            line.environment["GST_TRACERS"] = nil
            let played = line.run()
            #expect(played.status == 0, "\(played.output)")
        }
    }

    // MARK: Surroundings

    @Test(arguments: ["/bin/false", "/nowhere/gst-plugin-scanner", "/dev/null", nil])
    func `the elements are there whatever becomes of the scanner process, and without one`(scanner: String?) throws {
        let place = try copy("plugins")
        let more =
            scanner.map { ["GST_PLUGIN_SCANNER": $0, "GST_PLUGIN_SCANNER_1_0": $0] } ?? ["GST_REGISTRY_FORK": "no"]
        let result = inspect(["depthmatte"], [place], more)
        #expect(result.status == 0 && result.output.contains("GstDepthMatte"), "\(result.output)")
    }

    @Test(arguments: ["tr_TR.UTF-8", "no_SUCH.locale", "C"])
    func `the elements are there where no registry can be written, without a home, in any locale`(
        locale: String
    ) throws {
        let place = try copy("plugins")
        let more = [
            "GST_REGISTRY": "/proc/nowhere/registry.bin", "HOME": "/proc/nowhere", "XDG_CACHE_HOME": "/proc",
            "LC_ALL": locale, "LANG": locale,
        ]
        let result = inspect(["depthmatte"], [place], more)
        #expect(result.status == 0 && result.output.contains("GstDepthMatte"), "\(result.output)")
    }

    /// Locales are made here, since few systems have any.
    private func makeLocale(_ name: String) -> [String: String]? {
        let place = folder.appending(path: "\(name).UTF-8").path
        let made = Command("localedef", ["-i", name, "-f", "UTF-8", "--no-archive", place]).run()
        guard FileManager.default.fileExists(atPath: place + "/LC_NUMERIC"), made.status >= 0 else { return nil }
        return ["LOCPATH": folder.path, "LC_ALL": "\(name).UTF-8", "LANG": "\(name).UTF-8"]
    }

    private static let hasLocales = FileManager.default.fileExists(atPath: "/usr/share/i18n/locales/tr_TR")

    /// In Turkish the large "i" has a dot, and both write decimal commas.
    @Test(.enabled(if: hasLocales, "the package locales is not installed"), arguments: ["tr_TR", "de_DE"])
    func `letters and decimal commas of a locale change nothing`(name: String) throws {
        let place = try copy("plugins")
        let locale = try #require(makeLocale(name))
        #expect(inspect(["depthmatte"], [place], locale).status == 0)
        let calibration = Places.pipelines.appending(path: "depthalign/depthtestsrc.json").path
        let outputs = try [[:], locale].map { (more: [String: String]) in
            let output = folder.appending(path: more.isEmpty ? "plain" : "local")
            try FileManager.default.createDirectory(at: output, withIntermediateDirectories: true)
            var line = Command.launch(
                """
                depthtestsrc name=camera num-buffers=2 noise=0.0025
                    camera.video ! video/x-raw,width=160,height=120 ! depthmatte name=matte cutoff=1.25
                        background-mode=image background-color=0xff1020f0 ! filesink location=video.raw
                    camera.depth ! video/x-raw,width=160,height=120 ! depthalign calibration="\(calibration)" ! tee name=t
                    t. ! queue ! matte.depth
                    t. ! queue ! depthcloud yaw=12.5 snapshot=true location=cloud.ply ! filesink location=cloud.raw
                """, in: output)
            line.environment.merge(more) { $1 }
            let result = line.run()
            #expect(result.status == 0, "\(result.output)")
            return try ["video.raw", "cloud.ply", "cloud.raw"].map { try Data(contentsOf: output.appending(path: $0)) }
        }
        #expect(outputs[0].allSatisfy { !$0.isEmpty })
        #expect(outputs[0] == outputs[1])
    }
}
