/// A pool of threads that run the parts of a job in parallel.
package protocol WorkerPool: AnyObject {
    /// The number of workers, the calling thread included; at least 1.
    var size: Int { get }

    /// Begins to call `work` once for each of 0..<`parts`, on the other workers. `finish` has to follow.
    ///
    /// - Parameters:
    ///   - job: passed on to `work`; stays until `finish` returns.
    ///   - work: also takes the number of the part and that of the worker, 0..<`size`; a worker runs one part at a
    ///     time. It captures nothing (once the compiler has specialised it for the kind of job), and so allocates nothing.
    func begin(
        _ parts: Int, of job: UnsafeRawPointer,
        _ work: @escaping @Sendable (_ job: UnsafeRawPointer, _ part: Int, _ worker: Int) -> Void)

    /// Takes part in the job, as worker 0, and returns when all calls have returned.
    func finish()
}

extension WorkerPool {
    /// Begins and finishes a job.
    package func share(
        _ parts: Int, of job: UnsafeRawPointer,
        _ work: @escaping @Sendable (_ job: UnsafeRawPointer, _ part: Int, _ worker: Int) -> Void
    ) {
        unsafe begin(parts, of: job, work)
        finish()
    }
}

/// Work on the rows of a picture. Bands of rows may be processed in parallel: no row depends on another row's result.
protocol BandWork<Memory>: SendableMetatype {
    associatedtype Memory: BandMemory
    func work(_ rows: Range<Int>, _ memory: Memory)
}

/// Scratch memory of one worker, kept from frame to frame.
protocol BandMemory: AnyObject, SendableMetatype {
    init()
}

/// Cuts pictures into bands of rows and runs them on a pool of workers. Results do not depend on the number of bands.
@safe
final class Bands<Memory: BandMemory> {
    /// Nil for the calling thread alone.
    var pool: (any WorkerPool)? {
        didSet { if pool !== oldValue { memories.removeLast(memories.count - 1) } }
    }
    /// The smallest band, in pixels; smaller ones cost more to start than they save.
    private let leastPixels: Int
    /// One for each worker that was ever needed, that of the calling thread first.
    private(set) var memories = [Memory()]
    /// The job that was begun, and what ends its life; nil for none.
    private var begun: (job: UnsafeMutableRawPointer, end: (UnsafeMutableRawPointer) -> Void)?
    private var jobMemory = Scratch<UInt8>()

    init(leastPixels: Int) { self.leastPixels = leastPixels }

    /// The calling thread's memory. To be used between two jobs only.
    var own: Memory { memories[0] }

    /// Processes rows 0..<`rows`, as `begin` and `finish` together.
    ///
    /// - Returns: the bands.
    @discardableResult
    func share<Work: BandWork<Memory>>(
        _ work: Work, rows: Int, width: Int, rowAlignment: Int = 1, bandsPerWorker: Int = 8
    ) -> Cut {
        let cut = begin(work, rows: rows, width: width, rowAlignment: rowAlignment, bandsPerWorker: bandsPerWorker)
        if cut.count > 1 { finish() }
        return cut
    }

    /// Begins to process rows 0..<`rows` beside what the calling thread does next. Work that needs no other thread is done before it
    /// returns; other work that is shared waits for the end of this.
    ///
    /// - Parameters:
    ///   - width: pixels in a row, which together with `rows` sets the number of bands.
    ///   - rowAlignment: every band starts at a multiple of this many rows.
    ///   - bandsPerWorker: the largest number. Several bands for each worker balance the load where bands differ in
    ///     cost.
    /// - Returns: the bands.
    @discardableResult
    func begin<Work: BandWork<Memory>>(
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
        finish()
        while memories.count < pool.size { memories.append(Memory()) }
        let memory = unsafe UnsafeMutableRawPointer(jobMemory.reserve(MemoryLayout<Job<Work>>.size, filler: 0))
        let job = unsafe memory.initializeMemory(
            as: Job<Work>.self, to: Job(work: work, memories: memories, cut: cut))
        unsafe begun = (
            memory, { unsafe $0.assumingMemoryBound(to: Job<Work>.self).deinitialize(count: 1) }
        )
        unsafe pool.begin(cut.count, of: job) { job, band, worker in
            let job = unsafe job.assumingMemoryBound(to: Job<Work>.self).pointee
            job.work.work(job.cut.rows(of: band), job.memories[worker])
        }
        return cut
    }

    /// Takes part in what was begun, and returns when it is done.
    func finish() {
        guard let begun = unsafe begun else { return }
        pool?.finish()
        unsafe begun.end(begun.job)
        unsafe self.begun = nil
    }

    private struct Job<Work: BandWork<Memory>> {
        let work: Work
        let memories: [Memory]
        let cut: Cut
    }
}

/// The bands that a picture was cut into.
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
