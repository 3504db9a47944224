/* Tells ThreadSanitizer about GLib's locks.
 *
 * GMutex and GCond sit on futexes, which ThreadSanitizer does not see: it would report every value that they guard.
 * Preloaded into an instrumented program, these functions stand before GLib's own. Elsewhere they only pass on.
 * (GRecMutex and GRWLock sit on pthreads, which it knows.) Queues and thread pools hand things over under locks too, but
 * GLib's calls to itself reach no preload, so these have wrappers of their own. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <glib.h>

/* The runtime's: what one thread did before a release, another sees after an acquire of the same address. */
extern void __tsan_acquire(void *address) __attribute__((weak));
extern void __tsan_release(void *address) __attribute__((weak));

static void acquire(void *address)
{
    if (__tsan_acquire) __tsan_acquire(address);
}

static void release(void *address)
{
    if (__tsan_release) __tsan_release(address);
}

/* Declares `next`, the function of that name that this library hides. */
#define NEXT(name)                                                                                                     \
    static __typeof__(name) *known;                                                                                    \
    __typeof__(name) *next = __atomic_load_n(&known, __ATOMIC_RELAXED);                                                \
    if (!next) __atomic_store_n(&known, next = (__typeof__(name) *)dlsym(RTLD_NEXT, #name), __ATOMIC_RELAXED)

/* GMutex */

void g_mutex_lock(GMutex *mutex)
{
    NEXT(g_mutex_lock);
    next(mutex);
    acquire(mutex);
}

gboolean g_mutex_trylock(GMutex *mutex)
{
    NEXT(g_mutex_trylock);
    gboolean is_locked = next(mutex);
    if (is_locked) acquire(mutex);
    return is_locked;
}

void g_mutex_unlock(GMutex *mutex)
{
    NEXT(g_mutex_unlock);
    release(mutex);
    next(mutex);
}

/* GCond: unlocks the mutex while it waits. */

void g_cond_wait(GCond *condition, GMutex *mutex)
{
    NEXT(g_cond_wait);
    release(mutex);
    next(condition, mutex);
    acquire(mutex);
}

gboolean g_cond_wait_until(GCond *condition, GMutex *mutex, gint64 end_time)
{
    NEXT(g_cond_wait_until);
    release(mutex);
    gboolean is_signalled = next(condition, mutex, end_time);
    acquire(mutex);
    return is_signalled;
}

/* GAsyncQueue: what was done before a push is seen after a pop. */

void g_async_queue_push(GAsyncQueue *queue, gpointer data)
{
    NEXT(g_async_queue_push);
    release(queue);
    next(queue, data);
}

gpointer g_async_queue_pop(GAsyncQueue *queue)
{
    NEXT(g_async_queue_pop);
    gpointer data = next(queue);
    acquire(queue);
    return data;
}

gpointer g_async_queue_try_pop(GAsyncQueue *queue)
{
    NEXT(g_async_queue_try_pop);
    gpointer data = next(queue);
    if (data) acquire(queue);
    return data;
}

gpointer g_async_queue_timeout_pop(GAsyncQueue *queue, guint64 timeout)
{
    NEXT(g_async_queue_timeout_pop);
    gpointer data = next(queue, timeout);
    if (data) acquire(queue);
    return data;
}

/* GThreadPool: a job is what the pushing thread made of it. */

typedef struct {
    GFunc run;
    gpointer user_data;
} Worker;

static void run_job(gpointer job, gpointer worker)
{
    acquire(job);
    ((Worker *)worker)->run(job, ((Worker *)worker)->user_data);
}

GThreadPool *g_thread_pool_new(GFunc run, gpointer user_data, gint max_threads, gboolean exclusive, GError **error)
{
    NEXT(g_thread_pool_new);
    Worker *worker = g_new(Worker, 1); /* Lives as long as the pool, which nobody tells us the end of. */
    *worker = (Worker){run, user_data};
    return next(run_job, worker, max_threads, exclusive, error);
}

gboolean g_thread_pool_push(GThreadPool *pool, gpointer job, GError **error)
{
    NEXT(g_thread_pool_push);
    release(job);
    return next(pool, job, error);
}
