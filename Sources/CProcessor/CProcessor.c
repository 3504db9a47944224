#if defined(__linux__)
#define _GNU_SOURCE
#include <sched.h>
#endif

#include "CProcessor.h"

#if defined(__linux__)
_Static_assert(sizeof(ProcessorSet) == sizeof(cpu_set_t), "a set of processors is what Linux has for one");
#endif

bool processor_get_affinity(ProcessorSet *set) {
#if defined(__linux__)
    return sched_getaffinity(0, sizeof *set, (cpu_set_t *)set) == 0;
#else
    (void)set;
    return false;
#endif
}

bool processor_set_affinity(int32_t thread, const ProcessorSet *set) {
#if defined(__linux__)
    return sched_setaffinity(thread, sizeof *set, (const cpu_set_t *)set) == 0;
#else
    (void)thread, (void)set;
    return false;
#endif
}
