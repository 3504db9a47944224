// A stand-in for OrbbecSDK: cameras whose frames are known, and what a camera on the desk cannot show: depth that is delivered
// late, sensors that run free, unplugging, silence, errors from each call, calls that hang.
//
// The serial numbers are "FAKE1" and so on. A recording is any file name, with "frames" of each stream. Depth comes "late" by so
// many frames, and its sensor is slower by "drift" millionths. "address" is that of a camera on the network. "scale" is that of
// depth, and that of frame "rescale" is twice as much. "old" is a camera with the older switch of its projector; 2 is one without
// a switch.
//
// The declarations are those of the headers of OrbbecSDK 2.9.
#define KEYS " late drift scale rescale no-depth address old "
#include "fake.h"

typedef struct {
    int sensor, format;
    unsigned width, height, rate;
} profile;

typedef struct {
    unsigned place;
    bool is_recording, is_paused;
} device;

typedef struct {
    profile modes[4];
} config;

typedef struct {
    device *source;
    config modes;
    int numbers[2];  // of the last frames of color and depth
    double start;
    bool is_running;
} pipeline;

typedef struct {
    float fx, fy, cx, cy;
    int16_t width, height;
} intrinsics;

typedef struct {
    float k1, k2, k3, k4, k5, k6, p1, p2;
    int model;
} distortion;

typedef struct {
    float rotation[9], translation[3];
} pose;

enum { COLOR = 2, DEPTH = 3, YUYV = 0, MJPG = 5, Y16 = 8, Y10 = 10, RGB = 22, Z16 = 28 };

static const profile profiles[] = {
    {COLOR, RGB, 1280, 720, 30}, {COLOR, MJPG, 640, 480, 30}, {COLOR, RGB, 640, 480, 30}, {COLOR, YUYV, 640, 480, 15},
    {DEPTH, Y10, 640, 400, 30},  {DEPTH, Y16, 640, 400, 30},  {DEPTH, Z16, 848, 480, 30}, {DEPTH, Y16, 640, 400, 15},
};

#define FUNCTION(...) FUNCTION_OF(ob_, __VA_ARGS__)
// One that deletes an object.
#define DELETES(name) void ob_##name(void *object, fault **error) { gone(object); }

const char *ob_error_get_message(const fault *error) { return error->message; }
int ob_error_get_exception_type(const fault *error) { return error->type; }
// The operator delete of C++.
void _ZdlPv(void *error) { gone(error); }

// MARK: Contexts and devices

static const char *serial(uint32_t place) {
    static const char *serials[] = {"FAKE1", "FAKE2", "FAKE3", "BAG"};
    return serials[place & 3];
}

static device *opened(uint32_t place, bool is_recording) {
    device *result = made(sizeof *result);
    *result = (device){place, is_recording, false};
    return result;
}

static void *context(void) {
    add("contexts", 1);
    return &lock;
}

static device *copy(const device *of) { return opened(of->place, of->is_recording); }

FUNCTION(void, set_logger_severity, (int level, fault **error), , set("log", level))
FUNCTION(void, set_logger_to_console, (int level, fault **error), , set("log", level))
FUNCTION(void, set_extensions_directory, (const char *path, fault **error), , set("extensions", *path == '/'))
FUNCTION(void *, create_context, (fault **error), NULL, return context())
FUNCTION(void *, query_device_list, (void *context, fault **error), NULL, return made(1))
FUNCTION(uint32_t, device_list_get_count, (void *list, fault **error), 0, return (uint32_t)cameras())
FUNCTION(const char *, device_list_get_device_name, (void *list, uint32_t i, fault **error), NULL, return "Fake Gemini")
FUNCTION(
    const char *, device_list_get_device_serial_number, (void *list, uint32_t i, fault **error), NULL, return serial(i))
FUNCTION(void *, device_list_get_device, (void *list, uint32_t i, fault **error), NULL, return opened(i, false))
FUNCTION(void *, create_playback_device, (const char *path, fault **error), NULL, return opened(3, true))
DELETES(delete_device_list)
DELETES(delete_device)

void *ob_create_net_device(void *context, const char *address, uint16_t port, fault **error) {
    pthread_mutex_lock(&lock);
    bool is_there = is("address", address) && port == 8090;
    pthread_mutex_unlock(&lock);
    if (!is_there) put("fail", "create_net_device", 0);
    ENTER("create_net_device", NULL);
    return opened(2, false);
}

