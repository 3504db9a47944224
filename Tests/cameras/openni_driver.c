// A driver of OpenNI 2's, for the library itself to load: cameras whose frames are known, and what a camera on the desk cannot show:
// unplugging, silence, refusals, calls that hang.
//
// Every camera has depth of 64x48 and 32x24, and color of 64x48, at 30 frames a second. Depth is 3000 more where it is
// registered, and its clock is "depth-ahead" milliseconds of the color's. The URIs of the cameras are "0001" and so on.
//
// The declarations are those of OniDriverAPI.h and OniDriverTypes.h of OpenNI 2.2.
#define KEYS " no-registration micrometres no-fields depth-ahead "
#include "fake.h"

enum { OK, ERROR, NOT_SUPPORTED = 3, COLOR = 2, DEPTH = 3, MOST = 4 };
enum { DEPTH_1_MM = 100, DEPTH_100_UM = 101, RGB = 200 };
enum { CROPPING, HORIZONTAL_FIELD, VERTICAL_FIELD, VIDEO_MODE, REGISTRATION = 5, STRIDE, MIRRORING };

typedef struct {
    int format, width, height, rate;
} video_mode;

typedef struct {
    int sensor, count;
    video_mode *modes;
} sensor_info;

typedef struct {
    char uri[256], vendor[256], name[256];
    uint16_t usb_vendor, usb_product;
} device_info;

typedef struct {
    int size;
    uint8_t *data;
    int sensor;
    uint64_t time;
    int number, width, height;
    video_mode mode;
    int is_cropped, crop_x, crop_y, stride;
} oni_frame;

typedef struct {
    void *library;
    int (*frame_size)(void *);
    oni_frame *(*acquire)(void *);
    void (*add_reference)(void *, oni_frame *);
    void (*release)(void *, oni_frame *);
} stream_services;

typedef struct {
    device_info info;
    int registration;
} device;

typedef struct {
    device *owner;
    int sensor;
    video_mode mode;
    stream_services *services;
    void (*new_frame)(void *stream, oni_frame *, void *);
    void *cookie;
    pthread_t thread;
    bool is_running;
} stream;

static device devices[MOST];
static int device_count;
static void (*disconnected)(const device_info *, void *);
static void *driver_cookie;

// MARK: The driver

void oniDriverCreate(void *services) {}
void oniDriverDestroy(void) {}

int oniDriverInitialize(
    void (*connect)(const device_info *, void *), void (*disconnect)(const device_info *, void *),
    void (*change)(const device_info *, int, void *), void *cookie) {
    if (fails("Initialize")) return ERROR;
    disconnected = disconnect;
    driver_cookie = cookie;
    device_count = cameras();
    for (int i = 0; i < device_count && i < MOST; i++) {
        device_info *info = &devices[i].info;
        devices[i] = (device){.info = {.vendor = "Fake", .name = "Xtion"}};
        snprintf(info->uri, sizeof info->uri, "%04d", i + 1);
        connect(info, cookie);
    }
    return OK;
}

int oniDriverTryDevice(const char *uri) { return ERROR; }

// MARK: Devices

void *oniDriverDeviceOpen(const char *uri, const char *mode) {
    for (int i = 0; i < device_count && i < MOST; i++) {
        if (!strcmp(devices[i].info.uri, uri)) return fails("DeviceOpen") ? NULL : &devices[i];
    }
    return NULL;
}

void oniDriverDeviceClose(void *opened) {}

int oniDriverDeviceGetSensorInfoList(void *opened, sensor_info **sensors, int *count) {
    static video_mode color[] = {{RGB, 64, 48, 30}};
    static video_mode depth[] = {{DEPTH_1_MM, 64, 48, 30}, {DEPTH_1_MM, 32, 24, 30}};
    static sensor_info list[] = {{COLOR, 1, color}, {DEPTH, 2, depth}};
    for (int i = 0; i < 2; i++) depth[i].format = get("micrometres", 0) ? DEPTH_100_UM : DEPTH_1_MM;
    *sensors = list;
    *count = 2;
    return OK;
}

void *oniDriverDeviceCreateStream(void *opened, int sensor) {
    if (fails("DeviceCreateStream")) return NULL;
    stream *result = made(sizeof *result);
    *result = (stream){
        .owner = opened, .sensor = sensor, .mode = {sensor == DEPTH ? DEPTH_1_MM : RGB, 64, 48, 30},
    };
    return result;
}

void oniDriverDeviceDestroyStream(void *opened, stream *of) { gone(of); }

int oniDriverDeviceSetProperty(device *opened, int property, const void *data, int size) {
    if (property != REGISTRATION || size != sizeof(int) || get("no-registration", 0)) return NOT_SUPPORTED;
    opened->registration = *(const int *)data;
    set("registered", opened->registration);
    return OK;
}

int oniDriverDeviceGetProperty(device *opened, int property, void *data, int *size) {
    if (property != REGISTRATION || *size != sizeof(int)) return NOT_SUPPORTED;
    *(int *)data = opened->registration;
    return OK;
}

