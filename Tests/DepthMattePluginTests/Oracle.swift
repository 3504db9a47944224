import DepthKernels
import GstTestSupport
import TestSupport
import Testing

/// One frame through the element, by the threshold, against the reference, whose settings the element gets in its own words.
struct Oracle: CustomStringConvertible {
    let video: VideoShape
    let depth: DepthShape
    var reference = ReferenceMatte()
    /// What the counts of the map mean; nil = millimetres, and the element is told nothing.
    var scale: DepthScale?
    /// Properties that the reference has no field for.
    var properties: [String: String] = [:]
    var counts: [Int]

    init(_ video: VideoShape, _ depth: DepthShape, _ change: (inout ReferenceMatte) -> Void = { _ in }) {
        (self.video, self.depth) = (video, depth)
        counts = sceneCounts(depth.width, depth.height, largest: depth.format == "GRAY8" ? 255 : 4000)
        change(&reference)
    }

    var description: String { "\(video), \(depth), \(settings)" }

    private var settings: [String: String] {
        var all = [
            "anchor": "fixed", "cutoff": "\(reference.cutoff)", "near": "\(reference.near)",
            "feather-near": "\(reference.featherNear)", "feather-far": "\(reference.featherFar)",
            "invert": "\(reference.invert)", "blur-radius": "\(reference.blurRadius)", "gamma": "\(reference.gamma)",
            "upscale": reference.isBicubic ? "bicubic" : "bilinear",
        ]
        if let mask = reference.focusMask {
            all["mask"] = mask.isBand ? "band-pass" : "high-pass"
            for (name, value) in [("focus", mask.focus), ("slope", mask.slope), ("width", mask.width)] {
                all[name] = "\(value)"
            }
        }
        if let scale {
            all["depth-kind"] = ["metric", "disparity", "relative", "relative-inverted"][scale.kind.rawValue]
            all["depth-unit"] = "\(scale.unit)"
            all["depth-bias"] = "\(scale.bias)"
            all["depth-invalid"] = "\(scale.invalidCount)"
        }
        return all.with(properties)
    }

    private var metresOfFloats: [Float] { counts.map { Float($0) / 1000 } }

    private var map: [UInt8] {
        depth.isFloat ? depth.bytes(metres: metresOfFloats) : depth.bytes(counts: counts)
    }

    /// The reference's alpha. A half-precision sample holds the measured depth.
    var alpha: [UInt8] {
        let metres =
            depth.isFloat
            ? metresOfFloats.map { depth.format == "F16LE" ? Double(Float16($0)) : Double($0) }
            : (scale ?? DepthScale()).metres(counts, fullScale: depth.format == "GRAY8" ? 255 : 65_535)
        return reference.alpha(
            metres: metres, width: depth.width, height: depth.height, videoWidth: video.width,
            videoHeight: video.height)
    }

    /// What the element makes of random video.
    private func frame(_ view: String, background: [UInt8]? = nil) -> [UInt8] {
        Bench(background == nil ? ["depth"] : ["depth", "background"], settings.with(["view": view])).process(
            video: noise(video, seed: 5), video, depth: map, depth, background: background) ?? []
    }

    /// Holds the matte and the composite to the promise of the page.
    func check(_ views: [String] = ["matte", "composite"], isFullRange: Bool = false) {
        let (alpha, background) = (alpha, noise(video, seed: 6))
        for view in views {
            let isMatte = view == "matte"
            let expected =
                isMatte
                ? Reference.matteView(alpha: alpha, video, fullRange: isFullRange)
                : Reference.composite(video: noise(video, seed: 5), background: background, alpha: alpha, video)
            let difference = Difference(frame(view, background: isMatte ? nil : background), expected, video)
            // One pixel has no mean to speak of.
            let isGood = video.width * video.height == 1 ? difference.largest <= 2 : difference.isWithinPromise
            #expect(isGood, "\(view) of \(self): \(difference)")
        }
    }

    /// The original view is the video, byte for byte.
    func checkOriginal() {
        #expect(Difference(frame("original"), noise(video, seed: 5), video).isNone, "\(self)")
    }
}
