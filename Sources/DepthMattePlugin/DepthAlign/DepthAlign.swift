import CGStreamer
import DepthKernels
import GstBridge

/// `depthalign`: registers depth maps to the color camera's view.
///
///     … ! depthalign calibration=camera.json ! matte.depth
enum DepthAlign {
    static let factory = "depthalign"

    /// Pad template caps: the depth formats that are written as well as read.
    static let caps: String = {
        let sizes = "width=(int)[ 1, 32768 ], height=(int)[ 1, 32768 ]"
        let rates = "framerate=(fraction)[ 0/1, 2147483647/1 ]"
        return "video/x-raw, format=(string){ GRAY16_LE, GRAY16_BE }, \(sizes), \(rates); "
            + "video/x-depth, format=(string)F32LE, \(sizes), \(rates)"
    }()

    static let definition = ElementDefinition(
        typeName: "GstDepthAlign",
        factory: factory,
        parent: .transform,
        longName: "Depth registration",
        klass: "Filter/Converter/Video",
        description: "Registers depth maps to the color camera's view, from the calibration of both cameras",
        log: DepthAlignElement.log,
        pads: [
            PadTemplate("sink", GST_PAD_SINK, .always, "Depth map as the depth camera sees it", caps: caps),
            PadTemplate("src", GST_PAD_SRC, .always, "Depth map as the color camera sees it", caps: caps),
        ],
        properties: DepthAlignProperties.all,
        defaults: DepthAlignSettings(),
        make: { DepthAlignElement($0) })
}
