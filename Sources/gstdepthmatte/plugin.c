// The plugin's descriptor: a static structure that GStreamer finds by its symbol, which only C can lay out.
#include "CDepthMatte.h"

#define PACKAGE "gst-depthmatte"
#define ORIGIN "https://github.com/gst-depthmatte/gst-depthmatte"

GST_PLUGIN_DEFINE(GST_VERSION_MAJOR, GST_VERSION_MINOR, depthmatte, "Matting of video by its depth",
                  depthmatte_register_elements, DEPTHMATTE_VERSION, "LGPL", PACKAGE, ORIGIN)
