import FuzzTargets
import GstTestSupport
import Testing

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The inputs that Tests/fuzz.sh starts from, those that once found a fault among them.
@Suite struct ReplayTests {
    private static let seeds = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "seeds")

    @Test(arguments: FuzzTarget.allCases) func `every seed keeps the promises`(target: FuzzTarget) throws {
        let folder = ReplayTests.seeds.appending(path: target.rawValue)
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
        #expect(!names.isEmpty)
        for name in names {
            let bytes = [UInt8](try Data(contentsOf: folder.appending(path: name)))
            bytes.withUnsafeBufferPointer(target.run)  // a broken promise ends the process
        }
    }

    @Test(arguments: FuzzTarget.allCases) func `an input without bytes keeps the promises`(target: FuzzTarget) {
        target.run(UnsafeBufferPointer(start: nil, count: 0))
    }
}
