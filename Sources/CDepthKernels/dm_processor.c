#if defined(__linux__)
#define _GNU_SOURCE
#include <sched.h>
#endif

#include "CDepthKernels.h"

#if defined(__linux__)
_Static_assert(sizeof(dm_processor_set) == sizeof(cpu_set_t), "dm_processor_set has the size of cpu_set_t");
#endif

bool dm_get_affinity(dm_processor_set *set) {
#if defined(__linux__)
    return sched_getaffinity(0, sizeof *set, (cpu_set_t *)set) == 0;
#else
    (void)set;
    return false;
#endif
}

bool dm_set_affinity(int32_t thread, const dm_processor_set *set) {
#if defined(__linux__)
    return sched_setaffinity(thread, sizeof *set, (const cpu_set_t *)set) == 0;
#else
    (void)thread, (void)set;
    return false;
#endif
}
