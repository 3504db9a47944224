import Foundation
import Testing

@Suite struct MesonTests {
    private let programs: URL

    init() throws { programs = try Places.makeFolder() }

    @Test func `Meson installs the plugin where GStreamer looks, under DESTDIR and under a prefix`() throws {
        let folder = try Places.makeFolder()
        try writeSwift(package: Places.root.path)
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
        #expect(Command(prefix + "/bin/depthmatte-doctor", ["--help"]).run().status == 0)
        let manual = try String(contentsOfFile: prefix + "/share/man/man1/depthmatte-doctor.1", encoding: .utf8)
        #expect(manual.hasPrefix(".TH DEPTHMATTE-DOCTOR 1 ") && manual.contains(".SH SYNOPSIS\n"), "\(manual)")
        let metadata = "/share/metainfo/io.github.gst_depthmatte.gst_depthmatte.metainfo.xml"
        #expect(FileManager.default.fileExists(atPath: prefix + metadata))

        let inspected = meson(["devenv", "-C", build, "gst-inspect-1.0", "depthmatte"])
        #expect(inspected.output.contains("\(build)/libgstdepthmatte.so"), "\(inspected.output.prefix(1000))")
        let tests = meson(["test", "-C", build])
        #expect(tests.status == 0 && tests.output.contains("Fail:               0"), "\(tests.output.suffix(2000))")
        let removed = Command("ninja", ["-C", build, "uninstall"]).run()
        let library = prefix + "/lib/gstreamer-1.0/libgstdepthmatte.so"
        #expect(removed.status == 0 && !FileManager.default.fileExists(atPath: library), "\(removed.output)")
    }

    /// The parent has parts that are named, and that give what the plugin asks for, as those of GStreamer's own build.
    @Test func `a tarball of meson dist is a subproject of a build of GStreamer`() throws {
        let folder = try Places.makeFolder()
        let build = folder.appending(path: "build").path
        #expect(meson(["setup", build, Places.root.appending(path: "meson-shim").path]).status == 0)
        let dist = meson(["dist", "-C", build, "--no-tests", "--allow-dirty"])
        #expect(dist.status == 0, "\(dist.output)")
        let archives = try FileManager.default.contentsOfDirectory(atPath: build + "/meson-dist")
        let archive = try #require(archives.first { $0.hasSuffix(".tar.xz") })
        let name = String(archive.dropLast(".tar.xz".count))
        let parent = folder.appending(path: "parent")
        func write(_ text: String, to path: String) throws {
            let file = parent.appending(path: path)
            let container = file.deletingLastPathComponent()
            try FileManager.default.createDirectory(at: container, withIntermediateDirectories: true)
            try text.write(to: file, atomically: true, encoding: .utf8)
        }
        let sum = Command("sha256sum", [build + "/meson-dist/" + archive]).run().output.prefix(64)
        try write(
            """
            [wrap-file]
            directory = \(name)
            source_filename = \(archive)
            source_hash = \(sum)
            """, to: "subprojects/gst-depthmatte.wrap")
        try FileManager.default.createDirectory(
            at: parent.appending(path: "subprojects/packagefiles"), withIntermediateDirectories: true)
        try FileManager.default.copyItem(
            atPath: build + "/meson-dist/" + archive, toPath: parent.path + "/subprojects/packagefiles/" + archive)
        try write(
            """
            project('gstreamer', version: '1.22.0')
            libgst = custom_target('libgst', output: 'libgst.so', command: ['touch', '@OUTPUT@'])
            gst_base = libgst
            meson.override_dependency('gstreamer-1.0', declare_dependency())
            """, to: "subprojects/gstreamer/meson.build")
        try write(
            """
            project('gst-plugins-base', version: '1.22.0')
            gstvideo = custom_target('gstvideo', output: 'libgstvideo.so', command: ['touch', '@OUTPUT@'])
            gstapp = gstvideo
            import('pkgconfig').generate(name: 'gstreamer-video-1.0', description: 'video')
            """, to: "subprojects/gst-plugins-base/meson.build")
        try write(
            """
            project('parent')
            foreach name : ['gstreamer', 'gst-plugins-base']
              subproject(name)
            endforeach
            foreach plugin : subproject('gst-depthmatte').get_variable('gst_plugins')
              message('Plugin:', plugin.get_variable('full_path'))
            endforeach
            """, to: "meson.build")
        let parts = parent.path + "/build/subprojects"
        let flags = ["gstreamer", "gstreamer", "gst-plugins-base", "gst-plugins-base"].map {
            " -Xlinker -L\(parts)/\($0)"
        }.joined()
        let package = parent.path + "/subprojects/" + name
        try writeSwift(package: package, more: flags, uninstalled: "gstreamer-video-1.0.pc")
        let setup = meson(["setup", parent.path + "/build", parent.path])
        let library = "\(parts)/\(name)/libgstdepthmatte.so"
        #expect(setup.status == 0 && setup.output.contains("Plugin: \(library)"), "\(setup.output)")
        let compile = meson(["compile", "-C", parent.path + "/build"])
        #expect(compile.status == 0 && FileManager.default.fileExists(atPath: library), "\(compile.output)")
    }

    /// Stands in for Swift, as a build of the plugin takes a minute: "builds" the library that is built already, and fails
    /// where it is asked for anything else than that library as it is shipped.
    ///
    /// - Parameters:
    ///   - more: flags that follow.
    ///   - uninstalled: a file that must be found first by pkg-config.
    private func writeSwift(package: String, more: String = "", uninstalled: String? = nil) throws {
        let script = """
            #!/bin/sh
            [ "$1" != --version ] || { echo 'Swift version 6.3'; exit; }
            scratch=${10}
            [ "$*" = "build -c release --product gstdepthmatte --disable-local-rpath \
            --package-path \(package) --scratch-path $scratch\(more)" ] || { echo "unexpected: swift $*"; exit 1; }
            \(uninstalled.map { "[ -e \"${PKG_CONFIG_PATH%%:*}/\($0)\" ] || exit 1" } ?? ":")
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
