// A stand-in for librealsense2, for what neither a recording nor a camera on the desk can show: unplugging, silence, errors of
// each call, calls that hang, a clock that drifts or jumps, lost and malformed frames.
//
// A recording anywhere but in /nowhere has "frames" frames. Like librealsense's, its player loses the first ones where it is
// not paused at the start, and the call that resumes it returns when a frame was taken, or the pipeline stops.
//
// There are three sensors: depth, color, and a fisheye without streams that are known. Their options have the ranges of a D435's;
// one outside of its range is refused. fake_realsense_option(sensor, option) tells a value, option-changes counts them.
//
// Bits of "streams": 1 depth, 2 color. A D405 has both on "one-sensor". "depth" is the count of each sample, "focal" the focal
// length of the depth camera. After frame "depth-until" there is no depth. It is timed by the clock "domain", "depth-ahead"
// milliseconds of the color's. The alignment gives nothing for frame "no-align", and set "lone-depth" has no color.
#define KEYS \
    " version drift jump-at jump unit depth depth-until focal bad-stride no-data streams one-sensor stays-paused domain" \
    " depth-ahead no-align lone-depth no-options "
#include "fake.h"

enum { WIDTH = 64, HEIGHT = 48, DEPTH = 1, COLOR = 2, Z16 = 1, RGB8 = 5, RGBA8 = 7 };

typedef struct {
    int stream, format, width, height, rate;
} profile;

typedef struct {
    pace pace;
    profile color, depth;
    bool is_recording;
} pipeline;

// The player of the recording.
static struct {
    bool is_paused, is_playing;
    int taken;
} player;

enum { OPTIONS = 7 };
static const struct {
    int sensor, option;
    float least, most, step, standard;
} ranges[OPTIONS] = {
    {0, 3, 1, 165000, 1, 8500}, {0, 10, 0, 1, 1, 1}, {0, 12, 0, 1, 1, 0}, {0, 18, 0, 2, 1, 1},
    {1, 3, 1, 10000, 1, 156},   {1, 10, 0, 1, 1, 1}, {2, 10, 0, 1, 1, 1},
};

#define FUNCTION(...) FUNCTION_OF(rs2_, __VA_ARGS__)
// One that deletes an object.
#define DELETES(name) void rs2_##name(void *object) { gone(object); }

// MARK: Errors, contexts, devices

const char *rs2_get_error_message(const fault *error) {
    return error->type == 7 ? "xioctl(VIDIOC_S_FMT) failed, errno=16 Last Error: Device or resource busy" : error->message;
}
const char *rs2_get_failed_function(const fault *error) { return error->function; }
int rs2_get_librealsense_exception_type(const fault *error) { return error->type; }
void rs2_free_error(fault *error) { gone(error); }

FUNCTION(int, get_api_version, (fault **error), 0, return (int)get("version", 25000))

FUNCTION(void *, create_context, (int version, fault **error), NULL, return made(1))
DELETES(delete_context)

FUNCTION(void *, query_devices, (void *context, fault **error), NULL, return made(1))
FUNCTION(int, get_device_count, (void *list, fault **error), 0, return cameras())
FUNCTION(void *, create_device, (void *list, int index, fault **error), NULL, return made_number(index))
DELETES(delete_device_list)
DELETES(delete_device)
int rs2_supports_device_info(void *device, int info, fault **error) { return info == 0 || info == 1; }

const char *rs2_get_device_info(int *device, int info, fault **error) {
    static const char *const serials[] = {"0001", "0002", "0003"};
    ENTER("get_device_info", NULL);
    return info == 0 ? "Fake RealSense" : serials[*device % 3];
}

// MARK: Sensors and profiles

FUNCTION(void *, query_sensors, (void *device, fault **error), NULL, return made(1))
FUNCTION(int, get_sensors_count, (void *list, fault **error), 0, return 3)
FUNCTION(void *, create_sensor, (void *list, int index, fault **error), NULL, return made_number(index))
DELETES(delete_sensor_list)
DELETES(delete_sensor)
int rs2_is_sensor_extendable_to(int *sensor, int extension, fault **error) { return *sensor == 0 && extension == 7; }

FUNCTION(float, get_depth_scale, (void *sensor, fault **error), 0, return (float)get("unit", 0.001))

static int index_of(int sensor, int option) {
    for (int i = 0; i < OPTIONS; i++) {
        if (ranges[i].sensor == sensor && ranges[i].option == option) return i;
    }
    return -1;
}

// The key of the value.
static const char *key_of(char key[40], int sensor, int option) {
    snprintf(key, 40, "option-%d-%d", sensor, option);
    return key;
}

