// A stand-in for OrbbecSDK: cameras whose frames are known, and what a camera on the desk cannot show: depth that is delivered
// late, sensors that run free, unplugging, silence, errors from each call, calls that hang.
//
// Frame n, from 1 on, has n in each byte of its color, and 1000 + n % 1000 in each sample of its depth. The serial numbers are
// "FAKE1" and so on. A recording is any file name, with "frames" of each stream.
//
// The declarations are those of the headers of OrbbecSDK 2.9.

// "interval" is that of frames in milliseconds; "fail" and "hang" name a function without ob_. Depth comes "late" by so many
// frames, and its sensor is slower by "drift" millionths. "address" is that of a camera on the network. "scale" is that of depth,
// and that of frame "rescale" is twice as much. "old" is a camera with the older switch of its projector; 2 is one without a switch.
#define KEYS \
    " cameras interval late drift scale rescale no-depth wrong-size unplug-after silent-after frames address old fail hang error-type" \
    " emitter preset aggregation synced log extensions running contexts objects "
#include "settings.h"

typedef struct { char message[256]; int type; } fault;
typedef struct { int sensor, format; unsigned width, height, rate; } profile;
typedef struct { unsigned place; bool is_recording, is_paused; } device;
typedef struct { bool color, depth; profile modes[4]; } config;

typedef struct {
    device *source;
    config modes;
    int numbers[2]; // of the last frames of color and depth
    int64_t start;
    bool is_running;
} pipeline;

typedef struct frame {
    int references, format;
    unsigned width, height, size;
    uint64_t time, number;
    float scale;
    struct frame *color, *depth; // of a set
    uint8_t bytes[];
} frame;

typedef struct { float fx, fy, cx, cy; int16_t width, height; } intrinsics;
typedef struct { float k1, k2, k3, k4, k5, k6, p1, p2; int model; } distortion;
typedef struct { float rotation[9], translation[3]; } pose;

enum { COLOR = 2, DEPTH = 3, YUYV = 0, MJPG = 5, Y16 = 8, Y10 = 10, RGB = 22, Z16 = 28 };

static const profile profiles[] = {
    { COLOR, RGB, 1280, 720, 30 }, { COLOR, MJPG, 640, 480, 30 }, { COLOR, RGB, 640, 480, 30 }, { COLOR, YUYV, 640, 480, 15 },
    { DEPTH, Y10, 640, 400, 30 },  { DEPTH, Y16, 640, 400, 30 },  { DEPTH, Z16, 848, 480, 30 }, { DEPTH, Y16, 640, 400, 15 },
};

static void *
made (size_t size)
{
    add ("objects", 1);
    return calloc (1, size);
}

static void
gone (void *object)
{
    if (object) add ("objects", -1);
    free (object);
}

// False, with an error, where the function is to fail.
static bool
enter (const char *function, fault **error)
{
    if (!fails (function)) return true;
    *error = made (sizeof **error);
    strcpy ((*error)->message, "the test wants it");
    (*error)->type = (int) get ("error-type", 0);
    return false;
}

#define ENTER(name, result) if (!enter (name, error)) return result

const char *ob_error_get_message (const fault *error) { return error->message; }
int ob_error_get_exception_type (const fault *error) { return error->type; }
// The operator delete of C++.
void _ZdlPv (void *error) { gone (error); }

// MARK: Contexts and devices

void ob_set_logger_severity (int level, fault **error) { ENTER ("set_logger_severity", ); set ("log", level); }
void ob_set_logger_to_console (int level, fault **error) { ENTER ("set_logger_to_console", ); set ("log", level); }
void ob_set_extensions_directory (const char *path, fault **error) { ENTER ("set_extensions_directory", ); set ("extensions", *path == '/'); }
void *ob_create_context (fault **error) { ENTER ("create_context", NULL); add ("contexts", 1); return &lock; }
void *ob_query_device_list (void *context, fault **error) { (void) context; ENTER ("query_device_list", NULL); return made (1); }
void ob_delete_device_list (void *list, fault **error) { (void) error, gone (list); }
uint32_t ob_device_list_get_count (void *list, fault **error) { (void) list; ENTER ("device_list_get_count", 0); return get ("unplugged", 0) ? 0 : (uint32_t) get ("cameras", 1); }
const char *ob_device_list_get_device_name (void *list, uint32_t place, fault **error) { (void) list, (void) place; ENTER ("device_list_get_device_name", NULL); return "Fake Gemini"; }

