#pragma once

// What processors with vectors have instructions for, and Swift cannot say: comparisons of many samples with one bit for
// each, the first one lowest (vectors of `bool`), products of which the upper half is kept (vectors that grow and shrink),
// stores that leave the cache alone, and sums of products of neighbouring bytes, which AVX2 has and others do without.

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#if defined(__AVX2__)
#include <immintrin.h>
#endif

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

/// The rows that a row is the weighed sum of; none is NULL when they are read.
typedef struct {
    const int16_t *rows[4];
    int16_t weights[4];
} FourRows;

/// Where a row of a mask changes, and what that adds to a row of cells (`StepResponse`).
typedef struct {
    /// Where its response begins among the response's values: whole blocks of 16 cells, from the one with the first cell
    /// that is changed.
    int32_t response;
    /// Cells: the first and the last that are changed, and the first behind the step. Cell 0 is the first of `StepSums`.
    int32_t first, last, edge;
} MaskStep;

/// What steps add up to, in blocks of 16 cells, some of them before the row's own. No pointer is NULL.
typedef struct {
    float *responses;
    /// The steps themselves, in the blocks that they lie in…
    float *edges;
    /// …and how much more each block is for the steps in the one before.
    float *rises;
    /// A bit for each block that has a response, and for each that rises; and a word more of either.
    uint64_t *touched, *risen;
} StepSums;

/// 32 numbers of a row that is the weighed sum of four: the upper halves of their products, plus `bias`.
typedef int16_t Sums __attribute__((ext_vector_type(32)));
static inline void add_numbers_of_four_rows(const FourRows *four, ptrdiff_t x, int16_t bias, Sums *result) {
    typedef int32_t Products __attribute__((ext_vector_type(32)));
    Sums sums = bias;
    for (int index = 0; index < 4; index++) {
        Sums numbers, weight = four->weights[index];
        memcpy(&numbers, four->rows[index] + x, sizeof numbers);
        Products products = __builtin_convertvector(numbers, Products) * __builtin_convertvector(weight, Products);
        sums += __builtin_convertvector(products >> 16, Sums);
    }
    *result = sums;
}

/// Shifts sums right and clips them.
static inline void store_sums(const Sums *sums, int16_t shift, uint8_t *bytes) {
    typedef uint8_t Bytes __attribute__((ext_vector_type(32)));
    Sums clipped = __builtin_elementwise_min(__builtin_elementwise_max(*sums >> shift, (Sums)0), (Sums)255);
    Bytes result = __builtin_convertvector(clipped, Bytes);
    memcpy(bytes, &result, sizeof result);
}

/// Adds up numbers `start`..<`end` of four rows, shifted right by `shift`, clipped to `bytes[start]`..<`bytes[end]`.
///
/// 32 at a time; the last may begin inside those before, which come out the same again. There must be 32 at least.
static inline void add_four_rows(
    const FourRows *four, ptrdiff_t start, ptrdiff_t end, int16_t bias, int16_t shift, uint8_t *bytes) {
    const FourRows terms = *four;
    for (ptrdiff_t next = start; next < end; next += 32) {
        const ptrdiff_t x = next < end - 32 ? next : end - 32;
        Sums sums;
        add_numbers_of_four_rows(&terms, x, bias, &sums);
        store_sums(&sums, shift, bytes + x);
    }
}

/// Rows from one knot to the next, a power of two.
#define ROWS_PER_KNOT_SHIFT 3
#define ROWS_PER_KNOT 8