double fake_realsense_option(int sensor, int option) {
    int i = index_of(sensor, option);
    return i < 0 ? -1 : get(key_of((char[40]){0}, sensor, option), ranges[i].standard);
}

int rs2_supports_option(int *sensor, int option, fault **error) {
    return index_of(*sensor, option) >= 0 && !get("no-options", 0);
}

FUNCTION(
    float, get_option, (int *sensor, int option, fault **error), 0,
    return (float)fake_realsense_option(*sensor, option))

void rs2_set_option(int *sensor, int option, float value, fault **error) {
    int i = index_of(*sensor, option);
    ENTER("set_option", );
    if (i < 0 || !(value >= ranges[i].least && value <= ranges[i].most)) {
        fail(error, "set_option", "out of range value for argument \"value\"", 3);
        return;
    }
    set(key_of((char[40]){0}, *sensor, option), value);
    add("option-changes", 1);
}

void rs2_get_option_range(
    int *sensor, int option, float *least, float *most, float *step, float *standard, fault **error) {
    int i = index_of(*sensor, option);
    ENTER("get_option_range", );
    if (i < 0) {
        fail(error, "get_option_range", "Option is not supported", 3);
        return;
    }
    *least = ranges[i].least;
    *most = ranges[i].most;
    *step = ranges[i].step;
    *standard = ranges[i].standard;
}

const char *rs2_get_option_value_description(void *sensor, int option, float value, fault **error) {
    return value == 0 ? "Default" : "Hand";
}

static const profile profiles[2][3] = {
    {{DEPTH, Z16, WIDTH, HEIGHT, 30}, {DEPTH, Z16, 2 * WIDTH, 2 * HEIGHT, 30}, {DEPTH, Z16, WIDTH, HEIGHT, 60}},
    {{COLOR, RGB8, WIDTH, HEIGHT, 30}, {COLOR, RGB8, 2 * WIDTH, 2 * HEIGHT, 30}, {COLOR, RGBA8, WIDTH, HEIGHT, 30}},
};

typedef struct {
    int count;
    const profile *items[6];
    profile own[2];
} profile_list;

profile_list *rs2_get_stream_profiles(int *sensor, fault **error) {
    int streams = (int)get("streams", 3), color_sensor = get("one-sensor", 0) ? 0 : 1;
    ENTER("get_stream_profiles", NULL);
    profile_list *list = made(sizeof *list);
    for (int i = 0; i < 2; i++) {
        if (!(streams & (1 << i)) || *sensor != (i ? color_sensor : 0)) continue;
        for (int j = 0; j < 3; j++) list->items[list->count++] = &profiles[i][j];
    }
    return list;
}

int rs2_get_stream_profiles_count(profile_list *list, fault **error) { return list->count; }
const profile *rs2_get_stream_profile(profile_list *list, int index, fault **error) { return list->items[index]; }
void rs2_delete_stream_profiles_list(profile_list *list) { gone(list); }

void rs2_get_stream_profile_data(
    const profile *mode, int *stream, int *format, int *index, int *id, int *rate, fault **error) {
    ENTER("get_stream_profile_data", );
    *stream = *id = mode->stream;
    *format = mode->format;
    *index = 0;
    *rate = mode->rate;
}

void rs2_get_video_stream_resolution(const profile *mode, int *width, int *height, fault **error) {
    ENTER("get_video_stream_resolution", );
    *width = mode->width;
    *height = mode->height;
}

typedef struct {
    int width, height;
    float ppx, ppy, fx, fy;
    int model;
    float coefficients[5];
} intrinsics;

void rs2_get_video_stream_intrinsics(const profile *mode, intrinsics *result, fault **error) {
    ENTER("get_video_stream_intrinsics", );
    float fx = mode->stream == COLOR ? 70 : (float)get("focal", 60);
    *result = (intrinsics){mode->width, mode->height, 31.5f, 23.5f, fx, 61, 2, {.1f, .2f, .3f, .4f, .5f}};
}

// Columns of a rotation by 90 degrees about z: x to y.
void rs2_get_extrinsics(const profile *from, const profile *to, float *result, fault **error) {
    static const float value[12] = {0, 1, 0, -1, 0, 0, 0, 0, 1, .01f, .02f, .03f};
    ENTER("get_extrinsics", );
    memcpy(result, value, sizeof value);
}

// MARK: Pipelines

FUNCTION(void *, create_config, (fault **error), NULL, return made(sizeof(pipeline)))
DELETES(delete_config)

