import DepthKernels
import TestSupport
import Testing

/// Large frames are cut into bands for several threads; into how many must not show.
@Suite struct BandTests {
    @Test(
        arguments: StripTests.layouts,
        [(width: 640, height: 481, blurRadius: 5.0), (1279, 400, 0), (900, 703, 1), (1000, 555, 30), (300, 1111, 30)])
    func `any number of bands makes the same frame, bit for bit`(
        layout: PixelLayout, scene: (width: Int, height: Int, blurRadius: Double)
    ) throws {
        // The wide blur that is worked on by bands has a map that is large enough when it is halved.
        let (mapWidth, mapHeight) = scene.blurRadius == 5 ? (1061, 643) : (431, 403)
        let depth = try DepthMap(counts: RendererTests.scene(width: mapWidth, height: mapHeight), width: mapWidth)
        let frame = MatteFrame(depth: depth.image, width: scene.width, height: scene.height)
        for feather in [0, 0.3] {
            var settings = MatteSettings()
            settings.depth = DepthReading(offsetX: 3, offsetY: -7)
            settings.blurRadius = scene.blurRadius
            settings.featherFar = feather
            let results = [1, 2, 3, 7].map { size in
                let pool = ReversedWorkerPool(size: size)
                let blender = Blender(
                    layout: layout, width: scene.width, height: scene.height, copiesPastCache: size > 1)
                let matte = Matte()
                matte.pool = pool
                let bytes = [0, 1].map { _ in
                    matte.render(frame, settings)
                    return Frames(layout, (scene.width, scene.height)).blended {
                        blender.blend(video: $0, background: $1, matte: matte.finished)
                    }
                }
                #expect(size == 1 || pool.cuts > 0, "the frame was not cut")
                return bytes + [bits(of: matte.report.coverage)]
            }
            #expect(results.allSatisfy { $0 == results[0] }, "the bands show")
        }
    }

    @Test(arguments: [(feather: 0, specks: 0), (0, 100_000), (0.3, 0)])
    func `a blur on cells is cut too, and shows no seams`(feather: Double, specks: Int) throws {
        let (width, height) = (1600, 1400)
        var counts = RendererTests.scene(width: width, height: height)
        for speck in 0..<specks { counts[speck * 7919 % counts.count] = 0 }
        let depth = try DepthMap(counts: counts, width: width)
        let frame = MatteFrame(depth: depth.image, width: 400, height: 350)
        var settings = MatteSettings()
        (settings.blurRadius, settings.featherFar) = (10, feather)
        let results = [1, 2, 5].map { size in
            let pool = ReversedWorkerPool(size: size)
            let matte = Matte()
            matte.pool = pool
            matte.render(frame, settings)
            // Threshold, decimation, rows, columns and enlargement; the last but one are small enough for fewer bands.
            #expect(size == 1 || pool.cuts >= 3, "\(pool.cuts) jobs were cut")
            return matte.finished.alpha.bytes + bits(of: matte.report.coverage)
        }
        #expect(results.allSatisfy { $0 == results[0] }, "the bands show")
    }

    private func bits(of number: Double) -> [UInt8] {
        withUnsafeBytes(of: number.bitPattern) { Array($0) }
    }
}
