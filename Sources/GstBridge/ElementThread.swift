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
    let job = owned(Box(work))
    let thread = g_thread_try_new(
        String(name.prefix(15)),  // GLib gives a thread no name at all where Linux finds it too long
        { data in
            taken(data, as: Box<@Sendable () -> Void>.self)?.value()
            return nil
        }, job, nil)
    guard let thread else {
        releaseOwned(job)
        return false
    }
    g_thread_unref(thread)
    return true
}
