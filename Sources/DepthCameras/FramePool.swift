import CDepthKernels
import Synchronization

/// Buffers of one size that are used again.
final class FramePool: Sendable {
    let size: Int
    private let state = Mutex(State())

    /// Buffers that are in use at most: a consumer that keeps more than these loses frames, not memory.
    static let limit = 24

    private struct State {
        var free: [FrameBuffer] = []
        var used = 0
    }

    init(size: Int) {
        self.size = size
    }

    deinit {
        for buffer in state.withLock({ $0.free }) { dm_free(buffer.address) }
    }

    /// Returns nil where too many are in use, or there is no memory for another.
    func take() -> FrameBuffer? {
        state.withLock { state in
            guard state.used < Self.limit else { return nil }
            if let buffer = state.free.popLast() {
                state.used += 1
                return buffer
            }
            guard let address = dm_allocate(size) else { return nil }
            address.initializeMemory(as: UInt8.self, repeating: 0, count: size)
            state.used += 1
            return FrameBuffer(address: address)
        }
    }

    func giveBack(_ buffer: FrameBuffer) {
        state.withLock { state in
            state.used -= 1
            state.free.append(buffer)
        }
    }
}

struct FrameBuffer: @unchecked Sendable {  // guard: it is in the pool, in the library's hands or in one frame
    let address: UnsafeMutableRawPointer
}
