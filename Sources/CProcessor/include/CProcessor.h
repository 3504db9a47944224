#pragma once

#include <stdbool.h>

/// Whether this processor runs what is compiled for x86-64-v3 (AVX2, BMI, FMA, F16C, MOVBE).
static inline bool processor_has_x86_64_v3(void) {
#if defined(__x86_64__)
    return __builtin_cpu_supports("x86-64-v3");
#else
    return false;
#endif
}