/// The same for rows on straight lines between such sums, the knots; the first of the rows is `offset` rows below the first
/// knot.
static inline void add_four_rows_in_lines(
    const FourRows *knots, ptrdiff_t offset, ptrdiff_t rows, ptrdiff_t start, ptrdiff_t end, int16_t bias, int16_t shift,
    uint8_t *bytes, ptrdiff_t stride) {
    for (ptrdiff_t next = start; next < end; next += 32) {
        const ptrdiff_t x = next < end - 32 ? next : end - 32;
        uint8_t *target = bytes + x;
        Sums above, below;
        add_numbers_of_four_rows(knots, x, bias, &above);
        for (ptrdiff_t row = -offset, knot = 1; row < rows; row += ROWS_PER_KNOT, knot++) {
            add_numbers_of_four_rows(knots + knot, x, bias, &below);
            const Sums slope = (below - above + ROWS_PER_KNOT / 2) >> ROWS_PER_KNOT_SHIFT;
            if (0 <= row && row + ROWS_PER_KNOT <= rows) {
                for (int distance = 0; distance < ROWS_PER_KNOT; distance++, above += slope, target += stride)
                    store_sums(&above, shift, target);
            } else {
                for (ptrdiff_t line = row; line < row + ROWS_PER_KNOT && line < rows; line++, above += slope) {
                    if (line < 0) continue;
                    store_sums(&above, shift, target);
                    target += stride;
                }
            }
            above = below;
        }
    }
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

// (video · alpha + background · (255 − alpha)) / 255, rounded to nearest, of each byte.
//
// As `blendedByte`: (t + t/256)/256 is the upper half of 257 · t. Two bytes in each lane of 16 bits, which the products need:
// this way no byte is moved to get them.
#define MIX_VECTOR(name, bytes)                                                                                              \
    static inline void name(                                                                                                 \
        const uint8_t *video, const uint8_t *background, const uint8_t *alpha, uint8_t *target) {                            \
        typedef uint16_t Pairs __attribute__((ext_vector_type(bytes / 2)));                                                  \
        typedef uint32_t Products __attribute__((ext_vector_type(bytes / 2)));                                               \
        Pairs over, under, opacity;                                                                                          \
        memcpy(&over, video, bytes);                                                                                         \
        memcpy(&under, background, bytes);                                                                                   \
        memcpy(&opacity, alpha, bytes);                                                                                      \
        const Pairs rest = ~opacity;                                                                                         \
        Pairs low = (over & 255) * (opacity & 255) + (under & 255) * (rest & 255) + 128;                                     \
        Pairs high = (over >> 8) * (opacity >> 8) + (under >> 8) * (rest >> 8) + 128;                                        \
        low = __builtin_convertvector(__builtin_convertvector(low, Products) * 257 >> 16, Pairs);                            \
        high = __builtin_convertvector(__builtin_convertvector(high, Products) * 257 >> 16, Pairs);                          \
        const Pairs mixed = low | high << 8;                                                                                 \
        memcpy(target, &mixed, bytes);                                                                                       \
    }

MIX_VECTOR(mix_8_bytes, 8)
#if defined(__AVX2__)
/// The same with the instruction that adds up products of neighbours: those of alpha and the video, of the rest and the
/// background. One factor of each is signed, so 128 is taken off video and background; together that takes 255 · 128 off the
/// sum, and what is still to be added is 255 · 128 + 128 = 2^15.
static inline void mix_32_bytes(
    const uint8_t *video, const uint8_t *background, const uint8_t *alpha, uint8_t *target) {
    const __m256i half = _mm256_set1_epi8(-128), offset = _mm256_set1_epi16(-32768), factor = _mm256_set1_epi16(257);
    const __m256i opacity = _mm256_loadu_si256((const __m256i *)alpha);
    const __m256i rest = _mm256_xor_si256(opacity, _mm256_set1_epi8(-1));
    const __m256i over = _mm256_xor_si256(_mm256_loadu_si256((const __m256i *)video), half);
    const __m256i under = _mm256_xor_si256(_mm256_loadu_si256((const __m256i *)background), half);
    __m256i low = _mm256_maddubs_epi16(_mm256_unpacklo_epi8(opacity, rest), _mm256_unpacklo_epi8(over, under));
    __m256i high = _mm256_maddubs_epi16(_mm256_unpackhi_epi8(opacity, rest), _mm256_unpackhi_epi8(over, under));
    low = _mm256_mulhi_epu16(_mm256_xor_si256(low, offset), factor);
    high = _mm256_mulhi_epu16(_mm256_xor_si256(high, offset), factor);
    _mm256_storeu_si256((__m256i *)target, _mm256_packus_epi16(low, high));
}
#else
MIX_VECTOR(mix_32_bytes, 32)
#endif
#undef MIX_VECTOR

// Mixes as many bytes as the vector has, or more, in place. The last vector begins inside the one before: it is made before
// any byte is changed.
#define MIX(name, mix_vector, bytes)                                                                                         \
    static inline void name(uint8_t *video, const uint8_t *background, const uint8_t *alpha, ptrdiff_t count) {              \
        const ptrdiff_t last = count - bytes;                                                                                \
        uint8_t end[bytes];                                                                                                  \
        mix_vector(video + last, background + last, alpha + last, end);                                                      \
        for (ptrdiff_t x = 0; x < last; x += bytes) mix_vector(video + x, background + x, alpha + x, video + x);             \
        memcpy(video + last, end, bytes);                                                                                    \
    }

MIX(mix_8_bytes_or_more, mix_8_bytes, 8)
MIX(mix_32_bytes_or_more, mix_32_bytes, 32)
#undef MIX

#if defined(__AVX2__)
/// Means of 2 × 2 bytes of two rows, rounded to nearest, halves up: 16 of them.
static inline void means_of_32_bytes(const uint8_t *upper, const uint8_t *lower, uint8_t *means) {
    const __m256i one = _mm256_set1_epi8(1);
    const __m256i above = _mm256_maddubs_epi16(_mm256_loadu_si256((const __m256i *)upper), one);
    const __m256i below = _mm256_maddubs_epi16(_mm256_loadu_si256((const __m256i *)lower), one);
    const __m256i sum = _mm256_add_epi16(_mm256_add_epi16(above, below), _mm256_set1_epi16(2));
    const __m256i mean = _mm256_srli_epi16(sum, 2);
    _mm_storeu_si128((__m128i *)means, _mm_packus_epi16(_mm256_castsi256_si128(mean), _mm256_extracti128_si256(mean, 1)));
}
#endif

/// The same of whole rows, but for a last byte that has no neighbour. The means may not go where the rows are.
///
/// Returns how many bytes of each row that were; 0 for less than 32, and without such vectors.
static inline ptrdiff_t means_of_pairs(const uint8_t *upper, const uint8_t *lower, ptrdiff_t count, uint8_t *means) {
#if defined(__AVX2__)
    const ptrdiff_t last = (count & ~(ptrdiff_t)1) - 32;
    if (last < 0) return 0;
    for (ptrdiff_t x = 0; x < last; x += 32) means_of_32_bytes(upper + x, lower + x, means + x / 2);
    // The last vector may begin inside the one before: what it has in common with it comes out the same again.
    means_of_32_bytes(upper + last, lower + last, means + last / 2);
    return last + 32;
#else
    return 0;
#endif
}

/// Copies less than 64 bytes.
static inline void copy_few_bytes(uint8_t *target, const uint8_t *source, size_t count) {
#define COPY(bytes)                                                                                                          \
    if (count & bytes) {                                                                                                     \
        memcpy(target, source, bytes);                                                                                       \
        target += bytes, source += bytes;                                                                                    \
    }
    COPY(32) COPY(16) COPY(8) COPY(4) COPY(2) COPY(1)
#undef COPY
}

/// Copies like memcpy, but without reading the target's old bytes into the cache first, as stores of whole lines must
/// otherwise do: good for more than the cache would keep. `processor_finish_copies` comes before anybody else looks.
static inline void copy_bytes_past_cache(uint8_t *target, const uint8_t *source, size_t count) {
    typedef uint8_t Bytes __attribute__((ext_vector_type(32)));
    size_t head = -(uintptr_t)target & 63;
    if (head > count) head = count;
    copy_few_bytes(target, source, head);
    target += head, source += head, count -= head;
    for (; count >= 64; target += 64, source += 64, count -= 64) {
        Bytes first, second;
        memcpy(&first, source, sizeof first);
        memcpy(&second, source + 32, sizeof second);
        __builtin_nontemporal_store(first, (Bytes *)target);
        __builtin_nontemporal_store(second, (Bytes *)(target + 32));
    }
    copy_few_bytes(target, source, count);
}
