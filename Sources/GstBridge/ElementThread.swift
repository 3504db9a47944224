import CGStreamer

extension Element {
    /// Does work on a thread of its own, which keeps the element until it is done.
    ///
    /// - Returns: false where the system gives no more threads; then nothing is done.
    package func onThread(_ name: String, _ work: @escaping () -> Void) -> Bool {
        gst_object_ref(instance)
        let job = Unmanaged.passRetained(Job(instance: instance, work))
        let thread = g_thread_try_new(
            name,
            { data in
                if let data { gst_object_unref(done(data)) }
                return nil
            }, job.toOpaque(), nil)
        guard let thread else {
            job.release()
            gst_object_unref(instance)
            return false
        }
        g_thread_unref(thread)
        return true
    }
}

private final class Job {
    /// With a reference of the job's.
    let instance: UnsafeMutablePointer<GstElement>
    let work: () -> Void

    init(instance: UnsafeMutablePointer<GstElement>, _ work: @escaping () -> Void) {
        self.instance = instance
        self.work = work
    }
}

/// Does a job and forgets it, all but the reference to the element, which is the caller's then.
private func done(_ data: UnsafeMutableRawPointer) -> UnsafeMutablePointer<GstElement> {
    let job = Unmanaged<Job>.fromOpaque(data).takeRetainedValue()
    job.work()
    return job.instance
}
