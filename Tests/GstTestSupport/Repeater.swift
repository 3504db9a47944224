import CGStreamer
import Synchronization

/// A thread that does the same again and again until it is told to end.
package final class Repeater {
    private let job: Job
    private let thread: UnsafeMutablePointer<GThread>?

    private final class Job: @unchecked Sendable {  // guard: only the thread calls `work`
        let work: (Int) -> Void
        let interval: gulong
        let isOver = Atomic(false)
        let rounds = Atomic(0)

        init(_ interval: Int, _ work: @escaping (Int) -> Void) {
            self.interval = gulong(interval)
            self.work = work
        }
    }

    /// - Parameters:
    ///   - interval: microseconds between two rounds.
    ///   - work: gets the number of the round.
    package init(every interval: Int = 0, _ work: @escaping (Int) -> Void) {
        job = Job(interval, work)
        thread = g_thread_new(
            "repeater",
            { data in
                guard let data else { return nil }
                let job = Unmanaged<Job>.fromOpaque(data).takeRetainedValue()
                // On a busy machine the thread may begin when all is over.
                repeat {
                    job.work(job.rounds.load(ordering: .relaxed))
                    job.rounds.add(1, ordering: .relaxed)
                    if job.interval > 0 { g_usleep(job.interval) }
                } while !job.isOver.load(ordering: .relaxed)
                return nil
            }, Unmanaged.passRetained(job).toOpaque())
    }

    /// Rounds done so far.
    package var rounds: Int { job.rounds.load(ordering: .relaxed) }

    /// Ends after the round at hand, and says how many there were.
    @discardableResult
    package func finish() -> Int {
        job.isOver.store(true, ordering: .relaxed)
        g_thread_join(thread)
        return rounds
    }
}

/// Waits until the condition holds, for what gives no sign of its own; what must come is given much longer than it should take.
package func eventually(seconds: Double = 20, _ condition: () -> Bool) -> Bool {
    let giveUp = g_get_monotonic_time() + gint64(seconds * 1_000_000)
    while g_get_monotonic_time() < giveUp {
        if condition() { return true }
        g_usleep(1000)
    }
    return condition()
}
