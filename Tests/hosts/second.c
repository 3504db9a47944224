/* The plugin descriptor of a second plugin that is written in Swift: the element swiftsecond passes buffers, and shows each
 * to Swift. */

#include <gst/base/gstbasetransform.h>
#include <gst/gst.h>

#define PACKAGE "depthmatte-tests"

extern gboolean second_take (guint64 size); /* in second.swift */

typedef GstBaseTransform GstSwiftSecond;
typedef GstBaseTransformClass GstSwiftSecondClass;

GType gst_swift_second_get_type (void);
G_DEFINE_TYPE (GstSwiftSecond, gst_swift_second, GST_TYPE_BASE_TRANSFORM)

static GstStaticPadTemplate sink_template =
        GST_STATIC_PAD_TEMPLATE ("sink", GST_PAD_SINK, GST_PAD_ALWAYS, GST_STATIC_CAPS_ANY);
static GstStaticPadTemplate src_template =
        GST_STATIC_PAD_TEMPLATE ("src", GST_PAD_SRC, GST_PAD_ALWAYS, GST_STATIC_CAPS_ANY);

static GstFlowReturn
take (GstBaseTransform *self, GstBuffer *buffer)
{
    return second_take (gst_buffer_get_size (buffer)) ? GST_FLOW_OK : GST_FLOW_ERROR;
}

static void
gst_swift_second_class_init (GstSwiftSecondClass *klass)
{
    GstElementClass *element = GST_ELEMENT_CLASS (klass);
    klass->transform_ip = take;
    gst_element_class_add_static_pad_template (element, &sink_template);
    gst_element_class_add_static_pad_template (element, &src_template);
    gst_element_class_set_static_metadata (element, "Second", "Filter", "Shows buffers to Swift", "The tests");
}

static void
gst_swift_second_init (GstSwiftSecond *self)
{
    gst_base_transform_set_passthrough (self, FALSE);
    gst_base_transform_set_in_place (self, TRUE);
}

static gboolean
plugin_init (GstPlugin *plugin)
{
    return gst_element_register (plugin, "swiftsecond", GST_RANK_NONE, gst_swift_second_get_type ());
}

GST_PLUGIN_DEFINE (GST_VERSION_MAJOR, GST_VERSION_MINOR, swiftsecond, "A second plugin in Swift", plugin_init, "0.1.0",
                   "LGPL", PACKAGE, "https://example.org")
