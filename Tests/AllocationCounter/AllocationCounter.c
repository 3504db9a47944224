// Stands in for the allocator's entry points in the whole test program, the libraries it loads included, and counts
// the calls of each thread. It can refuse memory that is aligned to a cache line, which only the kernels ask for.

#include "AllocationCounter.h"

#include <errno.h>
#if defined(__linux__)
#include <malloc.h>
#endif
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define HAS_SANITIZER
#endif
#endif

#if defined(__GLIBC__) && !defined(HAS_SANITIZER)

extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *block, size_t size);
extern void *__libc_memalign(size_t alignment, size_t size);

static _Thread_local long allocations;

long allocations_of_this_thread(void) { return allocations; }

void *malloc(size_t size) {
    allocations++;
    return __libc_malloc(size);
}

void *calloc(size_t count, size_t size) {
    allocations++;
    return __libc_calloc(count, size);
}

void *realloc(void *block, size_t size) {
    allocations++;
    return __libc_realloc(block, size);
}

void *aligned_alloc(size_t alignment, size_t size) {
    allocations++;
    return __libc_memalign(alignment, size);
}

static atomic_bool refuses;
static long first_refused, refusal_count;
static atomic_long requests, refusals;

void refuse_memory(long first, long count) {
    end_refusing_memory();
    first_refused = first;
    refusal_count = count;
    atomic_store(&refuses, true);
}

long end_refusing_memory(void) {
    atomic_store(&refuses, false);
    atomic_store(&requests, 0);
    return atomic_exchange(&refusals, 0);
}

static bool is_refused(size_t alignment) {
    if (alignment != 64 || !atomic_load(&refuses)) return false;
    long number = atomic_fetch_add(&requests, 1) - first_refused;
    if (number < 0 || number >= refusal_count) return false;
    atomic_fetch_add(&refusals, 1);
    return true;
}

int posix_memalign(void **block, size_t alignment, size_t size) {
    allocations++;
    if (is_refused(alignment)) return ENOMEM;
    *block = __libc_memalign(alignment, size);
    return *block ? 0 : ENOMEM;
}

#else

long allocations_of_this_thread(void) { return -1; }

void refuse_memory(long first, long count) { (void)first, (void)count; }

long end_refusing_memory(void) { return 0; }

#endif

#if defined(M_PERTURB)

bool fill_new_memory(int filler) { return mallopt(M_PERTURB, filler) == 1; }

#else

bool fill_new_memory(int filler) {
    (void)filler;
    return false;
}

#endif
