import DepthKernels
import GstTestSupport
import TestSupport
import Testing

/// The threshold through the element against the reference: the matte, and the picture cut out along it.
@Suite struct ArithmeticTests {
    @Test(arguments: [0, 0.5, 5, 20], [0.25, 0.5, 1, 2])
    func `blur and gamma agree with the reference`(blurRadius: Double, gamma: Double) {
        Oracle(VideoShape("RGB", 322, 242), DepthShape("GRAY16_LE", 161, 121)) {
            ($0.blurRadius, $0.gamma) = (blurRadius, gamma)
        }.check()
    }

    @Test(arguments: [
        (VideoShape("RGB", 1, 1), DepthShape("GRAY16_LE", 1, 1)),
        (VideoShape("RGB", 7, 5), DepthShape("GRAY16_LE", 7, 5)),
        (VideoShape("RGB", 64, 48), DepthShape("GRAY16_LE", 1, 1)),
        (VideoShape("RGB", 1, 1), DepthShape("GRAY16_LE", 64, 48)),
        (VideoShape("RGB", 17, 90), DepthShape("GRAY16_LE", 90, 1)),
        (VideoShape("I420", 1279, 719), DepthShape("GRAY16_LE", 641, 481)),
        (VideoShape("NV12", 1920, 1080), DepthShape("GRAY16_LE", 640, 480)),
    ])
    func `every size agrees with the reference`(video: VideoShape, depth: DepthShape) { Oracle(video, depth).check() }

    @Test(arguments: [0, 5.0])
    func `bilinear upscaling agrees with the reference`(blurRadius: Double) {
        Oracle(VideoShape("RGB", 321, 243), DepthShape("GRAY16_LE", 80, 61)) {
            ($0.blurRadius, $0.isBicubic) = (blurRadius, false)
        }.check()
    }

    @Test func `near, feathers and the cutoff agree with the reference`() {
        Oracle(VideoShape("RGB", 320, 240), DepthShape("GRAY16_LE", 160, 120)) {
            ($0.near, $0.featherNear, $0.featherFar, $0.cutoff, $0.blurRadius) = (0.6, 0.15, 1.5, 2.5, 1)
        }.check()
    }

    @Test func `inverting swaps what is measured and leaves holes background`() {
        Oracle(VideoShape("RGB", 160, 120), DepthShape("GRAY16_LE", 160, 120)) {
            ($0.invert, $0.blurRadius) = (true, 0)
        }.check()
    }

    @Test(arguments: 0..<60 as Range<UInt64>)
    func `any settings agree with the reference at any size`(seed: UInt64) throws {
        var random = RepeatableRandomNumberGenerator(seed: seed)
        func pick<Choice>(_ choices: [Choice]) -> Choice { choices[Int.random(in: choices.indices, using: &random)] }
        func side(_ most: Int) -> Int { pick([1, 2, 3, Int.random(in: 1...most, using: &random), most]) }
        let video = VideoShape(
            FormatTests.videoFormats[Int(seed) % FormatTests.videoFormats.count], side(180), side(140))
        let depth = DepthShape(pick(["GRAY16_LE", "GRAY16_BE", "F32LE", "F16LE"]), side(130), side(90))
        Oracle(video, depth) {
            $0.blurRadius = pick([0, 0.5, 1, 5, 20])
            $0.gamma = pick([0.25, 0.5, 1, 2])
            $0.isBicubic = pick([true, false])
            $0.cutoff = pick([0.8, 1, 2.5])
            $0.near = pick([0, 0.6])
            $0.featherNear = pick([0, 0.15])
            $0.featherFar = pick([0, 0.3])
            $0.invert = pick([false, false, true])
        }.check()
    }

    // MARK: Counts

    @Test(arguments: ["GRAY16_LE", "GRAY16_BE", "F32LE", "F16LE"])
    func `every depth format agrees with the reference`(format: String) {
        Oracle(VideoShape("GRAY8", 70, 50), DepthShape(format, 35, 25)).check()
    }

