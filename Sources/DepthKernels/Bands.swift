/// Several threads that do one job together.
package protocol Crew: AnyObject {
    /// Parts that are worked on at the same time; at least 1.
    var size: Int { get }

    /// Calls `work` once for each of 0..<`parts`, at the same time where it can, and returns when all are done.
    ///
    /// - parameter job: what `work` is given besides the number of the part, and which of `size` workers does it: no worker
    ///   does two parts at a time. `work` captures nothing (once the compiler knows the kind of job), and so takes no memory.
    func share(
        _ parts: Int, of job: UnsafeRawPointer,
        _ work: @escaping (_ job: UnsafeRawPointer, _ part: Int, _ worker: Int) -> Void)
}

/// Work on the rows of a picture, which may be done in bands at the same time: each row is made from finished rows only.
protocol BandWork {
    func work(_ rows: Range<Int>, _ memory: BandMemory)
}

/// What one worker needs besides the rows of a band, kept from frame to frame.
final class BandMemory {
    var blur = BlurMemory()
    var alpha = AlphaRows()
    var blend = BlendMemory()
}

/// Cuts pictures into bands of rows. What comes out does not depend on how many there are.
final class Bands {
    /// Nil while there is but one thread.
    var crew: (any Crew)? {
        didSet { memories.removeLast(memories.count - 1) }
    }
    private var memories = [BandMemory()]

    /// For the calling thread alone, between two jobs.
    var own: BandMemory { memories[0] }

    /// Pixels below which a band is not worth the while.
    static let leastPixels = 1 << 16
    /// Bands for each worker, where there are rows enough: most take the one as long as the other, but not all, and who is
    /// done sooner takes the next.
    private static let bandsPerWorker = 8

    /// Does the work on rows 0..<`rows`.
    ///
    /// - parameter width: pixels in a row, to know what is worth sharing.
    /// - parameter grain: every band starts at a multiple of this many rows.
    func share<Work: BandWork>(_ work: Work, rows: Int, width: Int, grain: Int = 1) {
        let strips = groups(of: grain, in: rows)
        guard let crew, crew.size > 1 else { return work.work(0..<rows, own) }
        let count = min(crew.size &* Bands.bandsPerWorker, rows &* width / Bands.leastPixels, strips)
        guard count > 1 else { return work.work(0..<rows, own) }
        while memories.count < crew.size { memories.append(BandMemory()) }
        let cut = Cut(work: work, memories: memories, count: count, strips: strips, grain: grain, rows: rows)
        unsafe withUnsafePointer(to: cut) { cut in
            unsafe crew.share(count, of: cut) { job, band, worker in
                unsafe job.assumingMemoryBound(to: Cut<Work>.self).pointee.work(on: band, as: worker)
            }
        }
    }

    private struct Cut<Work: BandWork> {
        let work: Work
        let memories: [BandMemory]
        let count: Int
        let strips: Int
        let grain: Int
        let rows: Int

        func work(on band: Int, as worker: Int) {
            let start = strips &* band / count &* grain
            let end = min(strips &* (band &+ 1) / count &* grain, rows)
            work.work(start..<end, memories[worker])
        }
    }
}
