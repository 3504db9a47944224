import GstBridge

/// The presets of `depthmatte`. Each sets everything that the look depends on, so that none shows traces of the one before;
/// which background picture there is, where the focus lies, how depth is read and how streams are paired stays as it was.
enum DepthMattePresets {
    static let all = [
        preset(
            "apple-sample",
            "What Apple's sample for TrueDepth cameras does: its threshold, blur and gamma, without smoothing",
            ["method": "threshold", "anchor-smoothing": "0"]),
        preset(
            "comic",
            "The tutorial's comic effect: who is near stays, the room becomes a comic, with a soft change between",
            tutorial.merging(["mask": "high-pass", "slope": "4", "background-mode": "comic"]) { $1 }),
        preset(
            "green-screen", "The tutorial's green screen: who is near stands before the picture that background names",
            tutorial.merging(["mask": "high-pass", "slope": "10", "background-mode": "image"]) { $1 }),
        preset(
            "dream", "The tutorial's dream: who is in focus stays sharp, and everything nearer or farther is blurred",
            // Its mask is inverted because it says what is blurred; ours says what is kept.
            tutorial.merging(
                ["mask": "band-pass", "slope": "4", "background-mode": "blur", "background-blur": "10"]) { $1 }),
        preset(
            "video-call", "A person before their own room, blurred; steady",
            ["anchor-smoothing": "0.3", "background-mode": "blur", "background-blur": "15"]),
        preset(
            "studio",
            "The nearest person for a picture or stream behind them, in all detail; follows movement more than the default",
            // Less settled: a twentieth less error in moving scenes and twice the flicker in still ones, which
            // is still a fortieth of the threshold's at its best (Tests/quality/run.sh).
            ["anchor": "nearest", "margin": "0.3", "detail": "full", "settle": "0.5", "light-wrap": "0.3"]),
    ]

    /// The tutorial masks by nearness and blends by the mask as it is.
    private static let tutorial = ["blur-radius": "0", "gamma": "1", "width": "0.1"]

    /// Every property that a preset sets, with its default.
    private static let defaults: KeyValuePairs = [
        "method": "fusion", "settle": "0.7", "subject": "anchored", "detail": "auto", "mask": "cutoff",
        "slope": "4", "width": "0.1",
        "invert": "false", "anchor": "auto",
        "margin": "0.25", "cutoff": "1", "near": "0", "feather-near": "0", "feather-far": "0",
        "anchor-smoothing": "0.15", "blur-radius": "5", "gamma": "0.5", "upscale": "bicubic",
        "background-mode": "auto", "background-blur": "10", "background-blur-depth": "0", "decontaminate": "1",
        "light-wrap": "0", "view": "composite",
    ]

    private static func preset(_ name: String, _ comment: String, _ values: [String: String]) -> Preset {
        Preset(name, comment, defaults.map { (property: $0.key, value: values[$0.key] ?? $0.value) })
    }
}
