#pragma once

// By its path, so that the types here are those of the module CGStreamer and not a second set of the same.
#include "../../../Sources/CGStreamer/CGStreamer.h"

#ifndef __clang__
#define _Nonnull
#endif

/* The tracer, for whoever registers it with a plugin under a name. */
GType stream_rules_get_type (void);

/* Watches every pad of the process from now on. */
void stream_rules_start (void);

/* Violations on this pad are kept from now on, and no longer criticals. */
void stream_rules_keep (GstPad *_Nonnull pad);

/* What was kept since the last call, separated by "; "; the caller frees it. */
gchar *_Nonnull stream_rules_take (GstPad *_Nonnull pad);
