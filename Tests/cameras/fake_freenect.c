// A stand-in for libfreenect, for what neither a recording nor a camera on the desk can show: unplugging, silence, errors of each
// call, the counter's wrap, callbacks at the wrong time.
//
// settings.h has its settings and counters. Frame n of each stream has the byte or the depth n + 1 in every pixel (in
// 1...200, and 1000 more for the depth).

#define KEYS \
    " cameras unplug_after silent_after interrupts lose_depth first_tick depth_phase calls_in_stop reference_distance" \
    " automatic_exposure "
#include "settings.h"

#include <stdint.h>
#include <sys/time.h>
#include <unistd.h>

typedef struct {
    uint32_t reserved;
    int32_t resolution, format, bytes;
    int16_t width, height;
    int8_t data_bits_per_pixel, padding_bits_per_pixel, framerate, is_valid;
} frame_mode;

typedef struct {
    int32_t reg_info[29];
    uint16_t reg_pad_info[3];
    struct {
        float dcmos_emitter_dist, dcmos_rcmos_dist, reference_distance, reference_pixel_size;
    } zero_plane_info;
    double const_shift;
    uint16_t *raw_to_mm_shift;
    int32_t *depth_to_rgb_shift;
    int32_t (*registration_table)[2];
} registration;

typedef struct attributes {
    struct attributes *next;
    const char *camera_serial;
} attributes;

typedef struct device device;
typedef struct context context;
typedef void (*frame_callback)(device *, void *, uint32_t);
typedef void (*log_callback)(context *, int, const char *);

struct context {
    log_callback log;
    int subdevices;
    device *device;
};

typedef struct {
    frame_mode mode;
    frame_callback callback;
    void *buffer;
    bool is_running;
    long count;
    // Ticks since the start, in 64 bits.
    int64_t time;
} stream;

struct device {
    context *context;
    stream depth, video;
    long count;
};

// Fails where fail_<call> is set to an error number.
static int result(const char *call) {
    char key[40];
    snprintf(key, sizeof key, "fail_%s", call);
    return (int)get(key, 0);
}

static void say(context *ctx, const char *format, long value) {
    char text[100];
    snprintf(text, sizeof text, format, value);
    if (ctx->log) ctx->log(ctx, 1, text);
}

int freenect_init(context **ctx, void *usb) {
    (void)usb;
    int code = result("init");
    if (code < 0) return code;
    *ctx = calloc(1, sizeof **ctx);
    add("contexts", 1);
    return 0;
}

int freenect_close_device(device *dev) {
    if (dev->depth.is_running || dev->video.is_running) add("closed_while_running", 1);
    dev->context->device = NULL;
    free(dev);
    add("devices", -1);
    return 0;
}

int freenect_shutdown(context *ctx) {
    if (ctx->device) freenect_close_device(ctx->device);
    free(ctx);
    add("contexts", -1);
    return 0;
}

void freenect_set_log_level(context *ctx, int level) { (void)ctx, (void)level; }
void freenect_set_log_callback(context *ctx, log_callback callback) { ctx->log = callback; }

void freenect_select_subdevices(context *ctx, int flags) {
    ctx->subdevices = flags;
    set("subdevices", flags);
}

int freenect_num_devices(context *ctx) {
    (void)ctx;
    int code = result("num_devices");
    return code < 0 ? code : (int)get("cameras", 1);
}

static void serial(char *text, int index) { sprintf(text, "A0036%d", index); }

int freenect_list_device_attributes(context *ctx, attributes **list) {
    (void)ctx;
    *list = NULL;
    int code = result("list");
    if (code < 0) return code;
    int count = (int)get("cameras", 1);
    for (int i = count - 1; i >= 0; i--) {
        attributes *item = malloc(sizeof *item);
        char *text = malloc(20);
        serial(text, i);
        *item = (attributes){*list, text};
        *list = item;
        add("attributes", 1);
    }
    return count;
}

