import DepthKernels
import GstTestSupport
import TestSupport
import Testing

/// The element against the reference: the matte, and the picture cut out along it.
@Suite struct ArithmeticTests {
    /// One comparison of both views with the reference, at a fixed cutoff.
    private func check(
        _ video: VideoShape, _ depth: DepthShape, _ properties: [String: String], _ reference: ReferenceMatte
    ) {
        let counts = sceneCounts(depth.width, depth.height)
        let alpha = reference.alpha(
            metres: DepthScale().metres(counts), width: depth.width, height: depth.height, videoWidth: video.width,
            videoHeight: video.height)
        let settings = properties.with(["anchor": "fixed", "cutoff": "\(reference.cutoff)"])
        let picture = noise(video, seed: 2)
        let background = noise(video, seed: 3)
        let bytes = depth.bytes(counts: counts)

        let matte = Bench(["depth"], settings.with(["view": "matte"])).process(
            video: picture, video, depth: bytes, depth)
        let matteDifference = Difference(matte ?? [], Reference.matteView(alpha: alpha, video), video)
        #expect(matteDifference.isWithinPromise, "\(video), \(depth), \(properties): matte \(matteDifference)")

        let composite = Bench(["depth", "background"], settings).process(
            video: picture, video, depth: bytes, depth, background: background)
        let expected = Reference.composite(video: picture, background: background, alpha: alpha, video)
        let difference = Difference(composite ?? [], expected, video)
        #expect(difference.isWithinPromise, "\(video), \(depth), \(properties): composite \(difference)")
    }

    @Test(arguments: [0, 0.5, 5, 20], [0.25, 0.5, 1, 2])
    func `blur and gamma agree with the reference`(blurRadius: Double, gamma: Double) {
        var reference = ReferenceMatte()
        reference.blurRadius = blurRadius
        reference.gamma = gamma
        check(
            VideoShape("RGB", 322, 242), DepthShape("GRAY16_LE", 161, 121),
            ["blur-radius": "\(blurRadius)", "gamma": "\(gamma)"], reference)
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
    func `every size agrees with the reference`(video: VideoShape, depth: DepthShape) {
        check(video, depth, [:], ReferenceMatte())
    }

    @Test(arguments: [0, 5.0])
    func `bilinear upscaling agrees with the reference`(blurRadius: Double) {
        var reference = ReferenceMatte()
        reference.blurRadius = blurRadius
        reference.isBicubic = false
        check(
            VideoShape("RGB", 321, 243), DepthShape("GRAY16_LE", 80, 61),
            ["upscale": "bilinear", "blur-radius": "\(blurRadius)"], reference)
    }

    @Test func `near, feathers and the cutoff agree with the reference`() {
        var reference = ReferenceMatte()
        reference.near = 0.6
        reference.featherNear = 0.15
        reference.featherFar = 1.5
        reference.cutoff = 2.5
        reference.blurRadius = 1
        check(
            VideoShape("RGB", 320, 240), DepthShape("GRAY16_LE", 160, 120),
            ["near": "0.6", "feather-near": "0.15", "feather-far": "1.5", "blur-radius": "1"], reference)
    }

    @Test func `inverting swaps what is measured and leaves holes background`() {
        var reference = ReferenceMatte()
        reference.invert = true
        reference.blurRadius = 0
        check(
            VideoShape("RGB", 160, 120), DepthShape("GRAY16_LE", 160, 120), ["invert": "true", "blur-radius": "0"],
            reference)
    }

    @Test func `a property that changes while playing takes effect on the next frame`() {
        let video = VideoShape("RGB", 64, 48)
        let depth = DepthShape("GRAY16_LE", 64, 48)
        let counts = sceneCounts(64, 48)
        let bench = Bench(["depth"], ["anchor": "fixed", "view": "matte", "blur-radius": "3"])
        bench.video.start(video)
        bench.depth.start(depth)
        for (frame, blurRadius) in [3.0, 0, 8].enumerated() {
            bench.set("blur-radius", "\(blurRadius)")
            bench.depth.push(depth.bytes(counts: counts), at: time(ofFrame: frame))
            bench.video.push(noise(video, seed: 1), at: time(ofFrame: frame))
            var reference = ReferenceMatte()
            reference.blurRadius = blurRadius
            let alpha = reference.alpha(
                metres: DepthScale().metres(counts), width: 64, height: 48, videoWidth: 64, videoHeight: 48)
            let difference = Difference(
                bench.output.next()?.bytes ?? [], Reference.matteView(alpha: alpha, video), video)
            #expect(difference.isWithinPromise, "blur-radius \(blurRadius): \(difference)")
        }
    }
}
