import CProcessor
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
    fileprivate let loops: Loops
    /// Rows that share a sample.
    private let rowsPerSample: Int
    /// For the calling thread.
    private var memory = BlendMemory()
    private var layers = Scratch<BlendPass.Layer>()
    /// Bytes of the longest row.
    private let rowBytes: Int
    fileprivate let cache: FrameCache

    /// - parameter cache: as if frames were of such a size; nil = by their size. It makes no difference to what comes out.
    package init(
        layout: PixelLayout, width: Int, height: Int, cache: FrameCache? = nil, loops: Loops = .best
    ) {
        self.layout = layout
        self.loops = loops
        rowsPerSample = layout.planes.reduce(1) { max($0, $1.rowsPerSample) }
        rowBytes = layout.planes.indices.reduce(0) { max($0, layout.rowBytes(plane: $1, width: width)) }
        let bytes = layout.planes.indices.reduce(0) {
            $0 + layout.rowBytes(plane: $1, width: width) * layout.rows(plane: $1, height: height)
        }
        self.cache = cache ?? FrameCache(frameBytes: bytes)
        self.width = width
        self.height = height
    }

    /// Whether all planes are there and none is smaller than the layout and size of this blender ask for.
    package func hasExpectedShape(video: Planes<MutablePlane>, background: Planes<Plane>, alpha: Plane) -> Bool {
        fit(video, background) && alpha.rowBytes >= width && alpha.rows >= height
    }

    /// Blends every byte of the video, in place.
    ///
    /// - returns: false, with nothing written, where `hasExpectedShape` says no.
    package func blend(video: Planes<MutablePlane>, background: Planes<Plane>, alpha: Plane) -> Bool {
        guard hasExpectedShape(video: video, background: background, alpha: alpha) else { return false }
        let pass = makePass(layers(video, background), rowsPerStrip: rowsPerSample, &memory)
        for y in stride(from: 0, to: height, by: rowsPerSample) {
            let rows = y..<min(y &+ rowsPerSample, height)
            forEachRun(in: alpha, rows: rows, width: width) { run in
                unsafe withUnsafePointer(to: run) { run in
                    unsafe pass.blend(
                        AlphaRuns(first: run, count: 1), rows, alpha.row(y).assumingMemoryBound(to: UInt8.self),
                        stride: alpha.stride)
                }
            }
        }
        pass.finish()
        return true
    }

    /// The same with a matte that was prepared, whose alpha is made as it is needed, a few rows at a time.
    ///
    /// - returns: false, with nothing written, where the frames or the matte are of another size.
    package func blend(video: Planes<MutablePlane>, background: Planes<Plane>, matte: MatteRenderer) -> Bool {
        guard matte.width == width, matte.height == height, fit(video, background) else { return false }
        let work = MatteBlend(blender: self, matte: matte, layers: layers(video, background))
        matte.bands.share(work, rows: height, width: width, grain: rowsPerSample)
        return true
    }

    /// Blends some rows with a matte that was prepared.
    private struct MatteBlend: BandWork {
        let blender: Blender
        let matte: MatteRenderer
        let layers: BlendPass.Layers

        func work(_ rows: Range<Int>, _ memory: MatteMemory) {
            let (width, step) = (blender.width, blender.wholeSamples(matte.rowsPerStrip))
            let pass = blender.makePass(layers, rowsPerStrip: step, &memory.blend)
            let alpha = unsafe memory.blend.strip(width &* step)
            let isShown = matte.withRows(in: memory) { reader in
                for y in stride(from: rows.lowerBound, to: rows.upperBound, by: step) {
                    let strip = y..<min(y &+ step, rows.upperBound)
                    let runs = unsafe reader.read(strip, into: alpha, stride: width) { pass.fetch($0, $1) }
                    unsafe pass.blend(runs, strip, alpha, stride: width)
                }
            }
            if !isShown { unsafe blender.showBackground(pass, rows, by: step, alpha) }
            pass.finish()
        }
    }

    /// Shows the background alone.
    ///
    /// - returns: false, with nothing written, where the frames are of another size.
    package func cover(video: Planes<MutablePlane>, background: Planes<Plane>) -> Bool {
        guard fit(video, background) else { return false }
        // Nothing is mixed: there is no need of alpha.
        let pass = makePass(layers(video, background), rowsPerStrip: 0, &memory)
        unsafe showBackground(pass, 0..<height, by: wholeSamples(MatteRenderer.rowsPerPlainStrip), memory.strip(0))
        pass.finish()
        return true
    }

    /// - parameter alpha: anything; what is clear has no need of it.
    private func showBackground(
        _ pass: BlendPass, _ rows: Range<Int>, by step: Int, _ alpha: UnsafePointer<UInt8>
    ) {
        unsafe withUnsafePointer(to: AlphaRun(cover: .clear, start: 0, end: width)) { run in
            let runs = unsafe AlphaRuns(first: run, count: 1)
            for y in stride(from: rows.lowerBound, to: rows.upperBound, by: step) {
                unsafe pass.blend(runs, y..<min(y &+ step, rows.upperBound), alpha, stride: width)
            }
        }
    }

    /// So many rows, or a few more: a strip ends where a sample does in every plane.
    private func wholeSamples(_ rows: Int) -> Int { groups(of: rowsPerSample, in: rows) &* rowsPerSample }

    private func makePass(_ layers: BlendPass.Layers, rowsPerStrip: Int, _ memory: inout BlendMemory) -> BlendPass {
        unsafe BlendPass(
            layers: layers, spreadAlpha: memory.spread(rowBytes * rowsPerStrip), spreadStride: rowBytes, blender: self,
            copies: memory.copies(layers.count))
    }

    private func fit(_ video: Planes<MutablePlane>, _ background: Planes<Plane>) -> Bool {
        layout.fits(video.readOnly, width: width, height: height)
            && layout.fits(background, width: width, height: height)
    }

    private func layers(_ video: Planes<MutablePlane>, _ background: Planes<Plane>) -> BlendPass.Layers {
        var (first, count) = unsafe (UnsafeMutablePointer<BlendPass.Layer>?.none, 0)
        for (index, spread) in layout.planes.enumerated() {
            guard let video = video[index], let background = background[index] else { continue }
            let isLikeLast = index > 0 && spread == layout.planes[index - 1]
            let layer = BlendPass.Layer(video, background, spread, isSpreadAlready: isLikeLast)
            unsafe first = layers.reserve(layout.planes.count, filler: layer)
            unsafe first?[count] = layer
            count += 1
        }
        return unsafe BlendPass.Layers(first: first, count: count)
    }
}

