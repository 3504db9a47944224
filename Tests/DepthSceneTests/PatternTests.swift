import DepthKernels
import DepthScene
import Testing

@Suite struct PatternTests {
    @Test(arguments: [1, 2, 33, 640])
    func `ramp depth follows its formula`(width: Int) {
        let ramp = SceneRenderer(scene: Scene(pattern: .ramp, seed: 0), width: width, height: 3)
        let depth = ramp.depth(at: 4).floats
        for x in 0..<width {
            let expected = 0.5 + 4 * (Float(x) + 0.5) / Float(width)
            for y in 0..<3 { #expect(abs(depth[y * width + x] - expected) < 1e-5) }
        }
    }

    @Test func `ramp matte is opaque up to one metre, with a share at the boundary`() {
        // 1 m is reached an eighth of the way across: after 2.5 of 20 columns.
        let ramp = SceneRenderer(scene: Scene(pattern: .ramp, seed: 0), width: 20, height: 2)
        let row: [UInt8] = [255, 255, 128] + Array(repeating: 0, count: 17)
        #expect(ramp.matte(at: 0).pixels == row + row)
    }

    @Test func `ramp video darkens to the right, with a bar at each half metre`() {
        let ramp = SceneRenderer(scene: Scene(pattern: .ramp, seed: 0), width: 640, height: 1)
        let video = ramp.video(at: 0).pixels
        let gray = { (metres: Double) in Int(video[4 * Int((metres - 0.5) / 4 * 640)]) }
        #expect(gray(0.75) > gray(1.75) && gray(1.75) > gray(2.75) && gray(2.75) > gray(3.75))
        for metres in [1.0, 1.5, 2, 2.5, 3] { #expect(gray(metres) < gray(metres + 0.1) - 20) }
    }

    @Test func `blank measures nothing`() {
        let blank = SceneRenderer(scene: Scene(pattern: .blank, seed: 5), width: 7, height: 5)
        #expect(blank.depth(at: 1, frame: 2, noise: 0.5, holes: 0.5).floats.allSatisfy { $0 == 0 })
        #expect(blank.matte(at: 1).pixels.allSatisfy { $0 == 0 })
        let video = blank.video(at: 1).pixels
        #expect(video.indices.allSatisfy { video[$0] == ($0 % 4 == 3 ? 255 : 128) })
    }

    @Test func `there are no faces without a person`() {
        for pattern in [ScenePattern.ramp, .blank] {
            let scene = Scene(pattern: pattern, seed: 0)
            #expect(SceneRenderer(scene: scene, width: 64, height: 36).faces(seconds: 0).isEmpty)
        }
    }
}
