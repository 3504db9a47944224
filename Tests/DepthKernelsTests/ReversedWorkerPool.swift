import DepthKernels

/// Runs the parts one after the other, the last one first: an order that threads may have.
final class ReversedWorkerPool: WorkerPool {
    let size: Int
    /// Jobs of more than one part.
    private(set) var cuts = 0

    init(size: Int) { self.size = size }

    private var begun: (() -> Void)?

    func begin(
        _ parts: Int, of job: UnsafeRawPointer,
        _ work: @escaping @Sendable (_ job: UnsafeRawPointer, _ part: Int, _ worker: Int) -> Void
    ) {
        if parts > 1 { cuts += 1 }
        begun = { [size] in for part in (0..<parts).reversed() { work(job, part, part * 5 % size) } }
    }

    func finish() {
        begun?()
        begun = nil
    }
}
