import DepthKernels
import TestSupport
import Testing

@Suite struct GoldenTests {
    @Test(arguments: ["one", "few", "scene", "shrunk"])
    func theTranscriptionAgreesWithTheGoldenMattes(name: String) throws {
        let golden = try GoldenMattes(name)
        for matte in golden.mattes {
            var reference = ReferenceMatte()
            reference.blurRadius = matte.blurRadius
            reference.gamma = matte.gamma
            let alpha = reference.alpha(
                metres: golden.metres, width: golden.depth.width, height: golden.depth.height,
                videoWidth: golden.videoWidth, videoHeight: golden.videoHeight)
            let difference = Difference(alpha, matte.alpha)
            #expect(
                difference.largest <= 1 && difference.mean < 0.01, "\(matte.blurRadius) \(matte.gamma) \(difference)")
        }
    }

    @Test(arguments: ["one", "few", "scene", "shrunk"])
    func theRendererAgreesWithTheGoldenMattes(name: String) throws {
        let golden = try GoldenMattes(name)
        let depth = try DepthMap(counts: golden.depth.samples, width: golden.depth.width)
        for matte in golden.mattes {
            let settings = MatteSettings(blurRadius: matte.blurRadius, gamma: matte.gamma)
            let alpha = depth.alpha(settings, videoWidth: golden.videoWidth, videoHeight: golden.videoHeight)
            let difference = Difference(alpha, matte.alpha)
            // Wide blurs are made of cells.
            let mean = matte.blurRadius >= 5 && matte.gamma >= 0.5 ? 0.1 : 0.01
            #expect(
                difference.largest <= 1 && difference.mean < mean, "\(matte.blurRadius) \(matte.gamma) \(difference)")
        }
    }

    @Test func theFaceDepthIsTheGoldenOneToTheLastBit() throws {
        let scene = try Golden.picture("scene.depth.pgm")
        let depth = try DepthMap(counts: scene.samples, width: scene.width)
        let placement = DepthPlacement(
            depthWidth: scene.width, depthHeight: scene.height, videoWidth: 1920, videoHeight: 1080)
        for line in try Golden.numbers("faces.txt") {
            let box = Rectangle<Double>(x: line[0], y: line[1], width: line[2], height: line[3])
            #expect(faceDepth(in: depth.image, scale: DepthScale(), placement: placement, box: box) == line[4])
        }
    }
}
