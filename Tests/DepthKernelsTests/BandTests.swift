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
        let placement = DepthPlacement(
            depthWidth: mapWidth, depthHeight: mapHeight, videoWidth: scene.width, videoHeight: scene.height,
            offsetX: 3, offsetY: -7)
        for feather in [0, 0.3] {
            var settings = MatteSettings()
            settings.blurRadius = scene.blurRadius
            settings.featherFar = feather
            let results = [1, 2, 3, 7].map { size in
                let crew = BackwardsCrew(size: size)
                let blender = Blender(
                    layout: layout, width: scene.width, height: scene.height, cache: size > 1 ? .memory : .own)
                let renderer = MatteRenderer()
                renderer.crew = crew
                let bytes = [0, 1].map { _ in
                    renderer.prepare(
                        depth: depth.image, scale: DepthScale(), placement: placement, videoWidth: scene.width,
                        videoHeight: scene.height, settings: settings)
                    return Frames(layout, (scene.width, scene.height)).blended {
                        blender.blend(video: $0, background: $1, matte: renderer)
                    }
                }
                #expect(size == 1 || crew.cuts > 0, "the frame was not cut")
                return bytes + [bits(of: renderer.coverage)]
            }
            #expect(results.allSatisfy { $0 == results[0] }, "the bands show")
        }
    }

    /// Threshold or curve; where there is no way from the steps of a mask to the rows of the blur, two halvings and those; and
    /// its columns.
    @Test(arguments: [(feather: 0, specks: 0, cuts: 3), (0, 100_000, 5), (0.3, 0, 4)])
    func `a blur on cells is cut too, and shows no seams`(feather: Double, specks: Int, cuts: Int) throws {
        let (width, height) = (1600, 1400)
        var counts = RendererTests.scene(width: width, height: height)
        for speck in 0..<specks { counts[speck * 7919 % counts.count] = 0 }
        let depth = try DepthMap(counts: counts, width: width)
        let placement = DepthPlacement(depthWidth: width, depthHeight: height, videoWidth: 400, videoHeight: 350)
        var settings = MatteSettings()
        (settings.blurRadius, settings.featherFar) = (10, feather)
        let results = [1, 2, 5].map { size in
            let crew = BackwardsCrew(size: size)
            let renderer = MatteRenderer()
            renderer.crew = crew
            let alpha = renderer.render(
                depth: depth.image, scale: DepthScale(), placement: placement, videoWidth: 400, videoHeight: 350,
                settings: settings
            ).bytes
            #expect(size == 1 || crew.cuts == cuts, "\(crew.cuts) jobs were cut")
            return alpha + bits(of: renderer.coverage)
        }
        #expect(results.allSatisfy { $0 == results[0] }, "the bands show")
    }

    private func bits(of number: Double) -> [UInt8] {
        withUnsafeBytes(of: number.bitPattern) { Array($0) }
    }
}
