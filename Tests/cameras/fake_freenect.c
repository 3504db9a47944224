// A stand-in for libfreenect, for what neither a recording nor a camera on the desk can show: unplugging, silence, errors of each
// call, the counter's wrap, callbacks at the wrong time.
//
// Frames of both streams count for "unplug-after" and "silent-after". The clock of a stream starts at "first-tick", that of the
// depth "depth-phase" ticks later; frame "lose-depth" of it is lost. "interrupts" calls are interrupted by a signal. With
// "calls-in-stop" callbacks come while a stream is stopped, on two threads.
#define KEYS \
    " interrupts lose-depth first-tick depth-phase calls-in-stop reference-distance automatic-exposure "
#define INTERVAL 0.1
#include "fake.h"

#include <sys/time.h>

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
    char text[20];
} attributes;

typedef struct device device;
typedef struct context context;
typedef void (*frame_callback)(device *, void *, uint32_t);
typedef void (*log_callback)(context *, int, const char *);

struct context {
    log_callback log;
    device *device;
};

typedef struct {
    frame_mode mode;
    frame_callback callback;
    void *buffer;
    bool is_depth, is_running;
    int number;
    // Ticks since the start, in 64 bits.
    int64_t time;
} stream;

struct device {
    context *context;
    stream depth, video;
    pace pace;
};

// 0, or where this is the call to fail the error.
static int result(const char *call) { return fails(call) ? (int)get("error-type", -99) : 0; }

static void say(context *ctx, const char *format, int value) {
    char text[100];
    snprintf(text, sizeof text, format, value);
    if (ctx->log) ctx->log(ctx, 1, text);
}

int freenect_init(context **ctx, void *usb) {
    int code = result("init");
    if (!code) *ctx = made(sizeof **ctx);
    return code;
}

int freenect_close_device(device *dev) {
    if (dev->depth.is_running || dev->video.is_running) add("closed-while-running", 1);
    dev->context->device = NULL;
    gone(dev);
    return 0;
}

int freenect_shutdown(context *ctx) {
    if (ctx->device) freenect_close_device(ctx->device);
    gone(ctx);
    return 0;
}

void freenect_set_log_level(context *ctx, int level) {}
void freenect_set_log_callback(context *ctx, log_callback callback) { ctx->log = callback; }
void freenect_select_subdevices(context *ctx, int flags) { set("subdevices", flags); }

int freenect_num_devices(context *ctx) {
    int code = result("num_devices");
    return code ? code : cameras();
}

static void serial(char text[20], int index) { snprintf(text, 20, "A0036%d", index); }

int freenect_list_device_attributes(context *ctx, attributes **list) {
    *list = NULL;
    int code = result("list"), count = cameras();
    for (int i = count - 1; i >= 0 && !code; i--) {
        attributes *item = made(sizeof *item);
        *item = (attributes){.next = *list, .camera_serial = item->text};
        serial(item->text, i);
        *list = item;
    }
    return code ? code : count;
}

void freenect_free_device_attributes(attributes *list) {
    while (list) {
        attributes *next = list->next;
        gone(list);
        list = next;
    }
}

int freenect_open_device(context *ctx, device **dev, int index) {
    int code = result("open");
    if (code == -6) say(ctx, "Failed to claim camera interface: LIBUSB_ERROR_BUSY\n", 0);
    else if (code) say(ctx, "Could not open camera: %d\n", code);
    // The library returns -1, whatever libusb's error was, and says more.
    if (code) say(ctx, "Failed to open camera subdevice or it is not disabled.", 0);
    if (code || index >= cameras()) return -1;
    *dev = made(sizeof **dev);
    (*dev)->context = ctx;
    (*dev)->depth.is_depth = true;
    ctx->device = *dev;
    set("opened", index);
    return 0;
}

