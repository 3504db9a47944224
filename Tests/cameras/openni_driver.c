// A driver of OpenNI 2's, for the library itself to load: cameras whose frames are known, and what a camera on the desk cannot show:
// unplugging, silence, refusals, calls that hang.
//
// Every camera has depth of 64x48 and 32x24, and color of 64x48, at 30 frames a second. Frame n has n in the first bytes of its
// color, and 1000 + n % 1000 in each sample of its depth, 3000 more where it is registered. The URIs of its cameras are
// "0001" and so on.
//
// The declarations are those of OniDriverAPI.h and OniDriverTypes.h of OpenNI 2.2.

// "interval" is that of frames in milliseconds; "fail" and "hang" name a function without oniDriver. The clock of the depth is
// "depth-ahead" milliseconds of the color's.
#define KEYS " cameras interval unplug-after silent-after wrong-size no-registration micrometres no-fields depth-ahead fail hang mirroring registered "
#include "settings.h"

#include <stdint.h>
#include <time.h>
#include <unistd.h>

enum { OK, ERROR, NOT_SUPPORTED = 3, COLOR = 2, DEPTH = 3, MOST = 4 };
enum { DEPTH_1_MM = 100, DEPTH_100_UM = 101, RGB = 200 };

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
    int (*frame_size) (void *);
    oni_frame *(*acquire) (void *);
    void (*add_reference) (void *, oni_frame *);
    void (*release) (void *, oni_frame *);
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
    void (*new_frame) (void *stream, oni_frame *, void *);
    void *cookie;
    pthread_t thread;
    bool is_running;
} stream;

static device devices[MOST];
static int device_count;
static void (*disconnected) (const device_info *, void *);
static void *driver_cookie;

// MARK: The driver

void oniDriverCreate (void *services) { (void) services; }
void oniDriverDestroy (void) { }

int
oniDriverInitialize (void (*connect) (const device_info *, void *), void (*disconnect) (const device_info *, void *),
    void (*change) (const device_info *, int, void *), void *cookie)
{
    (void) change;
    if (fails ("Initialize")) return ERROR;
    disconnected = disconnect;
    driver_cookie = cookie;
    device_count = (int) get ("cameras", 1);
    for (int i = 0; i < device_count && i < MOST; i++) {
        device_info *info = &devices[i].info;
        memset (&devices[i], 0, sizeof devices[i]);
        snprintf (info->uri, sizeof info->uri, "%04d", i + 1);
        strcpy (info->vendor, "Fake");
        strcpy (info->name, "Xtion");
        connect (info, cookie);
    }
    return OK;
}

int oniDriverTryDevice (const char *uri) { (void) uri; return ERROR; }

// MARK: Devices

void *
oniDriverDeviceOpen (const char *uri, const char *mode)
{
    (void) mode;
    for (int i = 0; i < device_count && i < MOST; i++) {
        if (!strcmp (devices[i].info.uri, uri)) return fails ("DeviceOpen") ? NULL : &devices[i];
    }
    return NULL;
}

void oniDriverDeviceClose (void *opened) { (void) opened; }

int
oniDriverDeviceGetSensorInfoList (void *opened, sensor_info **sensors, int *count)
{
    (void) opened;
    static video_mode color[] = { { RGB, 64, 48, 30 } };
    static video_mode depth[] = { { DEPTH_1_MM, 64, 48, 30 }, { DEPTH_1_MM, 32, 24, 30 } };
    static sensor_info list[] = { { COLOR, 1, color }, { DEPTH, 2, depth } };
    for (int i = 0; i < 2; i++) depth[i].format = get ("micrometres", 0) ? DEPTH_100_UM : DEPTH_1_MM;
    *sensors = list;
    *count = 2;
    return OK;
}

void *
oniDriverDeviceCreateStream (void *opened, int sensor)
{
    if (fails ("DeviceCreateStream")) return NULL;
    stream *made = calloc (1, sizeof *made);
    made->owner = opened;
    made->sensor = sensor;
    made->mode = (video_mode) { sensor == DEPTH ? DEPTH_1_MM : RGB, 64, 48, 30 };
    add ("streams", 1);
    return made;
}

void
oniDriverDeviceDestroyStream (void *opened, stream *made)
{
    (void) opened;
    free (made);
    add ("streams", -1);
}

int
oniDriverDeviceSetProperty (device *opened, int property, const void *data, int size)
{
    if (property != 5 || size != sizeof (int) || get ("no-registration", 0)) return NOT_SUPPORTED;
    opened->registration = *(const int *) data;
    set ("registered", opened->registration);
    return OK;
}

int
oniDriverDeviceGetProperty (device *opened, int property, void *data, int *size)
{
    if (property != 5 || *size != sizeof (int)) return NOT_SUPPORTED;
    *(int *) data = opened->registration;
    return OK;
}

int oniDriverDeviceIsPropertySupported (void *opened, int property) { (void) opened; return property == 5; }
void oniDriverDeviceSetPropertyChangedCallback (void *opened, void *call, void *cookie) { (void) opened, (void) call, (void) cookie; }
void oniDriverDeviceNotifyAllProperties (void *opened) { (void) opened; }
int oniDriverDeviceInvoke (void *opened, int command, void *data, int size) { (void) opened, (void) command, (void) data, (void) size; return NOT_SUPPORTED; }
int oniDriverDeviceIsCommandSupported (void *opened, int command) { (void) opened, (void) command; return 0; }
int oniDriverDeviceTryManualTrigger (void *opened) { (void) opened; return OK; }
int oniDriverDeviceIsImageRegistrationModeSupported (void *opened, int mode) { (void) opened; return mode == 0 || !get ("no-registration", 0); }

