import DepthKernels
import GstBridge

/// The properties of `depthmatte`, in the order in which the matte is made.
enum DepthMatteProperties {
    typealias Row = Property<DepthMatteSettings>

    static let all: [Row] = Row.depthRows + lens + anchor + method + threshold + smoothing + blend + pairing

    private static let lens: [Row] = [
        .double(
            "depth-fov",
            "Field of view of the depth map along its longer side, in degrees; 0 = as the calibration in the depth caps "
                + "says, 60 where there is none", 0...157, \.matte.depth.fieldOfView)
    ]

    private static let anchor: [Row] = [
        .choice("anchor", "Source of the cutoff distance", \.matte.anchor.mode),
        .double(
            "anchor-x", "Anchor point with anchor=point: 0 = left edge of the video, 1 = right edge", 0...1,
            \.matte.anchor.x
        ),
        .double(
            "anchor-y", "Anchor point with anchor=point: 0 = top edge of the video, 1 = bottom edge", 0...1,
            \.matte.anchor.y
        ),
        .choice("face-select", "Face that sets the cutoff if there are several", \.matte.anchor.faceSelect),
        .string(
            "face-types",
            "Labels that mark faces, separated by commas: types of GstVideoRegionOfInterestMeta and of GstAnalyticsODMtd",
            \.matte.anchor.faceTypes),
        .string(
            "person-types",
            "Labels that mark whole people, separated by commas; they set the anchor where there is no face",
            \.matte.anchor.personTypes),
        .double(
            "margin", "Distance of the cutoff behind the anchor, in metres; of relative depth in anchor distances",
            0...10, \.matte.anchor.margin),
        .double(
            "cutoff", "Distance beyond which everything is background, in metres, where no anchor sets it", 0...100,
            \.matte.cutoff),
        .double(
            "anchor-smoothing",
            "Time constant of the low-pass filter on the anchor's distance, in seconds; 0 = no filter", 0...10,
            \.matte.anchor.smoothing),
    ]

    private static let method: [Row] = [
        .choice("method", "Algorithm that makes the matte", \.matte.method),
        .double(
            "settle",
            "Temporal smoothing where the picture is still, with method=fusion: share of the previous matte that is "
                + "kept; "
                + "0 = none",
            0...1,
            \.matte.settle),
        .double(
            "segmentation-weight",
            "Weight of a network's mask relative to color, with method=fusion; 0 = ignored, 1 = full log odds",
            0...1,
            \.matte.segmentationWeight),
        .choice(
            "subject", "Foreground objects that are kept, with method=fusion and anchor=auto, face or head",
            \.matte.subject),
        .choice("detail", "Resolution at which method=fusion works", \.matte.detail),
        .choice(
            "room-memory",
            "Memory of the room behind the person, with method=fusion and a camera that stands still: the signal capture-room "
                + "fills it", \.matte.room),
        .string(
            "room-picture",
            "Path or file: URI of a picture of the room without anybody, as the camera sees it and as large as the video, with "
                + "room-memory=learn or keep", \.roomPicture),
    ]

    private static let threshold: [Row] = [
        .choice("mask", "Shape of the depth range that is kept", \.matte.mask),
        .double(
            "focus",
            "Center of mask=high-pass and band-pass as 1/metres, or as share of full scale with depth-kind=relative; "
                + "larger is nearer",
            0...1, \.matte.focus),
        .double(
            "slope", "Steepness of the edges of mask=high-pass and band-pass, in alpha per 1/metre", 0.1...100,
            \.matte.slope),
        .double("width", "Width of the fully kept range of mask=band-pass, in 1/metres", 0...1, \.matte.width),
        .double(
            "near", "Distance up to which everything is background, in metres; 0 = no near limit", 0...100, \.matte.near
        ),
        .double(
            "feather-near",
            "Distance behind near over which alpha rises from 0 to 1, in metres; 0 = hard edge"
                + notForFusion, 0...5,
            \.matte.featherNear),
        .double(
            "feather-far",
            "Distance before the cutoff over which alpha falls from 1 to 0, in metres; 0 = hard edge"
                + notForFusion,
            0...5,
            \.matte.featherFar),
        .bool(
            "invert", "Swap foreground and background, with method=threshold; unmeasured samples stay background",
            \.matte.invert),
    ]

