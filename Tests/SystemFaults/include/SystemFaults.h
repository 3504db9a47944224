#pragma once

#include <stdbool.h>

/// True where calls can be made to fail: with glibc, and without a sanitizer, which has the calls for itself.
bool can_fail_calls(void);

/// The calls that fail, or are slow.
enum system_calls {
    CALL_OPEN = 1,
    CALL_READ = 2,
    CALL_WRITE = 4,
    CALL_SYNC = 8,
    CALL_RENAME = 16,
    CALL_SEEK = 32,
};

/// From now on the calls of the kinds in `calls` for files whose paths begin with `folder` count. Call number `first`,
/// from 0, and all after it up to `count` of them fail with `error`; with EINTR only every other one does, as a caller
/// that tries again is to get on.
void fail_calls(const char *_Nonnull folder, unsigned calls, int error, long first, long count);

/// From now on such calls take that long.
void delay_calls(const char *_Nonnull folder, unsigned calls, unsigned microseconds);

/// Ends that; returns how many calls failed, or were slow.
long end_failing_calls(void);

/// From now on the thread number `first`, from 0, and all after it are not started.
void refuse_threads(long first);

/// Ends that; returns how many were not started.
long end_refusing_threads(void);
