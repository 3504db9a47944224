import CGStreamer

/// A value behind a lock, on whose changes threads can wait.
///
/// As with a Mutex, what goes in and comes out is nobody else's, or may be used by several threads.
package final class Monitor<Value>: @unchecked Sendable {  // guard: every access to `value` holds `mutex`
    private let mutex = UnsafeMutablePointer<GMutex>.allocate(capacity: 1)
    private let condition = UnsafeMutablePointer<GCond>.allocate(capacity: 1)
    private var value: Value

    package init(_ value: consuming sending Value) {
        self.value = value
        g_mutex_init(mutex)
        g_cond_init(condition)
    }

    deinit {
        g_cond_clear(condition)
        g_mutex_clear(mutex)
        condition.deallocate()
        mutex.deallocate()
    }

    /// Reads or changes the value; whoever waits looks at it again afterwards.
    package func withLock<Result>(_ body: (inout sending Value) -> sending Result) -> sending Result {
        g_mutex_lock(mutex)
        defer {
            g_cond_broadcast(condition)
            g_mutex_unlock(mutex)
        }
        return body(&value)
    }

    /// Changes the value; whoever waits looks at it again only where `body` says so: to wake a thread takes as long as
    /// much of what is done for a frame.
    package func change(wakingIf body: (inout sending Value) -> Bool) {
        g_mutex_lock(mutex)
        if body(&value) { g_cond_broadcast(condition) }
        g_mutex_unlock(mutex)
    }

    /// Waits until the value is as wanted, and returns what `body` makes of it then.
    package func wait<Result>(
        until isReady: @Sendable (Value) -> Bool, then body: (inout sending Value) -> sending Result
    ) -> sending Result {
        g_mutex_lock(mutex)
        defer { g_mutex_unlock(mutex) }
        while !isReady(value) { g_cond_wait(condition, mutex) }
        return body(&value)
    }

    /// Waits until the value is as wanted, but no longer than a time; whether it is as wanted then.
    package func wait(microseconds: Int64, until isReady: @Sendable (Value) -> Bool) -> Bool {
        g_mutex_lock(mutex)
        defer { g_mutex_unlock(mutex) }
        let end = g_get_monotonic_time() &+ gint64(microseconds)
        while !isReady(value) {
            if g_cond_wait_until(condition, mutex, end) == 0 { return isReady(value) }
        }
        return true
    }
}
