#pragma once

#include <stdint.h>

#include "pose.h"

// The structures of OrbbecSDK that its functions return, which only C lays out.
// Source: ObTypes.h of version 2.9.

typedef struct {
    float fx, fy, cx, cy;
    int16_t width;
    int16_t height;
} dm_orbbec_intrinsics;

typedef struct {
    float k1, k2, k3, k4, k5, k6, p1, p2;
    int32_t model;
} dm_orbbec_distortion;
