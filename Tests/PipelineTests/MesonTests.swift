import Foundation
import Testing

@Suite struct MesonTests {
    private let programs: URL

    init() throws { programs = try Places.makeFolder() }

    @Test func `Meson installs the plugin where GStreamer looks, under DESTDIR and under a prefix`() throws {
        let folder = try Places.makeFolder()
        try writeSwift()
        let build = folder.appending(path: "build").path
        let setup = meson(["setup", build, Places.root.appending(path: "meson-shim").path])
        #expect(setup.status == 0, "\(setup.output)")
        let version =
            Command("gst-inspect-1.0", ["depthmatte"]).run().lines
            .first { $0.contains("Version") }?.split(separator: " ").last ?? "?"
        #expect(setup.output.contains("Project version: \(version)"))

        let destination = folder.appending(path: "destination").path
        let install = meson(["install", "-C", build], destination: destination)
        #expect(install.status == 0, "\(install.output.suffix(2000))")
        let built = Command("readelf", ["-d", build + "/libgstdepthmatte.so"]).run()
        #expect(built.output.contains("(NEEDED)") && !built.output.contains("PATH"), "\(built.output)")
        let plugins = Command("pkg-config", ["--variable=pluginsdir", "gstreamer-1.0"]).run().output
            .trimmingCharacters(in: .whitespacesAndNewlines)
        try expectPlugin(in: destination + plugins)

        let prefix = folder.appending(path: "prefix").path
        let configure = meson(["configure", build, "--prefix", prefix, "--libdir", "lib"])
        #expect(configure.status == 0, "\(configure.output)")
        #expect(meson(["install", "-C", build]).status == 0)
        try expectPlugin(in: prefix + "/lib/gstreamer-1.0")

        let inspected = meson(["devenv", "-C", build, "gst-inspect-1.0", "depthmatte"])
        #expect(inspected.output.contains("\(build)/libgstdepthmatte.so"), "\(inspected.output.prefix(1000))")
        let tests = meson(["test", "-C", build])
        #expect(tests.status == 0 && tests.output.contains("Fail:               0"), "\(tests.output.suffix(2000))")
        let removed = Command("ninja", ["-C", build, "uninstall"]).run()
        let library = prefix + "/lib/gstreamer-1.0/libgstdepthmatte.so"
        #expect(removed.status == 0 && !FileManager.default.fileExists(atPath: library), "\(removed.output)")
    }

    /// A tarball builds without the repository, alone or as a subproject of another project.
    @Test func `a tarball of meson dist is a subproject for others`() throws {
        let folder = try Places.makeFolder()
        let build = folder.appending(path: "build").path
        #expect(meson(["setup", build, Places.root.appending(path: "meson-shim").path]).status == 0)
        let dist = meson(["dist", "-C", build, "--no-tests", "--allow-dirty"])
        #expect(dist.status == 0, "\(dist.output)")
        let archives = try FileManager.default.contentsOfDirectory(atPath: build + "/meson-dist")
        let archive = try #require(archives.first { $0.hasSuffix(".tar.xz") })
        let name = String(archive.dropLast(".tar.xz".count))
        let parent = folder.appending(path: "parent")
        try FileManager.default.createDirectory(
            at: parent.appending(path: "subprojects/packagefiles"), withIntermediateDirectories: true)
        try FileManager.default.copyItem(
            atPath: build + "/meson-dist/" + archive, toPath: parent.path + "/subprojects/packagefiles/" + archive)
        let sum = Command("sha256sum", [build + "/meson-dist/" + archive]).run().output.prefix(64)
        let wrap = """
            [wrap-file]
            directory = \(name)
            source_filename = \(archive)
            source_hash = \(sum)
            """
        try wrap.write(
            to: parent.appending(path: "subprojects/gst-depthmatte.wrap"), atomically: true, encoding: .utf8)
        try "project('parent')\nplugin = subproject('gst-depthmatte').get_variable('plugin')\n".write(
            to: parent.appending(path: "meson.build"), atomically: true, encoding: .utf8)
        let setup = meson(["setup", parent.appending(path: "build").path, parent.path])
        #expect(setup.status == 0 && setup.output.contains("gst-depthmatte"), "\(setup.output)")
        // It is the whole tree: only the build itself, the same as above, is left out here.
        for file in ["Package.swift", "Sources/README.md", "pipelines/need-swift.sh", "meson.build"] {
            let path = parent.path + "/subprojects/" + name + "/" + file
            #expect(FileManager.default.fileExists(atPath: path), "\(file)")
        }
    }

    /// Stands in for Swift, as a build of the plugin takes a minute: "builds" the library that is built already, and fails
    /// where it is asked for anything else than that library as it is shipped.
    private func writeSwift() throws {
        let script = """
            #!/bin/sh
            [ "$1" != --version ] || { echo 'Swift version 6.3'; exit; }
            for scratch; do :; done
            [ "$*" = "build -c release --product gstdepthmatte --disable-local-rpath \
            --package-path \(Places.root.path) --scratch-path $scratch" ] || { echo "unexpected: swift $*"; exit 1; }
            mkdir -p "$scratch/release" && cp '\(Places.library.path)' "$scratch/release"
            """
        let file = programs.appending(path: "swift")
        try script.write(to: file, atomically: true, encoding: .utf8)
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: file.path)
    }

    private func meson(_ arguments: [String], destination: String? = nil) -> Command.Result {
        var command = Command("meson", arguments)
        command.environment["DESTDIR"] = destination
        command.environment["SWIFT_TOOLCHAIN"] = nil
        command.environment["PATH"] = programs.path + ":" + (command.environment["PATH"] ?? "/usr/bin")
        return command.run()
    }

    /// The folder takes the place of the system's, and nothing else points to the plugin.
    private func expectPlugin(in folder: String) throws {
        var command = Command("gst-inspect-1.0", ["depthmatte"])
        command.environment["GST_PLUGIN_PATH"] = nil
        command.environment["GST_PLUGIN_SYSTEM_PATH"] = folder
        command.environment["GST_REGISTRY"] = try Places.makeFolder().appending(path: "registry.bin").path
        let result = command.run()
        #expect(result.status == 0, "\(result.output)")
        #expect(result.output.contains("\(folder)/libgstdepthmatte.so"))
    }
}
