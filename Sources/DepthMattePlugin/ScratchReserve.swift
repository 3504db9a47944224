import DepthKernels
import GstBridge

/// The memory that an element's kernels may come to need, asked for before each frame that may need it, where a refusal is
/// an error of the stream.
///
/// Streaming thread only.
struct ScratchReserve {
    private var held: (reserve: MemoryReserve, bytes: Int)?

    /// Bytes that must be free beside the reserve, for the small objects of Swift and GLib: both end the program where
    /// the system refuses one.
    private static let margin = 16 << 20

    /// Holds that much from now on; does nothing where it is held already, and none of it was needed.
    mutating func hold(_ bytes: Int) throws(FrameFault) {
        if let held, held.bytes == bytes, !held.reserve.isDrawnOn { return }
        held = nil
        guard let reserve = MemoryReserve(bytes: bytes), MemoryReserve.isAvailable(bytes: Self.margin) else {
            throw .outOfMemory(bytes: bytes &+ Self.margin)
        }
        held = (reserve, bytes)
    }
}

extension KernelMemory.Size {
    init(_ layout: FrameLayout) { self.init(width: layout.width, height: layout.height) }
}
