#pragma once

#include <stdbool.h>

/// How often this thread has asked for memory so far; -1 where that cannot be counted (under a sanitizer, or where
/// the C library is not glibc).
long allocations_of_this_thread(void);

/// From now on new memory holds the bits of `filler` turned round, as if it had been used before; 0 leaves it as it comes.
/// False where the C library cannot do that.
bool fill_new_memory(int filler);

/// From now on memory that is aligned to a cache line, as only the kernels ask for it, is refused: to the request number
/// `first`, from 0, and to those after it, up to `count` of them.
void refuse_memory(long first, long count);

/// Ends that; returns how many requests were refused. Always 0 where nothing can be counted.
long end_refusing_memory(void);
