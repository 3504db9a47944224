#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "pose.h"

// The structures of the Azure Kinect Sensor SDK, which only C lays out.
// Source: k4atypes.h and k4arecord/types.h of version 1.4.

typedef struct {
    int32_t model;
    uint32_t count;
    float cx, cy, fx, fy, k1, k2, k3, k4, k5, k6, codx, cody, p2, p1, lens_radius;
    int32_t width;
    int32_t height;
    float radius;
} dm_k4a_lens;

typedef struct {
    dm_camera_pose pose;
    dm_k4a_lens lens;
} dm_k4a_camera;

typedef struct {
    dm_k4a_camera depth;
    dm_k4a_camera color;
    dm_camera_pose poses[4][4]; // from the first sensor to the second; 0 is depth, 1 is color
    int32_t depth_mode;
    int32_t color_resolution;
} dm_k4a_calibration;

typedef struct {
    int32_t color_format;
    int32_t color_resolution;
    int32_t depth_mode;
    int32_t rate;
    bool has_color;
    bool has_depth;
    bool has_infrared;
    bool has_imu;
    int32_t depth_delay;
    int32_t sync_mode;
    uint32_t sync_delay;
    uint32_t start;
} dm_k4a_recording;

typedef struct {
    int32_t color_format;
    int32_t color_resolution;
    int32_t depth_mode;
    int32_t rate;
    bool synchronized_only;
    int32_t depth_delay;
    int32_t sync_mode;
    uint32_t sync_delay;
    bool disables_light;
} dm_k4a_configuration;
