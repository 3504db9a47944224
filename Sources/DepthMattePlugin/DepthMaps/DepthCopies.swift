import CGStreamer
import DepthKernels
import GstBridge

/// Copies of depth maps, in memory that is used again as soon as nobody holds it.
///
/// Whoever wants to look at a map later keeps a copy: its buffer may be one of a few, or the only one, for whose return a
/// camera waits. Streaming thread only.
final class DepthCopies {
    private var buffers: [BufferRef] = []
    private var size = 0

    /// - Returns: a map that is there until the next copy is made, or for as long as somebody has a reference to its
    ///   buffer; nil where there is nothing to be read, or no memory.
    func copy(of map: DepthFrame) -> DepthFrame? {
        let layout = map.format.layout
        do throws(FrameFault) {
            let buffer = try idleBuffer(size: layout.size)
            try withFrame(reading: map.buffer, layout) { source throws(FrameFault) in
                try withFrame(changing: buffer.pointer, layout) { DepthKernels.copy(source, to: $0) }
            }
            return DepthFrame(buffer: buffer.pointer, format: map.format, reading: map.reading)
        } catch {
            return nil
        }
    }

    /// Gives the memory back, but for what is held.
    func forget() { buffers = [] }

    /// A buffer of that size which is ours alone: one that was shown is so again when another is shown.
    private func idleBuffer(size: Int) throws(FrameFault) -> BufferRef {
        if size != self.size { (buffers, self.size) = ([], size) }
        if let idle = buffers.first(where: { $0.pointer.isExclusive }) { return idle }
        let new = try newSharedBuffer(size: size)
        buffers.append(new)
        return new
    }
}
