// A program in Swift that plays a launch line, and counts the frames of its sink in a way that uses the runtime.
import CGStreamer

protocol Counting { mutating func count() }

struct Frames: Counting, CustomStringConvertible {
    var number = 0
    mutating func count() { number += 1 }
    var description: String { "\(number) frames" }
}

nonisolated(unsafe) var counters: [String: any Counting] = ["sink": Frames()]

gst_init(nil, nil)
guard let pipeline = gst_parse_launch(CommandLine.arguments[1], nil) else { fatalError("bad launch line") }
let bin = UnsafeMutableRawPointer(pipeline).assumingMemoryBound(to: GstBin.self)
guard let sink = gst_bin_get_by_name(bin, "fakesink0"), let pad = gst_element_get_static_pad(sink, "sink") else {
    fatalError("no fakesink")
}
gst_pad_add_probe(
    pad, GST_PAD_PROBE_TYPE_BUFFER,
    { _, _, _ in
        counters["sink"]?.count()
        return GST_PAD_PROBE_OK
    }, nil, nil)
gst_element_set_state(pipeline, GST_STATE_PLAYING)
let types = GstMessageType(rawValue: GST_MESSAGE_EOS.rawValue | GST_MESSAGE_ERROR.rawValue)
let message = gst_bus_timed_pop_filtered(gst_element_get_bus(pipeline), 60_000_000_000, types)
gst_element_set_state(pipeline, GST_STATE_NULL)
if message?.pointee.type == GST_MESSAGE_EOS, let frames = counters["sink"] { print("ended with \(frames)") }
