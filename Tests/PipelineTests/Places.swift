import Foundation

/// Where things are while the tests run.
enum Places {
    /// The package's folder.
    static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    static let pipelines = root.appending(path: "pipelines")

    /// The folder of this test program, where the build puts the library too.
    static let build = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent()

    static let library = build.appending(path: "libgstdepthmatte.so")

    /// A folder that goes when the test program ends.
    static let scratch: URL = {
        let folder = FileManager.default.temporaryDirectory.appending(path: "depthmatte-tests-\(getpid())")
        try? FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        atexit { try? FileManager.default.removeItem(at: Places.scratch) }
        return folder
    }()

    /// The elements that only tests use, built when they are first asked for.
    static let testPlugin: URL = {
        let folder = scratch.appending(path: "testplugin")
        let build = Command(root.appending(path: "Tests/testplugin/build.sh").path, [folder.path]).run()
        precondition(build.status == 0, "the test plugin does not build: \(build.output)")
        return folder
    }()

    /// An empty folder for one test. The space in its name is there to be handled.
    static func makeFolder() throws -> URL {
        let folder = scratch.appending(path: "run \(UUID().uuidString.prefix(8))")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        return folder
    }

    /// Every launch line, as "element/behaviour.launch".
    static let launchFiles: [String] = {
        let all = FileManager.default.enumerator(atPath: pipelines.path)?.compactMap { $0 as? String } ?? []
        return all.filter { $0.hasSuffix(".launch") }.sorted()
    }()
}
