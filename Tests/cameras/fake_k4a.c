// A stand-in for libk4a: cameras whose frames are known, and what a camera on the desk cannot show: unplugging, silence, refusals,
// calls that hang.
//
// The serial numbers are "000123450001" and so on. With "apart" color and depth come in captures of their own; depth is "skew"
// microseconds behind its color. The camera of place "unplug" is the one that is unplugged: those behind it move up. It is also
// a libk4arecord, whose recordings say that they have both tracks and have captures of the "tracks": 1 color, 2 depth.
//
// The declarations are those of k4a.h, k4atypes.h and k4arecord/playback.h 1.4.
#define KEYS " unplug apart skew tracks "
#include "fake.h"

enum { SUCCEEDED, FAILED, TIMEOUT, TOO_SMALL = 2, MOST = 8 };

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
    pace pace;
    bool is_running, owes_depth;
} device;

// MARK: Devices

// By place before any was unplugged.
static bool is_open[MOST];

uint32_t k4a_device_get_installed_count(void) {
    fails("device_get_installed_count");
    return (uint32_t)cameras();
}

int k4a_device_open(uint32_t place, device **opened) {
    if (fails("device_open") || place >= k4a_device_get_installed_count()) return FAILED;
    if (get("unplugged", 0) && place >= get("unplug", 0)) place++;
    if (place >= MOST || __atomic_exchange_n(&is_open[place], true, __ATOMIC_ACQ_REL)) return FAILED;
    *opened = made(sizeof **opened);
    (*opened)->place = place;
    return SUCCEEDED;
}

void k4a_device_close(device *opened) {
    fails("device_close");
    __atomic_store_n(&is_open[opened->place], false, __ATOMIC_RELEASE);
    gone(opened);
}

int k4a_device_get_serialnum(device *opened, char *text, size_t *size) {
    if (fails("device_get_serialnum")) return FAILED;
    size_t available = *size;
    *size = 13;
    if (!text || available < *size) return TOO_SMALL;
    snprintf(text, *size, "00012345%04u", opened->place + 1);
    return SUCCEEDED;
}

int k4a_device_start_cameras(device *opened, const configuration *modes) {
    if (fails("device_start_cameras")) return FAILED;
    opened->modes = *modes;
    opened->pace = (pace){0, now()};
    opened->is_running = true;
    add("running", 1);
    return SUCCEEDED;
}

void k4a_device_stop_cameras(device *opened) {
    fails("device_stop_cameras");
    if (opened->is_running) add("running", -1);
    opened->is_running = false;
}

int k4a_device_set_color_control(device *opened, int command, int mode, int32_t value) {
    if (fails("device_set_color_control") || command != 0 || mode != 1) return FAILED;
    set("exposure", value);
    return SUCCEEDED;
}

int k4a_device_get_calibration(device *opened, int depth_mode, int resolution, float *words) {
    if (fails("device_get_calibration")) return FAILED;
    // Two cameras of 32 words, then the poses of 4x4 sensors of 12 words.
    memset(words, 0, sizeof(float) * (64 + 192 + 2));
    static const float lenses[2][4] = {{319.5f, 287.5f, 500, 500}, {639.5f, 359.5f, 600, 600}};
    static const int32_t sizes[2][2] = {{640, 576}, {1280, 720}};
    for (int i = 0; i < 2; i++) {
        memcpy(words + 32 * i + 14, lenses[i], sizeof lenses[i]);
        memcpy(words + 32 * i + 14 + 15, sizes[i], sizeof sizes[i]);
    }
    float *pose = words + 64 + 12;
    pose[0] = pose[4] = pose[8] = 1;
    pose[9] = -32;
    return SUCCEEDED;
}

// MARK: Captures: sets of frames, whose times are milliseconds

static frame *make_color(int number, double time) { return make_frame(number, time, false, 1280, 720, 4, 0); }

static frame *make_depth(int number, double time, int mode) {
    static const int widths[] = {0, 320, 640, 512, 1024}, heights[] = {0, 288, 576, 512, 1024};
    return make_frame(number, time, true, widths[mode], heights[mode], 2, 0);
}

int k4a_device_get_capture(device *opened, frame **result, int32_t timeout) {
    if (fails("device_get_capture") || !opened->is_running) return FAILED;
    if (opened->place == get("unplug", 0) && is_unplugged(opened->pace.number)) return FAILED;
    bool apart = get("apart", 0), only_depth = apart && opened->owes_depth;
    if (!only_depth && !wait_for_frame(&opened->pace, timeout)) return TIMEOUT;
    int number = opened->pace.number;
    double time = 5000 + number * 33;
    bool has_color = opened->modes.resolution && !only_depth, has_depth = opened->modes.depth_mode && apart == only_depth;
    *result = make_set(
        has_color ? make_color(number, time) : NULL,
        has_depth ? make_depth(number, time + get("skew", 0) / 1000, opened->modes.depth_mode) : NULL);
    opened->owes_depth = apart && !only_depth;
    return SUCCEEDED;
}

frame *k4a_capture_get_color_image(frame *capture) { return reference(capture->color); }
frame *k4a_capture_get_depth_image(frame *capture) { return reference(capture->depth); }
void k4a_image_release(frame *image) { release(image); }
void k4a_capture_release(frame *capture) { release(capture); }

uint8_t *k4a_image_get_buffer(frame *image) { return image->bytes; }
size_t k4a_image_get_size(frame *image) { return (size_t)image->size; }
int k4a_image_get_width_pixels(frame *image) { return image->width; }
int k4a_image_get_height_pixels(frame *image) { return image->height; }
int k4a_image_get_stride_bytes(frame *image) { return image->stride; }
uint64_t k4a_image_get_device_timestamp_usec(frame *image) { return (uint64_t)(image->time * 1000 + 0.5); }

// MARK: Recordings

typedef struct {
    int format, resolution, depth_mode, rate;
    bool has_color, has_depth, has_infrared, has_motion;
    int depth_delay, sync;
    uint32_t sync_delay, start;
} recording;

int k4a_playback_open(const char *path, int **opened) {
    *opened = made(sizeof **opened);
    return SUCCEEDED;
}

void k4a_playback_close(int *opened) { gone(opened); }
int k4a_playback_get_calibration(int *opened, void *result) { return FAILED; }
int k4a_playback_set_color_conversion(int *opened, int format) { return SUCCEEDED; }

int k4a_playback_seek_timestamp(int *opened, int64_t offset, int from) {
    *opened = 0;
    return SUCCEEDED;
}

int k4a_playback_get_record_configuration(int *opened, recording *result) {
    *result = (recording){
        .format = 3, .resolution = 1, .depth_mode = 1, .rate = 2, .has_color = true, .has_depth = true,
    };
    return SUCCEEDED;
}

int k4a_playback_get_next_capture(int *opened, frame **result) {
    if (*opened >= get("frames", 3)) return TOO_SMALL;  // the end
    int number = ++*opened, tracks = (int)get("tracks", 3);
    *result = make_set(
        tracks & 1 ? make_color(number, number * 33) : NULL, tracks & 2 ? make_depth(number, number * 33, 1) : NULL);
    return SUCCEEDED;
}
