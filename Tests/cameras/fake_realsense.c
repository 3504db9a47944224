// A stand-in for librealsense2, for what neither a recording nor a camera on the desk can show: unplugging, silence, errors of
// each call, calls that hang, a clock that drifts or jumps, lost and malformed frames.
//
// A recording anywhere but in /nowhere has "frames" frames. Like librealsense's, its player loses the first ones where it is
// not paused at the start, and the call that resumes it returns when a frame was taken, or the pipeline stops.
//
// settings.h has its settings; fake_realsense_objects() counts what was made and not deleted. Frame n has n in the first
// bytes of its color, and 1000 + n % 1000 in each sample of its depth, or the count that the key depth says. After frame
// "depth-until" there is no depth. "focal" is the focal length of the depth camera.
//
// There are three sensors: depth, color, and a fisheye without streams that are known. Their options have the ranges of a D435's;
// one outside of its range is refused. fake_realsense_option(sensor, option) tells a value, option-changes counts them.

// "fail" and "hang" name a function without rs2_; an empty name lets those that hang return. Bits of "streams": 1 depth,
// 2 color. A D405 has both on "one-sensor". Depth is timed by the clock "domain", "depth-ahead" milliseconds of the color's. The
// alignment gives nothing for frame "no-align", and set "lone-depth" has no color.
#define KEYS \
    " cameras version interval unplug-after silent-after drift jump-at jump unit depth depth-until focal lose-every" \
    " bad-stride no-data wrong-size error-type streams one-sensor frames stays-paused domain depth-ahead no-align lone-depth" \
    " no-options fail hang "
#include "settings.h"

#include <stdatomic.h>
#include <stdint.h>
#include <time.h>

enum { WIDTH = 64, HEIGHT = 48, STREAM_DEPTH = 1, STREAM_COLOR = 2, FORMAT_Z16 = 1, FORMAT_RGB8 = 5 };

typedef struct {
    char message[160];
    const char *function;
    int type;
} fault;

typedef struct {
    int stream, format, width, height, rate;
} profile;

typedef struct frame {
    atomic_int references;
    int stream; // 0: a set of the two
    long number;
    double time;
    uint8_t *data;
    int size, stride, width, height;
    struct frame *parts[2];
} frame;

typedef struct {
    long next;
    struct timespec start;
    profile color, depth;
    bool is_running, is_recording;
} pipeline;

// The player of the recording.
static struct {
    bool is_paused, is_playing;
    long taken;
} player;

static atomic_long objects;

enum { OPTIONS = 7 };
static const struct {
    int sensor, option;
    float least, most, step, standard;
} ranges[OPTIONS] = {
    { 0, 3, 1, 165000, 1, 8500 }, { 0, 10, 0, 1, 1, 1 }, { 0, 12, 0, 1, 1, 0 }, { 0, 18, 0, 2, 1, 1 },
    { 1, 3, 1, 10000, 1, 156 }, { 1, 10, 0, 1, 1, 1 }, { 2, 10, 0, 1, 1, 1 },
};

long
fake_realsense_objects (void)
{
    return atomic_load (&objects);
}

static void *
made (size_t size)
{
    atomic_fetch_add (&objects, 1);
    return calloc (1, size);
}

static void
gone (void *object)
{
    if (!object) return;
    atomic_fetch_sub (&objects, 1);
    free (object);
}

static void
fail (fault **error, const char *function, const char *message, int type)
{
    fault *made_fault = made (sizeof *made_fault);
    snprintf (made_fault->message, sizeof made_fault->message, "%s", message);
    made_fault->function = function;
    made_fault->type = type;
    *error = made_fault;
}

// Hangs or fails as the tests want; false where the call is to return at once.
static bool
enter (const char *function, fault **error)
{
    if (!fails (function)) return true;
    int type = (int) get ("error-type", 0);
    fail (error, function, type == 7 ? "xioctl(VIDIOC_S_FMT) failed, errno=16 Last Error: Device or resource busy" : "the test wants it", type);
    return false;
}

#define ENTER(name, result) if (!enter (name, error)) return result

