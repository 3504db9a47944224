#pragma once

#include <stdint.h>

// The structures that libfreenect passes by value, which only C lays out. They are the same in all versions from 0.5.
// Source: libfreenect.h and libfreenect_registration.h of libfreenect 0.5.3.

typedef struct {
    uint32_t reserved;
    int32_t resolution;
    int32_t format;
    int32_t bytes;
    int16_t width;
    int16_t height;
    int8_t data_bits_per_pixel;
    int8_t padding_bits_per_pixel;
    int8_t framerate;
    int8_t is_valid;
} dm_freenect_frame_mode;

typedef struct {
    float dcmos_emitter_dist;
    float dcmos_rcmos_dist;
    float reference_distance;
    float reference_pixel_size;
} dm_freenect_zero_plane_info;

typedef struct {
    int32_t reg_info[29];
    uint16_t reg_pad_info[3];
    dm_freenect_zero_plane_info zero_plane_info;
    double const_shift;
    uint16_t *raw_to_mm_shift;
    int32_t *depth_to_rgb_shift;
    int32_t (*registration_table)[2];
} dm_freenect_registration;

typedef struct dm_freenect_device_attributes {
    struct dm_freenect_device_attributes *next;
    const char *camera_serial;
} dm_freenect_device_attributes;
