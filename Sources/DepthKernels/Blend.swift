import DepthLoops

/// Lays the video over a background, as the matte says, for one layout and size.
///
/// Shape: the matte has one byte for each pixel; video and background share the layout. Rounding: to nearest, for every
/// byte, once. A sample that several pixels share takes the mean of their alphas, rounded to nearest (halves up), at
/// odd edges the mean of those that there are.
package final class Blender {
    package let layout: PixelLayout
    package let width: Int
    package let height: Int
    private let loops: Loops
    /// Rows that are blended together: as many as share a sample.
    private let rowsPerStrip: Int
    private var spreadAlpha = Scratch<UInt8>()
    private var stripAlpha = Scratch<UInt8>()

    package init(layout: PixelLayout, width: Int, height: Int, loops: Loops = .best) {
        self.layout = layout
        self.loops = loops
        rowsPerStrip = layout.planes.reduce(1) { max($0, $1.rowsPerSample) }
        self.width = width
        self.height = height
    }

    /// Whether all planes are there and none is smaller than the layout and size of this blender ask for.
    package func hasExpectedShape(video: Planes<MutablePlane>, background: Planes<Plane>, alpha: Plane) -> Bool {
        layout.fits(video.readOnly, width: width, height: height)
            && layout.fits(background, width: width, height: height)
            && alpha.rowBytes >= width && alpha.rows >= height
    }

    /// Blends every byte of the video, in place.
    ///
    /// - returns: false, with nothing written, where `hasExpectedShape` says no.
    package func blend(video: Planes<MutablePlane>, background: Planes<Plane>, alpha: Plane) -> Bool {
        guard hasExpectedShape(video: video, background: background, alpha: alpha) else { return false }
        let pass = pass(video, background)
        for y in stride(from: 0, to: height, by: rowsPerStrip) {
            let rows = y..<min(y &+ rowsPerStrip, height)
            forEachRun(in: alpha, rows: rows, width: width) { run in
                unsafe pass.blend(run, rows, alpha.row(y).assumingMemoryBound(to: UInt8.self), stride: alpha.stride)
            }
        }
        return true
    }

    /// The same with a matte that was prepared, whose alpha is made as it is needed, a few rows at a time.
    ///
    /// - returns: false, with nothing written, where the frames or the matte are of another size.
    package func blend(video: Planes<MutablePlane>, background: Planes<Plane>, matte: MatteRenderer) -> Bool {
        guard matte.width == width, matte.height == height, fit(video, background) else { return false }
        let pass = pass(video, background)
        let alpha = unsafe stripAlpha.reserve(width &* rowsPerStrip, filler: 0)
        let isShown = matte.withRows { reader in
            var y = 0
            while y < height {
                let rows = y..<min(y &+ rowsPerStrip, height)
                let runs = unsafe reader.read(rows, into: alpha, stride: width)
                for index in 0..<runs.count { unsafe pass.blend(runs[index], rows, alpha, stride: width) }
                y = rows.upperBound
            }
        }
        if !isShown { showBackground(pass) }
        return true
    }

    /// Shows the background alone.
    ///
    /// - returns: false, with nothing written, where the frames are of another size.
    package func cover(video: Planes<MutablePlane>, background: Planes<Plane>) -> Bool {
        guard fit(video, background) else { return false }
        showBackground(pass(video, background))
        return true
    }

    private func showBackground(_ pass: BlendPass) {
        let alpha = unsafe stripAlpha.reserve(width &* rowsPerStrip, filler: 0)
        for y in stride(from: 0, to: height, by: rowsPerStrip) {
            let rows = y..<min(y &+ rowsPerStrip, height)
            unsafe pass.blend(AlphaRun(cover: .clear, start: 0, end: width), rows, alpha, stride: width)
        }
    }

    private func fit(_ video: Planes<MutablePlane>, _ background: Planes<Plane>) -> Bool {
        layout.fits(video.readOnly, width: width, height: height)
            && layout.fits(background, width: width, height: height)
    }

    private func pass(_ video: Planes<MutablePlane>, _ background: Planes<Plane>) -> BlendPass {
        let bytes = layout.planes.indices.reduce(16) { max($0, layout.rowBytes(plane: $1, width: width) &+ 16) }
        var pass = unsafe BlendPass(spreadAlpha: spreadAlpha.reserve(bytes, filler: 0), loops: loops)
        for index in layout.planes.indices {
            if let video = video[index], let background = background[index] {
                pass.append(BlendPass.Layer(video: video, background: background, spread: layout.planes[index]))
            }
        }
        return pass
    }
}

/// One frame's work.
@safe
private struct BlendPass {
    /// One plane of the video and what lies behind it.
    struct Layer {
        let video: MutablePlane
        let background: Plane
        let spread: AlphaSpread
        let rowsPerSample: Int

        init(video: MutablePlane, background: Plane, spread: AlphaSpread) {
            self.video = video
            self.background = background
            self.spread = spread
            rowsPerSample = spread.rowsPerSample
        }
    }

    private var layers = InlineArray<4, Layer?>(repeating: nil)
    private var count = 0
    /// Room for a byte of alpha for each byte of a row.
    private let spreadAlpha: UnsafeMutablePointer<UInt8>
    private let loops: Loops

    init(spreadAlpha: UnsafeMutablePointer<UInt8>, loops: Loops) {
        unsafe self.spreadAlpha = spreadAlpha
        self.loops = loops
    }

    mutating func append(_ layer: Layer) {
        guard count < 4 else { return }
        layers[count] = layer
        count += 1
    }

    /// Blends a run of pixels in all planes.
    ///
    /// - parameter alpha: the first of the rows, each `stride` bytes after the one before.
    func blend(_ run: AlphaRun, _ rows: Range<Int>, _ alpha: UnsafePointer<UInt8>, stride: Int) {
        if run.cover == .opaque { return }
        for index in 0..<count {
            if let layer = layers[index] { unsafe blend(run, rows, alpha, stride: stride, layer) }
        }
    }

    @inline(__always)
    private func blend(
        _ run: AlphaRun, _ rows: Range<Int>, _ alpha: UnsafePointer<UInt8>, stride: Int, _ layer: Layer
    ) {
        let (start, count) = layer.spread.bytes(ofPixels: run.start, to: run.end)
        var y = rows.lowerBound
        while y < rows.upperBound {
            let shared = min(layer.rowsPerSample, rows.upperBound &- y)
            let row = y / layer.rowsPerSample
            let target = unsafe layer.video.row(row).assumingMemoryBound(to: UInt8.self) + start
            let source = unsafe layer.background.row(row).assumingMemoryBound(to: UInt8.self) + start
            if run.cover == .clear {
                unsafe target.update(from: source, count: count)
            } else {
                let upper = unsafe alpha + (y &- rows.lowerBound) &* stride + run.start
                let opacity =
                    unsafe layer.spread == .full(bytesPerSample: 1)
                    ? upper : spread(upper, stride: stride, rows: shared, pixels: run.end &- run.start, layer)
                unsafe loops.mixBytes(target, source, opacity, count)
            }
            y &+= shared
        }
    }

    /// A byte of alpha for each byte of a run in one row of samples.
    private func spread(
        _ upper: UnsafePointer<UInt8>, stride: Int, rows: Int, pixels: Int, _ layer: Layer
    ) -> UnsafePointer<UInt8> {
        unsafe layer.spread.spread(upper: upper, stride: stride, rows: rows, pixels: pixels, into: spreadAlpha, loops)
        return unsafe UnsafePointer(spreadAlpha)
    }
}
