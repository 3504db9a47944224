// Records a composite for two seconds. Meanwhile it changes the background, moves the cutoff, asks for a depth, reads stats.
//
//     swiftc main.swift -o embed -I . \
//         $(pkg-config --cflags gstreamer-video-1.0 gstreamer-controller-1.0 | sed 's/\(^\| \)-/ -Xcc -/g') \
//         $(pkg-config --libs gstreamer-video-1.0 gstreamer-controller-1.0)
//     ./embed OUTPUT BACKGROUND
import CGStreamer

guard CommandLine.arguments.count == 3 else { fatalError("usage: embed OUTPUT BACKGROUND") }
gst_init(nil, nil)
let line =
    """
    depthtestsrc name=camera is-live=true num-buffers=60 camera.video ! video/x-raw,width=640,height=360,framerate=30/1
    ! depthmatte name=matte anchor=fixed background-color=0xff00ff00 ! videoconvert ! queue
    ! vp8enc deadline=1 cpu-used=16 ! matroskamux ! filesink name=file camera.depth ! matte.depth
    """
guard let pipeline = gst_parse_launch(line, nil), let curve = gst_interpolation_control_source_new() else {
    fatalError("GStreamer has not all of the elements")
}

func element(_ name: String) -> UnsafeMutablePointer<GstElement> {
    gst_bin_get_by_name(UnsafeMutableRawPointer(pipeline).assumingMemoryBound(to: GstBin.self), name)
}
let matte = element("matte")
gst_util_set_object_arg(object(element("file")), "location", CommandLine.arguments[1])
// Swift sees no casts of GObject: the same pointer, as another class of the object.
func object(_ element: UnsafeMutablePointer<GstElement>) -> UnsafeMutablePointer<GObject> {
    UnsafeMutableRawPointer(element).assumingMemoryBound(to: GObject.self)
}
func text(_ structure: UnsafePointer<GstStructure>) -> String { String(cString: gst_structure_to_string(structure)) }
// The cutoff moves from 0.4 m to 1.5 m within the first second: every property but a few is controllable.
gst_util_set_object_arg(UnsafeMutableRawPointer(curve).assumingMemoryBound(to: GObject.self), "mode", "linear")
UnsafeMutableRawPointer(curve).withMemoryRebound(to: GstTimedValueControlSource.self, capacity: 1) {
    gst_timed_value_control_source_set($0, 0, 0.4)
    gst_timed_value_control_source_set($0, 1_000_000_000, 1.5)
}
UnsafeMutableRawPointer(matte).withMemoryRebound(to: GstObject.self, capacity: 1) {
    _ = gst_object_add_control_binding($0, gst_direct_control_binding_new_absolute($0, "cutoff", curve))
}
gst_element_set_state(pipeline, GST_STATE_PLAYING)
let bus = gst_element_get_bus(pipeline)
var isChanged = false
while true {
    guard let message = gst_bus_timed_pop(bus, isChanged ? .max : 1_000_000_000) else {
        isChanged = true
        gst_util_set_object_arg(object(matte), "background", CommandLine.arguments[2])
        var stats = GValue()
        g_object_get_property(object(matte), "stats", &stats)
        print(text(g_value_get_boxed(&stats).assumingMemoryBound(to: GstStructure.self)))
        // A sink with a window sends such events itself.
        let click = gst_navigation_event_new_mouse_button_press(1, 320, 250, GST_NAVIGATION_MODIFIER_NONE)
        gst_element_send_event(pipeline, click)
        continue
    }
    if message.pointee.type == GST_MESSAGE_EOS || message.pointee.type == GST_MESSAGE_ERROR { break }
    if let structure = gst_message_get_structure(message), gst_structure_has_name(structure, "depth-probe") != 0 {
        print(text(structure))
    }
}
gst_element_set_state(pipeline, GST_STATE_NULL)
