import CGStreamer
import DepthKernels
import GstBridge

/// Memory of exactly so many bytes, so that AddressSanitizer sees the first byte beside it.
final class Block {
    let base: UnsafeMutableRawPointer
    let count: Int

    init(_ bytes: [UInt8]) {
        count = bytes.count
        base = .allocate(byteCount: bytes.count, alignment: 1)
        bytes.withUnsafeBytes { base.copyMemory(from: $0.baseAddress ?? UnsafeRawPointer(base), byteCount: $0.count) }
    }

    convenience init(count: Int) { self.init([UInt8](repeating: 0, count: count)) }

    deinit { base.deallocate() }

    func plane(rowBytes: Int, rows: Int) -> MutablePlane? {
        MutablePlane(base: base, length: count, rowBytes: rowBytes, rows: rows, stride: rowBytes)
    }
}

/// A buffer whose memories are of exactly the bytes' size.
func exactBuffer(_ memories: [[UInt8]]) -> BufferRef {
    guard let buffer = gst_buffer_new() else { broken("no memory for a buffer") }
    for bytes in memories {
        let block = Block(bytes)
        gst_buffer_append_memory(
            buffer,
            gst_memory_new_wrapped(
                GstMemoryFlags(rawValue: 0), block.base, gsize(block.count), 0, gsize(block.count),
                Unmanaged.passRetained(block).toOpaque()
            ) { block in
                if let block { Unmanaged<Block>.fromOpaque(block).release() }
            })
    }
    return BufferRef(taking: buffer)
}
