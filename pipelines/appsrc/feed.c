// Feeds a depth camera that depthcamsrc has no driver for to depthmatte, through two appsrcs.
//
//     cc feed.c -o feed $(pkg-config --cflags --libs gstreamer-app-1.0)
//     ./feed [NUMBER-OF-FRAMES [SINK]]
//
// NUMBER-OF-FRAMES -1, the default: until Ctrl-C. SINK is one or several elements of a launch line.

#include <gst/app/gstappsrc.h>
#include <gst/gst.h>
#include <signal.h>
#include <stdlib.h>

enum { WIDTH = 640, HEIGHT = 480, RATE = 30 };

// Stands in for the camera: put your SDK's call here. It waits for the next exposure and gives its picture, RGB in rows
// of 3 * WIDTH bytes, and its depth map in millimetres, 0 = not measured, registered to the picture. (Rows of a length
// that 4 does not divide must be padded to the next multiple of 4.) FALSE ends the stream.
static gboolean capture(gint64 number, guint8 *rgb, guint16 *depth) {
    g_usleep(G_USEC_PER_SEC / RATE);
    int left = 200 + (int)(number % 40);
    for (int y = 0; y < HEIGHT; y++)
        for (int x = 0; x < WIDTH; x++) {
            gboolean person = y >= 100 && x >= left && x < left + 200;
            guint8 *pixel = rgb + 3 * (y * WIDTH + x);
            pixel[0] = person ? 200 : 90;
            pixel[1] = person ? 120 : 90;
            pixel[2] = person ? 60 : 90;
            depth[y * WIDTH + x] = GUINT16_TO_LE(person ? 900 : 3000);
        }
    return TRUE;
}

// Gives the memory to the stream, which frees it.
static gboolean push(GstAppSrc *source, gpointer bytes, gsize size, GstClockTime time) {
    GstBuffer *buffer = gst_buffer_new_wrapped(bytes, size);
    GST_BUFFER_PTS(buffer) = time;
    GST_BUFFER_DURATION(buffer) = GST_SECOND / RATE;
    return gst_app_src_push_buffer(source, buffer) == GST_FLOW_OK;
}

// The next message that ends the stream; NULL where none came in time. The caller frees it.
static GstMessage *last_message(GstBus *bus, GstClockTime timeout) {
    return gst_bus_timed_pop_filtered(bus, timeout, GST_MESSAGE_ERROR | GST_MESSAGE_EOS);
}

static volatile sig_atomic_t stopped;
static void stop(int signal) { stopped = signal; }

int main(int argc, char **argv) {
    gst_init(&argc, &argv);
    gint64 frames = argc > 1 ? g_ascii_strtoll(argv[1], NULL, 10) : -1;
    // is-live: frames come when the camera has them. min-latency: the longest time from exposure to push.
    // leaky-type: where downstream is too slow, the oldest frames go, and memory does not grow.
    const char *live = "is-live=true format=time min-latency=33333333 leaky-type=downstream max-buffers=4 max-bytes=0";
    char *line = g_strdup_printf(
        "appsrc name=video %s caps=video/x-raw,format=RGB,width=%d,height=%d,framerate=%d/1 "
        "! depthmatte name=matte background-color=0xff2060a0 ! videoconvert ! %s "
        "appsrc name=depth %s caps=video/x-raw,format=GRAY16_LE,width=%d,height=%d,framerate=%d/1 ! matte.depth",
        live, WIDTH, HEIGHT, RATE, argc > 2 ? argv[2] : "autovideosink", live, WIDTH, HEIGHT, RATE);
    GError *error = NULL;
    GstElement *pipeline = gst_parse_launch_full(line, NULL, GST_PARSE_FLAG_FATAL_ERRORS, &error);
    g_free(line);
    if (!pipeline) {
        g_printerr("%s\n", error->message);
        g_error_free(error);
        return EXIT_FAILURE;
    }
    GstAppSrc *video = GST_APP_SRC(gst_bin_get_by_name(GST_BIN(pipeline), "video"));
    GstAppSrc *depth = GST_APP_SRC(gst_bin_get_by_name(GST_BIN(pipeline), "depth"));
    GstBus *bus = gst_element_get_bus(pipeline);
    GstMessage *message = NULL;
    signal(SIGINT, stop);

    gst_element_set_state(pipeline, GST_STATE_PLAYING);
    for (gint64 number = 0; number != frames && !stopped && !(message = last_message(bus, 0)); number++) {
        guint8 *rgb = g_malloc(3 * WIDTH * HEIGHT);
        guint16 *map = g_malloc(2 * WIDTH * HEIGHT);
        if (!capture(number, rgb, map)) {
            g_free(rgb);
            g_free(map);
            break;
        }
        // One time for both, so that they are paired: do-timestamp would give each its own. Subtract the age of the
        // exposure where the SDK tells it. The depth goes first: the picture then waits for nothing.
        GstClockTime time = gst_element_get_current_running_time(pipeline);
        gboolean is_flowing = push(depth, map, 2 * WIDTH * HEIGHT, time);
        if (!push(video, rgb, 3 * WIDTH * HEIGHT, time) || !is_flowing) break;
    }
    // EOS goes through the pipeline, so that a file is finished; an error comes instead of it.
    gst_app_src_end_of_stream(depth);
    gst_app_src_end_of_stream(video);
    if (!message) message = last_message(bus, GST_CLOCK_TIME_NONE);
    gboolean has_failed = GST_MESSAGE_TYPE(message) == GST_MESSAGE_ERROR;
    if (has_failed) {
        gst_message_parse_error(message, &error, NULL);
        g_printerr("%s: %s\n", GST_MESSAGE_SRC_NAME(message), error->message);
        g_error_free(error);
    }
    gst_message_unref(message);
    gst_element_set_state(pipeline, GST_STATE_NULL);
    gst_object_unref(bus);
    gst_object_unref(depth);
    gst_object_unref(video);
    gst_object_unref(pipeline);
    gst_deinit();
    return has_failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
