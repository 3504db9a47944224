import GstBridge

/// The presets of `depthmatte`. Each sets every property that the look depends on, so none keeps values of the one before.
/// The background file, the focus, the reading of depth and the pairing of streams stay as they were.
enum DepthMattePresets {
    static let all = [
        preset(
            "apple-sample",
            "As Apple's sample for TrueDepth cameras: its threshold, blur and gamma, without smoothing over time",
            ["method": "threshold", "anchor-smoothing": "0"]),
        preset(
            "comic",
            "The tutorial's comic effect: near objects stay, the rest is drawn as a comic, with a soft transition",
            tutorial.merging(["mask": "high-pass", "slope": "4", "background-mode": "comic"]) { $1 }),
        preset(
            "green-screen", "The tutorial's green screen: near objects over the file of property background",
            tutorial.merging(["mask": "high-pass", "slope": "10", "background-mode": "image"]) { $1 }),
        preset(
            "dream", "The tutorial's dream: objects in focus stay sharp, everything nearer or farther is blurred",
            // Its mask is inverted because it says what is blurred; ours says what is kept.
            tutorial.merging(
                ["mask": "band-pass", "slope": "4", "background-mode": "blur", "background-blur": "10"]) { $1 }),
        preset(
            "video-call", "A person over their own room, blurred; steady edges",
            ["anchor-smoothing": "0.3", "background-mode": "blur", "background-blur": "15"]),
        preset(
            "studio",
            "The nearest person over a picture or stream, in full detail; follows movement more than the default",
            // Less settled: a twentieth less error in moving scenes and twice the flicker in still ones, which
            // is still a fortieth of the threshold's at its best (Tests/quality/run.sh).
            ["anchor": "nearest", "margin": "0.3", "detail": "full", "settle": "0.5", "light-wrap": "0.3"]),
    ]

    /// The tutorial masks by nearness and blends by the mask as it is.
    private static let tutorial = ["blur-radius": "0", "gamma": "1", "width": "0.1"]

    /// Every property that a preset sets, to its default where the preset says nothing else.
    private static let properties = [
        "method", "settle", "subject", "detail", "mask", "slope", "width", "invert", "anchor", "margin", "cutoff",
        "near",
        "feather-near", "feather-far", "anchor-smoothing", "blur-radius", "gamma", "upscale", "background-mode",
        "background-blur", "background-blur-depth", "decontaminate", "light-wrap", "view",
    ]

    private static func preset(_ name: String, _ comment: String, _ values: [String: String]) -> Preset {
        Preset(name, comment, properties.map { (property: $0, value: values[$0]) })
    }
}
