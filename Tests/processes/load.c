/* Loads the plugin, makes each of its elements, takes it to READY and back, and drops it; then ends GStreamer. The status
 * says whether all that went well. With a number that is a multiple of 50 the registry is removed first, so that it is made
 * anew while other processes use it. */

#include <gst/gst.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static const char *const factories[] = {
    "depthmatte", "depthtestsrc", "depthcolorize", "depthcloud", "depthalign", "depthcamsrc",
};

static int
use (const char *factory)
{
    GstElement *element = gst_element_factory_make (factory, NULL);

    if (!element) {
        fprintf (stderr, "no element %s\n", factory);
        return 1;
    }
    /* Without a camera, one element has nothing to get ready. */
    if (gst_element_set_state (element, GST_STATE_READY) == GST_STATE_CHANGE_FAILURE
            && !g_str_equal (factory, "depthcamsrc")) {
        fprintf (stderr, "%s does not get ready\n", factory);
        return 1;
    }
    gst_element_set_state (element, GST_STATE_NULL);
    if (GST_OBJECT_REFCOUNT_VALUE (element) != 1) {
        fprintf (stderr, "%s is kept by somebody\n", factory);
        return 1;
    }
    gst_object_unref (element);
    return 0;
}

int
main (int argc, char **argv)
{
    const char *registry = getenv ("GST_REGISTRY");
    int faults = 0;

    if (argc > 1 && registry && atoi (argv[1]) % 50 == 0)
        unlink (registry);
    gst_init (NULL, NULL);
    for (size_t i = 0; i < G_N_ELEMENTS (factories); i++)
        faults += use (factories[i]);
    gst_deinit ();
    return faults != 0;
}
