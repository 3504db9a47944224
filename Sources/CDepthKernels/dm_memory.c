#define _POSIX_C_SOURCE 200112L
#include <stdlib.h>

#include "CDepthKernels.h"

void *dm_allocate(size_t bytes) {
    void *memory = NULL;
    return posix_memalign(&memory, 64, bytes) == 0 ? memory : NULL;
}

void dm_free(void *memory) { free(memory); }