    @Test(arguments: [
        (DepthScale.Kind.disparity, 0.02, 0.1, -1), (.disparity, 0.02, 0.1, 0), (.disparity, 0.02, 0.1, 255),
        (.metric, 0.01, 0.2, 0), (.metric, 0.01, 0.2, -1), (.relative, 0.001, 0, 0),
    ])
    func `eight bit maps agree with the reference`(
        kind: DepthScale.Kind, unit: Double, bias: Double, invalid: Int
    ) {
        var oracle = Oracle(VideoShape("GRAY8", 70, 50), DepthShape("GRAY8", 35, 25)) { $0.cutoff = 1.4 }
        oracle.scale = DepthScale(kind: kind, unit: unit, bias: bias, invalidCount: invalid)
        // Reversed: a disparity is larger where the scene is nearer.
        oracle.counts = oracle.counts.map { $0 == 0 ? 0 : max(1, 255 - $0) }
        oracle.check()
    }

    @Test(
        arguments: [
            (false, "GRAY16_LE", DepthScale(unit: 0.001)), (true, "GRAY16_LE", DepthScale(unit: 0.001)),
            (false, "GRAY16_BE", DepthScale(kind: .disparity, unit: 0.0002, bias: 0.1)),
            (true, "GRAY8", DepthScale(kind: .relative)),
            (false, "GRAY16_LE", DepthScale(kind: .disparity, unit: -0.0002, bias: 0.8)),
            (true, "GRAY8", DepthScale(kind: .relativeInverted)),
            (false, "GRAY16_BE", DepthScale(unit: -0.001, bias: 4.2)),
        ], [false, true])
    func `a mask about a focus is the reference's for every kind of depth`(
        input: (isBand: Bool, format: String, scale: DepthScale), invert: Bool
    ) {
        var oracle = Oracle(VideoShape("GRAY8", 40, 30), DepthShape(input.format, 20, 15)) {
            $0.focusMask = .init(isBand: input.isBand, focus: 0.55, slope: 10, width: 0.2)
            ($0.blurRadius, $0.gamma, $0.invert) = (1, 1, invert)
        }
        oracle.scale = input.scale
        oracle.check()
    }

    // MARK: Places

    /// One scale or two, about the middle.
    @Test(
        arguments: ["stretch", "width", "cover", "contain"],
        [
            (1, 0, 0), (1, 12.25, -7.5), (1.3, 0, 0), (0.6, -30.125, 3), (1, 500, 0), (1, 0, -100_000),
        ] as [(scale: Double, x: Double, y: Double)])
    func `a map lies where the affine map puts it`(fit: String, place: (scale: Double, x: Double, y: Double)) {
        let (across, down) = (200.0 / 64, 100.0 / 48)
        let factors: (x: Double, y: Double) =
            switch fit {
            case "width": (across, across)
            case "cover": (max(across, down), max(across, down))
            case "contain": (min(across, down), min(across, down))
            default: (across, down)
            }
        let (width, height) = (64 * factors.x * place.scale, 48 * factors.y * place.scale)
        var oracle = Oracle(VideoShape("GRAY8", 200, 100), DepthShape("GRAY16_LE", 64, 48)) {
            ($0.cutoff, $0.blurRadius) = (5, 1)
            $0.rectangle = (100 - width / 2 + place.x, 50 - height / 2 + place.y, width, height)
        }
        oracle.properties = [
            "depth-fit": fit, "depth-scale": "\(place.scale)", "depth-offset-x": "\(place.x)",
            "depth-offset-y": "\(place.y)",
        ]
        oracle.check()
    }

    // MARK: Changes

    @Test func `a property that changes while playing takes effect on the next frame`() {
        let (video, depth) = (VideoShape("RGB", 64, 48), DepthShape("GRAY16_LE", 64, 48))
        let bench = Bench(["depth"], ["anchor": "fixed", "view": "matte", "blur-radius": "3"])
        bench.video.start(video)
        bench.depth.start(depth)
        for (frame, blurRadius) in [3.0, 0, 8].enumerated() {
            let oracle = Oracle(video, depth) { $0.blurRadius = blurRadius }
            bench.set("blur-radius", "\(blurRadius)")
            let bytes = bench.pair(frame, depth: depth.bytes(counts: oracle.counts), video: noise(video, seed: 1))?
                .bytes
            let difference = Difference(bytes ?? [], Reference.matteView(alpha: oracle.alpha, video), video)
            #expect(difference.isWithinPromise, "blur-radius \(blurRadius): \(difference)")
        }
    }
}
