import CDepthKernels
import CGStreamer
import DepthKernels
import Synchronization

/// Threads that wait for parts of a job, and the thread that brings it.
package final class ThreadCrew: WorkerPool {
    /// The thread that calls `share`, and those that the system gave.
    package var size: Int { threads.count + 1 }
    private let job: SharedJob
    private let threads: [UnsafeMutablePointer<GThread>]

    /// - parameter size: threads, the one that calls `share` among them. Where the system gives fewer, those do the work.
    package init(size: Int) {
        // Where threads share a processor, who looks for work keeps it from the one that has it.
        let job = SharedJob(patience: size <= Int(g_get_num_processors()) ? 100 : 0)
        self.job = job
        threads = (1..<max(size, 1)).compactMap { _ in
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
        _ parts: Int, of job: UnsafeRawPointer,
        _ work: @escaping @Sendable (_ job: UnsafeRawPointer, _ part: Int, _ worker: Int) -> Void
    ) {
        self.job.run(parts, of: job, work)
    }
}

/// A job whose parts several threads take.
private final class SharedJob: @unchecked Sendable {  // guard: `lock`, for everything that changes
    typealias Work = @Sendable (_ job: UnsafeRawPointer, _ part: Int, _ worker: Int) -> Void

    private let lock = UnsafeMutablePointer<GMutex>.allocate(capacity: 1)
    /// There are parts to be taken, or there will be no more.
    private let call: Signal
    /// The last part is done.
    private let end: Signal

    private var work: Work?
    private var job: UnsafeRawPointer?
    /// The next part to be taken, and how many there are.
    private var next = 0
    private var count = 0
    /// Parts that are taken and not done.
    private var busy = 0
    /// Threads that came to help, ever.
    private var helpers = 0
    private var isOver = false

    init(patience: gint64) {
        call = Signal(patience: patience)
        end = Signal(patience: patience)
        g_mutex_init(lock)
    }

    deinit {
        g_mutex_clear(lock)
        lock.deallocate()
    }

    /// Does the parts together with those who help, as worker 0.
    func run(_ parts: Int, of job: UnsafeRawPointer, _ work: @escaping Work) {
        g_mutex_lock(lock)
        self.work = work
        self.job = job
        (next, count) = (0, parts)
        if parts > 1 { call.send() }
        takeParts(as: 0)
        while busy > 0 { end.wait(lock) }
        self.work = nil
        g_mutex_unlock(lock)
    }

    /// Does parts as they come, until they are dismissed.
    func help() {
        g_mutex_lock(lock)
        helpers += 1
        let number = helpers
        while !isOver {
            takeParts(as: number)
            if busy == 0 && next == count { end.send() }
            if !isOver && next == count { call.wait(lock) }
        }
        g_mutex_unlock(lock)
    }

    /// Lets those who help go.
    func dismiss() {
        g_mutex_lock(lock)
        isOver = true
        call.send()
        g_mutex_unlock(lock)
    }

    /// Does parts until none is left. Called with the lock held, and returns with it.
    private func takeParts(as worker: Int) {
        while next < count, let work, let job {
            let part = next
            next += 1
            busy += 1
            g_mutex_unlock(lock)
            work(job, part, worker)
            g_mutex_lock(lock)
            busy -= 1
        }
    }
}

/// Tells threads that something has happened. Every call is made with one lock held, which guards all that is in it but
/// `count`.
///
/// The jobs of a frame follow each other within microseconds, and to wake a thread takes tens of them: so who waits looks
/// for a while whether the signal came before it goes to sleep.
private final class Signal {
    /// How often it was sent.
    private let count = Atomic(0)
    private let isSent = UnsafeMutablePointer<GCond>.allocate(capacity: 1)
    private var sleepers = 0
    /// Microseconds that a thread looks before it sleeps.
    private let patience: gint64

    init(patience: gint64) {
        self.patience = patience
        g_cond_init(isSent)
    }

    deinit {
        g_cond_clear(isSent)
        isSent.deallocate()
    }

    func send() {
        count.add(1, ordering: .relaxed)
        if sleepers > 0 { g_cond_broadcast(isSent) }
    }

    /// Lets go of the lock until the signal is sent once more.
    func wait(_ lock: UnsafeMutablePointer<GMutex>) {
        let known = count.load(ordering: .relaxed)
        g_mutex_unlock(lock)
        let end = g_get_monotonic_time() + patience
        while count.load(ordering: .relaxed) == known && g_get_monotonic_time() < end { dm_relax() }
        g_mutex_lock(lock)
        sleepers += 1
        while count.load(ordering: .relaxed) == known { g_cond_wait(isSent, lock) }
        sleepers -= 1
    }
}
