#pragma once

// Comparisons of many samples at once, with one bit for each, the first one lowest. Every processor with vectors has
// instructions for that, which compilers find in vectors of `bool`, and Swift has no such vectors.

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/// Which of 64 little-endian counts, aligned or not, lie 0...`span` behind `first`.
static inline uint64_t comparison_bits_of_counts(const void *counts, uint16_t first, uint16_t span) {
    uint64_t bits = 0;
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    typedef uint16_t Counts __attribute__((ext_vector_type(32)));
    typedef bool Answers __attribute__((ext_vector_type(32)));
    for (int half = 0; half < 2; half++) {
        Counts loaded;
        memcpy(&loaded, (const char *)counts + 64 * half, sizeof loaded);
        // One comparison for both ends: counts below the first wrap around to large numbers.
        Answers inside = __builtin_convertvector(loaded - first <= (Counts)span, Answers);
        uint32_t answers;
        memcpy(&answers, &inside, sizeof answers);
        bits |= (uint64_t)answers << 32 * half;
    }
#else
    const uint8_t *bytes = counts;
    for (int index = 0; index < 64; index++) {
        uint16_t count = (uint16_t)(bytes[2 * index] | bytes[2 * index + 1] << 8);
        bits |= (uint64_t)((uint16_t)(count - first) <= span) << index;
    }
#endif
    return bits;
}

/// A bit for each of 16 numbers.
typedef struct {
    uint16_t at_most;
    uint16_t at_least;
} ComparisonBits;

/// Which of 16 numbers, aligned or not, are `low` or less, and which are `high` or more.
static inline ComparisonBits comparison_bits_of_floats(const float *numbers, float low, float high) {
    ComparisonBits bits = {0, 0};
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    typedef float Numbers __attribute__((ext_vector_type(16)));
    typedef bool Answers __attribute__((ext_vector_type(16)));
    Numbers loaded;
    memcpy(&loaded, numbers, sizeof loaded);
    Answers below = __builtin_convertvector(loaded <= low, Answers);
    Answers above = __builtin_convertvector(loaded >= high, Answers);
    memcpy(&bits.at_most, &below, sizeof bits.at_most);
    memcpy(&bits.at_least, &above, sizeof bits.at_least);
#else
    for (int index = 0; index < 16; index++) {
        bits.at_most |= (uint16_t)((numbers[index] <= low) << index);
        bits.at_least |= (uint16_t)((numbers[index] >= high) << index);
    }
#endif
    return bits;
}