// MARK: - Errors, contexts, devices

const char *rs2_get_error_message (const fault *error) { return error->message; }
const char *rs2_get_failed_function (const fault *error) { return error->function; }
int rs2_get_librealsense_exception_type (const fault *error) { return error->type; }
void rs2_free_error (fault *error) { gone (error); }

int
rs2_get_api_version (fault **error)
{
    ENTER ("get_api_version", 0);
    return (int) get ("version", 25000);
}

void *rs2_create_context (int version, fault **error) { (void) version; ENTER ("create_context", NULL); return made (1); }
void rs2_delete_context (void *context) { gone (context); }

void *rs2_query_devices (void *context, fault **error) { (void) context; ENTER ("query_devices", NULL); return made (1); }
int rs2_get_device_count (void *list, fault **error) { (void) list; ENTER ("get_device_count", 0); return (int) get ("cameras", 1); }

void *
rs2_create_device (void *list, int index, fault **error)
{
    int *device;
    (void) list;
    ENTER ("create_device", NULL);
    device = made (sizeof *device);
    *device = index;
    return device;
}

void rs2_delete_device_list (void *list) { gone (list); }
void rs2_delete_device (void *device) { gone (device); }
int rs2_supports_device_info (void *device, int info, fault **error) { (void) device; (void) error; return info == 0 || info == 1; }

const char *
rs2_get_device_info (int *device, int info, fault **error)
{
    static const char *const serials[] = { "0001", "0002", "0003" };
    ENTER ("get_device_info", NULL);
    return info == 0 ? "Fake RealSense" : serials[*device % 3];
}

// MARK: - Sensors and profiles

void *rs2_query_sensors (void *device, fault **error) { (void) device; ENTER ("query_sensors", NULL); return made (1); }
int rs2_get_sensors_count (void *list, fault **error) { (void) list; ENTER ("get_sensors_count", 0); return 3; }

void *
rs2_create_sensor (void *list, int index, fault **error)
{
    int *sensor;
    (void) list;
    ENTER ("create_sensor", NULL);
    sensor = made (sizeof *sensor);
    *sensor = index;
    return sensor;
}

void rs2_delete_sensor_list (void *list) { gone (list); }
void rs2_delete_sensor (void *sensor) { gone (sensor); }
int rs2_is_sensor_extendable_to (int *sensor, int extension, fault **error) { (void) error; return *sensor == 0 && extension == 7; }
float rs2_get_depth_scale (void *sensor, fault **error) { (void) sensor; ENTER ("get_depth_scale", 0); return (float) get ("unit", 0.001); }

static int
index_of (int sensor, int option)
{
    for (int i = 0; i < OPTIONS; i++)
        if (ranges[i].sensor == sensor && ranges[i].option == option) return i;
    return -1;
}

double
fake_realsense_option (int sensor, int option)
{
    char key[40];
    int i = index_of (sensor, option);
    snprintf (key, sizeof key, "option-%d-%d", sensor, option);
    return i < 0 ? -1 : get (key, ranges[i].standard);
}

int rs2_supports_option (int *sensor, int option, fault **error) { (void) error; return index_of (*sensor, option) >= 0 && !get ("no-options", 0); }

float
rs2_get_option (int *sensor, int option, fault **error)
{
    ENTER ("get_option", 0);
    return (float) fake_realsense_option (*sensor, option);
}

void
rs2_set_option (int *sensor, int option, float value, fault **error)
{
    char key[40];
    int i = index_of (*sensor, option);
    ENTER ("set_option", );
    if (i < 0 || !(value >= ranges[i].least && value <= ranges[i].most)) {
        fail (error, "set_option", "out of range value for argument \"value\"", 3);
        return;
    }
    snprintf (key, sizeof key, "option-%d-%d", *sensor, option);
    set (key, value);
    add ("option-changes", 1);
}

void
rs2_get_option_range (int *sensor, int option, float *least, float *most, float *step, float *standard, fault **error)
{
    int i = index_of (*sensor, option);
    ENTER ("get_option_range", );
    if (i < 0) {
        fail (error, "get_option_range", "Option is not supported", 3);
        return;
    }
    *least = ranges[i].least; *most = ranges[i].most; *step = ranges[i].step; *standard = ranges[i].standard;
}

