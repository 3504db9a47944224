#pragma once

// Arguments of the loops (DepthLoops) that belong together. The loops describe the fields.

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#pragma clang assume_nonnull begin

typedef struct {
    const float *weights;
    ptrdiff_t radius, step;
} dm_symmetric_kernel;

typedef struct {
    const int32_t *starts;
    const float *weights;
    ptrdiff_t stride, first, end;
} dm_resample_taps;

typedef struct {
    const float *colors;
    ptrdiff_t stride;
    const float *person;
    ptrdiff_t person_colors;
    const float *room;
    ptrdiff_t room_colors;
    float factor, outlier;
} dm_color_evidence;

typedef struct {
    const float *colors;
    ptrdiff_t stride, width, columns, rows;
    const uint64_t *bits;
    ptrdiff_t bits_stride;
    uint64_t shift;
} dm_tile;

typedef struct {
    ptrdiff_t step, pixels, intervals, groups;
    float offset;
} dm_interval_groups;

typedef struct {
    const int32_t *first;
    const float *weights;
    ptrdiff_t taps, count, step;
} dm_interval_taps;

typedef struct {
    const int32_t *starts;
    const float *share;
    ptrdiff_t first, end, step;
} dm_linear_taps;

typedef struct {
    const float *model;
    ptrdiff_t model_stride;
    const float *channels;
    ptrdiff_t stride;
} dm_linear_model;

typedef struct {
    const float *line, *above, *below;
    float middle, side, slope;
    const float *plain, *keep;
} dm_alpha_lines;

typedef struct {
    ptrdiff_t first, end, width, stride, radius;
    const int32_t *rows, *columns;
    float factor;
} dm_cell_run;

typedef struct {
    ptrdiff_t top, bottom, first, end, width, height, words;
    const uint64_t *certain_person, *certain_room;
    float certain;
    const float *evidence, *prior, *now, *before;
    float factor, settle, sure;
    float *log_odds, *matte, *keep;
    uint64_t *person, *room;
    float surely_person, surely_room, arrived;
} dm_log_odds;

typedef struct {
    double sum;
    uint64_t person, room;
} dm_log_odds_sums;

typedef struct {
    const float *colors, *room, *above, *below;
    ptrdiff_t colors_stride, room_stride;
} dm_room_row;

typedef struct {
    dm_room_row row;
    ptrdiff_t width, rows;
    const uint64_t *members;
    ptrdiff_t words;
} dm_room_cells;

typedef struct {
    dm_room_row row;
    const float *light, *noise, *used, *gain, *person, *person_light;
    ptrdiff_t person_colors, count;
    float variance;
} dm_room_evidence;

typedef struct {
    float unit, bias;
    int32_t first, end, hole;
    bool is_inverse;
} dm_count_scale;

typedef struct {
    int32_t last;
    float near, far, scale;
} dm_ramp;

typedef struct {
    const int32_t *first_columns, *last_columns, *first_rows, *last_rows;
    ptrdiff_t count, width;
} dm_rectangles;

typedef struct {
    const float *one, *other;
    float overlap;
    int32_t size;
} dm_edge_pair;

typedef struct {
    const float *places, *distances, *neighbors, *neighbor_distances;
    float step, half;
} dm_edge_row;

typedef struct {
    ptrdiff_t columns, rows, step, stride;
    const uint8_t *alpha;
    ptrdiff_t alpha_stride;
    const float *person, *person_color, *room, *room_color, *light, *cover, *weight;
    ptrdiff_t below;
    float first_share, share_step, little, strength, wrap;
} dm_edge_block;

typedef struct {
    int32_t count;
    float limit, scale;
} dm_bins;

typedef struct {
    float shift_x, shift_y, shift_z;
    float fx, fy, cx, cy;
    float k1, k2, k3, k4, k5, k6, p1, p2;
    float largest_radius_squared;
    bool is_distorted, is_inverse;
} dm_lens;

typedef struct {
    const float *metres, *rays;
    ptrdiff_t count;
    float *columns, *rows, *distances;
} dm_lens_row;

typedef struct {
    const float *rays;
    ptrdiff_t rays_stride;
    uint32_t opaque;
    int32_t origin, stride;
    float columns, rows, nearest;
} dm_point_grid;

typedef struct {
    const float *metres;
    const void *colors;
    ptrdiff_t count;
    double *keys;
    int32_t *places;
    const double *keys_before;
    const int32_t *places_before;
} dm_point_row;

typedef struct {
    double *_Nonnull const *_Nonnull rows;
    ptrdiff_t lines;
    double *emptied, *also_emptied;
    double empty;
    ptrdiff_t radius;
    const ptrdiff_t *heights;
    ptrdiff_t width;
    double *scratch;
    ptrdiff_t stride;
} dm_disc_lines;

#pragma clang assume_nonnull end
