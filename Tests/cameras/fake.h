// What the stand-ins of the cameras' libraries have in common, so that each is its library's functions alone.
//
// Settings and counters have names; the tests set and read them while the library runs. KEYS names those of one library, each
// between spaces. Those of all:
//
//     cameras        that are plugged in
//     fail, hang     the function that fails, or does not return until there is another value; with no prefix of the library's
//     error-type     the library's own number of the error
//     interval       of frames, in milliseconds
//     unplug-after   so many frames the camera is gone, until "unplugged" is 0
//     silent-after   so many frames no more come
//     lose-every     so many frames one is lost, where frames have numbers
//     wrong-every    so many frames one is a column narrower than announced
//     frames         of a recording
//     running        counts what was started and not stopped
//     objects        counts what was made and not deleted; it outlives a reset
//
// Frame n, from 1 on, has n in each byte of its color, and 1000 + n % 1000 in each sample of its depth.

#pragma once

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define COMMON_KEYS \
    " cameras fail hang error-type interval unplug-after unplugged silent-after lose-every wrong-every frames "

// MARK: Settings and counters

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
// Something under the lock was changed.
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;

static struct {
    char key[40], value[64];
} settings[64];
static size_t setting_count;
static int object_count;

// The value; NULL where there is none. Under the lock.
static const char *find(const char *key) {
    for (size_t i = 0; i < setting_count; i++) {
        if (!strcmp(settings[i].key, key)) return settings[i].value;
    }
    return NULL;
}

// True where a setting is this text. Under the lock.
static inline bool is(const char *key, const char *text) {
    const char *value = find(key);
    return value && !strcmp(value, text);
}

static double get(const char *key, double fallback) {
    pthread_mutex_lock(&lock);
    const char *value = find(key);
    double number = value ? atof(value) : fallback;
    pthread_mutex_unlock(&lock);
    return number;
}

// Sets a value, or where there is no text adds a number to it.
static void put(const char *key, const char *text, double number) {
    pthread_mutex_lock(&lock);
    char *value = (char *)find(key);
    if (!value) {
        if (setting_count == sizeof settings / sizeof settings[0]) abort();
        snprintf(settings[setting_count].key, sizeof settings[0].key, "%s", key);
        value = settings[setting_count++].value;
        strcpy(value, "0");
    }
    if (text) snprintf(value, sizeof settings[0].value, "%s", text);
    else snprintf(value, sizeof settings[0].value, "%.17g", atof(value) + number);
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
}

static inline void add(const char *key, double number) { put(key, NULL, number); }

static inline void set(const char *key, double number) {
    char text[32];
    snprintf(text, sizeof text, "%.17g", number);
    put(key, text, 0);
}

// - Returns: 0 where there is no such key.
int fake_set(const char *key, const char *text) {
    char word[42];
    snprintf(word, sizeof word, " %s ", key);
    if (!strstr(COMMON_KEYS, word) && !strstr(KEYS, word)) return 0;
    put(key, text, 0);
    return 1;
}

double fake_get(const char *key) {
    return strcmp(key, "objects") ? get(key, 0) : __atomic_load_n(&object_count, __ATOMIC_ACQUIRE);
}

// Restores the defaults. What hangs goes on.
void fake_reset(void) {
    pthread_mutex_lock(&lock);
    setting_count = 0;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
}

// MARK: Objects and faults

// Zeros.
static void *made(size_t size) {
    __atomic_add_fetch(&object_count, 1, __ATOMIC_ACQ_REL);
    return calloc(1, size);
}

static void gone(void *object) {
    if (object) __atomic_sub_fetch(&object_count, 1, __ATOMIC_ACQ_REL);
    free(object);
}

// True where a function is the one to "fail". Does not return while it is the one to "hang".
static inline bool fails(const char *function) {
    pthread_mutex_lock(&lock);
    while (is("hang", function)) pthread_cond_wait(&changed, &lock);
    bool result = is("fail", function);
    pthread_mutex_unlock(&lock);
    return result;
}

// For the libraries whose functions return errors as objects.
typedef struct {
    char message[160];
    const char *function;
    int type;
} fault;