const char *
rs2_get_option_value_description (void *sensor, int option, float value, fault **error)
{
    (void) sensor; (void) option; (void) error;
    return value == 0 ? "Default" : "Hand";
}

static const profile profiles[2][3] = {
    { { STREAM_DEPTH, FORMAT_Z16, WIDTH, HEIGHT, 30 }, { STREAM_DEPTH, FORMAT_Z16, 2 * WIDTH, 2 * HEIGHT, 30 },
        { STREAM_DEPTH, FORMAT_Z16, WIDTH, HEIGHT, 60 } },
    { { STREAM_COLOR, FORMAT_RGB8, WIDTH, HEIGHT, 30 }, { STREAM_COLOR, FORMAT_RGB8, 2 * WIDTH, 2 * HEIGHT, 30 },
        { STREAM_COLOR, 7, WIDTH, HEIGHT, 30 } },
};

typedef struct {
    int count;
    const profile *items[6];
    profile own[2];
} profile_list;

profile_list *
rs2_get_stream_profiles (int *sensor, fault **error)
{
    profile_list *list;
    int streams = (int) get ("streams", 3), color_sensor = get ("one-sensor", 0) ? 0 : 1;
    ENTER ("get_stream_profiles", NULL);
    list = made (sizeof *list);
    for (int i = 0; i < 2; i++)
        if ((streams & (1 << i)) && *sensor == (i ? color_sensor : 0))
            for (int j = 0; j < 3; j++) list->items[list->count++] = &profiles[i][j];
    return list;
}

int rs2_get_stream_profiles_count (profile_list *list, fault **error) { (void) error; return list->count; }
const profile *rs2_get_stream_profile (profile_list *list, int index, fault **error) { (void) error; return list->items[index]; }
void rs2_delete_stream_profiles_list (profile_list *list) { gone (list); }

void
rs2_get_stream_profile_data (const profile *mode, int *stream, int *format, int *index, int *id, int *rate, fault **error)
{
    ENTER ("get_stream_profile_data", );
    *stream = mode->stream; *format = mode->format; *index = 0; *id = mode->stream; *rate = mode->rate;
}

void
rs2_get_video_stream_resolution (const profile *mode, int *width, int *height, fault **error)
{
    ENTER ("get_video_stream_resolution", );
    *width = mode->width; *height = mode->height;
}

typedef struct {
    int width, height;
    float ppx, ppy, fx, fy;
    int model;
    float coefficients[5];
} intrinsics;

void
rs2_get_video_stream_intrinsics (const profile *mode, intrinsics *result, fault **error)
{
    intrinsics value = { 0, 0, 31.5f, 23.5f, (float) get ("focal", 60), 61, 2, { .1f, .2f, .3f, .4f, .5f } };
    ENTER ("get_video_stream_intrinsics", );
    value.width = mode->width;
    value.height = mode->height;
    if (mode->stream == STREAM_COLOR) value.fx = 70;
    *result = value;
}

// Columns of a rotation by 90 degrees about z: x to y.
void
rs2_get_extrinsics (const profile *from, const profile *to, float *result, fault **error)
{
    static const float value[12] = { 0, 1, 0, -1, 0, 0, 0, 0, 1, .01f, .02f, .03f };
    (void) from; (void) to;
    ENTER ("get_extrinsics", );
    memcpy (result, value, sizeof value);
}

// MARK: - Pipelines

void *rs2_create_config (fault **error) { ENTER ("create_config", NULL); return made (sizeof (pipeline)); }
void rs2_delete_config (void *config) { gone (config); }

void
rs2_config_enable_stream (pipeline *config, int stream, int index, int width, int height, int format, int rate, fault **error)
{
    profile mode = { stream, format, width, height, rate };
    (void) index;
    ENTER ("config_enable_stream", );
    if (stream == STREAM_COLOR) config->color = mode;
    else config->depth = mode;
}