void freenect_free_device_attributes(attributes *list) {
    while (list) {
        attributes *next = list->next;
        free((char *)list->camera_serial);
        free(list);
        add("attributes", -1);
        list = next;
    }
}

int freenect_open_device(context *ctx, device **dev, int index) {
    long code = result("open");
    if (code == -6) say(ctx, "Failed to claim camera interface: LIBUSB_ERROR_BUSY\n", 0);
    else if (code < 0) say(ctx, "Could not open camera: %ld\n", code);
    // The library returns -1, whatever libusb's error was, and says more.
    if (code < 0) say(ctx, "Failed to open camera subdevice or it is not disabled.", 0);
    if (code < 0 || index >= get("cameras", 1)) return -1;
    *dev = calloc(1, sizeof **dev);
    (*dev)->context = ctx;
    ctx->device = *dev;
    add("devices", 1);
    set("opened", index);
    return 0;
}

int freenect_open_device_by_camera_serial(context *ctx, device **dev, const char *wanted) {
    for (int i = 0; i < get("cameras", 1); i++) {
        char text[20];
        serial(text, i);
        if (!strcmp(text, wanted)) return freenect_open_device(ctx, dev, i);
    }
    return -1;
}

static const frame_mode video_modes[] = {
    {0x200, 2, 0, 1280 * 1024 * 3, 1280, 1024, 24, 0, 10, 1},
    {0x100, 1, 0, 640 * 480 * 3, 640, 480, 24, 0, 30, 1},
    {0x101, 1, 1, 640 * 480, 640, 480, 8, 0, 30, 1},
};
static const frame_mode depth_modes[] = {
    {0x100, 1, 0, 640 * 480 * 2, 640, 480, 11, 5, 30, 1},
    {0x104, 1, 4, 640 * 480 * 2, 640, 480, 16, 0, 30, 1},
    {0x105, 1, 5, 640 * 480 * 2, 640, 480, 16, 0, 30, 1},
};

int freenect_get_video_mode_count(void) { return 3; }
frame_mode freenect_get_video_mode(int i) { return i < 3 ? video_modes[i] : (frame_mode){.is_valid = 0}; }
int freenect_get_depth_mode_count(void) { return 3; }
frame_mode freenect_get_depth_mode(int i) { return i < 3 ? depth_modes[i] : (frame_mode){.is_valid = 0}; }

static int set_mode(stream *s, frame_mode mode, const char *call) {
    int code = result(call);
    if (code < 0 || s->is_running || !mode.is_valid) return code < 0 ? code : -1;
    s->mode = mode;
    return 0;
}

int freenect_set_video_mode(device *dev, frame_mode mode) {
    set("video_width", mode.width);
    return set_mode(&dev->video, mode, "video_mode");
}

int freenect_set_depth_mode(device *dev, frame_mode mode) {
    set("depth_format", mode.format);
    return set_mode(&dev->depth, mode, "depth_mode");
}

void freenect_set_video_callback(device *dev, frame_callback callback) { dev->video.callback = callback; }
void freenect_set_depth_callback(device *dev, frame_callback callback) { dev->depth.callback = callback; }

static int set_buffer(stream *s, void *buffer, const char *call) {
    int code = result(call);
    if (code >= 0) s->buffer = buffer;
    return code;
}

int freenect_set_video_buffer(device *dev, void *buffer) { return set_buffer(&dev->video, buffer, "video_buffer"); }
int freenect_set_depth_buffer(device *dev, void *buffer) { return set_buffer(&dev->depth, buffer, "depth_buffer"); }

static int start(device *dev, stream *s, const char *call, int64_t phase) {
    int code = result(call);
    if (code < 0) say(dev->context, "Failed to start: %ld", code);
    if (code < 0 || s->is_running) return code < 0 ? code : -1;
    s->is_running = true;
    s->count = 0;
    s->time = phase;
    add("running", 1);
    return 0;
}

int freenect_start_video(device *dev) { return start(dev, &dev->video, "start_video", 0); }
int freenect_start_depth(device *dev) { return start(dev, &dev->depth, "start_depth", (int64_t)get("depth_phase", 0)); }

