#pragma once

#include <stdint.h>

// The structures of OpenNI 2, which only C lays out.
// Source: OniCTypes.h of OpenNI 2.2.

typedef struct {
    int32_t format;
    int32_t width;
    int32_t height;
    int32_t rate;
} dm_openni_mode;

typedef struct {
    int32_t sensor;
    int32_t mode_count;
    const dm_openni_mode *modes;
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
    void *data;
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
