import Foundation
import Testing

@Suite struct ReadmeTests {
    private let readme = try? String(
        contentsOf: Places.root.appending(path: "README.md"), encoding: .utf8)

    @Test func `the launch lines and property tables are those of the files and of the code`() {
        let script = Places.pipelines.appending(path: "readme.sh").path
        let result = Command(script, ["--check"]).run()
        #expect(result.status == 0, "\(result.output); pipelines/readme.sh writes them anew")
    }

    @Test func `every launch line is in the README`() throws {
        let text = try #require(readme)
        for file in Places.launchFiles { #expect(text.contains("<!-- begin line \(file) -->"), "\(file)") }
    }

    @Test func `every element is in the README with its pads and properties`() throws {
        let text = try #require(readme)
        let list = Command("gst-inspect-1.0", ["depthmatte"]).run()
        #expect(list.status == 0)
        let plugin = Command("gst-inspect-1.0", [Places.library.path]).run()
        let elements = plugin.lines.filter { $0.hasPrefix("  ") && $0.contains(": ") }
            .map { $0.trimmingCharacters(in: .whitespaces).components(separatedBy: ":")[0] }
            .filter { !$0.contains(" ") }
        #expect(elements.contains("depthmatte"))
        for element in elements {
            let start = try #require(text.range(of: "\n### \(element)\n"), "\(element)").upperBound
            let end = try #require(text.range(of: "<!-- begin properties \(element) -->"), "\(element)").lowerBound
            let section = start < end ? text[start..<end] : ""
            let pads = Command("gst-inspect-1.0", [element]).run().lines.compactMap { line in
                line.firstMatch(of: /S(RC|INK) template: '(.*)'/).map { String($0.2) }
            }
            #expect(!pads.isEmpty)
            for pad in pads { #expect(section.contains("| `\(pad)` | "), "\(element), \(pad)") }
        }
    }

    @Test(arguments: ["depthmatte", "depthcolorize", "depthcloud", "depthtestsrc"])
    func `every property is in the README, what is inherited too`(element: String) throws {
        let text = try #require(readme)
        let inspected = Command("gst-inspect-1.0", ["--no-colors", element]).run().output
        let properties = try #require(inspected.split(separator: "\nElement Properties:\n").last).split(separator: "\n")
            .compactMap { $0.firstMatch(of: /^ {2}([a-z][-a-z]*) *:/).map { String($0.1) } }
        #expect(properties.contains("name"))
        #expect(properties.filter { !text.contains("`\($0)`") } == [])
    }

    @Test func `every chapter is among the contents, and every one of those is there`() throws {
        let lines = try #require(readme).components(separatedBy: "\n")
        // As the places that host such pages name their headings.
        let headings = lines.filter { $0.hasPrefix("##") }.map { line in
            line.drop { $0 == "#" }.dropFirst().lowercased().replacing(" ", with: "-")
                .filter { $0.isLetter || $0.isNumber || $0 == "-" }
        }
        let links = lines.joined().matches(of: /\]\(#([^)]*)\)/).map { String($0.1) }
        #expect(headings == links)
    }

    @Test func `a line that no test runs is marked as needing a camera`() throws {
        var isGenerated = false
        var fence: String?
        var block = ""
        var previous = ""
        for line in try #require(readme).components(separatedBy: "\n") {
            if line.hasPrefix("<!-- begin line") { isGenerated = true }
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
}
