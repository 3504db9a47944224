// A stand-in for libk4a: cameras whose frames are known, and what a camera on the desk cannot show: unplugging, silence, refusals,
// calls that hang.
//
// Frame n has n in each byte of its color, and 1000 + n % 1000 in each sample of its depth. The serial numbers are "000123450001"
// and so on. With "apart" color and depth come in captures of their own. "unplug" takes away the camera of that place after
// "unplug-after" frames: those behind it move up. It is also a libk4arecord, whose recordings say that they have both tracks and have
// "frames" captures of the "tracks": 1 color, 2 depth.
//
// The declarations are those of k4a.h, k4atypes.h and k4arecord/playback.h 1.4.

// "interval" is that of frames in milliseconds; "fail" and "hang" name a function without k4a_.
#define KEYS \
    " cameras interval unplug-after unplug unplugged silent-after lose-every wrong-size apart skew frames tracks fail hang exposure images open" \
    " running "
#include "settings.h"

#include <stdint.h>
#include <time.h>

enum { SUCCEEDED, FAILED, TIMEOUT, TOO_SMALL = 2 };

typedef struct {
    int format, resolution, depth_mode, rate;
    bool synchronized;
    int delay, sync;
    unsigned sync_delay;
    bool light;
} configuration;

typedef struct {
    unsigned place;
    configuration modes;
    int number; // of the last frame
    bool is_running, owes_depth;
    int64_t next; // milliseconds
} device;

typedef struct {
    int references, width, height, stride;
    size_t size;
    uint64_t time;
    uint8_t bytes[];
} image;

typedef struct {
    image *color, *depth;
} capture;

// MARK: Devices

enum { MOST = 8 };
// By place before any was unplugged.
static bool is_open[MOST];

uint32_t
k4a_device_get_installed_count (void)
{
    fails ("device_get_installed_count");
    return (uint32_t) get ("cameras", 1) - (get ("unplugged", 0) ? 1 : 0);
}

int
k4a_device_open (uint32_t place, device **opened)
{
    if (fails ("device_open") || place >= k4a_device_get_installed_count ()) return FAILED;
    if (get ("unplugged", 0) && place >= get ("unplug", 0)) place++;
    if (place >= MOST || __atomic_exchange_n (&is_open[place], true, __ATOMIC_ACQ_REL)) return FAILED;
    *opened = calloc (1, sizeof **opened);
    (*opened)->place = place;
    add ("open", 1);
    return SUCCEEDED;
}

void
k4a_device_close (device *opened)
{
    fails ("device_close");
    __atomic_store_n (&is_open[opened->place], false, __ATOMIC_RELEASE);
    free (opened);
    add ("open", -1);
}

int
k4a_device_get_serialnum (device *opened, char *text, size_t *size)
{
    if (fails ("device_get_serialnum")) return FAILED;
    size_t available = *size;
    *size = 13;
    if (!text || available < *size) return TOO_SMALL;
    snprintf (text, *size, "00012345%04u", opened->place + 1);
    return SUCCEEDED;
}

int
k4a_device_start_cameras (device *opened, const configuration *modes)
{
    if (fails ("device_start_cameras")) return FAILED;
    opened->modes = *modes;
    opened->number = 0;
    opened->is_running = true;
    opened->next = now ();
    add ("running", 1);
    return SUCCEEDED;
}

void
k4a_device_stop_cameras (device *opened)
{
    fails ("device_stop_cameras");
    if (opened->is_running) add ("running", -1);
    opened->is_running = false;
}

int
k4a_device_set_color_control (device *opened, int command, int mode, int32_t value)
{
    (void) opened;
    if (fails ("device_set_color_control") || command != 0 || mode != 1) return FAILED;
    set ("exposure", value);
    return SUCCEEDED;
}

int
k4a_device_get_calibration (device *opened, int depth_mode, int resolution, float *words)
{
    (void) opened, (void) depth_mode, (void) resolution;
    if (fails ("device_get_calibration")) return FAILED;
    // Two cameras of 32 words, then the poses of 4x4 sensors of 12 words.
    memset (words, 0, sizeof (float) * (64 + 192 + 2));
    for (int i = 0; i < 2; i++) {
        float *lens = words + 32 * i + 14;
        lens[0] = i ? 639.5f : 319.5f, lens[1] = i ? 359.5f : 287.5f, lens[2] = lens[3] = i ? 600 : 500;
        int32_t size[2] = { i ? 1280 : 640, i ? 720 : 576 };
        memcpy (lens + 15, size, sizeof size);
    }
    float *pose = words + 64 + 12;
    pose[0] = pose[4] = pose[8] = 1, pose[9] = -32;
    return SUCCEEDED;
}

// MARK: Captures

