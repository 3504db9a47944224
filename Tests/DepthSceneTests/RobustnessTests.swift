import DepthKernels
import DepthScene
import Testing

@Suite struct RobustnessTests {
    @Test(arguments: ScenePattern.allCases)
    func `padding after the rows is left alone`(pattern: ScenePattern) {
        let renderer = SceneRenderer(scene: Scene(pattern: pattern, seed: 0), width: 33, height: 17)
        let tight = [renderer.video(at: 1), renderer.depth(at: 1, noise: 0.01, holes: 0.1), renderer.matte(at: 1)]
        let loose = [
            renderer.video(at: 1, padding: 13), renderer.depth(at: 1, noise: 0.01, holes: 0.1, padding: 7),
            renderer.matte(at: 1, padding: 5),
        ]
        for (tight, loose) in zip(tight, loose) {
            #expect(tight.pixels == loose.pixels)
            #expect(loose.guards.allSatisfy { $0 == Canvas.guardValue })
        }
    }

    @Test func `a plane that is too small is left as it was`() {
        let renderer = SceneRenderer.person(8, 8)
        for size in [Size(width: 7, height: 8), Size(width: 8, height: 7)] {
            var video = Canvas(width: size.width, height: size.height, bytesPerPixel: 4)
            video.draw { plane in
                renderer.drawVideo(seconds: 0, into: plane)
                renderer.drawDepth(seconds: 0, frame: 0, noise: 0, holes: 0, into: plane)
            }
            var matte = Canvas(width: size.width, height: size.height, bytesPerPixel: 1)
            matte.draw { renderer.drawMatte(seconds: 0, into: $0) }
            #expect((video.bytes + matte.bytes).allSatisfy { $0 == Canvas.guardValue })
        }
    }

    @Test(arguments: ScenePattern.allCases, [(0, 5), (-3, 4), (Int.max, 2), (2, Int.max), (Int.min, Int.min)])
    func `a size that cannot be drawn draws nothing`(pattern: ScenePattern, size: (Int, Int)) {
        let renderer = SceneRenderer(scene: Scene(pattern: pattern, seed: 0), width: size.0, height: size.1)
        var canvas = Canvas(width: 6, height: 6, bytesPerPixel: 4)
        canvas.draw { plane in
            renderer.drawVideo(seconds: 0, into: plane)
            renderer.drawDepth(seconds: 0, frame: 0, noise: 1, holes: 1, into: plane)
            renderer.drawMatte(seconds: 0, into: plane)
        }
        #expect(canvas.bytes.allSatisfy { $0 == Canvas.guardValue })
    }

    @Test(arguments: [Double.nan, .infinity, -.infinity, 1e300, -1e300, .leastNonzeroMagnitude, -7.25, 1e17])
    func `any time can be drawn`(seconds: Double) {
        let renderer = SceneRenderer.person(48, 27, seed: .max)
        #expect(renderer.matte(at: seconds).pixels.contains(255))
        #expect(renderer.depth(at: seconds).floats.allSatisfy { $0.isFinite && $0 > 0 })
        #expect(renderer.video(at: seconds).pixels.contains { $0 != Canvas.guardValue })
        #expect(renderer.faces(seconds: seconds).allSatisfy { $0.x > 0 && $0.y > 0 && $0.width > 0 && $0.height > 0 })
    }

    @Test(arguments: [Double.nan, .infinity, -.infinity, -1, 1e300])
    func `any noise and any holes can be asked for`(value: Double) {
        let renderer = SceneRenderer.person(48, 27)
        let noisy = renderer.depth(at: 0, frame: .max, noise: value).floats
        let holed = renderer.depth(at: 0, frame: .max, holes: value).floats
        #expect((noisy + holed).allSatisfy { $0.isFinite && $0 >= 0 })
        if !(value > 0) { #expect(noisy == renderer.depth(at: 0).floats) }
    }

    @Test(
        arguments: [Double.nan, .infinity, -.infinity, -1, -0.0, 0.3, 1e300], SensorKind.allCases)
    func `any parallax can be asked for, and through any lens`(value: Double, sensor: SensorKind) {
        for lens in [20.0, 150] {
            let scene = Scene(pattern: .chair, seed: 0, lens: lens)
            let renderer = SceneRenderer(scene: scene, width: 48, height: 27)
            let samples = renderer.depth(at: 0, sensor: sensor, parallax: value).floats
            #expect(samples.allSatisfy { $0.isFinite && $0 >= 0 })
            let same = value >= 0 ? min(value, 0.3) : -1
            #expect(samples == renderer.depth(at: 0, sensor: sensor, parallax: same).floats)
        }
        let wide = SceneRenderer(scene: Scene(pattern: .person, seed: 0, lens: 20), width: 32_768, height: 1)
        #expect(wide.depth(at: 0, sensor: sensor, parallax: value).floats.allSatisfy { $0.isFinite && $0 >= 0 })
    }

    @Test(arguments: [(1, 1), (1, 97), (97, 1), (2, 2), (3, 5), (1, 4000), (4000, 1)])
    func `thin pictures can be drawn`(size: (Int, Int)) {
        for pattern in ScenePattern.allCases {
            let renderer = SceneRenderer(scene: Scene(pattern: pattern, seed: 2), width: size.0, height: size.1)
            #expect(renderer.video(at: 0.5).pixels.count == size.0 * size.1 * 4)
            #expect(renderer.depth(at: 0.5).floats.allSatisfy { $0.isFinite && $0 >= 0 })
            #expect(renderer.matte(at: 0.5).pixels.count == size.0 * size.1)
        }
    }
}