void rs2_config_enable_device (void *config, const char *serial, fault **error) { (void) config; (void) serial; ENTER ("config_enable_device", ); }

void
rs2_config_enable_device_from_file_repeat_option (pipeline *config, const char *file, int repeat, fault **error)
{
    (void) repeat;
    ENTER ("config_enable_device_from_file_repeat_option", );
    if (!strncmp (file, "/nowhere/", 9)) {
        fail (error, "config_enable_device_from_file_repeat_option", "no such file", 0);
        return;
    }
    config->is_recording = true;
}

void *
rs2_config_resolve (pipeline *config, void *pipe, fault **error)
{
    pipeline *result;
    (void) pipe;
    ENTER ("config_resolve", NULL);
    result = made (sizeof *result);
    *result = *config;
    return result;
}

void *rs2_create_pipeline (void *context, fault **error) { (void) context; ENTER ("create_pipeline", NULL); return made (sizeof (pipeline)); }
void rs2_delete_pipeline (void *pipe) { gone (pipe); }

void *
rs2_pipeline_start_with_config (pipeline *pipe, pipeline *config, fault **error)
{
    pipeline *result;
    ENTER ("pipeline_start_with_config", NULL);
    if (get ("cameras", 1) <= 0) {
        fail (error, "pipeline_start", "No device connected", 1);
        return NULL;
    }
    *pipe = *config;
    pipe->is_running = true;
    clock_gettime (CLOCK_MONOTONIC, &pipe->start);
    pthread_mutex_lock (&lock);
    if (pipe->is_recording && !player.is_paused) pipe->next = 3;
    player.is_playing = true;
    player.taken = 0;
    pthread_mutex_unlock (&lock);
    result = made (sizeof *result);
    *result = *pipe;
    return result;
}

void
rs2_pipeline_stop (pipeline *pipe, fault **error)
{
    ENTER ("pipeline_stop", );
    pipe->is_running = false;
    pthread_mutex_lock (&lock);
    player.is_playing = player.is_paused = false;
    pthread_cond_broadcast (&changed);
    pthread_mutex_unlock (&lock);
}

void rs2_delete_pipeline_profile (void *result) { gone (result); }
void *rs2_pipeline_profile_get_device (void *result, fault **error) { (void) result; ENTER ("pipeline_profile_get_device", NULL); return made (sizeof (int)); }

profile_list *
rs2_pipeline_profile_get_streams (pipeline *result, fault **error)
{
    profile_list *list;
    ENTER ("pipeline_profile_get_streams", NULL);
    list = made (sizeof *list);
    list->own[0] = result->color;
    list->own[1] = result->depth;
    for (int i = 0; i < 2; i++)
        if (list->own[i].stream) list->items[list->count++] = &list->own[i];
    return list;
}

// MARK: - Frames

static frame *
new_frame (const profile *mode, long number, double time)
{
    frame *result = made (sizeof *result);
    uint16_t count = (uint16_t) get ("depth", 1000 + number % 1000);
    int pixel = mode->stream == STREAM_DEPTH ? 2 : mode->format == 7 ? 4 : 3;
    atomic_init (&result->references, 1);
    result->stream = mode->stream;
    result->number = number;
    result->time = time;
    result->width = mode->width + (int) get ("wrong-size", 0);
    result->height = mode->height;
    result->stride = get ("bad-stride", 0) ? 1 : mode->width * pixel + 16;
    result->size = (mode->width * pixel + 16) * mode->height;
    result->data = calloc (1, result->size);
    for (int i = 0; mode->stream == STREAM_DEPTH && i + 1 < result->size; i += 2) memcpy (result->data + i, &count, 2);
    if (mode->stream == STREAM_COLOR) memcpy (result->data, &number, sizeof number);
    return result;
}

// The frames of one exposure, at a time in milliseconds.
static frame *
new_set (const pipeline *pipe, double time)
{
    frame *result = made (sizeof *result);
    atomic_init (&result->references, 1);
    if (pipe->depth.stream && pipe->next <= get ("depth-until", 1e9))
        result->parts[0] = new_frame (&pipe->depth, pipe->next, time + 1 + get ("depth-ahead", 0));
    if (pipe->color.stream && pipe->next != get ("lone-depth", 0))
        result->parts[1] = new_frame (&pipe->color, pipe->next, time);
    return result;
}

