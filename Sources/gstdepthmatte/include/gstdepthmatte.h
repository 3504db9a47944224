// Programs use the plugin through GStreamer; there is nothing to include.
#pragma once