FUNCTION(void *, device_get_device_info, (device *source, fault **error), NULL, return copy(source))
FUNCTION(const char *, device_info_get_name, (device *info, fault **error), NULL, return "Fake Gemini")
FUNCTION(const char *, device_info_get_serial_number, (device *info, fault **error), NULL, return serial(info->place))
DELETES(delete_device_info)

bool ob_device_is_property_supported(device *source, int property, int permission, fault **error) {
    ENTER("device_is_property_supported", false);
    int old = (int)get("old", 0);
    return permission == 2 && property == (old == 2 ? -1 : old ? 3 : 182);
}

FUNCTION(
    void, device_set_bool_property, (device *source, int property, bool value, fault **error), ,
    if (property == 3) set("emitter", value))
FUNCTION(
    void, device_set_int_property, (device *source, int property, int32_t value, fault **error), ,
    if (property == 182) set("emitter", value))

static const char *presets[] = {"Default", "High Accuracy"};
FUNCTION(void *, device_get_available_preset_list, (device *source, fault **error), NULL, return made(1))
FUNCTION(uint32_t, device_preset_list_get_count, (void *list, fault **error), 0, return 2)
FUNCTION(
    const char *, device_preset_list_get_name, (void *list, uint32_t i, fault **error), NULL, return presets[i & 1])
FUNCTION(
    void, device_load_preset, (device *source, const char *name, fault **error), , set("emitter", 1);
    set("preset", !strcmp(name, presets[1]) ? 2 : 1))
DELETES(delete_preset_list)

// MARK: Profiles

static profile *made_profile(int sensor, int place) {
    profile *result = made(sizeof *result);
    *result = profiles[(sensor == DEPTH) * 4 + place];
    return result;
}

FUNCTION(
    void *, pipeline_get_stream_profile_list, (pipeline *source, int sensor, fault **error), NULL,
    return made_number(sensor))
FUNCTION(uint32_t, stream_profile_list_get_count, (int *list, fault **error), 0, return 4)
FUNCTION(
    void *, stream_profile_list_get_profile, (int *list, int place, fault **error), NULL,
    return made_profile(*list, place))
DELETES(delete_stream_profile_list)
DELETES(delete_stream_profile)
FUNCTION(int, stream_profile_get_format, (profile *of, fault **error), -1, return of->format)
FUNCTION(uint32_t, video_stream_profile_get_width, (profile *of, fault **error), 0, return of->width)
FUNCTION(uint32_t, video_stream_profile_get_height, (profile *of, fault **error), 0, return of->height)
FUNCTION(uint32_t, video_stream_profile_get_fps, (profile *of, fault **error), 0, return of->rate)

intrinsics ob_video_stream_profile_get_intrinsic(profile *of, fault **error) {
    ENTER("video_stream_profile_get_intrinsic", (intrinsics){0});
    float f = of->sensor == DEPTH ? 500 : 600;
    return (intrinsics){f, f, (of->width - 1) / 2.0f, (of->height - 1) / 2.0f, (int16_t)of->width, (int16_t)of->height};
}

distortion ob_video_stream_profile_get_distortion(profile *of, fault **error) {
    ENTER("video_stream_profile_get_distortion", (distortion){0});
    return of->sensor == DEPTH ? (distortion){0} : (distortion){.1f, .2f, .3f, .4f, .5f, .6f, .01f, .02f, 4};
}

pose ob_stream_profile_get_extrinsic_to(profile *from, profile *to, fault **error) {
    ENTER("stream_profile_get_extrinsic_to", (pose){0});
    float x = from->sensor == DEPTH && to->sensor == COLOR ? -25 : 25;
    return (pose){{1, 0, 0, 0, 1, 0, 0, 0, 1}, {x, 0, 0}};
}

// MARK: Pipelines

void *ob_create_pipeline_with_device(device *source, fault **error) {
    ENTER("create_pipeline_with_device", NULL);
    pipeline *result = made(sizeof *result);
    result->source = source;
    set("synced", 1);
    return result;
}

DELETES(delete_pipeline)
FUNCTION(void *, create_config, (fault **error), NULL, return made(sizeof(config)))
DELETES(delete_config)
FUNCTION(
    void, config_enable_stream_with_stream_profile, (config *modes, profile *mode, fault **error), ,
    modes->modes[mode->sensor] = *mode)
FUNCTION(
    void, config_set_frame_aggregate_output_mode, (config *modes, int mode, fault **error), , set("aggregation", mode))