void
rs2_release_frame (frame *object)
{
    if (atomic_fetch_sub (&object->references, 1) > 1) return;
    for (int i = 0; i < 2; i++)
        if (object->parts[i]) rs2_release_frame (object->parts[i]);
    free (object->data);
    gone (object);
}

void rs2_frame_add_ref (frame *object, fault **error) { ENTER ("frame_add_ref", ); atomic_fetch_add (&object->references, 1); }

// Waits for the next frame of the recording; false where none comes.
static bool
played (pipeline *pipe, unsigned timeout_ms)
{
    struct timespec end;
    long frames = (long) get ("frames", 10);
    bool exists;
    clock_gettime (CLOCK_REALTIME, &end);
    end.tv_sec += timeout_ms / 1000;
    end.tv_nsec += timeout_ms % 1000 * 1000000L;
    if (end.tv_nsec >= 1000000000L) end.tv_sec++, end.tv_nsec -= 1000000000L;
    pthread_mutex_lock (&lock);
    while (player.is_paused || pipe->next >= frames)
        if (pthread_cond_timedwait (&changed, &lock, &end)) break;
    exists = !player.is_paused && pipe->next < frames;
    if (exists) {
        pipe->next++;
        player.taken++;
        pthread_cond_broadcast (&changed);
    } else if (pipe->next >= frames) {
        player.is_playing = false;
    }
    pthread_mutex_unlock (&lock);
    return exists;
}

int
rs2_pipeline_try_wait_for_frames (pipeline *pipe, frame **result, unsigned timeout_ms, fault **error)
{
    struct timespec now, pause;
    int64_t since, wait, interval = (int64_t) get ("interval", 33);
    int lose_every = (int) get ("lose-every", 0);
    double time;
    bool unplugged, silent, lost;
    ENTER ("pipeline_try_wait_for_frames", 0);
    if (pipe->is_recording) {
        if (!played (pipe, timeout_ms)) return 0;
        *result = new_set (pipe, pipe->next * 1000 / 30.0);
        return 1;
    }
    unplugged = get ("cameras", 1) <= 0 || pipe->next >= get ("unplug-after", 1e9);
    silent = pipe->next >= get ("silent-after", 1e9);
    if (unplugged) {
        // Once, as the tests may plug it in again.
        if (get ("unplug-after", 1e9) < 1e9) set ("cameras", 0);
        set ("unplug-after", 1e9);
        fail (error, "pipeline_try_wait_for_frames", "Device disconnected", 1);
        return 0;
    }
    clock_gettime (CLOCK_MONOTONIC, &now);
    since = (now.tv_sec - pipe->start.tv_sec) * 1000000000LL + now.tv_nsec - pipe->start.tv_nsec;
    wait = silent ? (int64_t) timeout_ms * 1000000 : (pipe->next + 1) * interval * 1000000 - since;
    if (wait > (int64_t) timeout_ms * 1000000) wait = (int64_t) timeout_ms * 1000000, silent = true;
    if (wait > 0) {
        pause.tv_sec = wait / 1000000000;
        pause.tv_nsec = wait % 1000000000;
        nanosleep (&pause, NULL);
    }
    if (silent) return 0;
    pipe->next++;
    lost = lose_every > 0 && pipe->next % lose_every == 0;
    // The camera's clock, in milliseconds, at the exposure: when the frame became due.
    time = 5000 + pipe->next * interval * (1 - get ("drift", 0) * 1e-6);
    if (pipe->next >= get ("jump-at", 1e9)) time += get ("jump", 0);
    if (lost) return 0;
    *result = new_set (pipe, time);
    return 1;
}

int rs2_embedded_frames_count (frame *set, fault **error) { (void) error; return (set->parts[0] != NULL) + (set->parts[1] != NULL); }

