/* What only the tests use.
 *
 * roiset, an element: it puts regions of interest on every buffer, as a detector would, and prints those of a stream.
 * It can leak a buffer and break a rule of the stream on purpose, so that the checks for both are themselves checked.
 * streamrules, a tracer: see CStreamRules.c. */

#define GST_USE_UNSTABLE_API

#include "CStreamRules.h"

#include <gst/base/gstbasetransform.h>
#include <gst/gst.h>
#include <gst/gsttracer.h>
#include <gst/video/video.h>
#include <stdio.h>

typedef struct {
    GstBaseTransform parent;
    gchar *rectangles;
    gchar *type;
    guint frame;
    gboolean print;
    gboolean leak;
    gboolean restart;
} GstRoiSet;

typedef struct {
    GstBaseTransformClass parent_class;
} GstRoiSetClass;

enum { PROP_RECTANGLES = 1, PROP_TYPE, PROP_PRINT, PROP_LEAK, PROP_RESTART };

GType gst_roi_set_get_type (void);
G_DEFINE_TYPE (GstRoiSet, gst_roi_set, GST_TYPE_BASE_TRANSFORM)

static GstStaticPadTemplate sink_template =
        GST_STATIC_PAD_TEMPLATE ("sink", GST_PAD_SINK, GST_PAD_ALWAYS, GST_STATIC_CAPS ("video/x-raw(ANY)"));
static GstStaticPadTemplate src_template =
        GST_STATIC_PAD_TEMPLATE ("src", GST_PAD_SRC, GST_PAD_ALWAYS, GST_STATIC_CAPS ("video/x-raw(ANY)"));

/* The regions of the frame, and after the last of the list those of the last. */
static void
gst_roi_set_add_regions (GstRoiSet *self, GstBuffer *buffer)
{
    gchar **frames = g_strsplit (self->rectangles ? self->rectangles : "", "|", -1);
    guint count = g_strv_length (frames);
    if (count > 0) {
        gchar **boxes = g_strsplit (frames[MIN (self->frame, count - 1)], ";", -1);
        for (gchar **box = boxes; *box; box++) {
            guint x, y, w, h;
            if (sscanf (*box, "%u,%u,%u,%u", &x, &y, &w, &h) == 4)
                gst_buffer_add_video_region_of_interest_meta (buffer, self->type, x, y, w, h);
        }
        g_strfreev (boxes);
    }
    g_strfreev (frames);
    self->frame++;
}

/* One line for a buffer: the element's name, the buffer's time, and x,y,w,h of each region. */
static void
gst_roi_set_print_regions (GstRoiSet *self, GstBuffer *buffer)
{
    GString *line = g_string_new (GST_OBJECT_NAME (self));
    g_string_append_printf (line, " %" G_GUINT64_FORMAT, GST_BUFFER_PTS (buffer));
    gpointer state = NULL;
    GstMeta *meta;
    while ((meta = gst_buffer_iterate_meta_filtered (buffer, &state, GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE))) {
        GstVideoRegionOfInterestMeta *region = (GstVideoRegionOfInterestMeta *) meta;
        g_string_append_printf (line, " %u,%u,%u,%u", region->x, region->y, region->w, region->h);
    }
    g_print ("%s\n", line->str);
    g_string_free (line, TRUE);
}

static GstFlowReturn
gst_roi_set_transform_ip (GstBaseTransform *base, GstBuffer *buffer)
{
    GstRoiSet *self = (GstRoiSet *) base;

    GST_OBJECT_LOCK (self);
    gst_roi_set_add_regions (self, buffer);
    if (self->print)
        gst_roi_set_print_regions (self, buffer);
    if (self->leak)
        gst_buffer_new ();
    gboolean restart = self->restart;
    GST_OBJECT_UNLOCK (self);
    if (restart)
        gst_pad_push_event (base->srcpad, gst_event_new_flush_stop (TRUE));
    return GST_FLOW_OK;
}

