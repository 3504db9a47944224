// Stands in for calls of the C library in the whole test program, the libraries it loads included, and makes some fail.

#define _GNU_SOURCE

#include "SystemFaults.h"

#include <errno.h>

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define HAS_SANITIZER
#endif
#endif

#if defined(__GLIBC__) && !defined(HAS_SANITIZER)

#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/// What is to be called in the end. It is looked up once: a child process that has only just been forked calls some, too.
#define NEXT(name)                                                              \
    ({                                                                          \
        static _Atomic(void *) next;                                            \
        if (!atomic_load(&next)) atomic_store(&next, dlsym(RTLD_NEXT, #name));  \
        (__typeof__(&name))atomic_load(&next);                                  \
    })

static char watched_folder[4096];
static atomic_uint watched_calls;
static int call_error;
static unsigned call_delay;
static long first_call, call_count;
static atomic_long calls_seen, calls_hit;

/// The descriptors of files in the folder.
enum { MOST_FILES = 4096 };
static atomic_bool is_watched_file[MOST_FILES];

static atomic_long threads_left = -1;
static atomic_long threads_refused;

bool can_fail_calls(void) { return true; }

static void watch(const char *folder, unsigned calls) {
    snprintf(watched_folder, sizeof watched_folder, "%s", folder);
    atomic_store(&watched_calls, calls);
}

void fail_calls(const char *folder, unsigned calls, int error, long first, long count) {
    end_failing_calls();
    call_error = error;
    call_delay = 0;
    first_call = first;
    call_count = count;
    watch(folder, calls);
}

void delay_calls(const char *folder, unsigned calls, unsigned microseconds) {
    end_failing_calls();
    call_error = 0;
    call_delay = microseconds;
    watch(folder, calls);
}

long end_failing_calls(void) {
    atomic_store(&watched_calls, 0);
    atomic_store(&calls_seen, 0);
    return atomic_exchange(&calls_hit, 0);
}

static bool is_watched_path(const char *path) {
    return atomic_load(&watched_calls) && path && !strncmp(path, watched_folder, strlen(watched_folder));
}

static bool is_watched(int file) { return file >= 0 && file < MOST_FILES && atomic_load(&is_watched_file[file]); }

/// True where a call of that kind is to fail now, with the error number set.
static bool fails(unsigned kind) {
    if (!(atomic_load(&watched_calls) & kind)) return false;
    if (!call_error) {
        atomic_fetch_add(&calls_hit, 1);
        struct timespec delay = {call_delay / 1000000, call_delay % 1000000 * 1000L};
        nanosleep(&delay, NULL);
        return false;
    }
    long number = atomic_fetch_add(&calls_seen, 1) - first_call;
    if (number < 0 || number >= call_count || (call_error == EINTR && number % 2)) return false;
    atomic_fetch_add(&calls_hit, 1);
    errno = call_error;
    return true;
}

static int opened(int file, bool isWatched) {
    if (file >= 0 && file < MOST_FILES) atomic_store(&is_watched_file[file], isWatched);
    return file;
}

#define OPEN(name)                                                      \
    int name(const char *path, int flags, ...) {                        \
        bool isWatched = is_watched_path(path);                         \
        if (isWatched && fails(CALL_OPEN)) return -1;                   \
        va_list list;                                                   \
        va_start(list, flags);                                          \
        mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(list, mode_t) : 0; \
        va_end(list);                                                   \
        return opened(NEXT(name)(path, flags, mode), isWatched);        \
    }
OPEN(open)
OPEN(open64)

int close(int file) {
    opened(file, false);
    return NEXT(close)(file);
}

ssize_t read(int file, void *memory, size_t count) {
    return is_watched(file) && fails(CALL_READ) ? -1 : NEXT(read)(file, memory, count);
}

ssize_t pread(int file, void *memory, size_t count, off_t offset) {
    return is_watched(file) && fails(CALL_READ) ? -1 : NEXT(pread)(file, memory, count, offset);
}

ssize_t pread64(int file, void *memory, size_t count, off64_t offset) {
    return is_watched(file) && fails(CALL_READ) ? -1 : NEXT(pread64)(file, memory, count, offset);
}

ssize_t write(int file, const void *memory, size_t count) {
    return is_watched(file) && fails(CALL_WRITE) ? -1 : NEXT(write)(file, memory, count);
}

int fsync(int file) { return is_watched(file) && fails(CALL_SYNC) ? -1 : NEXT(fsync)(file); }

int rename(const char *from, const char *to) {
    return is_watched_path(to) && fails(CALL_RENAME) ? -1 : NEXT(rename)(from, to);
}

off_t lseek(int file, off_t offset, int whence) {
    return is_watched(file) && fails(CALL_SEEK) ? -1 : NEXT(lseek)(file, offset, whence);
}

off64_t lseek64(int file, off64_t offset, int whence) {
    return is_watched(file) && fails(CALL_SEEK) ? -1 : NEXT(lseek64)(file, offset, whence);
}

void refuse_threads(long first) {
    atomic_store(&threads_refused, 0);
    atomic_store(&threads_left, first);
}

long end_refusing_threads(void) {
    atomic_store(&threads_left, -1);
    return atomic_exchange(&threads_refused, 0);
}

int pthread_create(
    pthread_t *restrict thread, const pthread_attr_t *restrict attributes, void *(*start)(void *),
    void *restrict argument) {
    long left = atomic_load(&threads_left);
    while (left > 0 && !atomic_compare_exchange_weak(&threads_left, &left, left - 1)) {}
    if (left == 0) {
        atomic_fetch_add(&threads_refused, 1);
        return EAGAIN;
    }
    return NEXT(pthread_create)(thread, attributes, start, argument);
}

#else

bool can_fail_calls(void) { return false; }

void fail_calls(const char *folder, unsigned calls, int error, long first, long count) {
    (void)folder, (void)calls, (void)error, (void)first, (void)count;
}

void delay_calls(const char *folder, unsigned calls, unsigned microseconds) {
    (void)folder, (void)calls, (void)microseconds;
}

long end_failing_calls(void) { return 0; }

void refuse_threads(long first) { (void)first; }

long end_refusing_threads(void) { return 0; }

#endif
