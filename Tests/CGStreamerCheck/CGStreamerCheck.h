#pragma once

#include <gst/check/gstharness.h>
#include <gst/check/gsttestclock.h>
#include <gst/controller/controller.h>

#ifdef __GLIBC__
#include <malloc.h>
#endif

/// Gives the allocator's free memory back to the system, where it can.
static inline void release_free_memory(void) {
#ifdef __GLIBC__
    malloc_trim(0);
#endif
}