static void
gst_roi_set_set_property (GObject *object, guint id, const GValue *value, GParamSpec *pspec)
{
    GstRoiSet *self = (GstRoiSet *) object;

    GST_OBJECT_LOCK (self);
    switch (id) {
        case PROP_RECTANGLES:
            g_free (self->rectangles);
            self->rectangles = g_value_dup_string (value);
            break;
        case PROP_TYPE:
            g_free (self->type);
            self->type = g_value_dup_string (value);
            break;
        case PROP_PRINT:
            self->print = g_value_get_boolean (value);
            break;
        case PROP_LEAK:
            self->leak = g_value_get_boolean (value);
            break;
        case PROP_RESTART:
            self->restart = g_value_get_boolean (value);
            break;
        default:
            G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
    }
    GST_OBJECT_UNLOCK (self);
}

static void
gst_roi_set_finalize (GObject *object)
{
    GstRoiSet *self = (GstRoiSet *) object;

    g_free (self->rectangles);
    g_free (self->type);
    G_OBJECT_CLASS (gst_roi_set_parent_class)->finalize (object);
}

static void
gst_roi_set_class_init (GstRoiSetClass *klass)
{
    GObjectClass *object = (GObjectClass *) klass;
    GstElementClass *element = (GstElementClass *) klass;

    object->set_property = gst_roi_set_set_property;
    object->finalize = gst_roi_set_finalize;
    g_object_class_install_property (object, PROP_RECTANGLES,
            g_param_spec_string ("rectangles", "Rectangles", "x,y,w,h of each region, separated by semicolons; frames of a list are separated by |", "",
                    G_PARAM_WRITABLE | G_PARAM_STATIC_STRINGS));
    g_object_class_install_property (object, PROP_TYPE,
            g_param_spec_string ("type", "Type", "Type of the regions", "face",
                    G_PARAM_WRITABLE | G_PARAM_STATIC_STRINGS));
    g_object_class_install_property (object, PROP_PRINT,
            g_param_spec_boolean ("print", "Print", "Print each buffer's time and regions", FALSE,
                    G_PARAM_WRITABLE | G_PARAM_STATIC_STRINGS));
    g_object_class_install_property (object, PROP_LEAK,
            g_param_spec_boolean ("leak", "Leak", "Leak one buffer for each that passes", FALSE,
                    G_PARAM_WRITABLE | G_PARAM_STATIC_STRINGS));
    g_object_class_install_property (object, PROP_RESTART,
            g_param_spec_boolean ("restart", "Restart", "Send a flush-stop that no flush-start came before", FALSE,
                    G_PARAM_WRITABLE | G_PARAM_STATIC_STRINGS));
    gst_element_class_add_static_pad_template (element, &sink_template);
    gst_element_class_add_static_pad_template (element, &src_template);
    gst_element_class_set_static_metadata (element, "Region setter", "Filter/Video",
            "Puts regions of interest on buffers, for tests", "The gst-depthmatte authors");
    ((GstBaseTransformClass *) klass)->transform_ip = gst_roi_set_transform_ip;
}

static void
gst_roi_set_init (GstRoiSet *self)
{
    self->type = g_strdup ("face");
    gst_base_transform_set_in_place (GST_BASE_TRANSFORM (self), TRUE);
}

static gboolean
plugin_init (GstPlugin *plugin)
{
    return gst_element_register (plugin, "roiset", GST_RANK_NONE, gst_roi_set_get_type ())
            && gst_tracer_register (plugin, "streamrules", stream_rules_get_type ());
}

#define PACKAGE "gst-depthmatte"
GST_PLUGIN_DEFINE (GST_VERSION_MAJOR, GST_VERSION_MINOR, depthmattetest, "Elements for the tests of depthmatte",
        plugin_init, "0", "LGPL", "gst-depthmatte", "https://example.org")
