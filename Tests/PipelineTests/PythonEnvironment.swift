import Foundation

/// A Python package that carries a camera's library, in a virtual environment under the build folder, which is made once.
struct PythonEnvironment {
    let python: String
    /// The folder of the package.
    private let folder: String

    /// - Parameters:
    ///   - name: of the environment.
    ///   - module: that the packages bring.
    /// - Returns: nil where the packages cannot be had.
    init?(_ name: String, _ module: String, _ packages: [String]) {
        let environment = Places.root.appending(path: ".build/\(name)")
        python = environment.appending(path: "bin/python").path
        if !FileManager.default.isExecutableFile(atPath: python) {
            guard Command("python3", ["-m", "venv", environment.path]).run().status == 0 else { return nil }
        }
        var install = Command(python, ["-m", "pip", "install", "-q", "--timeout", "10"] + packages)
        install.patience = 300
        let find = Command(
            python, ["-c", "import importlib.util as u; print(u.find_spec('\(module)').submodule_search_locations[0])"])
        if find.run().status != 0, install.run().status != 0 { return nil }
        folder = find.run().output.trimmingCharacters(in: .whitespacesAndNewlines)
    }

    /// The path of a file by its beginning and end.
    ///
    /// - Parameter beside: ends the name of the folder that is meant, beside the package's.
    func file(_ start: String, _ end: String = "", beside: String = "") -> String? {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder + beside)) ?? []
        return names.sorted().first { $0.hasPrefix(start) && $0.hasSuffix(end) }.map { "\(folder)\(beside)/\($0)" }
    }
}
