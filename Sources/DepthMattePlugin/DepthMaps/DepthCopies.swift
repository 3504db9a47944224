import CGStreamer
import DepthKernels
import GstBridge

/// Copies of depth maps, in memory that is reused when nothing references it.
///
/// A map that is read later has to be copied, because its buffer may come from a small pool that the camera waits for.
/// Streaming thread only.
final class DepthCopies {
    private var buffers: [BufferRef] = []
    private var size = 0

    /// Returns a copy of the map, valid until the next copy is made or while its buffer is referenced; nil if the map
    /// cannot be read, or there is no memory.
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

    /// A buffer of that size which is ours alone: one that was shown is so again when another is shown.
    private func idleBuffer(size: Int) throws(FrameFault) -> BufferRef {
        if size != self.size { (buffers, self.size) = ([], size) }
        if let idle = buffers.first(where: { $0.pointer.isExclusive }) { return idle }
        let new = try newSharedBuffer(size: size)
        buffers.append(new)
        return new
    }
}
