import Foundation
import Testing

@Suite struct MesonTests {
    /// One test, so that the package is built only once.
    @Test func `Meson installs the plugin where GStreamer looks, under DESTDIR and under a prefix`() throws {
        let folder = try Places.makeFolder()
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
    }

    private func meson(_ arguments: [String], destination: String? = nil) -> Command.Result {
        var command = Command("meson", arguments)
        command.environment["DESTDIR"] = destination
        command.patience = 600
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
