/* A program that plays a launch line without a main loop, and ends as it is told:
 *
 *     host deinit|exit|playing LINE
 *
 * deinit: the pipeline is taken down, and GStreamer too. exit: the pipeline is taken down. playing: it is not.
 * Exits with 0 where the stream came to its end; "playing" waits for a first frame only. */

#include <gst/gst.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int
main (int argc, char **argv)
{
    if (argc != 3) {
        fprintf (stderr, "usage: host deinit|exit|playing LINE\n");
        return 2;
    }
    gst_init (NULL, NULL);
    GError *error = NULL;
    GstElement *pipeline = gst_parse_launch (argv[2], &error);
    if (error) {
        fprintf (stderr, "%s\n", error->message);
        return 2;
    }
    GstBus *bus = gst_element_get_bus (pipeline);
    GstMessageType awaited =
            strcmp (argv[1], "playing") == 0 ? GST_MESSAGE_ASYNC_DONE : GST_MESSAGE_EOS;
    gst_element_set_state (pipeline, GST_STATE_PLAYING);
    GstMessage *message = gst_bus_timed_pop_filtered (bus, 60 * GST_SECOND, awaited | GST_MESSAGE_ERROR);
    gboolean is_good = message && GST_MESSAGE_TYPE (message) == awaited;
    g_clear_pointer (&message, gst_message_unref);
    if (strcmp (argv[1], "playing") == 0)
        exit (is_good ? 0 : 1);
    gst_element_set_state (pipeline, GST_STATE_NULL);
    gst_object_unref (bus);
    gst_object_unref (pipeline);
    if (strcmp (argv[1], "deinit") == 0)
        gst_deinit ();
    return is_good ? 0 : 1;
}
