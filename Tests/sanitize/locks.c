/* Tells ThreadSanitizer about the locks that it does not see: those that sit on futexes, in libraries that are not
 * instrumented. It would report every value that they guard.
 *
 * Preloaded into an instrumented program, these functions stand before the real ones; elsewhere they only pass on.
 * GLib's calls to itself reach no preload, so what it hands over under locks of its own has wrappers too. GRecMutex and
 * GRWLock sit on pthreads, which ThreadSanitizer knows. */
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

/* Declares `next`, the function that this library's one of that name hides. */
#define NEXT(name) NEXT_SYMBOL(name, #name)
#define NEXT_SYMBOL(name, symbol)                                                                                      \
    static __typeof__(name) *known;                                                                                    \
    __typeof__(name) *next = __atomic_load_n(&known, __ATOMIC_RELAXED);                                                \
    if (!next) __atomic_store_n(&known, next = (__typeof__(name) *)dlsym(RTLD_NEXT, symbol), __ATOMIC_RELAXED)

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

/* Mutex of Swift's Synchronization: what it does when two threads want it at once. The rest is compiled into its users,
 * and so instrumented. */

#define LOCK_SLOW "$s15Synchronization12_MutexHandleV9_lockSlowyys6UInt32VF"
#define UNLOCK_SLOW "$s15Synchronization12_MutexHandleV11_unlockSlowyyF"
#define SWIFT __attribute__((swiftcall))
#define SELF __attribute__((swift_context))

SWIFT void lock_slow(guint32 thread, SELF void *handle) __asm__(LOCK_SLOW);
SWIFT void unlock_slow(SELF void *handle) __asm__(UNLOCK_SLOW);

SWIFT void lock_slow(guint32 thread, SELF void *handle)
{
    NEXT_SYMBOL(lock_slow, LOCK_SLOW);
    next(thread, handle);
    acquire(handle);
}

SWIFT void unlock_slow(SELF void *handle)
{
    NEXT_SYMBOL(unlock_slow, UNLOCK_SLOW);
    release(handle);
    next(handle);
}
