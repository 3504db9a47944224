import GstBridge

/// Frames to draw on, allocated when first needed and again when the format changes.
struct Canvases {
    private var format: StreamFormat?
    private var canvases: [BufferRef] = []

    /// Returns the canvas of that index; canvases are numbered from 0 without gaps.
    mutating func canvas(_ index: Int, _ wanted: StreamFormat) throws(FrameFault) -> BufferRef {
        if let format, format.isSame(as: wanted) {
        } else {
            format = wanted
            canvases = []
        }
        while canvases.count <= index { canvases.append(try newSharedBuffer(size: wanted.layout.size)) }
        return canvases[index]
    }
}

/// The fault where nothing was drawn: the canvas holds an older picture, which must not be shown.
let undrawnCanvas = FrameFault.contradiction("the planes of the picture are not those of the format")
