import Foundation
import Testing

/// The pages of the project (its .md files) say what is so.
@Suite struct PageTests {
    private struct Page: CustomTestStringConvertible {
        /// From the project's folder.
        let path: String
        let text: String

        var testDescription: String { path }
        var lines: [String] { text.components(separatedBy: "\n") }

        /// The names that links use for the headings, as the places that host such pages make them.
        var anchors: [String] {
            lines.filter { $0.hasPrefix("#") }.map { line in
                line.drop { $0 == "#" }.dropFirst().lowercased().replacing(" ", with: "-")
                    .filter { $0.isLetter || $0.isNumber || $0 == "-" }
            }
        }
    }

    private static let pages: [Page] = {
        let folders = ["", ".github", "pipelines", "Sources", "Tests", "meson-shim"]
        let files = folders.flatMap { folder -> [String] in
            let all = FileManager.default.enumerator(atPath: Places.root.appending(path: folder).path)
            if folder.isEmpty { all?.skipDescendants() }
            return (all?.compactMap { $0 as? String } ?? []).filter { $0.hasSuffix(".md") }
                .filter { !folder.isEmpty || !$0.contains("/") }.map { folder.isEmpty ? $0 : "\(folder)/\($0)" }
        }
        return Set(files).sorted().compactMap { path in
            let file = Places.root.appending(path: path)
            return (try? String(contentsOf: file, encoding: .utf8)).map { Page(path: path, text: $0) }
        }
    }()

    private static let elements = [
        "depthmatte": "DepthMatte", "depthcolorize": "DepthColorize", "depthcloud": "DepthCloud",
        "depthtestsrc": "DepthTestSrc", "depthcamsrc": "DepthCamSrc", "depthalign": "DepthAlign",
        "depthpack": "DepthPack", "depthunpack": "DepthUnpack",
    ]

    private func page(_ path: String) throws -> Page {
        try #require(PageTests.pages.first { $0.path == path }, "\(path)")
    }

    private func page(ofElement element: String) throws -> Page {
        let folder = try #require(PageTests.elements[element], "\(element)")
        return try page("Sources/DepthMattePlugin/\(folder)/README.md")
    }

    @Test func `the launch lines and property tables are those of the files and of the code`() {
        let script = Places.pipelines.appending(path: "readme.sh").path
        let result = Command(script, ["--check"]).run()
        #expect(result.status == 0, "\(result.output); pipelines/readme.sh writes them anew")
    }

    @Test func `the front page is short`() throws {
        #expect(try page("README.md").lines.count <= 200)
    }

    @Test func `every launch line is on a page of launch lines`() throws {
        let text = try ["README", "outputs", "depth-video"].map { try page("pipelines/\($0).md").text }.joined()
        for file in Places.launchFiles { #expect(text.contains("<!-- begin line \(file) -->"), "\(file)") }
    }

    @Test func `every element is on the front page, and has a page with its pads and properties`() throws {
        let plugin = Command("gst-inspect-1.0", [Places.library.path]).run()
        let found = plugin.lines.filter { $0.hasPrefix("  ") && $0.contains(": ") }
            .map { $0.trimmingCharacters(in: .whitespaces).components(separatedBy: ":")[0] }
            .filter { !$0.contains(" ") && !$0.hasSuffix("provider") }
        #expect(found.sorted() == PageTests.elements.keys.sorted())
        for element in found {
            #expect(try page("README.md").text.contains("| [`\(element)`]("), "\(element)")
            let text = try page(ofElement: element).text
            #expect(text.hasPrefix("# \(element)\n") && text.contains("<!-- begin properties \(element) -->"))
            let pads = Command("gst-inspect-1.0", [element]).run().lines.compactMap { line in
                line.firstMatch(of: /S(RC|INK) template: '(.*)'/).map { String($0.2) }
            }
            #expect(!pads.isEmpty)
            for pad in pads { #expect(text.contains("| `\(pad)` | "), "\(element), \(pad)") }
        }
    }

    @Test(arguments: PageTests.elements.keys.sorted())
    func `every property is on a page, what is inherited too`(element: String) throws {
        let text = try page(ofElement: element).text + page("Sources/DepthMattePlugin/README.md").text
        let inspected = Command("gst-inspect-1.0", ["--no-colors", element]).run().output
        let properties = try #require(inspected.split(separator: "\nElement Properties:\n").last).split(separator: "\n")
            .compactMap { $0.firstMatch(of: /^ {2}([a-z][-a-z]*) *:/).map { String($0.1) } }
        #expect(properties.contains("name"))
        #expect(properties.filter { !text.contains("`\($0)`") } == [])
    }

    @Test func `every link leads to something that is there`() throws {
        try #require(PageTests.pages.count > 10)
        for page in PageTests.pages {
            let folder = Places.root.appending(path: page.path).deletingLastPathComponent()
            for match in page.text.matches(of: /\]\(([^)\s]+)\)/) where !match.1.contains("://") {
                let parts = match.1.split(separator: "#", omittingEmptySubsequences: false).map(String.init)
                var target: Page? = page
                if !parts[0].isEmpty {
                    let file = folder.appending(path: parts[0]).standardizedFileURL
                    #expect(FileManager.default.fileExists(atPath: file.path), "\(page.path): \(match.1)")
                    target = PageTests.pages.first {
                        Places.root.appending(path: $0.path).standardizedFileURL == file
                    }
                }
                if parts.count > 1 {
                    #expect(target?.anchors.contains(parts[1]) == true, "\(page.path): \(match.1)")
                }
            }
        }
    }

    @Test(arguments: ["README.md", "pipelines/README.md"])
    func `a line that no test runs is marked as needing a camera`(path: String) throws {
        var isGenerated = false
        var fence: String?
        var block = ""
        var previous = ""
        for line in try page(path).lines {
            if line.hasPrefix("<!-- begin") { isGenerated = true }
            if line.hasPrefix("<!-- end") { isGenerated = false }
            if line.hasPrefix("```") {
                if fence == nil {
                    (fence, block) = (previous, "")
                } else {
                    let isLine = block.contains(" ! ")
                    #expect(!isLine || isGenerated || fence?.contains("needs a camera") == true, "\(block)")
                    fence = nil
                }
            } else if fence != nil {
                block += line + "\n"
            } else if !line.isEmpty {
                previous = line
            }
        }
    }

    @Test func `the command on the front page runs`() throws {
        let blocks = try page("README.md").text.split(separator: "<!-- begin command ").dropFirst()
        try #require(!blocks.isEmpty)
        for block in blocks {
            let body = try #require(block.split(separator: "```sh\n").dropFirst().first?.split(separator: "```").first)
            let line = body.split(separator: "\n").filter { !$0.hasPrefix("export") }.joined(separator: "\n")
                .replacing("num-buffers=-1", with: "num-buffers=3").replacing("autovideosink", with: "fakesink")
                .replacing("gst-launch-1.0", with: "timeout -s KILL 120 gst-launch-1.0 --no-fault -q")
            var command = Command("/bin/sh", ["-c", line])
            command.folder = Places.root
            let result = command.run()
            #expect(result.status == 0, "\(result.output)")
        }
    }
}
