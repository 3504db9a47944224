import DepthKernels
import TestSupport
import Testing

/// Lag and offset of depth against those that `Golden/regenerate_sync.py` wrote.
@Suite struct SyncTests {
    private static let (width, height) = (160, 120)
    /// The clip that stands still.
    private static let still = 5
    private static let interval = 33_333_333

    /// A line of the golden file.
    struct Line {
        let numbers: [Double]
        var clip: Int { Int(numbers[0]) }
        var lag: Int { Int(numbers[1]) }
        var dx: Int { Int(numbers[2]) }
        var dy: Int { Int(numbers[3]) }
        var frame: Int { Int(numbers[4]) }
    }

    private static func lines() throws -> [Line] { try Golden.numbers("sync.txt").map { Line(numbers: $0) } }

    // MARK: The clips, by the same whole numbers as the script's

    private static func sway(_ frame: Int) -> Int {
        let p = (frame + 400) % 40
        let q = p < 20 ? p * (20 - p) : (20 - p) * (40 - p)
        return 80 + (q + 600) / 6 - 100
    }

    private static func isPerson(_ x: Int, _ y: Int, frame: Int, dx: Int = 0, dy: Int = 0) -> Bool {
        let (x, y) = (x - sway(frame) - dx, y - dy)
        return 5 * x * x + 3 * (y - 40) * (y - 40) <= 1500 || 3 * x * x + 2 * (y - 125) * (y - 125) <= 6000
    }

    private static func video(_ frame: Int) -> [UInt8] {
        (0..<width * height).flatMap { index in
            let (x, y) = (index % width, index / width)
            let luma =
                isPerson(x, y, frame: frame)
                ? 170 + ((x - sway(frame) + 200) / 6 * 29 + y / 6 * 53) % 32
                : 40 + ((x / 5 * 73 + y / 5 * 151) * 37 % 256) / 4
            return [UInt8](repeating: UInt8(luma), count: 3)
        }
    }

    private static func depth(_ frame: Int, dx: Int, dy: Int) throws -> DepthMap {
        try DepthMap(
            counts: (0..<width * height).map { index in
                isPerson(index % width, index / width, frame: frame, dx: -dx, dy: -dy) ? 1000 : 2500
            }, width: width)
    }

    private static var settings: MatteSettings {
        var settings = MatteSettings.step(cutoff: 1.5)
        settings.method = .fusion
        return settings
    }

    /// Renders a clip, and calls `body` after each frame.
    ///
    /// - Parameter mapTime: the number of the frame whose time the map of a frame has.
    private static func play(
        _ clip: Line, loops: Loops = bestLoops, frames: Int, mapTime: (Int) -> Int = { $0 },
        _ body: (_ number: Int, SyncReport) -> Void
    ) throws {
        let matte = Matte(loops: loops)
        for number in 0..<frames {
            let moment = clip.clip == still ? 0 : number + 10
            let map = mapTime(number)
            let depth = try depth(moment - number + map - clip.lag, dx: clip.dx, dy: clip.dy)
            try withRGB(video(moment), width: width, height: height) { picture in
                _ = matte.render(
                    MatteFrame(
                        depth: depth.image, video: picture, width: width, height: height,
                        time: Int64(number * interval), depthTime: Int64(map * interval)), settings)
            }
            body(number + 1, matte.report.sync)
        }
    }

    // MARK: Tests

    @Test(arguments: 0...5) func `the reports are the reference's`(clip: Int) throws {
        let lines = try SyncTests.lines().filter { $0.clip == clip }
        var found: [Int: SyncReport] = [:]
        try SyncTests.play(#require(lines.first), frames: 150) { found[$0] = $1 }
        for line in lines {
            let (report, numbers) = (try #require(found[line.frame]), line.numbers)
            let lag = Double(report.lag) / Double(SyncTests.interval)
            #expect(report.isLagKnown == (numbers[7] == 1) && report.isLate == (numbers[8] == 1), "\(line): \(report)")
            #expect(!report.isLagKnown || abs(lag - numbers[5]) < 0.05, "\(line): \(report)")
            #expect(report.x.pixels == numbers[9] && report.y.pixels == numbers[10], "\(line): \(report)")
            // The first report is of four looks; what it only just knows may differ.
            let isFirst = report.number == 1
            #expect(
                isFirst || report.x.isKnown == (numbers[11] == 1) && report.y.isKnown == (numbers[12] == 1),
                "\(line): \(report)")
            #expect(
                report.x.isBeside == (numbers[13] == 1) && report.y.isBeside == (numbers[14] == 1),
                "\(line): \(report)")
            #expect(abs(report.match - numbers[15]) < 0.02, "\(line): \(report)")
        }
    }

    @Test func `maps that come twice count once`() throws {
        let clip = Line(numbers: [0, 2, 0, 0, 0])
        var last = SyncReport()
        try SyncTests.play(clip, frames: 180, mapTime: { $0 & ~1 }) { last = $1 }
        #expect(last.isLagKnown && abs(last.lag - Int64(2 * SyncTests.interval)) < 5_000_000, "\(last)")
    }

    /// That of video of limited range is −0.073…1.09.
    @Test func `luma beyond black and white is no edge`() {
        let luma = (0..<64).map { Float($0 * 4 - 16) / 219 }
        for loops in usableLoops {
            var shades = [UInt16](repeating: 0, count: luma.count)
            loops.shadeCells(luma, stride: luma.count, side: 1, count: luma.count, into: &shades)
            #expect(zip(shades.dropFirst(), shades).allSatisfy { (55...57).contains(Int($0) - Int($1)) }, "\(shades)")
            #expect(shades.allSatisfy { $0 < 4096 })
        }
    }

    @Test func `instruction sets do not show`() throws {
        let clip = Line(numbers: [0, 1, 2, 0, 0])
        var reports: [[SyncReport]] = []
        for loops in usableLoops {
            reports.append([])
            try SyncTests.play(clip, loops: loops, frames: 60) { reports[reports.count - 1].append($1) }
        }
        #expect(reports.allSatisfy { $0 == reports[0] })
        #expect(reports[0].last?.number == 2)
    }
}
