// The settings and counters of a stand-in, by name. The tests set and read them while the library runs.
//
// KEYS names those that the tests may set, each between spaces.

#pragma once

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
// Something under the lock was changed.
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;

static struct {
    char key[40], value[64];
} settings[64];
static size_t setting_count;

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

static void add(const char *key, double number) { put(key, NULL, number); }

static inline void set(const char *key, double number) {
    char text[32];
    snprintf(text, sizeof text, "%.17g", number);
    put(key, text, 0);
}

// True where a function is the one to "fail". Does not return while it is the one to "hang".
static inline bool fails(const char *function) {
    pthread_mutex_lock(&lock);
    while (is("hang", function)) pthread_cond_wait(&changed, &lock);
    bool result = is("fail", function);
    pthread_mutex_unlock(&lock);
    return result;
}

// Milliseconds of a clock that never jumps.
static inline int64_t now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1000LL + time.tv_nsec / 1000000;
}

static inline void sleep_until(int64_t moment) {
    int64_t wait = moment - now();
    if (wait > 0) nanosleep(&(struct timespec) { wait / 1000, wait % 1000 * 1000000 }, NULL);
}

// - Returns: 0 where there is no such key.
int fake_set(const char *key, const char *text) {
    char word[42];
    snprintf(word, sizeof word, " %s ", key);
    if (!strstr(KEYS, word) && strncmp(key, "fail_", 5)) return 0;
    put(key, text, 0);
    return 1;
}

double fake_get(const char *key) { return get(key, 0); }

// Restores the defaults. What hangs goes on.
void fake_reset(void) {
    pthread_mutex_lock(&lock);
    setting_count = 0;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
}
