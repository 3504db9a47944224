import CDepthKernels
import Synchronization

/// Memory of a kernel: from the system, or from a reserve where the system has none to give.
@safe
struct MemoryBlock: ~Copyable {
    let start: UnsafeMutableRawPointer
    private let bytes: Int
    /// Nil where the system gave it.
    private let reserve: ReservedMemory?

    /// Ends the program where nobody has that much: an element holds a `MemoryReserve` so that this does not happen.
    init(bytes: Int) {
        if let memory = unsafe dm_allocate(bytes) {
            unsafe start = memory
            reserve = nil
        } else if let (memory, reserve) = unsafe ReservedMemory.take(bytes) {
            unsafe start = memory
            self.reserve = reserve
        } else {
            fatalError("no memory for a kernel, and none in reserve")
        }
        self.bytes = bytes
        total.add(bytes, ordering: .relaxed)
    }

    deinit {
        total.subtract(bytes, ordering: .relaxed)
        if reserve == nil { unsafe dm_free(start) }
    }
}

private let total = Atomic(0)

/// The bytes that all kernels of this process keep now, from frame to frame.
package var scratchBytes: Int { total.load(ordering: .relaxed) }

/// As much memory as some kernels may come to need, asked for before they run, where a refusal is no fault of the program.
///
/// A kernel in the middle of a frame cannot go on without memory. What the system refuses it then comes from a reserve of
/// this process. Nobody touches a reserve otherwise, so that it takes addresses, and no memory.
package final class MemoryReserve: Sendable {
    private let memory: ReservedMemory

    /// - Returns: nil where the system has not that much to give.
    package init?(bytes: Int) {
        guard let memory = ReservedMemory(bytes: max(bytes, 1)) else { return nil }
        self.memory = memory
        reserves.withLock { $0.append(memory) }
    }

    deinit { reserves.withLock { all in all.removeAll { $0 === memory } } }

    /// True where a kernel had to take from it, so that it is no longer enough.
    package var isDrawnOn: Bool { memory.taken.load(ordering: .relaxed) > 0 }

    /// True where the system would give that much now.
    package static func isAvailable(bytes: Int) -> Bool { MemoryReserve(bytes: bytes) != nil }
}

private let reserves = Mutex<[ReservedMemory]>([])

/// The memory of a reserve. It lives as long as the reserve, and as the blocks that were taken from it.
@safe
private final class ReservedMemory: @unchecked Sendable {  // guard: the lock of `reserves`, for changes of `taken`
    private let start: UnsafeMutableRawPointer
    private let bytes: Int
    /// Bytes from the start on that blocks have.
    let taken = Atomic(0)

    init?(bytes: Int) {
        guard let memory = unsafe dm_allocate(bytes) else { return nil }
        unsafe start = memory
        self.bytes = bytes
    }

    deinit { unsafe dm_free(start) }

    /// A part of any reserve that has so much left, aligned to a cache line.
    static func take(_ bytes: Int) -> (UnsafeMutableRawPointer, ReservedMemory)? {
        unsafe reserves.withLock { all in
            for memory in all {
                let before = memory.taken.load(ordering: .relaxed)
                guard bytes <= memory.bytes &- before else { continue }
                memory.taken.store(before &+ groups(of: 64, in: bytes) &* 64, ordering: .relaxed)
                return unsafe (memory.start + before, memory)
            }
            return nil
        }
    }
}
