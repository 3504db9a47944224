import DepthKernels
import DepthLoops
import TestSupport
import Testing

@Suite struct RoomDistanceTests {
    private static let focus = RoomDistance.Focus(distance: 1, cutoff: 1.25)

    /// The opacities of both layers, for a map of millimetres stretched over the video.
    private func layers(
        _ counts: [Int], width: Int, over video: (Int, Int), alpha: GuardedPlane? = nil,
        focus: RoomDistance.Focus = RoomDistanceTests.focus, reading: DepthReading = DepthReading(),
        with distance: RoomDistance = RoomDistance()
    ) throws -> (first: [UInt8], second: [UInt8]) {
        let depth = try DepthMap(counts: counts, width: width)
        let alpha = alpha ?? GuardedPlane(rowBytes: video.0, rows: video.1) { _, _ in 0 }
        let placement = reading.placement(
            depthWidth: width, depthHeight: counts.count / width, videoWidth: video.0, videoHeight: video.1)
        let layers = try #require(
            distance.layers(
                of: depth.image, scale: reading.scale, placement, focus: focus, alpha: alpha.plane.readOnly))
        return withExtendedLifetime(distance) { (layers.first.bytes, layers.second.bytes) }
    }

    @Test(arguments: [
        (1000, 255, 255), (1250, 153, 255), (2000, 0, 255), (4000, 0, 128), (0, 0, 0), (500, 0, 0), (60000, 0, 9),
    ])
    func `a wall is blurred as a lens would`(count: Int, first: Int, second: Int) throws {
        let opacities = try layers([Int](repeating: count, count: 48), width: 8, over: (130, 70))
        #expect(opacities.first.count == 130 * 70)
        #expect(opacities.first.allSatisfy { abs(Int($0) - first) <= 1 }, "\(opacities.first[0])")
        #expect(opacities.second.allSatisfy { abs(Int($0) - second) <= 1 }, "\(opacities.second[0])")
    }

    @Test func `the farther, the more`() throws {
        let counts = (0..<64 * 36).map { 1000 + $0 % 64 * 150 }
        let (first, second) = try layers(counts, width: 64, over: (640, 360))
        for y in stride(from: 0, to: 360, by: 40) {
            let row = (0..<640).map { Int(first[y * 640 + $0]) + Int(second[y * 640 + $0]) }
            #expect(zip(row, row.dropFirst()).allSatisfy { $0 >= $1 })
            #expect(row[0] > 400 && row[639] < 60)
        }
    }

    @Test func `what lies about the person is as far as the wall, though the map is wider than they are`() throws {
        let (width, height) = (320, 240)
        let counts = (0..<width * height).map { abs($0 % width - 160) < 56 ? 1000 : 4000 }
        let alpha = GuardedPlane(rowBytes: width, rows: height) { x, _ in abs(x - 160) < 50 ? 255 : 0 }
        let (first, second) = try layers(counts, width: width, over: (width, height), alpha: alpha)
        let isRight = zip(alpha.bytes, zip(first, second)).allSatisfy { alpha, opacities in
            alpha > 0 || opacities.0 == 0 && abs(Int(opacities.1) - 128) <= 1
        }
        #expect(isRight)
    }

    @Test func `a chair beside the person is not blurred`() throws {
        let (width, height) = (320, 240)
        let counts = (0..<width * height).map { $0 % width < 100 ? 1000 : 4000 }
        let alpha = GuardedPlane(rowBytes: width, rows: height) { x, _ in x > 200 ? 255 : 0 }
        let (first, _) = try layers(counts, width: width, over: (width, height), alpha: alpha)
        #expect(first[120 * width + 20] == 255 && first[120 * width + 150] == 0)
    }

    @Test func `small holes do as their neighbours, and what is not on the map is far`() throws {
        let counts = (0..<160 * 120).map { $0 % 160 % 9 == 0 ? 0 : 1000 }
        let (first, _) = try layers(counts, width: 160, over: (640, 480))
        #expect(first.allSatisfy { $0 > 200 })
        let beside = try layers(
            [Int](repeating: 1000, count: 48), width: 8, over: (320, 240), reading: DepthReading(offsetX: 160))
        #expect(beside.second[100 * 320 + 40] == 0 && beside.first[100 * 320 + 300] == 255)
    }

    @Test(arguments: [0, -1, Double.nan, .infinity])
    func `a focus that is none blurs all`(distance: Double) throws {
        let focus = RoomDistance.Focus(distance: distance, cutoff: distance)
        let (first, second) = try layers([Int](repeating: 1000, count: 48), width: 8, over: (64, 48), focus: focus)
        #expect(first.allSatisfy { $0 == 0 } && second.allSatisfy { $0 == 0 })
    }

    @Test func `pictures of any size in turn, alike by every instruction set`() throws {
        let kept = RoomDistance()
        for video in [(640, 480), (1, 1), (7, 3), (33, 1000), (1930, 1090), (64, 48)] {
            let counts = (0..<33 * 25).map { [0, 900, 1500, 6000][$0 * 7 % 4] }
            let alpha = GuardedPlane(rowBytes: video.0, rows: video.1) { x, y in (x / 9 + y / 5) % 4 == 0 ? 255 : 0 }
            let results = try (usableLoops.map { RoomDistance(loops: $0) } + [kept]).map {
                try layers(counts, width: 33, over: video, alpha: alpha, with: $0)
            }
            #expect(results.allSatisfy { $0.first == results[0].first && $0.second == results[0].second })
        }
    }

    @Test func `an alpha that is too small is refused`() throws {
        let depth = try DepthMap(counts: [Int](repeating: 1000, count: 48), width: 8)
        let placement = DepthReading().placement(depthWidth: 8, depthHeight: 6, videoWidth: 64, videoHeight: 48)
        for (width, height) in [(63, 48), (64, 47)] {
            let alpha = GuardedPlane(rowBytes: width, rows: height) { _, _ in 0 }
            let layers = RoomDistance().layers(
                of: depth.image, scale: DepthScale(), placement, focus: RoomDistanceTests.focus,
                alpha: alpha.plane.readOnly)
            #expect(layers == nil)
        }
    }
}
