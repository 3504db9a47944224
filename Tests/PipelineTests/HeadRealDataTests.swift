import DepthKernels
import Foundation
import TestSupport
import Testing

/// The heads in recorded depth maps against those of the reference, Tests/quality/head_finder.py, as
/// Tests/DepthKernelsTests/Golden/regenerate_heads.py wrote them. DEPTHMATTE_REAL_DATA names the folder of the recordings.
@Suite struct HeadRealDataTests {
    @Test(.enabled(if: RealDataTests.folder != nil, "DEPTHMATTE_REAL_DATA is not set"))
    func `the heads of recorded maps are the reference's`() throws {
        let folder = try #require(RealDataTests.folder)
        let golden = Places.root.appending(path: "Tests/DepthKernelsTests/Golden/heads.real.txt")
        let lines = try String(contentsOf: golden, encoding: .utf8).split(separator: "\n").map {
            $0.split(separator: " ")
        }
        for all in try Manifest(in: folder).cases {
            for index in Set([0, all.frames.count / 2, all.frames.count - 1]) {
                let file = folder.appending(path: "\(all.dir)/\(all.frames[index].depth)")
                let found = try heads(in: file, all)
                let expected = lines.filter { $0[0] == all.id && Int($0[1]) == index }.map {
                    $0.dropFirst(3).compactMap { Double($0) }
                }
                #expect(found.heads.count == expected.count, "\(all.id) \(index): \(found.heads), \(expected)")
                for (head, line) in zip(found.heads, expected) {
                    let (box, cell) = (head.box, found.cell)
                    #expect(
                        abs(box.x - line[0]) <= cell && abs(box.y - line[1]) <= cell && abs(box.width - line[2]) <= cell
                            && abs(head.distance - line[3]) < 0.001 && abs(head.logOdds - line[4]) < 0.1,
                        "\(all.id) \(index): \(head), expected \(line)")
                }
            }
        }
    }

    /// The heads of a map that is shown three times, so that all count, and the pixels along a cell's side.
    private func heads(in file: URL, _ all: Manifest.Case) throws -> (heads: [Head], cell: Double) {
        let raw = Places.scratch.appending(path: "heads.raw")
        let line = "filesrc location=\"\(file.path)\" ! pngdec ! video/x-raw,format=GRAY16_BE "
        let result = Command.launch("\(line)! filesink location=\"\(raw.path)\"", in: Places.scratch).run()
        guard result.status == 0 else { throw Frames.Unreadable(line: line, output: result.output) }
        let (width, height) = (all.depth_size[0], all.depth_size[1])
        let plane = GuardedPlane(rowBytes: 2 * width, bytes: [UInt8](try Data(contentsOf: raw)))
        let depth = try #require(
            DepthImage(plane: plane.plane.readOnly, width: width, height: height, encoding: .gray16BE))
        var settings = MatteSettings()
        settings.depth.scale =
            all.kind == "disparity"
            ? DepthScale(
                kind: .disparity, unit: all.disparity_per_count ?? 0, bias: all.disparity_offset ?? 0, invalidCount: -1)
            : DepthScale(unit: all.metres_per_count ?? 0)
        let matte = Matte()
        for _ in 0..<3 { matte.render(MatteFrame(depth: depth, width: width, height: height), settings) }
        return (matte.lastHeads, Double((max(width, height) + 159) / 160))
    }
}