/// Where a frame can still be found when the next one comes.
package enum FrameCache: Comparable, CaseIterable {
    /// In the core's own cache.
    case own
    /// In the last cache.
    case last
    /// In memory alone.
    case memory

    /// What a core's own cache holds in many processors, and what one stream of video can hope to have of the last one.
    private static let (ownBytes, lastBytes) = (1 << 20, 8 << 20)

    init(frameBytes: Int) {
        self = frameBytes <= FrameCache.ownBytes ? .own : frameBytes <= FrameCache.lastBytes ? .last : .memory
    }
}

/// Bytes of the background that are to be laid over the video.
@safe
struct PendingCopy: BitwiseCopyable {
    let target: UnsafeMutablePointer<UInt8>?
    let source: UnsafePointer<UInt8>?
    private(set) var count: Int

    /// Bytes that are worth a copy of their own: these do not wait for what follows them.
    private static let enough = 1024

    static var none: PendingCopy { unsafe PendingCopy(target: nil, source: nil, count: 0) }

    init(target: UnsafeMutablePointer<UInt8>?, source: UnsafePointer<UInt8>?, count: Int) {
        unsafe self.target = target
        unsafe self.source = source
        self.count = count
    }

    /// Adds what follows it in both frames, if it is short.
    ///
    /// - returns: false where nothing was added.
    @inline(__always)
    mutating func append(_ target: UnsafeMutablePointer<UInt8>, _ source: UnsafePointer<UInt8>, _ count: Int) -> Bool {
        guard self.count < PendingCopy.enough, let first = unsafe self.target, let from = unsafe self.source,
            unsafe first + self.count == target && from + self.count == source
        else { return false }
        self.count &+= count
        return true
    }

    @inline(__always)
    func make(_ copyPastCache: (UnsafePointer<UInt8>, Int, UnsafeMutablePointer<UInt8>) -> Void) {
        guard let target = unsafe target, let source = unsafe source else { return }
        unsafe copyPastCache(source, count, target)
    }
}

/// What blending needs besides the frames, for one thread.
@safe
struct BlendMemory: ~Copyable {
    private var spreadAlpha = Scratch<UInt8>()
    private var stripAlpha = Scratch<UInt8>()
    private var copies = Scratch<PendingCopy>()

    /// Room for a copy that is not yet made in each of some planes; there are none.
    mutating func copies(_ planes: Int) -> UnsafeMutablePointer<PendingCopy> {
        let copies = unsafe copies.reserve(planes, filler: .none)
        unsafe copies.update(repeating: .none, count: planes)
        return unsafe copies
    }

    /// Room for the alpha of every byte of a row.
    mutating func spread(_ bytes: Int) -> UnsafeMutablePointer<UInt8> { unsafe spreadAlpha.reserve(bytes, filler: 0) }

