#pragma once

#include <sys/time.h>

#include "functions.h"

// The structures and functions of libfreenect that the driver uses. They are the same in all versions from 0.5.
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
    uint16_t *_Nullable raw_to_mm_shift;
    int32_t *_Nullable depth_to_rgb_shift;
    int32_t (*_Nullable registration_table)[2];
} dm_freenect_registration;

typedef struct dm_freenect_device_attributes {
    struct dm_freenect_device_attributes *_Nullable next;
    dm_text camera_serial;
} dm_freenect_device_attributes;

#pragma clang assume_nonnull begin

/// Not a dm_object: fakenect's handles are no addresses.
typedef void *_Nullable dm_freenect_handle;
typedef dm_freenect_device_attributes *_Nullable dm_freenect_device_list;
typedef void (*_Nonnull dm_freenect_log)(dm_freenect_handle context, int32_t level, dm_text message);
typedef void (*_Nullable dm_freenect_callback)(dm_freenect_handle device, void *_Nullable buffer, uint32_t ticks);

static inline struct timeval dm_timeval(int64_t nanoseconds) {
    struct timeval time = {nanoseconds / 1000000000, nanoseconds % 1000000000 / 1000};
    return time;
}

// fakenect, which has no cameras, has not all of them. freenect_set_exposure is of version 0.6.
#define DM_FREENECT(F, O) \
    F(initialize, freenect_init, int32_t, dm_freenect_handle *_Nonnull context, void *_Nullable usb) \
    F(shutdown, freenect_shutdown, int32_t, dm_freenect_handle context) \
    F(setLogLevel, freenect_set_log_level, void, dm_freenect_handle context, int32_t level) \
    F(setLogCallback, freenect_set_log_callback, void, dm_freenect_handle context, dm_freenect_log log) \
    F(selectSubdevices, freenect_select_subdevices, void, dm_freenect_handle context, int32_t devices) \
    F(deviceCount, freenect_num_devices, int32_t, dm_freenect_handle context) \
    F(openDevice, freenect_open_device, int32_t, dm_freenect_handle context, \
      dm_freenect_handle *_Nonnull device, int32_t place) \
    F(openDeviceBySerial, freenect_open_device_by_camera_serial, int32_t, dm_freenect_handle context, \
      dm_freenect_handle *_Nonnull device, const char *serial) \
    F(closeDevice, freenect_close_device, int32_t, dm_freenect_handle device) \
    F(processEvents, freenect_process_events_timeout, int32_t, dm_freenect_handle context, struct timeval *wait) \
    O(listDevices, freenect_list_device_attributes, int32_t, dm_freenect_handle context, \
      dm_freenect_device_list *_Nonnull list) \
    O(freeDevices, freenect_free_device_attributes, void, dm_freenect_device_attributes *list) \
    O(copyRegistration, freenect_copy_registration, dm_freenect_registration, dm_freenect_handle device) \
    O(destroyRegistration, freenect_destroy_registration, int32_t, dm_freenect_registration *registration) \
    O(setFlag, freenect_set_flag, int32_t, dm_freenect_handle device, int32_t flag, int32_t value) \
    O(setExposure, freenect_set_exposure, int32_t, dm_freenect_handle device, int32_t microseconds)
DM_FUNCTIONS(dm_freenect_functions, DM_FREENECT)

// The functions that depth and video both have.
#define DM_FREENECT_STREAM(F, stream) \
    F(modeCount, freenect_get_##stream##_mode_count, int32_t, void) \
    F(mode, freenect_get_##stream##_mode, dm_freenect_frame_mode, int32_t place) \
    F(setMode, freenect_set_##stream##_mode, int32_t, dm_freenect_handle device, dm_freenect_frame_mode mode) \
    F(setCallback, freenect_set_##stream##_callback, void, dm_freenect_handle device, dm_freenect_callback callback) \
    F(setBuffer, freenect_set_##stream##_buffer, int32_t, dm_freenect_handle device, void *_Nullable buffer) \
    F(start, freenect_start_##stream, int32_t, dm_freenect_handle device) \
    F(stop, freenect_stop_##stream, int32_t, dm_freenect_handle device)
#define DM_FREENECT_DEPTH(F, O) DM_FREENECT_STREAM(F, depth)
#define DM_FREENECT_VIDEO(F, O) DM_FREENECT_STREAM(F, video)
DM_FUNCTIONS(dm_freenect_stream, DM_FREENECT_DEPTH)
DM_SYMBOLS(dm_freenect_video, DM_FREENECT_VIDEO)

#pragma clang assume_nonnull end