FUNCTION(
    void, config_enable_stream, (
    pipeline *config, int stream, int index, int width, int height, int format, int rate, fault **error), ,
    *(stream == COLOR ? &config->color : &config->depth) = (profile){stream, format, width, height, rate})

void rs2_config_enable_device(void *config, const char *serial, fault **error) { ENTER("config_enable_device", ); }

void rs2_config_enable_device_from_file_repeat_option(pipeline *config, const char *file, int repeat, fault **error) {
    static const char name[] = "config_enable_device_from_file_repeat_option";
    ENTER(name, );
    config->is_recording = true;
    if (!strncmp(file, "/nowhere/", 9)) fail(error, name, "no such file", 0);
}

static pipeline *copy(const pipeline *of) {
    pipeline *result = made(sizeof *result);
    *result = *of;
    return result;
}

FUNCTION(void *, config_resolve, (pipeline *config, void *pipe, fault **error), NULL, return copy(config))

FUNCTION(void *, create_pipeline, (void *context, fault **error), NULL, return made(sizeof(pipeline)))
DELETES(delete_pipeline)

void *rs2_pipeline_start_with_config(pipeline *pipe, pipeline *config, fault **error) {
    ENTER("pipeline_start_with_config", NULL);
    if (cameras() <= 0) {
        fail(error, "pipeline_start", "No device connected", 1);
        return NULL;
    }
    *pipe = *config;
    pipe->pace.start = now();
    pthread_mutex_lock(&lock);
    if (pipe->is_recording && !player.is_paused) pipe->pace.number = 3;
    player.is_playing = true;
    player.taken = 0;
    pthread_mutex_unlock(&lock);
    return copy(pipe);
}

void rs2_pipeline_stop(pipeline *pipe, fault **error) {
    ENTER("pipeline_stop", );
    pthread_mutex_lock(&lock);
    player.is_playing = player.is_paused = false;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
}

DELETES(delete_pipeline_profile)

FUNCTION(void *, pipeline_profile_get_device, (void *result, fault **error), NULL, return made_number(0))

profile_list *rs2_pipeline_profile_get_streams(pipeline *result, fault **error) {
    ENTER("pipeline_profile_get_streams", NULL);
    profile_list *list = made(sizeof *list);
    list->own[0] = result->color;
    list->own[1] = result->depth;
    for (int i = 0; i < 2; i++) {
        if (list->own[i].stream) list->items[list->count++] = &list->own[i];
    }
    return list;
}

// MARK: Frames

static frame *new_frame(const profile *mode, int number, double time) {
    int pixel = mode->stream == DEPTH ? 2 : mode->format == RGBA8 ? 4 : 3;
    frame *result = make_frame(number, time, mode->stream == DEPTH, mode->width, mode->height, pixel, 16);
    uint16_t count = (uint16_t)get("depth", 0);
    for (int i = 0; count && result->is_depth && i < result->size / 2; i++) ((uint16_t *)result->bytes)[i] = count;
    if (get("bad-stride", 0)) result->stride = 1;
    return result;
}

// The frames of one exposure, at a time in milliseconds.
static frame *new_set(const pipeline *pipe, double time) {
    int number = pipe->pace.number;
    bool has_depth = pipe->depth.stream && number <= get("depth-until", 1e9);
    bool has_color = pipe->color.stream && number != get("lone-depth", 0);
    return make_set(
        has_color ? new_frame(&pipe->color, number, time) : NULL,
        has_depth ? new_frame(&pipe->depth, number, time + 1 + get("depth-ahead", 0)) : NULL);
}

void rs2_release_frame(frame *object) { release(object); }

FUNCTION(void, frame_add_ref, (frame *object, fault **error), , reference(object))

// Waits for the next frame of the recording; false where none comes.
static bool played(pipeline *pipe, unsigned timeout_ms) {
    int frames = (int)get("frames", 10);
    struct timespec end;
    clock_gettime(CLOCK_REALTIME, &end);
    end.tv_sec += timeout_ms / 1000;
    end.tv_nsec += timeout_ms % 1000 * 1000000L;
    if (end.tv_nsec >= 1000000000L) {
        end.tv_sec++;
        end.tv_nsec -= 1000000000L;
    }
    pthread_mutex_lock(&lock);
    while (player.is_paused || pipe->pace.number >= frames) {
        if (pthread_cond_timedwait(&changed, &lock, &end)) break;
    }
    bool exists = !player.is_paused && pipe->pace.number < frames;
    if (exists) {
        pipe->pace.number++;
        player.taken++;
        pthread_cond_broadcast(&changed);
    } else if (pipe->pace.number >= frames) {
        player.is_playing = false;
    }
    pthread_mutex_unlock(&lock);
    return exists;
}

