#pragma once

/// How often this thread has asked for memory so far; -1 where that cannot be counted (under a sanitizer, or where
/// the C library is not glibc).
long allocations_of_this_thread(void);
