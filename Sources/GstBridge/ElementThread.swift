import CGStreamer

extension Element {
    /// Does work on a thread of its own, which keeps the element until it is done.
    ///
    /// - Returns: false where the system gives no more threads; then nothing is done.
    package func onThread(_ name: String, _ work: @escaping @Sendable (ElementReference) -> Void) -> Bool {
        let element = ElementReference(self)
        return GstBridge.onThread(name) { work(element) }
    }
}

/// Does work on a thread of its own, which nobody waits for.
///
/// - Returns: false where the system gives no more threads; then nothing is done.
package func onThread(_ name: String, _ work: @escaping @Sendable () -> Void) -> Bool {
    let job = Unmanaged.passRetained(Job(work))
    let thread = g_thread_try_new(
        String(name.prefix(15)),  // GLib gives a thread no name at all where Linux finds it too long
        { data in
            if let data { Unmanaged<Job>.fromOpaque(data).takeRetainedValue().work() }
            return nil
        }, job.toOpaque(), nil)
    guard let thread else {
        job.release()
        return false
    }
    g_thread_unref(thread)
    return true
}

private final class Job: Sendable {
    let work: @Sendable () -> Void

    init(_ work: @escaping @Sendable () -> Void) { self.work = work }
}
