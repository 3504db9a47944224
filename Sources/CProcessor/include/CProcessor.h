#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

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

/// Copies like memcpy, but without reading the target's old bytes into the cache first, as stores of whole lines must
/// otherwise do: good for more than the cache would keep. `processor_finish_copies` comes before anybody else looks.
static inline void processor_copy_past_cache(void *target, const void *source, size_t count) {
#if defined(__SSE2__)
    uint8_t *to = target;
    const uint8_t *from = source;
    size_t head = -(uintptr_t)to & 63;
    if (head < count) {
        memcpy(to, from, head);
        to += head, from += head, count -= head;
        for (; count >= 64; to += 64, from += 64, count -= 64) {
            const __m128i *four = (const __m128i *)from;
            __m128i first = _mm_loadu_si128(four), second = _mm_loadu_si128(four + 1);
            __m128i third = _mm_loadu_si128(four + 2), fourth = _mm_loadu_si128(four + 3);
            _mm_stream_si128((__m128i *)to, first);
            _mm_stream_si128((__m128i *)to + 1, second);
            _mm_stream_si128((__m128i *)to + 2, third);
            _mm_stream_si128((__m128i *)to + 3, fourth);
        }
    }
    memcpy(to, from, count);
#else
    memcpy(target, source, count);
#endif
}

/// Puts all copies past the cache before whatever this thread stores next.
static inline void processor_finish_copies(void) {
#if defined(__SSE2__)
    _mm_sfence();
#endif
}