FUNCTION(void, pipeline_disable_frame_sync, (pipeline *source, fault **error), , set("synced", 0))

void ob_pipeline_start_with_config(pipeline *source, config *modes, fault **error) {
    ENTER("pipeline_start_with_config", );
    source->modes = *modes;
    // A player that is not paused plays as soon as color is started, and the first depth map is lost.
    source->numbers[0] = 0;
    source->numbers[1] = source->source->is_recording && !source->source->is_paused;
    source->start = now();
    source->is_running = true;
    add("running", 1);
}

void ob_pipeline_stop(pipeline *source, fault **error) {
    ENTER("pipeline_stop", );
    if (source->is_running) add("running", -1);
    source->is_running = false;
}

FUNCTION(void, playback_device_pause, (device *player, fault **error), , player->is_paused = true)
FUNCTION(void, playback_device_resume, (device *player, fault **error), , player->is_paused = false)
// A player stops when it has read the last frame, before that is fetched.
FUNCTION(int, playback_device_get_current_playback_status, (device *player, fault **error), 0, return 3)

// When a stream's next frame arrives, in frames since the start; none where the sum is large.
static double arrival(const pipeline *source, bool is_depth) {
    double next = source->numbers[is_depth] + 1, last = source->source->is_recording ? get("frames", 1e9) : 1e9;
    if (!source->modes.modes[is_depth ? DEPTH : COLOR].width || next > last) return 1e9;
    if (!is_depth) return next;
    return get("no-depth", 0) ? 1e9 : next * (1 + get("drift", 0) / 1e6) + get("late", 0);
}

static frame *next_frame(pipeline *source, bool is_depth) {
    const profile *mode = &source->modes.modes[is_depth ? DEPTH : COLOR];
    int number = ++source->numbers[is_depth], pixel = is_depth || mode->format == YUYV ? 2 : 3;
    double time = 5000 + number * 1e3 / mode->rate * (is_depth ? 1 + get("drift", 0) / 1e6 : 1);
    frame *result = make_frame(number, time, is_depth, (int)mode->width, (int)mode->height, pixel, 0);
    result->format = mode->format;
    result->scale = (float)get("scale", 1) * (get("rescale", 0) == number ? 2 : 1);
    return result;
}

void *ob_pipeline_wait_for_frameset(pipeline *source, uint32_t timeout, fault **error) {
    ENTER("pipeline_wait_for_frameset", NULL);
    double end = now() + timeout, arrivals[2] = {arrival(source, false), arrival(source, true)};
    bool is_depth = arrivals[1] < arrivals[0];
    int newest = source->numbers[source->numbers[0] < source->numbers[1]];
    bool comes = arrivals[is_depth] < 1e9 && !source->source->is_paused && !is_unplugged(newest) && !is_silent(newest);
    double due = comes ? source->start + arrivals[is_depth] * get("interval", INTERVAL) : end + 1;
    sleep_until(due < end ? due : end);
    if (due > end) return NULL;
    frame *next = next_frame(source, is_depth);
    return make_set(is_depth ? NULL : next, is_depth ? next : NULL);
}

// MARK: Frames

void ob_delete_frame(frame *of, fault **error) { release(of); }

FUNCTION(void *, frameset_get_color_frame, (frame *set, fault **error), NULL, return reference(set->color))
FUNCTION(void *, frameset_get_depth_frame, (frame *set, fault **error), NULL, return reference(set->depth))
FUNCTION(uint8_t *, frame_get_data, (frame *of, fault **error), NULL, return of->bytes)
FUNCTION(uint32_t, frame_get_data_size, (frame *of, fault **error), 0, return (uint32_t)of->size)
FUNCTION(uint32_t, video_frame_get_width, (frame *of, fault **error), 0, return (uint32_t)of->width)
FUNCTION(uint32_t, video_frame_get_height, (frame *of, fault **error), 0, return (uint32_t)of->height)
FUNCTION(int, frame_get_format, (frame *of, fault **error), -1, return of->format)
FUNCTION(uint64_t, frame_get_timestamp_us, (frame *of, fault **error), 0, return (uint64_t)(of->time * 1000))
FUNCTION(uint64_t, frame_get_index, (frame *of, fault **error), 0, return (uint64_t)of->number)
FUNCTION(float, depth_frame_get_value_scale, (frame *of, fault **error), 0, return of->scale)
