#pragma once

// Loops with vector instructions that Swift cannot express: comparisons with one result bit for each sample, the first
// one lowest (vectors of `bool`), the upper halves of products (widening and narrowing conversions), stores that bypass
// the cache, and, for AVX2, sums of products of neighbours.

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#if defined(__AVX2__)
#include <immintrin.h>
#endif

#pragma clang assume_nonnull begin

/// The square root. Swift's sets C's error number, and so is computed number by number in a loop.
static inline float dm_square_root(float number) { return __builtin_elementwise_sqrt(number); }

typedef float dm_lanes __attribute__((ext_vector_type(16)));

/// The square root of each of 16 numbers.
static inline dm_lanes dm_square_roots(dm_lanes numbers) { return __builtin_elementwise_sqrt(numbers); }

/// A bit for each of 16 numbers.
typedef struct {
    uint16_t at_most;
    uint16_t at_least;
} dm_comparison_bits;

/// Compares 16 numbers, aligned or not: a bit for each that is at most `low`, and one for each that is at least `high`.
static inline dm_comparison_bits dm_compare_floats(const float *numbers, float low, float high) {
    dm_comparison_bits bits = {0, 0};
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    typedef bool Answers __attribute__((ext_vector_type(16)));
    dm_lanes loaded;
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

/// Sums over the members of a set in a tile: their number, Y', U, V, and the squares of all three.
typedef struct {
    float samples;
    float y, u, v;
    float squares;
} dm_tile_sums;

/// A run of `pixels` pixels in the `rows` rows that share samples; `columns` pixels of each row share a sample of
/// `bytes` bytes.
typedef struct {
    ptrdiff_t pixels, rows, columns, bytes;
} dm_alpha_run;

/// Rows of one plane of a video, and of the same plane of the background.
typedef struct {
    uint8_t *video;
    ptrdiff_t video_stride;
    const uint8_t *background;
    ptrdiff_t background_stride;
    ptrdiff_t rows;
    /// Prefetch distance in rows; 0 for frames that fit into the cache.
    ptrdiff_t rows_ahead;
} dm_blend_part;

/// Prefetches a row of bytes. The addresses may be invalid.
static inline void dm_prefetch_row(const uint8_t *bytes, ptrdiff_t count) {
    for (ptrdiff_t byte = 0; byte < count; byte += 64) __builtin_prefetch(bytes + byte, 0, 2);
}

// (video · alpha + background · (255 − alpha)) / 255, rounded to nearest, of each byte.
//
// As `blendedByte`: (t + t/256)/256 is the upper half of 257 · t. Each 16-bit lane holds two bytes, processed as its
// low and high half, so that no shuffle is needed to widen them.
#define DM_BLEND_VECTOR(name, bytes)                                                                                              \
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
        const Pairs blended = low | high << 8;                                                                                 \
        memcpy(target, &blended, bytes);                                                                                       \
    }

DM_BLEND_VECTOR(dm_blend_8, 8)
#if defined(__AVX2__)
/// The same with the instruction that adds products of neighbours: alpha times video, and 255 − alpha times background.
/// One factor of each product is signed, so 128 is subtracted from video and background, in all 255 · 128 from the sum;
/// that and the 128 for rounding are added afterwards: 255 · 128 + 128 = 2^15.
static inline void dm_blend_32(
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
DM_BLEND_VECTOR(dm_blend_32, 32)
#endif
#undef DM_BLEND_VECTOR

// Blends at least as many bytes as the vector has, in place. The last vector may overlap the one before, so it is
// computed before any byte is changed.
#define DM_BLEND(name, blend_vector, bytes)                                                                                         \
    static inline void name(uint8_t *video, const uint8_t *background, const uint8_t *alpha, ptrdiff_t count) {              \
        const ptrdiff_t last = count - bytes;                                                                                \
        uint8_t end[bytes];                                                                                                  \
        blend_vector(video + last, background + last, alpha + last, end);                                                      \
        for (ptrdiff_t x = 0; x < last; x += bytes) blend_vector(video + x, background + x, alpha + x, video + x);             \
        memcpy(video + last, end, bytes);                                                                                    \
    }

DM_BLEND(dm_blend_8_or_more, dm_blend_8, 8)
DM_BLEND(dm_blend_32_or_more, dm_blend_32, 32)
#undef DM_BLEND

/// Copies fewer than 64 bytes.
static inline void dm_copy_few_bytes(uint8_t *target, const uint8_t *source, size_t count) {
#define DM_COPY(bytes)                                                                                                          \
    if (count & bytes) {                                                                                                     \
        memcpy(target, source, bytes);                                                                                       \
        target += bytes, source += bytes;                                                                                    \
    }
    DM_COPY(32) DM_COPY(16) DM_COPY(8) DM_COPY(4) DM_COPY(2) DM_COPY(1)
#undef DM_COPY
}

/// Copies like memcpy, but with non-temporal stores, which do not read the target's cache lines first: for data larger
/// than the cache. Prefetches the source `ahead` bytes in advance. `dm_finish_copies` must follow before another thread
/// reads the target.
static inline void dm_copy_past_cache(uint8_t *target, const uint8_t *source, size_t count, ptrdiff_t ahead) {
    typedef uint8_t Bytes __attribute__((ext_vector_type(32)));
    size_t head = -(uintptr_t)target & 63;
    if (head > count) head = count;
    dm_copy_few_bytes(target, source, head);
    target += head, source += head, count -= head;
    for (; count >= 64; target += 64, source += 64, count -= 64) {
        Bytes first, second;
        memcpy(&first, source, sizeof first);
        memcpy(&second, source + 32, sizeof second);
        __builtin_prefetch(source + ahead, 0, 2);
        __builtin_nontemporal_store(first, (Bytes *)target);
        __builtin_nontemporal_store(second, (Bytes *)(target + 32));
    }
    dm_copy_few_bytes(target, source, count);
}

#pragma clang assume_nonnull end