int oniDriverDeviceIsPropertySupported(void *opened, int property) { return property == REGISTRATION; }
void oniDriverDeviceSetPropertyChangedCallback(void *opened, void *call, void *cookie) {}
void oniDriverDeviceNotifyAllProperties(void *opened) {}
int oniDriverDeviceInvoke(void *opened, int command, void *data, int size) { return NOT_SUPPORTED; }
int oniDriverDeviceIsCommandSupported(void *opened, int command) { return 0; }
int oniDriverDeviceTryManualTrigger(void *opened) { return OK; }
int oniDriverDeviceIsImageRegistrationModeSupported(void *opened, int mode) {
    return mode == 0 || !get("no-registration", 0);
}

// MARK: Streams

static int pixel(const stream *of) { return of->sensor == DEPTH ? 2 : 3; }

void oniDriverStreamSetServices(stream *of, stream_services *services) { of->services = services; }

int oniDriverStreamSetProperty(stream *of, int property, const void *data, int size) {
    if (property == MIRRORING) set("mirroring", *(const int *)data);
    else if (property != VIDEO_MODE || size != sizeof(video_mode)) return NOT_SUPPORTED;
    else if (fails("StreamSetProperty")) return ERROR;
    else of->mode = *(const video_mode *)data;
    return OK;
}

int oniDriverStreamGetProperty(stream *of, int property, void *data, int *size) {
    if (property == VIDEO_MODE && *size == sizeof(video_mode)) {
        *(video_mode *)data = of->mode;
    } else if (property == MIRRORING && *size == sizeof(int)) {
        *(int *)data = 1;
    } else if (property == STRIDE && *size == sizeof(int)) {
        *(int *)data = of->mode.width * pixel(of);
    } else if (property == CROPPING && *size == 5 * sizeof(int)) {
        memset(data, 0, *size);
    } else if (
        (property == HORIZONTAL_FIELD || property == VERTICAL_FIELD) && *size == sizeof(float) && !get("no-fields", 0)) {
        *(float *)data = property == HORIZONTAL_FIELD ? 1.0f : 0.8f;
    } else {
        return NOT_SUPPORTED;
    }
    return OK;
}

int oniDriverStreamIsPropertySupported(void *of, int property) {
    return property == VIDEO_MODE || property == MIRRORING;
}
void oniDriverStreamSetPropertyChangedCallback(void *of, void *call, void *cookie) {}
void oniDriverStreamNotifyAllProperties(void *of) {}
int oniDriverStreamInvoke(void *of, int command, void *data, int size) { return NOT_SUPPORTED; }
int oniDriverStreamIsCommandSupported(void *of, int command) { return 0; }
int oniDriverStreamGetRequiredFrameSize(stream *of) { return of->mode.width * of->mode.height * pixel(of); }

static void send(stream *of, int number) {
    oni_frame *frame = of->services->acquire(of->services->library);
    if (!frame) return;
    bool is_depth = of->sensor == DEPTH;
    frame->sensor = of->sensor;
    frame->mode = of->mode;
    frame->number = number;
    double time = 5000 + number * get("interval", INTERVAL) + (is_depth ? get("depth-ahead", 0) : 0);
    frame->time = (uint64_t)(time * 1000);
    frame->width = width_of(number, of->mode.width);
    frame->height = of->mode.height;
    frame->stride = of->mode.width * pixel(of);
    frame->size = frame->stride * of->mode.height;
    frame->is_cropped = frame->crop_x = frame->crop_y = 0;
    fill(frame->data, frame->size, is_depth, number);
    for (int i = 0; is_depth && of->owner->registration && i < frame->size / 2; i++) ((uint16_t *)frame->data)[i] += 3000;
    of->new_frame(of, frame, of->cookie);
    of->services->release(of->services->library, frame);
}

static void *run(void *data) {
    stream *of = data;
    bool is_told = of->sensor != DEPTH;
    pace pace = {0, now()};
    while (__atomic_load_n(&of->is_running, __ATOMIC_ACQUIRE)) {
        if (is_unplugged(pace.number)) {
            // The depth's thread tells of it.
            if (!is_told) disconnected(&of->owner->info, driver_cookie);
            is_told = true;
            sleep_until(now() + 10);
        } else if (wait_for_frame(&pace, 10)) {
            send(of, pace.number);
        }
    }
    return NULL;
}

int oniDriverStreamStart(stream *of) {
    if (fails("StreamStart")) return ERROR;
    of->is_running = true;
    if (pthread_create(&of->thread, NULL, run, of)) abort();
    add("running", 1);
    return OK;
}

void oniDriverStreamStop(stream *of) {
    fails("StreamStop");
    if (!of->is_running) return;
    __atomic_store_n(&of->is_running, false, __ATOMIC_RELEASE);
    pthread_join(of->thread, NULL);
    add("running", -1);
}

void oniDriverStreamSetNewFrameCallback(stream *of, void (*call)(void *, oni_frame *, void *), void *cookie) {
    of->new_frame = call;
    of->cookie = cookie;
}

int oniDriverStreamConvertDepthToColorCoordinates(
    void *depth, void *color, int x, int y, uint16_t z, int *u, int *v) {
    return NOT_SUPPORTED;
}
void *oniDriverEnableFrameSync(void *streams, int count) { return NULL; }
void oniDriverDisableFrameSync(void *group) {}
