import DepthMattePlugin
import GstTestSupport
import Testing

/// Files that are there whole or not at all.
@Suite struct WholeFileTests {
    private let folder = TemporaryFolder()

    private func reason(_ path: String, _ bytes: [UInt8] = [1]) -> String? {
        do throws(FileFault) {
            try writeWhole(bytes, to: path)
            return nil
        } catch {
            return error.reason
        }
    }

    @Test(arguments: [0, 1, 3_000_000]) func `all bytes are there, and nothing else is`(count: Int) {
        let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        #expect(reason(folder["a"], bytes) == nil)
        #expect(folder.read("a") == bytes && folder.names == ["a"])
    }

    @Test func `a file that was there is replaced`() {
        folder.write("a", [1, 2, 3, 4])
        #expect(reason(folder["a"], [9]) == nil)
        #expect(folder.read("a") == [9] && folder.names == ["a"])
    }

    @Test func `a name leaves room for the draft's ending`() {
        let name = String(repeating: "x", count: 248)
        #expect(reason(folder[name]) == nil)
        #expect(reason(folder[name + "x"])?.contains("File name too long") == true)
        #expect(folder.names == [name])
    }

    @Test func `what is no regular file is left as it is`() {
        let fifo = folder.makeFIFO("fifo")
        for path in [fifo, folder.path, "/dev/null"] {
            #expect(reason(path) == "\(path): not a regular file")
        }
        #expect(folder.names == ["fifo"])
    }

    @Test func `the reason names the file`() {
        folder.write("a", [])
        for (path, cause) in [
            (folder["no/a"], "No such file or directory"), (folder["a/b"], "Not a directory"),
            ("", "No such file or directory"),
        ] {
            let reason = reason(path) ?? "none"
            #expect(reason.contains(path) && reason.hasSuffix(": \(cause)"), "\(reason)")
        }
        #expect(folder.names == ["a"])
    }
}
