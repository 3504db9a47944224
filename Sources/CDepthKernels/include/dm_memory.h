// Memory that can be refused. Swift's own allocation ends the program instead.
#pragma once

#include <stddef.h>

/// `bytes` bytes, aligned to a cache line, to be given back by `dm_free`; NULL where the system has none to give.
void *_Nullable dm_allocate(size_t bytes);

void dm_free(void *_Nullable memory);