// MARK: Streams

void oniDriverStreamSetServices (stream *made, stream_services *services) { made->services = services; }

int
oniDriverStreamSetProperty (stream *made, int property, const void *data, int size)
{
    if (property == 3 && size == sizeof (video_mode)) {
        if (fails ("StreamSetProperty")) return ERROR;
        made->mode = *(const video_mode *) data;
    } else if (property == 7) {
        set ("mirroring", *(const int *) data);
    } else {
        return NOT_SUPPORTED;
    }
    return OK;
}

int
oniDriverStreamGetProperty (stream *made, int property, void *data, int *size)
{
    if (property == 3 && *size == sizeof (video_mode)) {
        *(video_mode *) data = made->mode;
    } else if (property == 7 && *size == sizeof (int)) {
        *(int *) data = 1;
    } else if (property == 6 && *size == sizeof (int)) {
        *(int *) data = made->mode.width * (made->sensor == DEPTH ? 2 : 3);
    } else if (property == 0 && *size == 5 * sizeof (int)) {
        memset (data, 0, *size);
    } else if ((property == 1 || property == 2) && *size == sizeof (float) && !get ("no-fields", 0)) {
        *(float *) data = property == 1 ? 1.0f : 0.8f;
    } else {
        return NOT_SUPPORTED;
    }
    return OK;
}

int oniDriverStreamIsPropertySupported (void *made, int property) { (void) made; return property == 3 || property == 7; }
void oniDriverStreamSetPropertyChangedCallback (void *made, void *call, void *cookie) { (void) made, (void) call, (void) cookie; }
void oniDriverStreamNotifyAllProperties (void *made) { (void) made; }
int oniDriverStreamInvoke (void *made, int command, void *data, int size) { (void) made, (void) command, (void) data, (void) size; return NOT_SUPPORTED; }
int oniDriverStreamIsCommandSupported (void *made, int command) { (void) made, (void) command; return 0; }

int
oniDriverStreamGetRequiredFrameSize (stream *made)
{
    return made->mode.width * made->mode.height * (made->sensor == DEPTH ? 2 : 3);
}

static void
send (stream *made, int number)
{
    oni_frame *frame = made->services->acquire (made->services->library);
    if (!frame) return;
    int bytes = made->sensor == DEPTH ? 2 : 3;
    frame->sensor = made->sensor;
    frame->mode = made->mode;
    frame->number = number;
    frame->time = (uint64_t) (5000000 + number * get ("interval", 33) * 1000 + (made->sensor == DEPTH ? get ("depth-ahead", 0) * 1000 : 0));
    frame->width = made->mode.width - (get ("wrong-size", 0) == number ? 1 : 0);
    frame->height = made->mode.height;
    frame->stride = made->mode.width * bytes;
    frame->size = frame->stride * made->mode.height;
    frame->is_cropped = frame->crop_x = frame->crop_y = 0;
    if (made->sensor == DEPTH) {
        uint16_t *samples = (uint16_t *) frame->data;
        for (int i = 0; i < frame->size / 2; i++)
            samples[i] = (uint16_t) (1000 + number % 1000 + (made->owner->registration ? 3000 : 0));
    } else {
        memset (frame->data, number, frame->size);
    }
    made->new_frame (made, frame, made->cookie);
    made->services->release (made->services->library, frame);
}

static void *
run (void *data)
{
    stream *made = data;
    struct timespec next;
    clock_gettime (CLOCK_MONOTONIC, &next);
    for (int number = 1; __atomic_load_n (&made->is_running, __ATOMIC_ACQUIRE); number++) {
        next.tv_nsec += (long) (get ("interval", 33) * 1000000);
        next.tv_sec += next.tv_nsec / 1000000000;
        next.tv_nsec %= 1000000000;
        clock_nanosleep (CLOCK_MONOTONIC, TIMER_ABSTIME, &next, NULL);
        double unplugged = get ("unplug-after", 0), silent = get ("silent-after", 0);
        if (unplugged && number > unplugged) {
            // The depth's thread tells of it.
            if (number == unplugged + 1 && made->sensor == DEPTH) disconnected (&made->owner->info, driver_cookie);
            continue;
        }
        if (!silent || number <= silent) send (made, number);
    }
    return NULL;
}

int
oniDriverStreamStart (stream *made)
{
    if (fails ("StreamStart")) return ERROR;
    made->is_running = true;
    return pthread_create (&made->thread, NULL, run, made) ? ERROR : OK;
}

void
oniDriverStreamStop (stream *made)
{
    fails ("StreamStop");
    if (!made->is_running) return;
    __atomic_store_n (&made->is_running, false, __ATOMIC_RELEASE);
    pthread_join (made->thread, NULL);
}

void
oniDriverStreamSetNewFrameCallback (stream *made, void (*call) (void *, oni_frame *, void *), void *cookie)
{
    made->new_frame = call;
    made->cookie = cookie;
}

int oniDriverStreamConvertDepthToColorCoordinates (void *depth, void *color, int x, int y, uint16_t z, int *u, int *v) { (void) depth, (void) color, (void) x, (void) y, (void) z, (void) u, (void) v; return NOT_SUPPORTED; }
void *oniDriverEnableFrameSync (void *streams, int count) { (void) streams, (void) count; return NULL; }
void oniDriverDisableFrameSync (void *group) { (void) group; }
