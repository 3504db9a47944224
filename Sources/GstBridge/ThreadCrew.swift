import CGStreamer
import DepthKernels

/// Threads that wait for parts of a job, and the thread that brings it.
package final class ThreadCrew: Crew {
    /// The thread that calls `share`, and those that the system gave.
    package var size: Int { threads.count + 1 }
    private let job = SharedJob()
    private let threads: [UnsafeMutablePointer<GThread>]

    /// - parameter size: threads, the one that calls `share` among them. Where the system gives fewer, those do the work.
    package init(size: Int) {
        threads = (1..<max(size, 1)).compactMap { [job] _ in
            let held = Unmanaged.passRetained(job)
            let thread = g_thread_try_new(
                "depthmatte-band",
                { data in
                    if let data { Unmanaged<SharedJob>.fromOpaque(data).takeRetainedValue().help() }
                    return nil
                }, held.toOpaque(), nil)
            if thread == nil { held.release() }
            return thread
        }
    }

    deinit {
        job.dismiss()
        for thread in threads { g_thread_join(thread) }
    }

    /// Not for two threads at once.
    package func share(
        _ parts: Int, of job: UnsafeRawPointer, _ work: @escaping (UnsafeRawPointer, Int) -> Void
    ) {
        self.job.run(parts, of: job, work)
    }
}

/// A job whose parts several threads take.
private final class SharedJob: @unchecked Sendable {  // guard: `lock`, for everything that changes
    private let lock = UnsafeMutablePointer<GMutex>.allocate(capacity: 1)
    /// There are parts to be taken, or there will be no more.
    private let isCalled = UnsafeMutablePointer<GCond>.allocate(capacity: 1)
    /// The last part is done.
    private let isDone = UnsafeMutablePointer<GCond>.allocate(capacity: 1)

    private var work: ((UnsafeRawPointer, Int) -> Void)?
    private var job: UnsafeRawPointer?
    /// The next part to be taken, and where they end.
    private var next = 0
    private var end = 0
    /// Parts that are taken and not done.
    private var busy = 0
    private var isOver = false

    init() {
        g_mutex_init(lock)
        g_cond_init(isCalled)
        g_cond_init(isDone)
    }

    deinit {
        g_mutex_clear(lock)
        g_cond_clear(isCalled)
        g_cond_clear(isDone)
        lock.deallocate()
        isCalled.deallocate()
        isDone.deallocate()
    }

    /// Does the parts together with those who help.
    func run(_ parts: Int, of job: UnsafeRawPointer, _ work: @escaping (UnsafeRawPointer, Int) -> Void) {
        g_mutex_lock(lock)
        self.work = work
        self.job = job
        (next, end) = (0, parts)
        for _ in 1..<max(parts, 1) { g_cond_signal(isCalled) }
        takeParts()
        while busy > 0 { g_cond_wait(isDone, lock) }
        self.work = nil
        g_mutex_unlock(lock)
    }

    /// Does parts as they come, until they are dismissed.
    func help() {
        g_mutex_lock(lock)
        while !isOver {
            takeParts()
            if !isOver && next == end { g_cond_wait(isCalled, lock) }
        }
        g_mutex_unlock(lock)
    }

    /// Lets those who help go.
    func dismiss() {
        g_mutex_lock(lock)
        isOver = true
        g_cond_broadcast(isCalled)
        g_mutex_unlock(lock)
    }

    /// Does parts until none is left. Called with the lock held, and returns with it.
    private func takeParts() {
        while next < end, let work, let job {
            let part = next
            next += 1
            busy += 1
            g_mutex_unlock(lock)
            work(job, part)
            g_mutex_lock(lock)
            busy -= 1
            if busy == 0 && next == end { g_cond_signal(isDone) }
        }
    }
}
