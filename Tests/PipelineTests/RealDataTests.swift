import Foundation
import Testing

/// Recorded cases of real depth cameras. The environment variable DEPTHMATTE_REAL_DATA names their folder.
@Suite struct RealDataTests {
    static let folder = ProcessInfo.processInfo.environment["DEPTHMATTE_REAL_DATA"].map { URL(filePath: $0) }

    /// Where the composites stay: in DEPTHMATTE_TEST_OUTPUT, or in a folder that outlives the tests.
    static let results =
        ProcessInfo.processInfo.environment["DEPTHMATTE_TEST_OUTPUT"].map { URL(filePath: $0) }
        ?? FileManager.default.temporaryDirectory.appending(path: "depthmatte-real-data")

    static let takes: [Take] = {
        guard let folder else {
            print("RealDataTests skipped: DEPTHMATTE_REAL_DATA is not set")
            return []
        }
        do {
            return try Manifest(in: folder).cases.filter(\.registered).flatMap(\.takes)
        } catch {
            preconditionFailure("DEPTHMATTE_REAL_DATA: \(error)")
        }
    }()

    @Test(.enabled(if: folder != nil, "DEPTHMATTE_REAL_DATA is not set"), arguments: takes)
    func `a recorded person is cut out`(_ take: Take) throws {
        try FileManager.default.createDirectory(at: Self.results, withIntermediateDirectories: true)
        let detected = try take.detectFace()
        let anchor = detected.map { Anchor.detected($0) } ?? take.face.map { Anchor.given($0) } ?? .head
        let composite = Self.results.appending(path: "\(take.name).png")
        let matteFile = Self.results.appending(path: "\(take.name).matte.png")
        try take.run(anchor, view: "composite", into: composite)
        try take.run(anchor, view: "matte", into: matteFile)

        let matte = try Picture(of: "filesrc location=\"\(matteFile.path)\" ! pngdec", in: Places.scratch)
        #expect([matte.width, matte.height] == take.colorSize)
        let share = matte.share
        // The face may be drawn at the border, or have no depth in its middle; its box must be foreground in the main.
        let faceShare = take.face.map { matte.share(inside: $0) }
        let agreement = try take.mask.map { try matte.agreement(withMask: $0) }
        print(
            "\(take.name): anchor \(anchor), foreground \(percent(share)), face \(faceShare.map(percent) ?? "none"),",
            "overlap with the mask \(agreement.map(percent) ?? "none"): \(composite.path)")
        #expect(share > 0.01 && share < 0.99)
        if let faceShare { #expect(faceShare > 0.5) }
        if let agreement { #expect(agreement > take.leastAgreement) }
    }

    private func percent(_ share: Double) -> String { String(format: "%.1f %%", share * 100) }
}

/// A box in pixels of the color picture.
struct Box: CustomStringConvertible {
    var x: Int
    var y: Int
    var width: Int
    var height: Int

    var description: String { "\(x),\(y),\(width),\(height)" }
}

enum Anchor: CustomStringConvertible {
    case detected(Box)
    case given(Box)
    /// The head that the depth map shows.
    case head

    var description: String {
        switch self {
        case .detected(let box): "by facedetect at \(box)"
        case .given(let box): "by the manifest at \(box)"
        case .head: "by the head in the depth map"
        }
    }
}

/// The files of a case, as `manifest.json` lists them.
struct Manifest: Decodable {
    struct Frame: Decodable {
        let color: String
        let depth: String
        let face: [Int]?
        let face_depth_m: Double?
        let mask: String?
    }

    struct Case: Decodable {
        let id: String
        let dir: String
        let kind: String
        let registered: Bool
        let color_size: [Int]
        let depth_size: [Int]
        let metres_per_count: Double?
        let disparity_per_count: Double?
        let disparity_offset: Double?
        let invalid_count: Int?
        let frames: [Frame]
    }

    let cases: [Case]

    init(in folder: URL) throws {
        let text = try Data(contentsOf: folder.appending(path: "manifest.json"))
        self = try JSONDecoder().decode(Manifest.self, from: text)
    }
}

extension Manifest.Case {
    /// The first, the middle and the last frame.
    var takes: [Take] {
        Set([0, frames.count / 2, frames.count - 1]).sorted().map { Take(of: self, frame: $0) }
    }
}

/// One frame of a case.
struct Take: CustomTestStringConvertible {
    let name: String
    let colorSize: [Int]
    let face: Box?
    /// Metres.
    let faceDistance: Double?
    let mask: URL?
    let leastAgreement: Double
    private let color: URL
    private let depth: URL
    private let depthProperties: String

    var testDescription: String { name }

    init(of all: Manifest.Case, frame index: Int) {
        let folder = (RealDataTests.folder ?? Places.root).appending(path: all.dir)
        let frame = all.frames[index]
        name = all.frames.count == 1 ? all.id : "\(all.id)-\(index)"
        colorSize = all.color_size
        face = frame.face.map { Box(x: $0[0], y: $0[1], width: $0[2], height: $0[3]) }
        faceDistance = frame.face_depth_m
        mask = frame.mask.map { folder.appending(path: $0) }
        color = folder.appending(path: frame.color)
        depth = folder.appending(path: frame.depth)
        let isDisparity = all.kind == "disparity"
        let unit = (isDisparity ? all.disparity_per_count : all.metres_per_count) ?? 0.001
        let bias = isDisparity ? all.disparity_offset ?? 0 : 0
        depthProperties =
            "depth-kind=\(isDisparity ? "disparity" : "metric") depth-unit=\(unit) depth-bias=\(bias) "
            + "depth-invalid=\(all.invalid_count ?? -1)"
            // A phone's disparity has no metric scale; its people are some centimetres deep where they are a metre away.
            + (isDisparity ? " margin=0.04" : "")
        leastAgreement = Take.leastAgreement[all.id] ?? 0.5
    }

    /// Overlap with the mask, somewhat below what was measured. What lies nearer than the person counts as foreground
    /// but is not in the mask: the floor and a bag in `kinect_hair_holes`, a pillar and a bench in the phone's picture.
    private static let leastAgreement = [
        "iphone_portrait_disparity_matte": 0.6, "kinect_hall_person": 0.55, "kinect_person_far": 0.65,
        "kinect_hair_holes": 0.33,
    ]

    private var colorSource: String { "filesrc location=\"\(color.path)\" ! \(Take.decoder(of: color))" }

    private static func decoder(of file: URL) -> String { file.pathExtension == "png" ? "pngdec" : "jpegdec" }

    /// The size of the detector's copy: 480 pixels high at most.
    private var smallSize: (width: Int, height: Int) {
        let scale = min(1, 480 / Double(colorSize[1]))
        return (Int(Double(colorSize[0]) * scale), Int(Double(colorSize[1]) * scale))
    }

    private var detector: String {
        let size = smallSize
        return "videoscale ! videoconvert ! video/x-raw,format=RGB,width=\(size.width),height=\(size.height) "
            + "! facedetect display=false"
    }

    /// The largest face that OpenCV finds, in pixels of the color picture.
    func detectFace() throws -> Box? {
        let command = Command.launch(
            "\(colorSource) ! videoconvert ! \(detector) ! fakesink", options: ["-m"], in: Places.scratch)
        let result = command.run()
        guard result.status == 0 else { throw Frames.Unreadable(line: name, output: result.output) }
        let scale = Double(colorSize[0]) / Double(smallSize.width)
        let boxes = result.output.replacing("\\", with: "").matches(
            of: /face, x=\(uint\)([0-9]+), y=\(uint\)([0-9]+), width=\(uint\)([0-9]+), height=\(uint\)([0-9]+)/)
        return boxes.map { match in
            let numbers = [match.1, match.2, match.3, match.4].map { Int((Double($0) ?? 0) * scale) }
            return Box(x: numbers[0], y: numbers[1], width: numbers[2], height: numbers[3])
        }.max { $0.width * $0.height < $1.width * $1.height }
    }

    func run(
        _ anchor: Anchor, view: String, settings: String = "method=threshold blur-radius=2 gamma=1", into file: URL
    ) throws {
        let face: String
        var region = ""
        switch anchor {
        case .detected: face = "tee. ! queue ! \(detector) ! matte.face"
        case .given(let box): (face, region) = ("", "! roiset rectangles=\(box) ")
        case .head: face = ""
        }
        let command = Command.launch(
            """
            \(colorSource) ! videoconvert ! video/x-raw,format=RGB ! tee name=tee
            tee. ! queue \(region)! depthmatte name=matte view=\(view) \(depthProperties)
                \(settings) background-color=0xff2f6f9f ! pngenc ! filesink location="\(file.path)"
            filesrc location="\(depth.path)" ! pngdec ! queue ! matte.depth
            \(face)
            """, in: Places.scratch)
        let result = command.run()
        guard result.status == 0 else { throw Frames.Unreadable(line: name, output: result.output) }
    }
}

extension Picture {
    /// The share of the frame that is more than half white.
    var share: Double { share(inside: Box(x: 0, y: 0, width: width, height: height)) }

    func share(inside box: Box) -> Double {
        let rows = max(box.y, 0)..<min(box.y + box.height, height)
        let columns = max(box.x, 0)..<min(box.x + box.width, width)
        var white = 0
        for y in rows { for x in columns where bytes[(y * width + x) * 4] > 127 { white += 1 } }
        return Double(white) / Double(rows.count * columns.count)
    }

    /// Intersection over union of the foreground with a mask of any size.
    func agreement(withMask file: URL) throws -> Double {
        let mask = try Picture(of: "filesrc location=\"\(file.path)\" ! pngdec", in: Places.scratch)
        var both = 0
        var either = 0
        for y in 0..<height {
            let row = y * mask.height / height
            for x in 0..<width {
                let inMask = mask.bytes[(row * mask.width + x * mask.width / width) * 4] > 127
                let inMatte = bytes[(y * width + x) * 4] > 127
                if inMask && inMatte { both += 1 }
                if inMask || inMatte { either += 1 }
            }
        }
        return Double(both) / Double(max(either, 1))
    }
}