static void send(device *dev, stream *s) {
    long n = s->count++;
    if (!s->callback || !s->buffer) return;
    size_t pixels = (size_t)s->mode.width * (size_t)s->mode.height;
    if (s == &dev->depth) {
        uint16_t *samples = s->buffer;
        for (size_t i = 0; i < pixels; i++) samples[i] = (uint16_t)(1000 + n % 200 + 1);
    } else {
        memset(s->buffer, (int)(n % 200 + 1), pixels * 3);
    }
    s->callback(dev, s->buffer, (uint32_t)((int64_t)get("first_tick", 0) + s->time));
}

// A thread that sends when nobody asked for it.
static void *send_late(void *argument) {
    device *dev = argument;
    for (int i = 0; i < 20; i++) {
        if (dev->depth.callback) dev->depth.callback(dev, dev->depth.buffer, 0);
        if (dev->video.callback) dev->video.callback(dev, dev->video.buffer, 0);
        usleep(100);
    }
    return NULL;
}

static int stop(device *dev, stream *s) {
    if (!s->is_running) return -1;
    if (get("calls_in_stop", 0)) {
        pthread_t thread;
        if (pthread_create(&thread, NULL, send_late, dev)) abort();
        send(dev, s);
        pthread_join(thread, NULL);
    }
    s->is_running = false;
    add("running", -1);
    return result("stop");
}

int freenect_stop_video(device *dev) { return stop(dev, &dev->video); }
int freenect_stop_depth(device *dev) { return stop(dev, &dev->depth); }

static void wait_for(const struct timeval *timeout) {
    usleep((useconds_t)(timeout->tv_sec * 1000000 + timeout->tv_usec));
}

// Sends the frame of the stream that is next in time.
int freenect_process_events_timeout(context *ctx, struct timeval *timeout) {
    add("process_calls", 1);
    int code = result("process");
    device *dev = ctx->device;
    if (code < 0 || !dev) return code;
    if (dev->count >= get("unplug_after", 1e9)) {
        say(ctx, "USB camera marked dead, stopping streams\n", 0);
        freenect_stop_video(dev);
        freenect_stop_depth(dev);
        return -1;
    }
    if (dev->count >= get("silent_after", 1e9)) {
        wait_for(timeout);
        return 0;
    }
    if (get("interrupts", 0) > 0) {
        add("interrupts", -1);
        return -10;
    }
    stream *s = dev->depth.is_running ? &dev->depth : &dev->video;
    if (dev->depth.is_running && dev->video.is_running && dev->video.time < dev->depth.time) s = &dev->video;
    if (!s->is_running) {
        wait_for(timeout);
        return 0;
    }
    usleep(100);
    if (s == &dev->depth && s->count == get("lose_depth", -1)) s->count++;
    else send(dev, s);
    s->time += 60000000 / s->mode.framerate;
    dev->count++;
    return 0;
}

registration freenect_copy_registration(device *dev) {
    (void)dev;
    registration copy;
    memset(&copy, 0, sizeof copy);
    copy.zero_plane_info.dcmos_emitter_dist = 7.5f;
    copy.zero_plane_info.dcmos_rcmos_dist = 2.3f;
    copy.zero_plane_info.reference_distance = (float)get("reference_distance", 120);
    copy.zero_plane_info.reference_pixel_size = 0.1f;
    copy.raw_to_mm_shift = malloc(4096);
    add("registrations", 1);
    return copy;
}

int freenect_destroy_registration(registration *copy) {
    free(copy->raw_to_mm_shift);
    add("registrations", -1);
    return 0;
}

int freenect_set_flag(device *dev, int flag, int value) {
    (void)dev;
    if (flag == 1 << 14) set("automatic_exposure", value);
    return 0;
}

int freenect_set_exposure(device *dev, int microseconds) {
    (void)dev;
    set("exposure", microseconds);
    return 0;
}