static image *
make (int width, int height, int bytes, uint64_t time)
{
    size_t size = (size_t) width * height * bytes;
    image *made = malloc (sizeof *made + size);
    *made = (image) { 1, width, height, width * bytes, size, time };
    add ("images", 1);
    return made;
}

int
k4a_device_get_capture (device *opened, capture **result, int32_t timeout)
{
    if (fails ("device_get_capture") || !opened->is_running) return FAILED;
    double unplugged = get ("unplug-after", 0), silent = get ("silent-after", 0);
    if (unplugged && opened->number >= unplugged && opened->place == get ("unplug", 0)) {
        set ("unplugged", 1);
        return FAILED;
    }
    bool is_silent = silent && opened->number >= silent;
    int64_t end = now () + timeout, due = is_silent || opened->next > end ? end : opened->next;
    sleep_until (due);
    if (due != opened->next) return TIMEOUT;
    int lost = (int) get ("lose-every", 0);
    if (lost && (opened->number + 1) % lost == 0) opened->number++, opened->next += (int64_t) get ("interval", 33);
    bool apart = get ("apart", 0), only_depth = apart && opened->owes_depth;
    if (!only_depth) opened->number++;
    int number = opened->number;
    uint64_t time = 5000000 + (uint64_t) number * 33000;
    capture *made = calloc (1, sizeof *made);
    static const int widths[] = { 0, 320, 640, 512, 1024 }, heights[] = { 0, 288, 576, 512, 1024 };
    if (opened->modes.resolution && !only_depth) {
        made->color = make (1280 - (get ("wrong-size", 0) == number), 720, 4, time);
        memset (made->color->bytes, number, made->color->size);
    }
    if (opened->modes.depth_mode && (!apart || only_depth)) {
        made->depth = make (widths[opened->modes.depth_mode], heights[opened->modes.depth_mode], 2,
            time + (uint64_t) get ("skew", 0));
        for (size_t i = 0; i < made->depth->size / 2; i++) ((uint16_t *) made->depth->bytes)[i] = (uint16_t) (1000 + number % 1000);
    }
    opened->owes_depth = apart && !only_depth;
    if (!opened->owes_depth) opened->next += (int64_t) get ("interval", 33);
    *result = made;
    return SUCCEEDED;
}

static image *
reference (image *made)
{
    if (made) __atomic_add_fetch (&made->references, 1, __ATOMIC_RELAXED);
    return made;
}

image *k4a_capture_get_color_image (capture *made) { return reference (made->color); }
image *k4a_capture_get_depth_image (capture *made) { return reference (made->depth); }

void
k4a_image_release (image *made)
{
    if (!made || __atomic_sub_fetch (&made->references, 1, __ATOMIC_ACQ_REL)) return;
    free (made);
    add ("images", -1);
}

void
k4a_capture_release (capture *made)
{
    k4a_image_release (made->color);
    k4a_image_release (made->depth);
    free (made);
}

uint8_t *k4a_image_get_buffer (image *made) { return made->bytes; }
size_t k4a_image_get_size (image *made) { return made->size; }
int k4a_image_get_width_pixels (image *made) { return made->width; }
int k4a_image_get_height_pixels (image *made) { return made->height; }
int k4a_image_get_stride_bytes (image *made) { return made->stride; }
uint64_t k4a_image_get_device_timestamp_usec (image *made) { return made->time; }

// MARK: Recordings

typedef struct {
    int format, resolution, depth_mode, rate;
    bool has_color, has_depth, has_infrared, has_motion;
    int depth_delay, sync;
    uint32_t sync_delay, start;
} recording;

int
k4a_playback_open (const char *path, int **opened)
{
    (void) path;
    *opened = calloc (1, sizeof **opened);
    return SUCCEEDED;
}

void k4a_playback_close (int *opened) { free (opened); }
int k4a_playback_get_calibration (int *opened, void *result) { (void) opened, (void) result; return FAILED; }
int k4a_playback_set_color_conversion (int *opened, int format) { (void) opened, (void) format; return SUCCEEDED; }
int k4a_playback_seek_timestamp (int *opened, int64_t offset, int from) { (void) offset, (void) from; *opened = 0; return SUCCEEDED; }

int
k4a_playback_get_record_configuration (int *opened, recording *result)
{
    (void) opened;
    *result = (recording) { .format = 3, .resolution = 1, .depth_mode = 1, .rate = 2, .has_color = true, .has_depth = true };
    return SUCCEEDED;
}

int
k4a_playback_get_next_capture (int *opened, capture **result)
{
    if (*opened >= get ("frames", 3)) return TOO_SMALL; // the end
    uint64_t time = (uint64_t) ++*opened * 33000;
    int tracks = (int) get ("tracks", 3);
    *result = calloc (1, sizeof **result);
    if (tracks & 1) (*result)->color = make (1280, 720, 4, time);
    if (tracks & 2) (*result)->depth = make (320, 288, 2, time);
    return SUCCEEDED;
}
