import CGStreamer

extension Element {
    /// Does work on a thread of its own, which keeps the element until it is done.
    ///
    /// - Returns: false where the system gives no more threads; then nothing is done.
    package func onThread(_ name: String, _ work: @escaping @Sendable (ElementReference) -> Void) -> Bool {
        let job = Unmanaged.passRetained(Job(ElementReference(self), work))
        let thread = g_thread_try_new(
            name,
            { data in
                if let data { Unmanaged<Job>.fromOpaque(data).takeRetainedValue().run() }
                return nil
            }, job.toOpaque(), nil)
        guard let thread else {
            job.release()
            return false
        }
        g_thread_unref(thread)
        return true
    }
}

private final class Job: Sendable {
    private let element: ElementReference
    private let work: @Sendable (ElementReference) -> Void

    init(_ element: ElementReference, _ work: @escaping @Sendable (ElementReference) -> Void) {
        self.element = element
        self.work = work
    }

    func run() { work(element) }
}
