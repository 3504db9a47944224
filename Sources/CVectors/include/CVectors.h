#pragma once

// What every processor with vectors has instructions for, and Swift cannot say: comparisons of many samples with one bit
// for each, the first one lowest (vectors of `bool`), and products of which the upper half is kept (vectors that grow and
// shrink).

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

/// Adds up 32 numbers from each of four rows, weighed: the upper halves of their products, plus `bias`, shifted right by
/// `shift`, clipped to bytes.
static inline void add_four_rows(
    const int16_t *row0, const int16_t *row1, const int16_t *row2, const int16_t *row3, int16_t weight0, int16_t weight1,
    int16_t weight2, int16_t weight3, int16_t bias, int16_t shift, uint8_t *bytes) {
    typedef int16_t Shorts __attribute__((ext_vector_type(32)));
    typedef int32_t Ints __attribute__((ext_vector_type(32)));
    typedef uint8_t Bytes __attribute__((ext_vector_type(32)));
    const int16_t *rows[] = {row0, row1, row2, row3};
    const Shorts weights[] = {weight0, weight1, weight2, weight3};
    Shorts sum = bias;
    for (int index = 0; index < 4; index++) {
        Shorts numbers;
        memcpy(&numbers, rows[index], sizeof numbers);
        Ints products = __builtin_convertvector(numbers, Ints) * __builtin_convertvector(weights[index], Ints);
        sum += __builtin_convertvector(products >> 16, Shorts);
    }
    Shorts clipped = __builtin_elementwise_min(__builtin_elementwise_max(sum >> shift, (Shorts)0), (Shorts)255);
    Bytes result = __builtin_convertvector(clipped, Bytes);
    memcpy(bytes, &result, sizeof result);
}

/// Eight sums of four numbers, weighed: the upper halves of their products, plus `bias`. Each number has eight weights.
static inline void add_four_numbers(
    const int16_t *numbers, const int16_t *weights0, const int16_t *weights1, const int16_t *weights2,
    const int16_t *weights3, int16_t bias, int16_t *sums) {
    typedef int16_t Shorts __attribute__((ext_vector_type(8)));
    typedef int32_t Ints __attribute__((ext_vector_type(8)));
    const int16_t *weights[] = {weights0, weights1, weights2, weights3};
    Shorts sum = bias;
    for (int index = 0; index < 4; index++) {
        Shorts loaded, number = numbers[index];
        memcpy(&loaded, weights[index], sizeof loaded);
        Ints products = __builtin_convertvector(loaded, Ints) * __builtin_convertvector(number, Ints);
        sum += __builtin_convertvector(products >> 16, Shorts);
    }
    memcpy(sums, &sum, sizeof sum);
}