static inline void fail(fault **error, const char *function, const char *message, int type) {
    *error = made(sizeof **error);
    **error = (fault){.function = function, .type = type};
    snprintf((*error)->message, sizeof(*error)->message, "%s", message);
}

// Hangs or fails as the tests want; false, with an error, where the function is to return at once.
static inline bool enter(const char *function, fault **error) {
    if (!fails(function)) return true;
    fail(error, function, "the test wants it", (int)get("error-type", 0));
    return false;
}

#define ENTER(name, result) if (!enter(name, error)) return result

// A function of the library, of this name behind the prefix, that where it does not fail does this.
#define FUNCTION_OF(prefix, type, name, parameters, otherwise, ...) \
    type prefix##name parameters { \
        ENTER(#name, otherwise); \
        __VA_ARGS__; \
    }

// A new object that is a number.
static inline int *made_number(int number) {
    int *object = made(sizeof *object);
    *object = number;
    return object;
}

// MARK: Time

#ifndef INTERVAL
#define INTERVAL 33
#endif

// Milliseconds of a clock that never jumps.
static inline double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1e3 + time.tv_nsec / 1e6;
}

static inline void sleep_until(double moment) {
    double wait = moment - now();
    if (wait <= 0) return;
    nanosleep(&(struct timespec){(time_t)(wait / 1000), (long)((wait - (time_t)(wait / 1000) * 1000.0) * 1e6)}, NULL);
}

// The cameras that are there.
static inline int cameras(void) { return (int)get("cameras", 1) - (get("unplugged", 0) ? 1 : 0); }

// True where a camera that has sent so many frames was unplugged.
static inline bool is_unplugged(int number) {
    if (number >= get("unplug-after", 1e9)) {
        set("unplug-after", 1e9);
        set("unplugged", 1);
    }
    return get("unplugged", 0);
}

static inline bool is_silent(int number) { return number >= get("silent-after", 1e9); }

// The frames of a camera, in time.
typedef struct {
    int number;    // of the last frame
    double start;  // milliseconds
} pace;

// Waits for the next frame, at most so many milliseconds; those that are lost are passed over. False where none came.
static inline bool wait_for_frame(pace *of, double timeout) {
    int lost = (int)get("lose-every", 0), number = of->number + 1;
    if (lost && number % lost == 0) number++;
    double due = of->start + number * get("interval", INTERVAL), end = now() + timeout;
    bool comes = !is_silent(of->number) && due <= end;
    sleep_until(comes ? due : end);
    if (comes) of->number = number;
    return comes;
}

// MARK: Frames

static inline void fill(void *bytes, size_t size, bool is_depth, int number) {
    if (!is_depth) memset(bytes, number, size);
    for (size_t i = 0; is_depth && i < size / 2; i++) ((uint16_t *)bytes)[i] = (uint16_t)(1000 + number % 1000);
}

// The width of a frame that should be so wide.
static inline int width_of(int number, int width) {
    int wrong = (int)get("wrong-every", 0);
    return width - (wrong && number % wrong == 0);
}

typedef struct frame {
    int references, format, width, height, stride, size, number;
    bool is_depth;
    double time;                   // of the camera's clock, in milliseconds
    float scale;
    struct frame *color, *depth;  // of a set
    uint8_t bytes[];
} frame;

static inline frame *make_frame(int number, double time, bool is_depth, int width, int height, int pixel, int padding) {
    int columns = width_of(number, width), stride = columns * pixel + padding;
    frame *result = made(sizeof *result + (size_t)stride * height);
    *result = (frame){
        .references = 1, .width = columns, .height = height, .stride = stride, .size = stride * height, .number = number,
        .is_depth = is_depth, .time = time,
    };
    fill(result->bytes, result->size, is_depth, number);
    return result;
}

static inline frame *make_set(frame *color, frame *depth) {
    frame *result = made(sizeof *result);
    *result = (frame){.references = 1, .color = color, .depth = depth};
    return result;
}

static inline frame *reference(frame *of) {
    if (of) __atomic_add_fetch(&of->references, 1, __ATOMIC_RELAXED);
    return of;
}

static inline void release(frame *of) {
    if (!of || __atomic_sub_fetch(&of->references, 1, __ATOMIC_ACQ_REL)) return;
    release(of->color);
    release(of->depth);
    gone(of);
}