int freenect_open_device_by_camera_serial(context *ctx, device **dev, const char *wanted) {
    for (int i = 0; i < cameras(); i++) {
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
    if (code || s->is_running || !mode.is_valid) return code ? code : -1;
    s->mode = mode;
    return 0;
}

int freenect_set_video_mode(device *dev, frame_mode mode) {
    set("video-width", mode.width);
    return set_mode(&dev->video, mode, "video_mode");
}

int freenect_set_depth_mode(device *dev, frame_mode mode) {
    set("depth-format", mode.format);
    return set_mode(&dev->depth, mode, "depth_mode");
}

void freenect_set_video_callback(device *dev, frame_callback callback) { dev->video.callback = callback; }
void freenect_set_depth_callback(device *dev, frame_callback callback) { dev->depth.callback = callback; }

static int set_buffer(stream *s, void *buffer, const char *call) {
    int code = result(call);
    if (!code) s->buffer = buffer;
    return code;
}

int freenect_set_video_buffer(device *dev, void *buffer) { return set_buffer(&dev->video, buffer, "video_buffer"); }
int freenect_set_depth_buffer(device *dev, void *buffer) { return set_buffer(&dev->depth, buffer, "depth_buffer"); }

static int start(device *dev, stream *s, const char *call, double phase) {
    int code = result(call);
    if (code) say(dev->context, "Failed to start: %d", code);
    if (code || s->is_running) return code ? code : -1;
    if (!dev->depth.is_running && !dev->video.is_running) dev->pace = (pace){0, now()};
    s->is_running = true;
    s->number = 0;
    s->time = (int64_t)phase;
    add("running", 1);
    return 0;
}

int freenect_start_video(device *dev) { return start(dev, &dev->video, "start_video", 0); }
int freenect_start_depth(device *dev) { return start(dev, &dev->depth, "start_depth", get("depth-phase", 0)); }

// The next frame.
static void send(device *dev, stream *s) {
    s->number++;
    if (!s->callback || !s->buffer) return;
    fill(s->buffer, (size_t)s->mode.width * s->mode.height * (s->is_depth ? 2 : 3), s->is_depth, s->number);
    s->callback(dev, s->buffer, (uint32_t)((int64_t)get("first-tick", 0) + s->time));
}

// A thread that sends when nobody asked for it.
static void *send_late(void *argument) {
    device *dev = argument;
    for (int i = 0; i < 20; i++) {
        if (dev->depth.callback) dev->depth.callback(dev, dev->depth.buffer, 0);
        if (dev->video.callback) dev->video.callback(dev, dev->video.buffer, 0);
        sleep_until(now() + 0.1);
    }
    return NULL;
}

static int stop(device *dev, stream *s) {
    if (!s->is_running) return -1;
    if (get("calls-in-stop", 0)) {
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

// Sends the frame of the stream that is next in time.
int freenect_process_events_timeout(context *ctx, struct timeval *timeout) {
    add("process-calls", 1);
    int code = result("process");
    device *dev = ctx->device;
    if (code || !dev) return code;
    if (is_unplugged(dev->pace.number)) {
        say(ctx, "USB camera marked dead, stopping streams\n", 0);
        freenect_stop_video(dev);
        freenect_stop_depth(dev);
        return -1;
    }
    if (get("interrupts", 0) > 0) {
        add("interrupts", -1);
        return -10;
    }
    stream *s = dev->depth.is_running ? &dev->depth : &dev->video;
    if (dev->depth.is_running && dev->video.is_running && dev->video.time < dev->depth.time) s = &dev->video;
    double wait = timeout->tv_sec * 1e3 + timeout->tv_usec / 1e3;
    if (!s->is_running) sleep_until(now() + wait);
    else if (wait_for_frame(&dev->pace, wait)) {
        if (s->is_depth && s->number + 1 == get("lose-depth", 0)) s->number++;
        else send(dev, s);
        s->time += 60000000 / s->mode.framerate;
    }
    return 0;
}

registration freenect_copy_registration(device *dev) {
    registration copy = {.raw_to_mm_shift = made(4096)};
    copy.zero_plane_info.dcmos_emitter_dist = 7.5f;
    copy.zero_plane_info.dcmos_rcmos_dist = 2.3f;
    copy.zero_plane_info.reference_distance = (float)get("reference-distance", 120);
    copy.zero_plane_info.reference_pixel_size = 0.1f;
    return copy;
}

int freenect_destroy_registration(registration *copy) {
    gone(copy->raw_to_mm_shift);
    return 0;
}

int freenect_set_flag(device *dev, int flag, int value) {
    if (flag == 1 << 14) set("automatic-exposure", value);
    return 0;
}

int freenect_set_exposure(device *dev, int microseconds) {
    set("exposure", microseconds);
    return 0;
}
