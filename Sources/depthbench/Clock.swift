// The headers of GStreamer bring the C library's clock along, so that both modules count as its owner.
import CGStreamer

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// Nanoseconds on a clock that only goes forward.
func now() -> UInt64 { nanoseconds(CLOCK_MONOTONIC) }

/// Nanoseconds that all threads of the process have worked.
func processorTime() -> UInt64 { nanoseconds(CLOCK_PROCESS_CPUTIME_ID) }

private func nanoseconds(_ clock: clockid_t) -> UInt64 {
    var time = timespec()
    clock_gettime(clock, &time)
    return UInt64(time.tv_sec) &* 1_000_000_000 &+ UInt64(time.tv_nsec)
}
