import DepthKernels
import TestSupport
import Testing

@Suite struct DepthOverlayTests {
    /// One pixel for each sample: its column and row.
    private let samples = GuardedPlane(rowBytes: 4 * 4, rows: 3) { x, y in [UInt8(x / 4), UInt8(y), 0, 255][x % 4] }
    private let outside = SIMD4<UInt8>(9, 9, 9, 9)

    private func drawn(_ placement: DepthPlacement, _ width: Int, _ height: Int) -> [[UInt8]] {
        let target = GuardedPlane(rowBytes: width * 4, rows: height) { _, _ in 77 }
        var overlay = DepthOverlay()
        overlay.draw(
            samples.plane.readOnly, placement: placement, into: target.plane, width: width, height: height,
            outside: outside)
        #expect(target.guardsAreIntact)
        let bytes = target.bytes
        return (0..<width * height).map { Array(bytes[($0 * 4)..<($0 * 4 + 2)]) }
    }

    @Test func aStretchedMapShowsTheSampleUnderEachPixel() {
        for (width, height) in [(4, 3), (8, 6), (13, 7), (1, 1), (2, 40)] {
            let placement = DepthPlacement(depthWidth: 4, depthHeight: 3, videoWidth: 1280, videoHeight: 720)
            for (index, pixel) in drawn(placement, width, height).enumerated() {
                let (x, y) = (Double(index % width) + 0.5, Double(index / width) + 0.5)
                #expect(pixel == [UInt8(x * 4 / Double(width)), UInt8(y * 3 / Double(height))])
            }
        }
    }

    @Test func whereTheMapIsNotTheOutsideShows() {
        let placement = DepthPlacement(
            depthWidth: 4, depthHeight: 3, videoWidth: 16, videoHeight: 6, fit: .contain, offsetX: -4)
        // Contained, the map is 8 pixels wide in the middle of 16; moved by 4 it begins at 0.
        for (index, pixel) in drawn(placement, 16, 6).enumerated() {
            #expect(pixel == (index % 16 < 8 ? [UInt8(index % 16 / 2), UInt8(index / 16 / 2)] : [9, 9]))
        }
        let away = DepthPlacement(depthWidth: 4, depthHeight: 3, videoWidth: 16, videoHeight: 6, offsetX: 1e6)
        #expect(drawn(away, 16, 6).allSatisfy { $0 == [9, 9] })
    }

    @Test func samplesThatAreMissingAreNotDrawn() {
        let placement = DepthPlacement(depthWidth: 5, depthHeight: 3, videoWidth: 16, videoHeight: 6)
        #expect(drawn(placement, 4, 3).allSatisfy { $0 == [77, 77] })
    }
}

@Suite struct DepthBarsTests {
    @Test func barsCountWhatIsAtTheirDistance() throws {
        // With 4 m over 64 bars a bar is 62.5 mm: 1 m is bar 16, 2 m bar 32.
        let counts = [Int](repeating: 1000, count: 30) + [Int](repeating: 2000, count: 15) + [3990, 0, 0, 0, 0]
        let bars = DepthBars(of: try DepthMap(counts: counts, width: 10).image, scale: DepthScale(), showing: 3)
        #expect(bars.limit == 4)
        for bar in 0..<DepthBars.count {
            #expect(bars.height(bar) == [16: 1, 32: 0.5, 63: 1.0 / 30][bar] ?? 0)
        }
        #expect(bars.height(-1) == 0 && bars.height(64) == 0)
    }

    @Test func theyReachAsFarAsTheDistanceAndMostOfTheSamples() throws {
        let depth = try DepthMap(counts: [Int](repeating: 3000, count: 100), width: 10).image
        for (distance, limit) in [(0.5, 4.0), (3.3, 8), (20, 32), (900, 1024), (1e300, 1024), (.infinity, 1024)] {
            #expect(DepthBars(of: depth, scale: DepthScale(), showing: distance).limit == limit)
        }
        #expect(DepthBars(of: depth, scale: DepthScale(), showing: .nan).limit == 1024)
    }

    @Test func nothingMeasuredHasNoBars() throws {
        for depth in [try DepthMap(counts: [0, 0], width: 2), try DepthMap(metres: [.nan, .infinity], width: 2)] {
            let bars = DepthBars(of: depth.image, scale: DepthScale(), showing: 1)
            #expect((0..<64).allSatisfy { bars.height($0) == 0 })
        }
    }
}
