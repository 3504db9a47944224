import DepthKernels
import DepthLoops
import TestSupport
import Testing

/// The loops are compiled more than once; which of them runs must not show.
@Suite struct InstructionSetTests {
    @Test(arguments: [0, 0.7, 5, 20], [0.25, 0.5, 0.8, 2])
    func `every instruction set makes the same matte, bit for bit`(blurRadius: Double, gamma: Double) throws {
        let (width, height) = (130, 61)
        let depth = try DepthMap(counts: RendererTests.scene(width: width, height: height), width: width)
        var settings = MatteSettings(blurRadius: blurRadius, gamma: gamma)
        for (feather, upscale, zoom) in [(0, Upscale.bicubic, 1.0), (0.2, .bilinear, 0.7)] {
            settings.featherFar = feather
            settings.upscale = upscale
            settings.depth = DepthReading(offsetX: feather * 40, zoom: zoom)
            for video in [(390, 61), (301, 200), (182, 40), (70, 33), (31, 403)] {
                let mattes = usableLoops.map { loops in
                    depth.alpha(settings, videoWidth: video.0, videoHeight: video.1, loops: loops)
                }
                for matte in mattes { #expect(matte == mattes[0], "\(video), feather \(feather)") }
            }
            let coverages = usableLoops.map { loops in
                let matte = Matte(loops: loops)
                matte.render(MatteFrame(depth: depth.image, width: width, height: height), settings)
                return matte.report.coverage
            }
            #expect(coverages[0] > 0 && coverages.allSatisfy { $0 == coverages[0] })
        }
    }

    @Test func `every instruction set blends the same bytes, at every width`() throws {
        var random = RepeatableRandomNumberGenerator(seed: 3)
        for width in 1...130 {
            func bytes() -> [UInt8] { (0..<width * 2).map { _ in UInt8.random(in: 0...255, using: &random) } }
            let (video, background, alpha) = (bytes(), bytes(), bytes())
            let results = usableLoops.map { blended(video, background, alpha, width: width, loops: $0) }
            for result in results { #expect(result == results[0], "\(width) wide") }
            let expected = video.indices.map {
                blendedByte(video: video[$0], background: background[$0], alpha: alpha[$0])
            }
            #expect(results[0] == expected, "\(width) wide")
        }
    }

    @Test func `every instruction set rounds every triple of bytes to nearest`() {
        let (video, background) = ((0..<65536).map { UInt8($0 & 255) }, (0..<65536).map { UInt8($0 >> 8) })
        for alpha in 0...255 {
            let expected = video.indices.map { index in
                let sum = Int(video[index]) * alpha + Int(background[index]) * (255 - alpha)
                return UInt8((2 * sum + 255) / 510)
            }
            for loops in usableLoops {
                let alphas = [UInt8](repeating: UInt8(alpha), count: video.count)
                // As long as it can be, and as short as the shorter vectors are.
                for width in [video.count / 2, 8] {
                    let result = blended(video, background, alphas, width: width, loops: loops)
                    #expect(result == expected, "alpha \(alpha), \(width) wide, \(loops)")
                }
            }
        }
    }

    /// Rows of one byte a pixel.
    private func blended(
        _ video: [UInt8], _ background: [UInt8], _ alpha: [UInt8], width: Int, loops: Loops
    ) -> [UInt8] {
        var result = video
        let rows = video.count / width
        let isDone = result.withUnsafeMutableBytes { video in
            background.withUnsafeBytes { background in
                alpha.withUnsafeBytes { alpha in
                    var target = Planes<MutablePlane>()
                    var source = Planes<Plane>()
                    guard let to = video.baseAddress, let from = background.baseAddress, let matte = alpha.baseAddress,
                        let video = MutablePlane(
                            base: to, length: width * rows, rowBytes: width, rows: rows, stride: width),
                        let background = Plane(
                            base: from, length: width * rows, rowBytes: width, rows: rows, stride: width),
                        let alpha = Plane(base: matte, length: width * rows, rowBytes: width, rows: rows, stride: width)
                    else { return false }
                    target.append(video)
                    source.append(background)
                    return Blender(
                        layout: PixelLayout(.full(bytesPerSample: 1)), width: width, height: rows, loops: loops
                    )
                    .blend(video: target, background: source, alpha: alpha)
                }
            }
        }
        return isDone ? result : []
    }
}
