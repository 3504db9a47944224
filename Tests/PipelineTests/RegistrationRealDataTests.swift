import Foundation
import Testing

/// Recorded raw depth, registered by `depthalign`, beside the registered maps of the recordings.
@Suite struct RegistrationRealDataTests {
    /// A case with raw depth, and the calibration that its manifest has.
    struct Case: CustomTestStringConvertible, Sendable {
        let id: String
        let width: Int
        let height: Int
        /// As JSON.
        let calibration: String
        var testDescription: String { id }
    }

    static let cases: [Case] = {
        guard let folder = RealDataTests.folder else {
            print("RegistrationRealDataTests skipped: DEPTHMATTE_REAL_DATA is not set")
            return []
        }
        do {
            return try RegistrationRealDataTests.read(folder)
        } catch {
            preconditionFailure("DEPTHMATTE_REAL_DATA: \(error)")
        }
    }()

    private struct Entry: Decodable {
        struct Optics: Decodable {
            let depth_fx_fy_cx_cy: [Double]?
            let color_fx_fy_cx_cy: [Double]?
            let depth_to_color_translation_m: [Double]?
            let depth_to_color_quaternion_xyzw: [Double]?
            let depth_K: [[Double]]?
            let depth_dist_k1k2p1p2k3k4k5k6: [Double]?
            let color_K: [[Double]]?
            let color_dist_k1k2p1p2k3k4k5k6: [Double]?
            let depth_to_color_R: [[Double]]?
            let depth_to_color_t_m: [Double]?
        }
        struct Frame: Decodable { let depth_raw: String? }
        let id: String
        let color_size: [Int]
        let frames: [Frame]
        let calibration: Optics?
    }

    private static func read(_ folder: URL) throws -> [Case] {
        struct All: Decodable { let cases: [Entry] }
        let text = try Data(contentsOf: folder.appending(path: "manifest.json"))
        return try JSONDecoder().decode(All.self, from: text).cases.compactMap { entry in
            guard let optics = entry.calibration, entry.frames.first?.depth_raw != nil else { return nil }
            let raw = try Picture(
                of: "filesrc location=\"\(folder.path)/\(entry.id)/depth_raw.png\" ! pngdec", in: Places.scratch)
            return Case(
                id: entry.id, width: entry.color_size[0], height: entry.color_size[1],
                calibration: calibration(
                    optics, depth: (raw.width, raw.height), color: (entry.color_size[0], entry.color_size[1])))
        }
    }

    private static func calibration(
        _ optics: Entry.Optics, depth: (width: Int, height: Int), color: (width: Int, height: Int)
    ) -> String {
        func camera(_ size: (width: Int, height: Int), _ numbers: [Double]?, _ matrix: [[Double]]?, _ lens: [Double]?)
            -> String
        {
            let n = numbers ?? matrix.map { [$0[0][0], $0[1][1], $0[0][2], $0[1][2]] } ?? []
            return """
                {"width": \(size.width), "height": \(size.height), "fx": \(n[0]), "fy": \(n[1]), "cx": \(n[2]), "cy": \(n[3]),
                 "distortion": \(lens ?? [])}
                """
        }
        let rotation = optics.depth_to_color_R?.flatMap { $0 } ?? rotation(optics.depth_to_color_quaternion_xyzw ?? [])
        let translation = optics.depth_to_color_t_m ?? optics.depth_to_color_translation_m ?? []
        return """
            {"depth": \(camera(depth, optics.depth_fx_fy_cx_cy, optics.depth_K, optics.depth_dist_k1k2p1p2k3k4k5k6)),
             "color": \(camera(color, optics.color_fx_fy_cx_cy, optics.color_K, optics.color_dist_k1k2p1p2k3k4k5k6)),
             "rotation": \(rotation), "translation": \(translation)}
            """
    }

    private static func rotation(_ q: [Double]) -> [Double] {
        let (x, y, z, w) = (q[0], q[1], q[2], q[3])
        return [
            1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w),
            2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w),
            2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y),
        ]
    }

    /// Counts of a picture of 16 bits, which gst-launch-1.0 writes as GRAY16_BE.
    private func counts(_ line: String, _ size: Case) throws -> [Int] {
        let file = Places.scratch.appending(path: "counts.raw")
        let result = Command.launch("\(line) ! video/x-raw,format=GRAY16_BE ! filesink location=\"\(file.path)\"").run()
        try #require(result.status == 0, "\(result.output)")
        let bytes = [UInt8](try Data(contentsOf: file))
        try #require(bytes.count == 2 * size.width * size.height)
        return stride(from: 0, to: bytes.count, by: 2).map { Int(bytes[$0]) << 8 | Int(bytes[$0 + 1]) }
    }

    /// Of the samples that the recording's map has, the share that a sample of ours no farther than a pixel agrees with, within
    /// 1 % or 2 mm.
    @Test(.enabled(if: RealDataTests.folder != nil, "DEPTHMATTE_REAL_DATA is not set"), arguments: cases)
    func `raw depth is registered as in the recording`(_ one: Case) throws {
        let folder = try #require(RealDataTests.folder).appending(path: one.id).path
        let file = Places.scratch.appending(path: "\(one.id).json")
        try Data(one.calibration.utf8).write(to: file)
        let theirs = try counts("filesrc location=\"\(folder)/depth_aligned.png\" ! pngdec", one)
        let ours = try counts(
            "filesrc location=\"\(folder)/depth_raw.png\" ! pngdec ! depthalign calibration=\"\(file.path)\"", one)
        let share = agreement(of: ours, with: theirs, width: one.width)
        let measured = theirs.count { $0 > 0 }
        let ourShare = Double(ours.count { $0 > 0 }) / Double(ours.count)
        print(
            "\(one.id): \(String(format: "%.3f", 100 * share)) % of \(measured) samples agree;",
            "measured \(String(format: "%.1f", 100 * ourShare)) % of the picture,",
            "in the recording \(String(format: "%.1f", 100 * Double(measured) / Double(theirs.count))) %")
        #expect(share >= 0.99)
    }
}

/// Of the measured samples of a map, the share that a sample of another map no farther than a pixel agrees with, within 1 % or
/// two counts.
func agreement(of map: [Int], with reference: [Int], width: Int) -> Double {
    let height = reference.count / width
    var (measured, agreeing) = (0, 0)
    for y in 0..<height {
        for x in 0..<width where reference[y * width + x] > 0 {
            let expected = reference[y * width + x]
            measured += 1
            let isNear = (max(0, y - 1)...min(height - 1, y + 1)).contains { row in
                (max(0, x - 1)...min(width - 1, x + 1)).contains { column in
                    let count = map[row * width + column]
                    return count > 0 && abs(count - expected) <= max(2, expected / 100)
                }
            }
            if isNear { agreeing += 1 }
        }
    }
    return Double(agreeing) / Double(max(1, measured))
}

/// The first of the numbers of 16 bits, little endian, that a file has.
func samples(in file: URL, _ count: Int) throws -> [Int] {
    let bytes = [UInt8](try Data(contentsOf: file).prefix(2 * count))
    return stride(from: 0, to: bytes.count, by: 2).map { Int(bytes[$0]) | Int(bytes[$0 + 1]) << 8 }
}
