#pragma once

#include "functions.h"
#include "pose.h"

// The structures and functions of the Azure Kinect Sensor SDK that the driver uses.
// Source: k4atypes.h, k4a.h, k4arecord/types.h and k4arecord/playback.h of version 1.4.

#pragma clang assume_nonnull begin

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

// Functions that return int32_t are 0 where they worked. intptr_t stands for size_t, which Swift sees alike.
#define DM_K4A(F, O) \
    F(deviceCount, k4a_device_get_installed_count, uint32_t, void) \
    F(openDevice, k4a_device_open, int32_t, uint32_t place, dm_object_out device) \
    F(closeDevice, k4a_device_close, void, dm_object device) \
    F(serialNumber, k4a_device_get_serialnum, int32_t, dm_object device, char *_Nullable text, intptr_t *size) \
    F(startCameras, k4a_device_start_cameras, int32_t, dm_object device, const dm_k4a_configuration *configuration) \
    F(stopCameras, k4a_device_stop_cameras, void, dm_object device) \
    F(deviceCapture, k4a_device_get_capture, int32_t, dm_object device, dm_object_out capture, int32_t milliseconds) \
    F(deviceCalibration, k4a_device_get_calibration, int32_t, dm_object device, int32_t depth_mode, \
      int32_t color_resolution, dm_k4a_calibration *calibration) \
    F(setColorControl, k4a_device_set_color_control, int32_t, dm_object device, int32_t control, int32_t mode, \
      int32_t value) \
    F(colorImage, k4a_capture_get_color_image, dm_object, dm_object capture) \
    F(depthImage, k4a_capture_get_depth_image, dm_object, dm_object capture) \
    F(releaseCapture, k4a_capture_release, void, dm_object capture) \
    F(releaseImage, k4a_image_release, void, dm_object image) \
    F(buffer, k4a_image_get_buffer, uint8_t *_Nullable, dm_object image) \
    F(size, k4a_image_get_size, intptr_t, dm_object image) \
    F(width, k4a_image_get_width_pixels, int32_t, dm_object image) \
    F(height, k4a_image_get_height_pixels, int32_t, dm_object image) \
    F(stride, k4a_image_get_stride_bytes, int32_t, dm_object image) \
    F(time, k4a_image_get_device_timestamp_usec, uint64_t, dm_object image)
DM_FUNCTIONS(dm_k4a_functions, DM_K4A)

// Of the library for recordings.
#define DM_K4A_PLAYBACK(F, O) \
    F(open, k4a_playback_open, int32_t, const char *path, dm_object_out recording) \
    F(close, k4a_playback_close, void, dm_object recording) \
    F(calibration, k4a_playback_get_calibration, int32_t, dm_object recording, dm_k4a_calibration *calibration) \
    F(configuration, k4a_playback_get_record_configuration, int32_t, dm_object recording, dm_k4a_recording *facts) \
    F(setConversion, k4a_playback_set_color_conversion, int32_t, dm_object recording, int32_t format) \
    F(nextCapture, k4a_playback_get_next_capture, int32_t, dm_object recording, dm_object_out capture) \
    F(seek, k4a_playback_seek_timestamp, int32_t, dm_object recording, int64_t microseconds, int32_t origin)
DM_FUNCTIONS(dm_k4a_playback_functions, DM_K4A_PLAYBACK)

#pragma clang assume_nonnull end