int rs2_pipeline_try_wait_for_frames(pipeline *pipe, frame **result, unsigned timeout_ms, fault **error) {
    ENTER("pipeline_try_wait_for_frames", 0);
    if (pipe->is_recording) {
        if (!played(pipe, timeout_ms)) return 0;
        *result = new_set(pipe, pipe->pace.number * 1000 / 30.0);
        return 1;
    }
    if (is_unplugged(pipe->pace.number)) {
        fail(error, "pipeline_try_wait_for_frames", "Device disconnected", 1);
        return 0;
    }
    if (!wait_for_frame(&pipe->pace, timeout_ms)) return 0;
    // The camera's clock at the exposure: when the frame became due.
    double time = 5000 + pipe->pace.number * get("interval", INTERVAL) * (1 - get("drift", 0) * 1e-6);
    if (pipe->pace.number >= get("jump-at", 1e9)) time += get("jump", 0);
    *result = new_set(pipe, time);
    return 1;
}

int rs2_embedded_frames_count(frame *set, fault **error) { return (set->depth != NULL) + (set->color != NULL); }

FUNCTION(
    frame *, extract_frame, (frame *set, int index, fault **error), NULL,
    return reference(set->depth && index == 0 ? set->depth : set->color))

FUNCTION(
    const void *, get_frame_data, (frame *object, fault **error), NULL,
    return get("no-data", 0) ? NULL : object->bytes)

int rs2_get_frame_data_size(frame *object, fault **error) { return object->size; }
int rs2_get_frame_stride_in_bytes(frame *object, fault **error) { return object->stride; }
int rs2_get_frame_width(frame *object, fault **error) { return object->width; }
int rs2_get_frame_height(frame *object, fault **error) { return object->height; }
double rs2_get_frame_timestamp(frame *object, fault **error) { return object->time; }
unsigned long long rs2_get_frame_number(frame *object, fault **error) { return (unsigned long long)object->number; }

FUNCTION(
    int, get_frame_timestamp_domain, (frame *object, fault **error), 0,
    return object->is_depth ? (int)get("domain", 0) : 0)

const profile *rs2_get_frame_stream_profile(frame *object, fault **error) {
    return &profiles[object->is_depth ? 0 : 1][0];
}

// MARK: Alignment, which leaves the frames as they are

typedef struct {
    frame *waiting;
} queue;

FUNCTION(void *, create_align, (int stream, fault **error), NULL, return made(sizeof(queue *)))
FUNCTION(queue *, create_frame_queue, (int capacity, fault **error), NULL, return made(sizeof(queue)))
FUNCTION(void, start_processing_queue, (queue **block, queue *target, fault **error), , *block = target)

void rs2_process_frame(queue **block, frame *object, fault **error) {
    bool works = enter("process_frame", error);
    release(works ? (*block)->waiting : object);
    if (works) (*block)->waiting = object;
}

int rs2_poll_for_frame(queue *source, frame **result, fault **error) {
    ENTER("poll_for_frame", 0);
    *result = source->waiting;
    source->waiting = NULL;
    if (*result && (*result)->depth && (*result)->depth->number == get("no-align", 0)) {
        release(*result);
        return 0;
    }
    return *result != NULL;
}

DELETES(delete_processing_block)

void rs2_delete_frame_queue(queue *object) {
    if (object) release(object->waiting);
    gone(object);
}

// MARK: The player

void rs2_playback_device_set_real_time(void *device, int real, fault **error) {}

void rs2_playback_device_pause(void *device, fault **error) {
    ENTER("playback_device_pause", );
    pthread_mutex_lock(&lock);
    player.is_paused = true;
    pthread_mutex_unlock(&lock);
}

void rs2_playback_device_resume(void *device, fault **error) {
    ENTER("playback_device_resume", );
    if (get("stays-paused", 0)) return;
    pthread_mutex_lock(&lock);
    player.is_paused = false;
    pthread_cond_broadcast(&changed);
    while (player.is_playing && !player.taken) pthread_cond_wait(&changed, &lock);
    pthread_mutex_unlock(&lock);
}

int rs2_playback_device_get_current_status(void *device, fault **error) {
    ENTER("playback_device_get_current_status", 0);
    pthread_mutex_lock(&lock);
    int status = !player.is_playing ? 3 : player.is_paused ? 2 : 1;
    pthread_mutex_unlock(&lock);
    return status;
}