static const char *
serial (uint32_t place)
{
    static const char *serials[] = { "FAKE1", "FAKE2", "FAKE3", "BAG" };
    return serials[place & 3];
}

const char *ob_device_list_get_device_serial_number (void *list, uint32_t place, fault **error) { (void) list; ENTER ("device_list_get_device_serial_number", NULL); return serial (place); }

static device *
opened (uint32_t place, bool is_recording)
{
    device *result = made (sizeof *result);
    *result = (device) { place, is_recording, false };
    return result;
}

void *ob_device_list_get_device (void *list, uint32_t place, fault **error) { (void) list; ENTER ("device_list_get_device", NULL); return opened (place, false); }
void *ob_create_playback_device (const char *path, fault **error) { (void) path; ENTER ("create_playback_device", NULL); return opened (3, true); }

void *
ob_create_net_device (void *context, const char *address, uint16_t port, fault **error)
{
    (void) context;
    pthread_mutex_lock (&lock);
    bool is_there = is ("address", address) && port == 8090;
    pthread_mutex_unlock (&lock);
    if (!is_there) put ("fail", "create_net_device", 0);
    ENTER ("create_net_device", NULL);
    return opened (2, false);
}

void ob_delete_device (void *object, fault **error) { (void) error, gone (object); }

void *
ob_device_get_device_info (device *source, fault **error)
{
    ENTER ("device_get_device_info", NULL);
    device *info = made (sizeof *info);
    *info = *source;
    return info;
}

void ob_delete_device_info (void *info, fault **error) { (void) error, gone (info); }
const char *ob_device_info_get_name (device *info, fault **error) { (void) info; ENTER ("device_info_get_name", NULL); return "Fake Gemini"; }
const char *ob_device_info_get_serial_number (device *info, fault **error) { ENTER ("device_info_get_serial_number", NULL); return serial (info->place); }
bool ob_device_is_property_supported (device *source, int property, int permission, fault **error) { (void) source; ENTER ("device_is_property_supported", false); return permission == 2 && property == (get ("old", 0) == 2 ? -1 : get ("old", 0) ? 3 : 182); }
void ob_device_set_bool_property (device *source, int property, bool value, fault **error) { (void) source; ENTER ("device_set_bool_property", ); if (property == 3) set ("emitter", value); }
void ob_device_set_int_property (device *source, int property, int32_t value, fault **error) { (void) source; ENTER ("device_set_int_property", ); if (property == 182) set ("emitter", value); }

static const char *presets[] = { "Default", "High Accuracy" };
void *ob_device_get_available_preset_list (device *source, fault **error) { (void) source; ENTER ("device_get_available_preset_list", NULL); return made (1); }
uint32_t ob_device_preset_list_get_count (void *list, fault **error) { (void) list; ENTER ("device_preset_list_get_count", 0); return 2; }
const char *ob_device_preset_list_get_name (void *list, uint32_t place, fault **error) { (void) list; ENTER ("device_preset_list_get_name", NULL); return presets[place & 1]; }
void ob_device_load_preset (device *source, const char *name, fault **error) { (void) source; ENTER ("device_load_preset", ); set ("emitter", 1), set ("preset", !strcmp (name, presets[1]) ? 2 : 1); }
void ob_delete_preset_list (void *list, fault **error) { (void) error, gone (list); }

// MARK: Profiles

typedef struct { int sensor; } profile_list;

void *
ob_pipeline_get_stream_profile_list (pipeline *source, int sensor, fault **error)
{
    (void) source;
    ENTER ("pipeline_get_stream_profile_list", NULL);
    profile_list *list = made (sizeof *list);
    list->sensor = sensor;
    return list;
}

uint32_t ob_stream_profile_list_get_count (profile_list *list, fault **error) { (void) list; ENTER ("stream_profile_list_get_count", 0); return 4; }

void *
ob_stream_profile_list_get_profile (profile_list *list, int place, fault **error)
{
    ENTER ("stream_profile_list_get_profile", NULL);
    profile *copy = made (sizeof *copy);
    *copy = profiles[(list->sensor == DEPTH) * 4 + place];
    return copy;
}

