/*
 * The parts of libfreenect's interface (version 0.5, libfreenect.h) that Swift cannot declare: a structure that functions
 * take and return by value. The library itself is loaded while the program runs.
 */
#ifndef C_FREENECT_H
#define C_FREENECT_H

#include <stdint.h>

/* freenect_frame_mode */
typedef struct {
    uint32_t reserved;
    int32_t resolution;
    int32_t format; /* freenect_video_format or freenect_depth_format */
    int32_t bytes;
    int16_t width;
    int16_t height;
    int8_t data_bits;
    int8_t padding_bits;
    int8_t rate;
    int8_t is_valid;
} cf_frame_mode;

/* freenect_device_attributes */
typedef struct cf_device_attributes {
    struct cf_device_attributes *next;
    const char *serial;
} cf_device_attributes;

typedef cf_frame_mode (*cf_nth_mode)(int number);
typedef int (*cf_set_mode)(void *device, cf_frame_mode mode);
typedef int (*cf_list_devices)(void *context, cf_device_attributes **list);
typedef void (*cf_free_list)(cf_device_attributes *list);

#endif
