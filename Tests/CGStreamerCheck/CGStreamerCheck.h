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

/// Fills memory with a byte's complement when it is taken, and with the byte when it is given back, where that can be
/// had; 0 stops that.
static inline void fill_new_memory(int byte) {
#ifdef __GLIBC__
    mallopt(M_PERTURB, byte);
#endif
}