void ob_delete_stream_profile_list (void *list, fault **error) { (void) error, gone (list); }
void ob_delete_stream_profile (void *object, fault **error) { (void) error, gone (object); }
int ob_stream_profile_get_format (profile *of, fault **error) { ENTER ("stream_profile_get_format", -1); return of->format; }
uint32_t ob_video_stream_profile_get_width (profile *of, fault **error) { ENTER ("video_stream_profile_get_width", 0); return of->width; }
uint32_t ob_video_stream_profile_get_height (profile *of, fault **error) { ENTER ("video_stream_profile_get_height", 0); return of->height; }
uint32_t ob_video_stream_profile_get_fps (profile *of, fault **error) { ENTER ("video_stream_profile_get_fps", 0); return of->rate; }

intrinsics
ob_video_stream_profile_get_intrinsic (profile *of, fault **error)
{
    ENTER ("video_stream_profile_get_intrinsic", (intrinsics) { 0 });
    float f = of->sensor == DEPTH ? 500 : 600;
    return (intrinsics) { f, f, (of->width - 1) / 2.0f, (of->height - 1) / 2.0f, (int16_t) of->width, (int16_t) of->height };
}

distortion
ob_video_stream_profile_get_distortion (profile *of, fault **error)
{
    ENTER ("video_stream_profile_get_distortion", (distortion) { 0 });
    return of->sensor == DEPTH ? (distortion) { 0 } : (distortion) { 0.1f, 0.2f, 0.3f, 0.4f, 0.5f, 0.6f, 0.01f, 0.02f, 4 };
}

pose
ob_stream_profile_get_extrinsic_to (profile *from, profile *to, fault **error)
{
    ENTER ("stream_profile_get_extrinsic_to", (pose) { 0 });
    float x = from->sensor == DEPTH && to->sensor == COLOR ? -25 : 25;
    return (pose) { { 1, 0, 0, 0, 1, 0, 0, 0, 1 }, { x, 0, 0 } };
}

// MARK: Pipelines

void *
ob_create_pipeline_with_device (device *source, fault **error)
{
    ENTER ("create_pipeline_with_device", NULL);
    pipeline *result = made (sizeof *result);
    result->source = source;
    set ("synced", 1);
    return result;
}

void ob_delete_pipeline (void *object, fault **error) { (void) error, gone (object); }
void *ob_create_config (fault **error) { ENTER ("create_config", NULL); return made (sizeof (config)); }
void ob_delete_config (void *object, fault **error) { (void) error, gone (object); }
void ob_config_enable_stream_with_stream_profile (config *modes, profile *mode, fault **error) { ENTER ("config_enable_stream_with_stream_profile", ); modes->modes[mode->sensor] = *mode; }
void ob_config_set_frame_aggregate_output_mode (config *modes, int mode, fault **error) { (void) modes; ENTER ("config_set_frame_aggregate_output_mode", ); set ("aggregation", mode); }
void ob_pipeline_disable_frame_sync (pipeline *source, fault **error) { (void) source; ENTER ("pipeline_disable_frame_sync", ); set ("synced", 0); }

void
ob_pipeline_start_with_config (pipeline *source, config *modes, fault **error)
{
    ENTER ("pipeline_start_with_config", );
    source->modes = *modes;
    // A player that is not paused plays as soon as color is started, and the first depth map is lost.
    source->numbers[0] = 0;
    source->numbers[1] = source->source->is_recording && !source->source->is_paused;
    source->start = now ();
    source->is_running = true;
    add ("running", 1);
}

void
ob_pipeline_stop (pipeline *source, fault **error)
{
    ENTER ("pipeline_stop", );
    if (source->is_running) add ("running", -1);
    source->is_running = false;
}

void ob_playback_device_pause (device *player, fault **error) { ENTER ("playback_device_pause", ); player->is_paused = true; }
void ob_playback_device_resume (device *player, fault **error) { ENTER ("playback_device_resume", ); player->is_paused = false; }
// A player stops when it has read the last frame, before that is fetched.
int ob_playback_device_get_current_playback_status (device *player, fault **error) { (void) player; ENTER ("playback_device_get_current_playback_status", 0); return 3; }

