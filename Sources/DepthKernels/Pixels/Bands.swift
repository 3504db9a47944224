/// Several threads that do one job together.
package protocol WorkerPool: AnyObject {
    /// Parts that are worked on at the same time; at least 1.
    var size: Int { get }

    /// Calls `work` once for each of 0..<`parts`, at the same time where it can, and returns when all are done.
    ///
    /// - Parameter job: what `work` is given besides the number of the part, and which of `size` workers does it: no worker
    ///   does two parts at a time. `work` captures nothing (once the compiler knows the kind of job), and so takes no memory.
    func share(
        _ parts: Int, of job: UnsafeRawPointer,
        _ work: @escaping @Sendable (_ job: UnsafeRawPointer, _ part: Int, _ worker: Int) -> Void)
}

/// Work on the rows of a picture, which may be done in bands at the same time: each row is made from finished rows only.
protocol BandWork<Memory>: SendableMetatype {
    associatedtype Memory: BandMemory
    func work(_ rows: Range<Int>, _ memory: Memory)
}

/// What one worker needs besides the rows of a band, kept from frame to frame.
protocol BandMemory: AnyObject, SendableMetatype {
    init()
}

/// Cuts pictures into bands of rows. What comes out does not depend on how many there are.
final class Bands<Memory: BandMemory> {
    /// Nil while there is but one thread.
    var pool: (any WorkerPool)? {
        didSet { if pool !== oldValue { memories.removeLast(memories.count - 1) } }
    }
    /// Pixels below which a band is not worth the while.
    private let leastPixels: Int
    /// One for each worker that a job was cut for, that of the calling thread first.
    private(set) var memories = [Memory()]

    init(leastPixels: Int) { self.leastPixels = leastPixels }

    /// For the calling thread alone, between two jobs.
    var own: Memory { memories[0] }

    /// Does the work on rows 0..<`rows`.
    ///
    /// - Parameter width: pixels in a row, to know what is worth sharing.
    /// - Parameter rowAlignment: every band starts at a multiple of this many rows.
    /// - Parameter bandsPerWorker: at most. Most bands take as long as the others, but not all, and who is done sooner
    ///   takes the next.
    /// - Returns: how the rows were cut.
    @discardableResult
    func share<Work: BandWork<Memory>>(
        _ work: Work, rows: Int, width: Int, rowAlignment: Int = 1, bandsPerWorker: Int = 8
    ) -> Cut {
        let strips = groups(of: rowAlignment, in: rows)
        let workers = pool?.size ?? 1
        let most = workers > 1 ? workers &* bandsPerWorker : 1
        let cut = Cut(
            count: max(min(most, rows &* width / leastPixels, strips), 1), strips: strips, rowAlignment: rowAlignment,
            rows: rows)
        guard let pool, cut.count > 1 else {
            work.work(0..<rows, own)
            return cut
        }
        while memories.count < pool.size { memories.append(Memory()) }
        let job = Job(work: work, memories: memories, cut: cut)
        unsafe withUnsafePointer(to: job) { job in
            unsafe pool.share(cut.count, of: job) { job, band, worker in
                let job = unsafe job.assumingMemoryBound(to: Job<Work>.self).pointee
                job.work.work(job.cut.rows(of: band), job.memories[worker])
            }
        }
        return cut
    }

    private struct Job<Work: BandWork<Memory>> {
        let work: Work
        let memories: [Memory]
        let cut: Cut
    }
}

/// Which rows are in which band.
struct Cut {
    let count: Int
    fileprivate let strips: Int
    fileprivate let rowAlignment: Int
    fileprivate let rows: Int

    func rows(of band: Int) -> Range<Int> {
        let start = strips &* band / count &* rowAlignment
        return start..<min(strips &* (band &+ 1) / count &* rowAlignment, rows)
    }
}
