import CDepthKernels
import CGStreamer
import DepthKernels
import Synchronization

/// Threads that share the parts of a job with the thread that calls `begin` and `finish`.
package final class ThreadPool: WorkerPool {
    /// Number of threads, the caller included.
    package var size: Int { threads.count + 1 }
    private let job: SharedJob
    private let threads: [UnsafeMutablePointer<GThread>]

    /// - Parameter size: threads, the caller included. Where the system starts fewer, those do the work.
    package init(size: Int) {
        // With fewer processors than threads, a spinning worker keeps the processor from one that has work.
        let job = SharedJob(spinMicroseconds: size <= Int(g_get_num_processors()) ? 100 : 0)
        self.job = job
        threads = (1..<max(size, 1)).compactMap { _ in
            let held = owned(job)
            let thread = g_thread_try_new(
                "depthmatte-band",
                { data in
                    taken(data, as: SharedJob.self)?.runWorker()
                    return nil
                }, held, nil)
            if thread == nil { releaseOwned(held) }
            return thread
        }
    }

    deinit {
        job.shutDown()
        for thread in threads { g_thread_join(thread) }
    }

    /// Must not be called by two threads at once, nor twice before `finish`.
    package func begin(
        _ parts: Int, of job: UnsafeRawPointer,
        _ work: @escaping @Sendable (_ job: UnsafeRawPointer, _ part: Int, _ worker: Int) -> Void
    ) {
        self.job.begin(parts, of: job, work)
    }

    package func finish() { job.finish() }
}

/// A job with parts that several threads take.
private final class SharedJob: @unchecked Sendable {  // guard: `lock`, for everything that changes
    typealias Work = @Sendable (_ job: UnsafeRawPointer, _ part: Int, _ worker: Int) -> Void

    private let lock = UnsafeMutablePointer<GMutex>.allocate(capacity: 1)
    /// Sent when there are parts to take, and at shutdown.
    private let call: Signal
    /// Sent when the last part is done.
    private let end: Signal

    private var work: Work?
    private var job: UnsafeRawPointer?
    /// The next part to take, and the number of parts.
    private var next = 0
    private var count = 0
    /// Number of parts in progress.
    private var busy = 0
    /// Number of workers that have started.
    private var workers = 0
    private var isOver = false

    init(spinMicroseconds: gint64) {
        call = Signal(spinMicroseconds: spinMicroseconds)
        end = Signal(spinMicroseconds: spinMicroseconds)
        g_mutex_init(lock)
    }

    deinit {
        g_mutex_clear(lock)
        lock.deallocate()
    }

    /// Lets the workers run the parts.
    func begin(_ parts: Int, of job: UnsafeRawPointer, _ work: @escaping Work) {
        g_mutex_lock(lock)
        self.work = work
        self.job = job
        (next, count) = (0, parts)
        call.send()
        g_mutex_unlock(lock)
    }

    /// Runs parts together with the workers, as worker 0, until all are done.
    func finish() {
        g_mutex_lock(lock)
        takeParts(as: 0)
        while busy > 0 { end.wait(lock) }
        self.work = nil
        g_mutex_unlock(lock)
    }

    /// Runs parts until `shutDown`.
    func runWorker() {
        g_mutex_lock(lock)
        workers += 1
        let number = workers
        while !isOver {
            takeParts(as: number)
            if busy == 0 && next == count { end.send() }
            if !isOver && next == count { call.wait(lock) }
        }
        g_mutex_unlock(lock)
    }

    /// Ends all workers.
    func shutDown() {
        g_mutex_lock(lock)
        isOver = true
        call.send()
        g_mutex_unlock(lock)
    }

    /// Runs parts until none is left. Called, and returns, with the lock held.
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

/// A condition variable that spins before it sleeps. Every call is made with one lock held, which guards everything in it but
/// `count`.
///
/// The jobs of a frame follow each other within microseconds, and waking a thread takes tens of them.
private final class Signal {
    /// Number of signals sent.
    private let count = Atomic(0)
    private let isSent = UnsafeMutablePointer<GCond>.allocate(capacity: 1)
    private var sleepers = 0
    /// Microseconds that a thread spins before it sleeps.
    private let spinMicroseconds: gint64

    init(spinMicroseconds: gint64) {
        self.spinMicroseconds = spinMicroseconds
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

    /// Releases the lock until the next signal.
    func wait(_ lock: UnsafeMutablePointer<GMutex>) {
        let known = count.load(ordering: .relaxed)
        g_mutex_unlock(lock)
        let end = g_get_monotonic_time() + spinMicroseconds
        while count.load(ordering: .relaxed) == known && g_get_monotonic_time() < end { dm_relax() }
        g_mutex_lock(lock)
        sleepers += 1
        while count.load(ordering: .relaxed) == known { g_cond_wait(isSent, lock) }
        sleepers -= 1
    }
}
