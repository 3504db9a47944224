#include <gst/controller/controller.h>
#include <gst/video/video.h>