static frame *
make_frame (const profile *mode, int number)
{
    bool is_depth = mode->sensor == DEPTH;
    unsigned width = mode->width - (!is_depth && get ("wrong-size", 0) == number);
    unsigned size = width * mode->height * (is_depth || mode->format == YUYV ? 2 : 3);
    frame *result = made (sizeof *result + size);
    double interval = 1e6 / mode->rate * (is_depth ? 1 + get ("drift", 0) / 1e6 : 1);
    *result = (frame) {
        .references = 1, .format = mode->format, .width = width, .height = mode->height, .size = size,
        .time = 5000000 + (uint64_t) (number * interval), .number = (uint64_t) number,
        .scale = (float) get ("scale", 1) * (get ("rescale", 0) == number ? 2 : 1),
    };
    if (is_depth) {
        for (unsigned i = 0; i < size / 2; i++) ((uint16_t *) result->bytes)[i] = (uint16_t) (1000 + number % 1000);
    } else {
        memset (result->bytes, number, size);
    }
    return result;
}

void *
ob_pipeline_wait_for_frameset (pipeline *source, uint32_t timeout, fault **error)
{
    ENTER ("pipeline_wait_for_frameset", NULL);
    const profile *color = &source->modes.modes[COLOR], *depth = &source->modes.modes[DEPTH];
    int64_t end = now () + timeout;
    double interval = get ("interval", 33);
    double last = source->source->is_recording ? get ("frames", 1e9) : 1e9;
    // The arrivals of the next frames, in frames since the start.
    double arrivals[2] = { color->width ? source->numbers[0] + 1 : 1e9,
        depth->width && !get ("no-depth", 0) ? (source->numbers[1] + 1) * (1 + get ("drift", 0) / 1e6) + get ("late", 0) : 1e9 };
    if (source->numbers[0] >= last) arrivals[0] = 1e9;
    if (source->numbers[1] >= last) arrivals[1] = 1e9;
    int next = arrivals[1] < arrivals[0], newest = source->numbers[0] > source->numbers[1] ? source->numbers[0] : source->numbers[1];
    double unplugged = get ("unplug-after", 0), silent = get ("silent-after", 0);
    if (unplugged && newest >= unplugged) set ("unplugged", 1);
    bool is_silent = arrivals[next] >= 1e9 || source->source->is_paused || get ("unplugged", 0) || (silent && newest >= silent);
    int64_t due = is_silent ? end + 1 : source->start + (int64_t) (arrivals[next] * interval);
    sleep_until (due < end ? due : end);
    if (due > end) return NULL;
    frame *set = made (sizeof *set), *one = make_frame (next ? depth : color, ++source->numbers[next]);
    set->references = 1;
    if (next) set->depth = one;
    else set->color = one;
    return set;
}

// MARK: Frames

static frame *
reference (frame *of)
{
    if (of) __atomic_add_fetch (&of->references, 1, __ATOMIC_RELAXED);
    return of;
}

void *ob_frameset_get_color_frame (frame *set, fault **error) { ENTER ("frameset_get_color_frame", NULL); return reference (set->color); }
void *ob_frameset_get_depth_frame (frame *set, fault **error) { ENTER ("frameset_get_depth_frame", NULL); return reference (set->depth); }

void
ob_delete_frame (frame *of, fault **error)
{
    if (!of || __atomic_sub_fetch (&of->references, 1, __ATOMIC_ACQ_REL)) return;
    ob_delete_frame (of->color, error);
    ob_delete_frame (of->depth, error);
    gone (of);
}

uint8_t *ob_frame_get_data (frame *of, fault **error) { ENTER ("frame_get_data", NULL); return of->bytes; }
uint32_t ob_frame_get_data_size (frame *of, fault **error) { ENTER ("frame_get_data_size", 0); return of->size; }
uint32_t ob_video_frame_get_width (frame *of, fault **error) { ENTER ("video_frame_get_width", 0); return of->width; }
uint32_t ob_video_frame_get_height (frame *of, fault **error) { ENTER ("video_frame_get_height", 0); return of->height; }
int ob_frame_get_format (frame *of, fault **error) { ENTER ("frame_get_format", -1); return of->format; }
uint64_t ob_frame_get_timestamp_us (frame *of, fault **error) { ENTER ("frame_get_timestamp_us", 0); return of->time; }
uint64_t ob_frame_get_index (frame *of, fault **error) { ENTER ("frame_get_index", 0); return of->number; }
float ob_depth_frame_get_value_scale (frame *of, fault **error) { ENTER ("depth_frame_get_value_scale", 0); return of->scale; }
