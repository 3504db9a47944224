import CGStreamer
import DepthKernels
import GstBridge

/// `depthalign`: registers depth maps to the color camera's view.
///
///     … ! depthalign calibration=camera.json ! matte.depth
enum DepthAlign {
    static let factory = "depthalign"

    static let definition = ElementDefinition(
        typeName: "GstDepthAlign",
        factory: factory,
        parent: .transform,
        longName: "Depth registration",
        klass: "Filter/Converter/Video",
        description: "Registers depth maps to the color camera's view, from the calibration of both cameras",
        log: DepthAlignElement.log,
        pads: [
            PadTemplate(
                "sink", GST_PAD_SINK, .always, "Depth map as the depth camera sees it", caps: DepthFormat.writtenCaps),
            PadTemplate(
                "src", GST_PAD_SRC, .always, "Depth map as the color camera sees it", caps: DepthFormat.writtenCaps),
        ],
        properties: DepthAlignProperties.all,
        defaults: DepthAlignSettings(),
        make: { DepthAlignElement($0) })
}