    private static let smoothing: [Row] = [
        .double(
            "blur-radius",
            "Standard deviation of the Gaussian blur of the mask, in depth pixels; 0 = no blur" + notForFusion,
            0...50, \.matte.blurRadius),
        .double(
            "gamma",
            "Exponent applied to the blurred mask: below 1 widens the person, above 1 narrows them" + notForFusion,
            0.01...10,
            \.matte.gamma),
        .choice("upscale", "Interpolation from the depth map's size to the video's" + notForFusion, \.matte.upscale),
    ]

    /// Ends the description of a property of the threshold.
    private static let notForFusion = " (not used by method=fusion with mask=cutoff)"

    private static let blend: [Row] = [
        .string(
            "background", "Path or file: URI of the background picture or video; animations and videos loop",
            \.background),
        .bool(
            "allow-remote",
            "Accept http: and https: URIs as background; the file is downloaded whole before it is shown",
            \.allowsRemote, onlyBeforeStart: true),
        .uint(
            "background-color",
            "Background color as 0xAARRGGBB, where no other background is shown; 0xff00ff00 is opaque green, and "
                + "0x00ff00 "
                + "has alpha 0: it is transparent in formats with alpha", 0...UInt32.max,
            \.backgroundColor),
        .choice("background-mode", "Background behind the person", \.backgroundMode, isControllable: false),
        .choice("background-fit", "Fit of a background of another aspect ratio", \.backgroundFit),
        .double(
            "background-blur",
            "Strength of background-mode=blur: standard deviation of the Gaussian, in pixels of a picture of 720 "
                + "lines; "
                + "0 = no blur",
            0...100, \.backgroundBlur),
        .double(
            "background-blur-depth",
            "Blur added to background-blur by distance: none at the person's distance, all of it at infinity; in the "
                + "same pixels, 0 = none",
            0...100, \.backgroundBlurDepth),
        .double(
            "decontaminate",
            "Removal of the real background's color from the person's edge, with method=fusion; 0 = none, 1 = full",
            0...1, \.edge.decontaminate),
        .double(
            "light-wrap", "Light of the background on the person's edge; 0 = none, 1 = full", 0...1,
            \.edge.lightWrap),
        .choice("view", "Output picture", \.view),
        .bool(
            "attach-matte",
            "Attach the matte to each output buffer as DepthMatteMeta, and as GstAnalyticsSegmentationMtd where "
                + "GStreamer has it; the followed head as GstVideoRegionOfInterestMeta of type \"head\"",
            \.attachesMatte),
        .choice("navigation", "Effect of mouse and key events from the video sink", \.navigation),
    ]

    private static let pairing: [Row] =
        Row.depthPairing(offset: \.depthTimeOffset, maxSkew: \.maxSkew, holdTime: \.holdTime) + [
            .choice(
                "depth-sync",
                "Measurement from the pictures of how late depth is and how far it lies beside the video, with "
                    + "method=fusion", \.depthSync),
            .choice("on-missing-depth", "Treatment of video frames without depth", \.onMissingDepth),
            .time(
                "stats-interval", "Interval of the element message \"stats\", in nanoseconds of video; 0 = no messages",
                0...UInt(Int64.max), \.statsInterval),
            .choice("thermal", "Reaction to overheating", \.thermal, isControllable: false),
            .uint(
                "max-pixels", "Largest picture accepted on any pad or from a file, in pixels",
                1...UInt32.max, \.maxPixels),
            .uint(
                "max-threads", "Number of threads for large frames; 0 = number of processors, at most 16",
                0...64,
                \.maxThreads),
        ]
}
