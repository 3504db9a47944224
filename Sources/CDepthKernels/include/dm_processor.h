#pragma once

#include <stdbool.h>
#include <stdint.h>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

/// True where this processor runs code compiled for x86-64-v3 (AVX2, BMI, FMA, F16C, MOVBE).
static inline bool dm_has_x86_64_v3(void) {
#if defined(__x86_64__)
    return __builtin_cpu_supports("x86-64-v3");
#else
    return false;
#endif
}

/// A hint in a spin loop, which leaves the core's resources to its other hardware thread.
static inline void dm_relax(void) {
#if defined(__SSE2__)
    _mm_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

/// Prefetches a cache line for writing. The address may be invalid.
static inline void dm_prefetch_for_writing(uintptr_t address) { __builtin_prefetch((const void *)address, 1, 3); }

/// Prefetches a cache line for reading. The address may be invalid.
static inline void dm_prefetch_for_reading(uintptr_t address) { __builtin_prefetch((const void *)address, 0, 3); }

/// Orders all non-temporal stores before this thread's next store.
static inline void dm_finish_copies(void) {
#if defined(__SSE2__)
    _mm_sfence();
#endif
}

/// A set of up to 1024 processors, one bit for each.
typedef struct {
    uint64_t words[16];
} dm_processor_set;

/// Gets the processors that this thread may run on; false where the system does not support it.
bool dm_get_affinity(dm_processor_set *_Nonnull set);

/// Restricts a thread, given by its kernel thread id, to these processors; false where that is not possible.
bool dm_set_affinity(int32_t thread, const dm_processor_set *_Nonnull set);