    /// Room for the alpha of every pixel of a strip.
    mutating func strip(_ pixels: Int) -> UnsafeMutablePointer<UInt8> { unsafe stripAlpha.reserve(pixels, filler: 0) }
}

/// One frame's work.
@safe
fileprivate struct BlendPass {
    /// One plane of the video and what lies behind it.
    @safe
    struct Layer: BitwiseCopyable {
        let video: UnsafeMutablePointer<UInt8>
        let videoStride: Int
        let background: UnsafePointer<UInt8>
        let backgroundStride: Int
        let spread: AlphaSpread
        let rowsPerSample: Int
        let bytes: SampleBytes
        /// Whether each pixel has one byte, whose alpha is the pixel's.
        let isPlain: Bool
        /// Whether the layer before has spread the alpha in the same way.
        let isSpreadAlready: Bool

        init(_ video: MutablePlane, _ background: Plane, _ spread: AlphaSpread, isSpreadAlready: Bool) {
            unsafe self.video = video.base.assumingMemoryBound(to: UInt8.self)
            videoStride = video.stride
            unsafe self.background = background.base.assumingMemoryBound(to: UInt8.self)
            backgroundStride = background.stride
            self.spread = spread
            rowsPerSample = spread.rowsPerSample
            bytes = SampleBytes(spread)
            isPlain = spread == .full(bytesPerSample: 1)
            self.isSpreadAlready = isSpreadAlready
        }

        /// The rows of samples that begin in these rows: where they are, and how many.
        @inline(__always)
        func part(_ rows: Range<Int>) -> (
            video: UnsafeMutablePointer<UInt8>, background: UnsafePointer<UInt8>, rowCount: Int
        ) {
            let first = groups(of: rowsPerSample, in: rows.lowerBound)
            return unsafe (
                video + first &* videoStride, background + first &* backgroundStride,
                groups(of: rowsPerSample, in: rows.upperBound) &- first
            )
        }
    }

    /// The planes of a frame.
    @safe
    struct Layers {
        let first: UnsafePointer<Layer>?
        let count: Int

        init(first: UnsafePointer<Layer>?, count: Int) {
            unsafe self.first = first
            self.count = count
        }
    }

    let layers: Layers
    /// Room for a byte of alpha for each byte of the rows of a strip.
    let spreadAlpha: UnsafeMutablePointer<UInt8>
    let spreadStride: Int
    /// Whose loops are used: they are many references, each of which would be counted whenever a pass that holds them is
    /// copied.
    private let blender: Blender
    /// For each layer, where frames are too large for the core's own cache: runs of the background that lie one behind the
    /// other in memory, at the end of a row and the beginning of the next, are copied as one.
    let copies: UnsafeMutablePointer<PendingCopy>

    private var loops: Loops { blender.loops }
    private var cache: FrameCache { blender.cache }

    init(
        layers: Layers, spreadAlpha: UnsafeMutablePointer<UInt8>, spreadStride: Int, blender: Blender,
        copies: UnsafeMutablePointer<PendingCopy>
    ) {
        self.layers = layers
        unsafe self.spreadAlpha = unsafe spreadAlpha
        self.spreadStride = spreadStride
        self.blender = blender
        unsafe self.copies = unsafe copies
    }

    /// Comes after the last strip, before another thread looks at the frame.
    func finish() {
        guard cache > .own else { return }
        for index in 0..<layers.count { unsafe copies[index].make(loops.copyPastCache) }
        processor_finish_copies()
    }

    /// Blends the runs of a strip in all planes.
    ///
    /// - parameter alpha: the first of the rows, each `stride` bytes after the one before.
    /// - Precondition: the strip starts where a sample does in every plane.
    func blend(_ runs: AlphaRuns, _ rows: Range<Int>, _ alpha: UnsafePointer<UInt8>, stride: Int) {
        guard let first = unsafe layers.first, runs.count != 1 || runs[0].cover != .opaque else { return }
        for index in 0..<layers.count {
            unsafe blend(runs, first[index], rows, alpha, stride: stride, copies + index)
        }
    }

    /// Blends the runs of a strip in one plane.
    @inline(__always)
    private func blend(
        _ runs: AlphaRuns, _ layer: Layer, _ rows: Range<Int>, _ alpha: UnsafePointer<UInt8>, stride: Int,
        _ copy: UnsafeMutablePointer<PendingCopy>
    ) {
        let (video, background, rowCount) = unsafe layer.part(rows)
        for index in 0..<runs.count where runs[index].cover == .mixed {
            let run = runs[index]
            let (start, byteCount) = layer.bytes.place(from: run.start, to: run.end)
            var (opacity, opacityStride) = unsafe (alpha + run.start, stride)
            if !layer.isPlain {
                if !layer.isSpreadAlready {
                    unsafe spreadAlpha(of: run, layer, rows, alpha + run.start, stride: stride)
                }
                unsafe (opacity, opacityStride) = unsafe (UnsafePointer(spreadAlpha + start), spreadStride)
            }
            unsafe loops.mixBytes(
                video + start, layer.videoStride, background + start, layer.backgroundStride, opacity, opacityStride,
                byteCount, rowCount)
        }
        unsafe copyClear(runs, layer, rowCount, video, background, copy)
    }

    /// Lays the background over the video where the video is not seen, row by row.
    @inline(__always)
    private func copyClear(
        _ runs: AlphaRuns, _ layer: Layer, _ rows: Int, _ video: UnsafeMutablePointer<UInt8>,
        _ background: UnsafePointer<UInt8>, _ copy: UnsafeMutablePointer<PendingCopy>
    ) {
        let (isLarge, copyPastCache) = unsafe (cache > .own, loops.copyPastCache)
        var pending = unsafe copy.pointee
        var (target, source) = unsafe (video, background)
        for _ in 0..<rows {
            for index in 0..<runs.count where runs[index].cover == .clear {
                let (start, count) = layer.bytes.place(from: runs[index].start, to: runs[index].end)
                if !isLarge {
                    unsafe (target + start).update(from: source + start, count: count)
                } else if unsafe !pending.append(target + start, source + start, count) {
                    unsafe pending.make(copyPastCache)
                    unsafe pending = PendingCopy(target: target + start, source: source + start, count: count)
                }
            }
            unsafe target += layer.videoStride
            unsafe source += layer.backgroundStride
        }
        unsafe copy.pointee = pending
    }

    /// Makes the alpha of every byte of a run.
    ///
    /// - parameter alpha: of the run's first pixel.
    private func spreadAlpha(
        of run: AlphaRun, _ layer: Layer, _ rows: Range<Int>, _ alpha: UnsafePointer<UInt8>, stride: Int
    ) {
        var (y, alpha) = unsafe (rows.lowerBound, alpha)
        var target = unsafe spreadAlpha + layer.bytes.place(from: run.start, to: run.end).start
        while y < rows.upperBound {
            let shared = min(layer.rowsPerSample, rows.upperBound &- y)
            unsafe layer.spread.spread(
                upper: alpha, stride: stride, rows: shared, pixels: run.end &- run.start, into: target, loops)
            y &+= shared
            unsafe alpha += shared &* stride
            unsafe target += spreadStride
        }
    }

    /// Runs of so many bytes are not asked for: a processor foresees most of them, and to ask for each of their lines takes
    /// longer than is won. Measured on an EPYC: what is gained at 1.3 kB (3840x2160 I420, clear) is lost at 1.9 kB (1920x1080,
    /// all of a row mixed).
    private static let foreseenBytes = 1536

    /// Asks for the bytes of some rows that are going to be read, while there are other things to do. Along an edge of the
    /// matte a row has a few lines of the cache, too few for a processor to foresee; and so it is beside that, where the
    /// background has to come from memory.
    ///
    /// - Precondition: the rows are inside the frame.
    func fetch(_ runs: AlphaRuns, _ rows: Range<Int>) {
        guard cache > .own, let first = unsafe layers.first else { return }
        for plane in 0..<layers.count {
            let layer = unsafe first[plane]
            let (video, background, rowCount) = unsafe layer.part(rows)
            for index in 0..<runs.count {
                let (start, count) = layer.bytes.place(from: runs[index].start, to: runs[index].end)
                guard count < BlendPass.foreseenBytes else { continue }
                let isMixed = runs[index].cover == .mixed
                if isMixed { unsafe BlendPass.fetch(video + start, layer.videoStride, count, rows: rowCount) }
                if isMixed || runs[index].cover == .clear && cache == .memory {
                    unsafe BlendPass.fetch(background + start, layer.backgroundStride, count, rows: rowCount)
                }
            }
        }
    }

    /// - Precondition: `count > 0`.
    @inline(__always)
    private static func fetch(_ first: UnsafePointer<UInt8>, _ stride: Int, _ count: Int, rows: Int) {
        var start = UInt(bitPattern: first)
        for _ in 0..<rows {
            let last = start &+ UInt(bitPattern: count) &- 1
            var address = start
            while address < last {
                processor_prefetch_for_later(address)
                address &+= 64
            }
            processor_prefetch_for_later(last)
            start &+= UInt(bitPattern: stride)
        }
    }
}
