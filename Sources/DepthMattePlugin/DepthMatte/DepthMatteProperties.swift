import DepthKernels
import GstBridge

/// The properties of `depthmatte`, in the order in which the matte is made.
enum DepthMatteProperties {
    typealias Row = Property<DepthMatteSettings>

    static let all: [Row] = Row.depthRows + anchor + method + threshold + smoothing + blend + pairing

    private static let anchor: [Row] = [
        .choice("anchor", "What sets the cutoff", \.matte.anchor.mode),
        .double(
            "anchor-x", "Anchor point with anchor=point, as a share of the width from the left", 0...1, \.matte.anchor.x
        ),
        .double(
            "anchor-y", "Anchor point with anchor=point, as a share of the height from the top", 0...1, \.matte.anchor.y
        ),
        .choice("face-select", "Which of several faces sets the cutoff", \.matte.anchor.faceSelect),
        .string(
            "face-types", "Types of the region-of-interest metas that are faces, separated by commas",
            \.matte.anchor.faceTypes),
        .double("margin", "Metres behind the anchor at which the cutoff lies", 0...10, \.matte.anchor.margin),
        .double("cutoff", "Metres beyond which all is background, where nothing is anchored", 0...100, \.matte.cutoff),
        .double(
            "anchor-smoothing", "Time constant in seconds of the anchor's low-pass; 0 = jump", 0...10,
            \.matte.anchor.smoothing),
    ]

    private static let method: [Row] = [
        .choice("method", "How the matte is made", \.matte.method),
        .double(
            "settle", "Share of the last matte kept where the picture stands still, with method=fusion; 0 = none",
            0...1,
            \.matte.settle),
        .double(
            "segmentation-weight",
            "Weight of the segmentation pad's log odds beside those of colour, with method=fusion; 0 = none", 0...1,
            \.matte.segmentationWeight),
        .choice(
            "subject", "What before the cutoff is kept, with method=fusion and anchor=auto or face", \.matte.subject),
        .choice("detail", "Fineness of the grid on which method=fusion works", \.matte.detail),
    ]

    private static let threshold: [Row] = [
        .choice("mask", "What sets the person apart: an anchored cutoff, or a focus", \.matte.mask),
        .double(
            "focus", "Nearness about which a mask lies: 1/metres, or the share of full scale with depth-kind=relative",
            0...1, \.matte.focus),
        .double(
            "slope", "How steep a mask about a focus rises and falls, per unit of nearness", 0.1...100, \.matte.slope),
        .double("width", "Nearness over which a mask about a focus is full", 0...1, \.matte.width),
        .double("near", "Metres at or below which all is background; 0 = none", 0...100, \.matte.near),
        .double(
            "feather-near", "Metres behind near over which the matte rises to full; 0 = a step", 0...5,
            \.matte.featherNear),
        .double(
            "feather-far", "Metres before the cutoff over which the matte falls to none; 0 = a step", 0...5,
            \.matte.featherFar),
        .bool(
            "invert", "Swap foreground and background, with method=threshold; what is not measured stays background",
            \.matte.invert),
    ]

    private static let smoothing: [Row] = [
        .double(
            "blur-radius", "Standard deviation of the Gaussian that softens the mask, in depth pixels; 0 = none",
            0...50, \.matte.blurRadius),
        .double(
            "gamma", "Exponent on the softened mask: below 1 widens the person, above 1 narrows", 0.01...10,
            \.matte.gamma),
        .choice("upscale", "How the mask is brought to the video's size", \.matte.upscale),
    ]

    private static let blend: [Row] = [
        .string(
            "background", "Path or file: URI of the picture or video behind the person; a video loops",
            \.background),
        .uint(
            "background-color", "Colour behind the person where there is no picture, 0xAARRGGBB", 0...UInt32.max,
            \.backgroundColor),
        .choice("background-mode", "What is behind the person", \.backgroundMode, isControllable: false),
        .choice("background-fit", "How a background of another shape fills the frame", \.backgroundFit),
        .double(
            "background-blur",
            "Standard deviation of the Gaussian of background-mode=blur, in pixels of a picture of 720 lines; 0 = none",
            0...100, \.backgroundBlur),
        .double(
            "background-blur-depth",
            "How much background-blur grows behind the person: 0 at their distance, all of it at infinity; 0 = not",
            0...100, \.backgroundBlurDepth),
        .double(
            "decontaminate", "How far pixels at the edge lose the colour of the old room, with method=fusion; 0 = not",
            0...1, \.edge.decontaminate),
        .double(
            "light-wrap", "How much of the background's light falls on the person's edge; 0 = none", 0...1,
            \.edge.lightWrap),
        .choice("view", "Which picture leaves the element", \.view),
        .choice("navigation", "What the mouse and keys of whoever sees the picture may do", \.navigation),
    ]

    private static let pairing: [Row] = [
        .time(
            "max-skew", "Nanoseconds that a frame and the depth map made for it may lie apart", 0...UInt(Int64.max),
            \.maxSkew),
        .time(
            "hold-time", "Nanoseconds for which the newest depth map serves later frames", 0...UInt(Int64.max),
            \.holdTime),
        .choice("on-missing-depth", "What becomes of a frame without depth", \.onMissingDepth),
        .time(
            "stats-interval", "Nanoseconds of video between two element messages \"stats\"; 0 = none",
            0...UInt(Int64.max), \.statsInterval),
        .choice("thermal", "What is made of a hot machine", \.thermal, isControllable: false),
        .uint(
            "max-pixels", "Pictures with more pixels are refused before memory is allocated for them",
            1...UInt32.max, \.maxPixels),
        .uint(
            "max-threads", "Threads that work on a large frame; 0 = as many as there are processors, at most 16",
            0...64,
            \.maxThreads),
    ]
}