frame *
rs2_extract_frame (frame *set, int index, fault **error)
{
    frame *part;
    ENTER ("extract_frame", NULL);
    part = set->parts[0] && index == 0 ? set->parts[0] : set->parts[1];
    atomic_fetch_add (&part->references, 1);
    return part;
}

const void *rs2_get_frame_data (frame *object, fault **error) { ENTER ("get_frame_data", NULL); return get ("no-data", 0) ? NULL : object->data; }
int rs2_get_frame_data_size (frame *object, fault **error) { (void) error; return object->size; }
int rs2_get_frame_stride_in_bytes (frame *object, fault **error) { (void) error; return object->stride; }
int rs2_get_frame_width (frame *object, fault **error) { (void) error; return object->width; }
int rs2_get_frame_height (frame *object, fault **error) { (void) error; return object->height; }
double rs2_get_frame_timestamp (frame *object, fault **error) { (void) error; return object->time; }
int rs2_get_frame_timestamp_domain (frame *object, fault **error) { ENTER ("get_frame_timestamp_domain", 0); return object->stream == STREAM_DEPTH ? (int) get ("domain", 0) : 0; }
unsigned long long rs2_get_frame_number (frame *object, fault **error) { (void) error; return (unsigned long long) object->number; }

const profile *
rs2_get_frame_stream_profile (frame *object, fault **error)
{
    static const profile depth = { STREAM_DEPTH, FORMAT_Z16, WIDTH, HEIGHT, 30 }, color = { STREAM_COLOR, FORMAT_RGB8, WIDTH, HEIGHT, 30 };
    (void) error;
    return object->stream == STREAM_DEPTH ? &depth : &color;
}

// MARK: - Alignment, which leaves the frames as they are

typedef struct {
    frame *waiting;
} queue;

void *rs2_create_align (int stream, fault **error) { (void) stream; ENTER ("create_align", NULL); return made (sizeof (queue *)); }
queue *rs2_create_frame_queue (int capacity, fault **error) { (void) capacity; ENTER ("create_frame_queue", NULL); return made (sizeof (queue)); }
void rs2_start_processing_queue (queue **block, queue *target, fault **error) { ENTER ("start_processing_queue", ); *block = target; }

void
rs2_process_frame (queue **block, frame *object, fault **error)
{
    if (!enter ("process_frame", error)) {
        rs2_release_frame (object);
        return;
    }
    if ((*block)->waiting) rs2_release_frame ((*block)->waiting);
    (*block)->waiting = object;
}

int
rs2_poll_for_frame (queue *source, frame **result, fault **error)
{
    ENTER ("poll_for_frame", 0);
    *result = source->waiting;
    source->waiting = NULL;
    if (*result && (*result)->parts[0] && (*result)->parts[0]->number == get ("no-align", 0)) {
        rs2_release_frame (*result);
        return 0;
    }
    return *result != NULL;
}

void rs2_delete_processing_block (void *block) { gone (block); }

void
rs2_delete_frame_queue (queue *object)
{
    if (object && object->waiting) rs2_release_frame (object->waiting);
    gone (object);
}

void rs2_playback_device_set_real_time (void *device, int real, fault **error) { (void) device; (void) real; (void) error; }

void
rs2_playback_device_pause (void *device, fault **error)
{
    (void) device;
    ENTER ("playback_device_pause", );
    pthread_mutex_lock (&lock);
    player.is_paused = true;
    pthread_mutex_unlock (&lock);
}

void
rs2_playback_device_resume (void *device, fault **error)
{
    (void) device;
    ENTER ("playback_device_resume", );
    if (get ("stays-paused", 0)) return;
    pthread_mutex_lock (&lock);
    player.is_paused = false;
    pthread_cond_broadcast (&changed);
    while (player.is_playing && !player.taken) pthread_cond_wait (&changed, &lock);
    pthread_mutex_unlock (&lock);
}

int
rs2_playback_device_get_current_status (void *device, fault **error)
{
    int status;
    (void) device;
    ENTER ("playback_device_get_current_status", 0);
    pthread_mutex_lock (&lock);
    status = !player.is_playing ? 3 : player.is_paused ? 2 : 1;
    pthread_mutex_unlock (&lock);
    return status;
}
