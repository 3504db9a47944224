/* A program that derives types from every element of the plugin, and plays a launch line with them:
 *
 *     derived LEVELS LINE
 *
 * derived-depthmatte is of a type that is LEVELS types below that of depthmatte. Exits with 0 where the stream came to its end. */

#include <gst/gst.h>
#include <stdio.h>
#include <stdlib.h>

static GType
derive (GType parent, int levels)
{
    for (; levels > 0; levels--) {
        GTypeQuery query;
        g_type_query (parent, &query);
        gchar *name = g_strdup_printf ("Derived%s", query.type_name);
        GTypeInfo info = { .class_size = query.class_size, .instance_size = query.instance_size };
        parent = g_type_register_static (parent, name, &info, 0);
        g_free (name);
    }
    return parent;
}

int
main (int argc, char **argv)
{
    if (argc != 3) {
        fprintf (stderr, "usage: derived LEVELS LINE\n");
        return 2;
    }
    gst_init (NULL, NULL);
    GList *features = gst_registry_get_feature_list_by_plugin (gst_registry_get (), "depthmatte");
    for (GList *item = features; item; item = item->next) {
        if (!GST_IS_ELEMENT_FACTORY (item->data)) continue;
        GstPluginFeature *factory = gst_plugin_feature_load (item->data);
        gchar *name = g_strdup_printf ("derived-%s", GST_OBJECT_NAME (factory));
        GType type = gst_element_factory_get_element_type (GST_ELEMENT_FACTORY (factory));
        gst_element_register (NULL, name, GST_RANK_NONE, derive (type, atoi (argv[1])));
        g_free (name);
        gst_object_unref (factory);
    }
    gst_plugin_feature_list_free (features);

    GError *error = NULL;
    GstElement *pipeline = gst_parse_launch (argv[2], &error);
    if (error) {
        fprintf (stderr, "%s\n", error->message);
        return 2;
    }
    gst_element_set_state (pipeline, GST_STATE_PLAYING);
    GstBus *bus = gst_element_get_bus (pipeline);
    GstMessage *message = gst_bus_timed_pop_filtered (bus, 60 * GST_SECOND, GST_MESSAGE_EOS | GST_MESSAGE_ERROR);
    gboolean is_good = message && GST_MESSAGE_TYPE (message) == GST_MESSAGE_EOS;
    if (message && !is_good) {
        gst_message_parse_error (message, &error, NULL);
        fprintf (stderr, "%s\n", error->message);
    }
    g_clear_pointer (&message, gst_message_unref);
    gst_element_set_state (pipeline, GST_STATE_NULL);
    gst_object_unref (bus);
    gst_object_unref (pipeline);
    return is_good ? 0 : 1;
}
