/* Records a composite for two seconds. Meanwhile it changes the background, moves the cutoff, asks for a depth, reads stats.
 *     cc embed.c -o embed $(pkg-config --cflags --libs gstreamer-video-1.0 gstreamer-controller-1.0)
 *     ./embed OUTPUT BACKGROUND */
#include <gst/controller/controller.h>
#include <gst/video/video.h>

static const char *background;
static GMainLoop *loop;
static GstElement *pipeline, *matte;

static gboolean on_message(GstBus *bus, GstMessage *message, gpointer data) {
    const GstStructure *structure = gst_message_get_structure(message);
    double x, y, metres;
    if (GST_MESSAGE_TYPE(message) == GST_MESSAGE_ERROR) g_error("%s", gst_structure_to_string(structure));
    if (GST_MESSAGE_TYPE(message) == GST_MESSAGE_EOS) g_main_loop_quit(loop);
    if (structure && gst_structure_has_name(structure, "depth-probe")
        && gst_structure_get(structure, "x", G_TYPE_DOUBLE, &x, "y", G_TYPE_DOUBLE, &y, "metres", G_TYPE_DOUBLE, &metres, NULL))
        g_print("depth at (%.0f, %.0f): %.2f m\n", x, y, metres);
    return TRUE;
}

static gboolean after_a_second(gpointer data) {
    GstStructure *stats;
    guint64 frames = 0;
    double coverage = 0;
    g_object_set(matte, "background", background, NULL);
    g_object_get(matte, "stats", &stats, NULL);
    gst_structure_get(stats, "frames", G_TYPE_UINT64, &frames, "coverage", G_TYPE_DOUBLE, &coverage, NULL);
    gst_structure_free(stats);
    g_print("frames: %" G_GUINT64_FORMAT ", coverage: %.2f\n", frames, coverage);
    /* A sink with a window sends such events itself. */
    gst_element_send_event(pipeline, gst_navigation_event_new_mouse_button_press(1, 320, 250, 0));
    return FALSE;
}

int main(int argc, char **argv) {
    gst_init(&argc, &argv);
    if (argc != 3) g_error("usage: embed OUTPUT BACKGROUND");
    background = argv[2];
    pipeline = gst_parse_launch(
        "depthtestsrc name=camera is-live=true num-buffers=60 camera.video "
        "! video/x-raw,width=640,height=360,framerate=30/1 "
        "! depthmatte name=matte anchor=fixed background-color=0xff00ff00 ! videoconvert ! queue "
        "! vp8enc deadline=1 cpu-used=16 ! matroskamux ! filesink name=file camera.depth ! matte.depth", NULL);
    matte = gst_bin_get_by_name(GST_BIN(pipeline), "matte");
    gst_util_set_object_arg(G_OBJECT(gst_bin_get_by_name(GST_BIN(pipeline), "file")), "location", argv[1]);
    /* The cutoff moves from 0.4 m to 1.5 m within the first second: every property but a few is controllable. */
    GstControlSource *curve = gst_interpolation_control_source_new();
    g_object_set(curve, "mode", GST_INTERPOLATION_MODE_LINEAR, NULL);
    gst_timed_value_control_source_set(GST_TIMED_VALUE_CONTROL_SOURCE(curve), 0, 0.4);
    gst_timed_value_control_source_set(GST_TIMED_VALUE_CONTROL_SOURCE(curve), GST_SECOND, 1.5);
    gst_object_add_control_binding(
        GST_OBJECT(matte), gst_direct_control_binding_new_absolute(GST_OBJECT(matte), "cutoff", curve));
    loop = g_main_loop_new(NULL, FALSE);
    gst_bus_add_watch(gst_element_get_bus(pipeline), on_message, NULL);
    g_timeout_add(1000, after_a_second, NULL);
    gst_element_set_state(pipeline, GST_STATE_PLAYING);
    g_main_loop_run(loop);
    gst_element_set_state(pipeline, GST_STATE_NULL);
}
