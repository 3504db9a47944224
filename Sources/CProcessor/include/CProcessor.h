#pragma once

#include <stdbool.h>
#include <stdint.h>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

/// Whether this processor runs what is compiled for x86-64-v3 (AVX2, BMI, FMA, F16C, MOVBE).
static inline bool processor_has_x86_64_v3(void) {
#if defined(__x86_64__)
    return __builtin_cpu_supports("x86-64-v3");
#else
    return false;
#endif
}

/// Says that this thread waits for another one's store, and leaves what it can of the core to others.
static inline void processor_relax(void) {
#if defined(__SSE2__)
    _mm_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

/// Asks for a line of the cache that will be changed soon. The address need not be any.
static inline void processor_prefetch_for_change(uintptr_t address) { __builtin_prefetch((const void *)address, 1, 3); }

/// Asks for a line of the cache that will be read soon. The address need not be any.
static inline void processor_prefetch_for_reading(uintptr_t address) { __builtin_prefetch((const void *)address, 0, 3); }

/// Asks for a line of the cache that will be needed after some others: it waits in the second cache, and is no burden to the
/// first. The address need not be any.
static inline void processor_prefetch_for_later(uintptr_t address) { __builtin_prefetch((const void *)address, 0, 2); }

/// Puts all copies past the cache before whatever this thread stores next.
static inline void processor_finish_copies(void) {
#if defined(__SSE2__)
    _mm_sfence();
#endif
}

/// Some of 1024 processors, one bit for each.
typedef struct {
    uint64_t words[16];
} ProcessorSet;

/// Which processors this thread may use; false where the system does not tell.
bool processor_get_affinity(ProcessorSet *_Nonnull set);

/// Has a thread, by the system's number of it, use these processors alone; false where that cannot be.
bool processor_set_affinity(int32_t thread, const ProcessorSet *_Nonnull set);
