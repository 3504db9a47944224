#pragma once

#include "functions.h"

// The structures and functions of OpenNI 2 that the driver uses.
// Source: OniCTypes.h and OniCAPI.h of OpenNI 2.2.

typedef struct {
    int32_t format;
    int32_t width;
    int32_t height;
    int32_t rate;
} dm_openni_mode;

typedef struct {
    int32_t sensor;
    int32_t mode_count;
    const dm_openni_mode *_Nullable modes;
} dm_openni_sensor;

typedef struct {
    char uri[256];
    char vendor[256];
    char name[256];
    uint16_t usb_vendor;
    uint16_t usb_product;
} dm_openni_device;

typedef struct {
    int32_t size;
    void *_Nullable data;
    int32_t sensor;
    uint64_t time; // microseconds
    int32_t number;
    int32_t width;
    int32_t height;
    dm_openni_mode mode;
    int32_t is_cropped;
    int32_t crop_x;
    int32_t crop_y;
    int32_t stride;
} dm_openni_frame;

#pragma clang assume_nonnull begin

typedef dm_openni_device *_Nullable dm_openni_devices;
typedef dm_openni_frame *_Nullable dm_openni_frame_pointer;

// Most functions return an OniStatus.
#define DM_OPENNI(F, O) \
    F(initialize, oniInitialize, int32_t, int32_t version) \
    F(shutdown, oniShutdown, void, void) \
    F(lastError, oniGetExtendedError, dm_text, void) \
    F(listDevices, oniGetDeviceList, int32_t, dm_openni_devices *_Nonnull devices, int32_t *count) \
    F(freeDevices, oniReleaseDeviceList, int32_t, dm_openni_device *devices) \
    F(openDevice, oniDeviceOpen, int32_t, const char *uri, dm_object_out device) \
    F(closeDevice, oniDeviceClose, int32_t, dm_object device) \
    F(describeDevice, oniDeviceGetInfo, int32_t, dm_object device, dm_openni_device *facts) \
    F(sensor, oniDeviceGetSensorInfo, const dm_openni_sensor *_Nullable, dm_object device, int32_t sensor) \
    F(supportsRegistration, oniDeviceIsImageRegistrationModeSupported, int32_t, dm_object device, int32_t mode) \
    F(setDeviceProperty, oniDeviceSetProperty, int32_t, dm_object device, int32_t property, const void *value, \
      int32_t size) \
    F(createStream, oniDeviceCreateStream, int32_t, dm_object device, int32_t sensor, dm_object_out stream) \
    F(destroyStream, oniStreamDestroy, void, dm_object stream) \
    F(startStream, oniStreamStart, int32_t, dm_object stream) \
    F(stopStream, oniStreamStop, void, dm_object stream) \
    F(setStreamProperty, oniStreamSetProperty, int32_t, dm_object stream, int32_t property, const void *value, \
      int32_t size) \
    F(streamProperty, oniStreamGetProperty, int32_t, dm_object stream, int32_t property, void *value, int32_t *size) \
    F(wait, oniWaitForAnyStream, int32_t, const dm_object *_Nonnull streams, int32_t count, \
      int32_t *ready, int32_t milliseconds) \
    F(readFrame, oniStreamReadFrame, int32_t, dm_object stream, dm_openni_frame_pointer *_Nonnull frame) \
    F(releaseFrame, oniFrameRelease, void, dm_openni_frame *frame)
DM_FUNCTIONS(dm_openni_functions, DM_OPENNI)

#pragma clang assume_nonnull end
