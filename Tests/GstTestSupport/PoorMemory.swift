import CGStreamer
import Synchronization

/// The fault of the memory that an allocator gives.
package enum PoorMemory: Sendable {
    case none, unmappable
    /// Memory as that of `guardedBuffer`, which ends the process that goes beyond it.
    case guarded
}

/// Runs `body` in a process that has only poor memory for new buffers of some sizes.
///
/// - Parameter sizes: in bytes.
package func with<Result>(
    _ memory: PoorMemory, of sizes: ClosedRange<Int> = 1...Int.max, _ body: () throws -> Result
) rethrows -> Result {
    poverty.withLock { $0 = (memory, sizes) }
    gst_allocator_set_default(makeAllocator(of: allocatorType))
    defer {
        gst_allocator_set_default(gst_allocator_find(GST_ALLOCATOR_SYSMEM))
        poverty.withLock { $0 = nil }
    }
    return try body()
}

private let poverty = Mutex<(memory: PoorMemory, sizes: ClosedRange<Int>)?>(nil)

private let allocatorType = registerClass(
    "Poor", deriving: gst_allocator_get_type(),
    { classPointer, _ in
        classPointer?.assumingMemoryBound(to: GstAllocatorClass.self).pointee.alloc = { _, size, parameters in
            let poor = poverty.withLock { $0.flatMap { $0.sizes.contains(Int(size)) ? $0.memory : nil } }
            if poor == PoorMemory.none { return nil }
            if poor == .guarded { return guardedMemory([UInt8](repeating: 0, count: Int(size))) }
            guard let allocator = poor == nil ? gst_allocator_find(GST_ALLOCATOR_SYSMEM) : unmappableAllocator()
            else { return nil }
            defer { gst_object_unref(allocator) }
            return gst_allocator_alloc(allocator, size, parameters)
        }
    })
