import CGStreamer
import DepthKernels
import GstBridge
import Synchronization
import Testing

@Suite struct ThreadPoolTests {
    @Test(arguments: [1, 2, 5])
    func `each part is done once, before the job is over`(size: Int) {
        let pool = ThreadPool(size: size)
        #expect(pool.size == size)
        for parts in [1, 2, 3, 40, 0, 7] {
            for _ in 0..<200 {
                var done = [Int](repeating: 0, count: parts + 1)
                pool.share(parts, of: &done) { job, part, _ in
                    // Each part has a place of its own.
                    UnsafeMutableRawPointer(mutating: job).assumingMemoryBound(to: Int.self)[part] += 1
                }
                #expect(done.removeLast() == 0)
                #expect(done.allSatisfy { $0 == 1 })
            }
        }
    }

    /// Each counts in a place of its own, without a lock.
    @Test(arguments: [2, 4])
    func `a worker is one thread at a time`(size: Int) {
        let pool = ThreadPool(size: size)
        for round in 1...200 {
            // With room for workers that there should not be.
            var parts = [Int](repeating: 0, count: 2 * size)
            pool.share(100, of: &parts) { job, _, worker in
                UnsafeMutableRawPointer(mutating: job).assumingMemoryBound(to: Int.self)[worker] += 1
            }
            #expect(parts[..<size].reduce(0, +) == 100)
            // Sometimes soon enough to be seen by who still looks, sometimes so late that all sleep.
            if round.isMultiple(of: 10) { g_usleep(1000) }
        }
    }

    /// Each part waits for the other: one thread alone would never end.
    @Test func `parts are worked on at the same time`() {
        let pool = ThreadPool(size: 2)
        let meeting = Meeting()
        pool.share(2, of: Unmanaged.passUnretained(meeting).toOpaque()) { job, _, _ in
            Unmanaged<Meeting>.fromOpaque(job).takeUnretainedValue().wait()
        }
        #expect(meeting.arrived.load(ordering: .relaxed) == 2)
    }

    @Test func `what is begun goes on beside the caller`() {
        let pool = ThreadPool(size: 2)
        let meeting = Meeting()
        pool.begin(1, of: Unmanaged.passUnretained(meeting).toOpaque()) { job, _, worker in
            if worker != 0 { Unmanaged<Meeting>.fromOpaque(job).takeUnretainedValue().wait() }
        }
        meeting.wait()
        pool.finish()
        #expect(meeting.arrived.load(ordering: .relaxed) == 2)
    }

    @Test func `crews come and go`() {
        for size in 0..<200 {
            let pool = ThreadPool(size: size % 9)
            if size.isMultiple(of: 2) { pool.share(3, of: Unmanaged.passUnretained(pool).toOpaque()) { _, _, _ in } }
        }
    }
}

/// Where two threads wait for each other.
private final class Meeting: Sendable {
    let arrived = Atomic(0)

    func wait() {
        arrived.add(1, ordering: .sequentiallyConsistent)
        while arrived.load(ordering: .sequentiallyConsistent) < 2 { g_thread_yield() }
    }
}
