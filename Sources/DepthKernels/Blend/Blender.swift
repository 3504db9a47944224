import CDepthKernels

/// Blends the video over a background with the matte's alpha, for one layout and size.
///
///     result = (video · alpha + background · (255 − alpha)) / 255
///
/// Shape: the matte has one byte for each pixel; video and background have the same layout. Rounding: to nearest, once
/// for each byte. A sample that several pixels share takes the mean of their alphas, rounded to nearest (halves up); at
/// odd edges the mean of those that exist.
package final class Blender {
    package let layout: PixelLayout
    package let width: Int
    package let height: Int
    fileprivate let loops: Loops
    /// Rows that share a sample.
    private let rowsPerSample: Int
    /// Bytes of the longest row.
    fileprivate let rowBytes: Int
    fileprivate let copiesPastCache: Bool
    /// True where the last-level cache keeps the background from frame to frame.
    fileprivate let isBackgroundInCache: Bool
    /// For pictures without a matte: the calling thread alone.
    private let single = MatteBands(leastPixels: .max)
    /// Nil where the color components of the layout are not known.
    private let edgeColors: EdgeColors?

    /// Frames with more bytes than this, about a core's own cache, are copied with stores that bypass the cache.
    private static let bytesOfOwnCache = 1 << 20
    /// Backgrounds with more bytes than this, about the last-level cache, are read from memory.
    private static let bytesOfLastCache = 8 << 20

    /// - Parameters:
    ///   - colors: the video's color components; nil to leave the colors at edges as they are.
    ///   - copiesPastCache: nil = by the size of frames. The result does not depend on it.
    package init(
        layout: PixelLayout, colors: VideoColors? = nil, width: Int, height: Int, copiesPastCache: Bool? = nil,
        loops: Loops = bestLoops
    ) {
        self.layout = layout
        edgeColors = colors.map { EdgeColors($0, width: width, height: height, loops: loops) }
        self.loops = loops
        rowsPerSample = layout.planes.reduce(1) { max($0, $1.rowsPerSample) }
        rowBytes = layout.planes.indices.reduce(0) { max($0, layout.rowBytes(plane: $1, width: width)) }
        let bytes = layout.planes.indices.reduce(0) {
            $0 + layout.rowBytes(plane: $1, width: width) * layout.rows(plane: $1, height: height)
        }
        isBackgroundInCache = bytes <= Blender.bytesOfLastCache
        self.copiesPastCache = copiesPastCache ?? (bytes > Blender.bytesOfOwnCache)
        self.width = width
        self.height = height
    }

    /// Blends every byte of the video, in place, with an alpha plane.
    ///
    /// - Returns: false, with nothing written, where a plane is missing or smaller than the layout and size ask for.
    package func blend(video: Planes<MutablePlane>, background: Planes<Plane>, alpha: Plane) -> Bool {
        guard alpha.rowBytes >= width, alpha.rows >= height else { return false }
        return blend(video, background, .mixed, alpha: alpha, single)
    }

    /// Blends with a matte.
    ///
    /// - Parameters:
    ///   - edge: colors are decontaminated only with a matte that follows the video; light wraps with any matte.
    ///   - own: the alpha channel of the frames' format, if it has one; the video's is applied together with the matte
    ///     (`OverAlpha`).
    /// - Returns: false, with nothing written, where the frames or the matte are of another size.
    package func blend(
        video: Planes<MutablePlane>, background: Planes<Plane>, matte: FinishedMatte, edge: EdgeSettings = .none,
        own: AlphaChannel? = nil
    ) -> Bool {
        guard matte.width == width, matte.height == height, fits(video, background) else { return false }
        changeEdge(of: video, matte: matte, background: background, edge)
        return blend(video, background, .mixed, covers: matte.covers, alpha: matte.alpha, own: own, matte.bands)
    }

    /// Lays a picture with an alpha channel over a background of the same format.
    ///
    /// - Returns: false, with nothing written, where the frames are of another size.
    package func lay(_ picture: Planes<MutablePlane>, over background: Planes<Plane>, own: AlphaChannel) -> Bool {
        blend(picture, background, .opaque, own: own, single)
    }

    /// Changes the colors at the edge of a video.
    ///
    /// - Parameter background: what the video is to be blended over; nil for none, as with alpha output.
    package func changeEdge(
        of video: Planes<MutablePlane>, matte: FinishedMatte, background: Planes<Plane>? = nil, _ edge: EdgeSettings
    ) {
        let edge = edge.suited(to: matte)
        guard let edgeColors, edge != .none else { return }
        edgeColors.pool = matte.bands.pool
        edgeColors.change(video, alpha: matte.alpha, matte.covers, background: background, edge)
    }

    /// Replaces the video by the background.
    ///
    /// - Returns: false, with nothing written, where the frames are of another size.
    package func cover(video: Planes<MutablePlane>, background: Planes<Plane>) -> Bool {
        blend(video, background, .clear, single)
    }

    private func fits(_ video: Planes<MutablePlane>, _ background: Planes<Plane>) -> Bool {
        layout.fits(video.readOnly, width: width, height: height)
            && layout.fits(background, width: width, height: height)
    }

    /// - Parameters:
    ///   - cover: that of all pixels where there are no covers.
    ///   - alpha: nil where no cover is mixed.
    private func blend(
        _ video: Planes<MutablePlane>, _ background: Planes<Plane>, _ cover: Cover, covers: AlphaCovers? = nil,
        alpha: Plane? = nil, own: AlphaChannel? = nil, _ bands: MatteBands
    ) -> Bool {
        guard fits(video, background) else { return false }
        var layers = Planes<Layer>()
        for (index, planeLayout) in layout.planes.enumerated() {
            guard let video = video[index], let background = background[index] else { return false }
            let isLikeLast = index > 0 && planeLayout == layout.planes[index - 1]
            layers.append(Layer(video, background, planeLayout, sharesByteAlpha: isLikeLast))
        }
        var over: OverAlpha?
        if let own {
            guard let plane = video[own.plane], let under = background[own.plane] else { return false }
            over = OverAlpha(picture: plane, background: under, channel: own)
        }
        // A strip ends at the end of a sample in every plane.
        let rowsPerStrip = groups(of: rowsPerSample, in: Blender.rowsPerStrip) * rowsPerSample
        let work = BlendRows(
            blender: self, cover: cover, covers: covers, alpha: alpha, over: over, layers: layers,
            rowsPerStrip: rowsPerStrip)
        bands.share(work, rows: height, width: width, rowAlignment: rowsPerSample)
        return true
    }

    /// Few enough for the planes to be processed in turn, and for most of a strip to be opaque or clear.
    private static let rowsPerStrip = 8
}

/// Scratch memory of one worker for blending.
private final class BlendMemory: MatteMemoryPart {
    /// The alpha of every pixel of a strip, where that is not the matte's…
    var alpha = Scratch<UInt8>()
    /// …and of every byte of its rows.
    var byteAlpha = Scratch<UInt8>()
    var runs = Scratch<AlphaRun>()
}

/// One plane of the video and the same plane of the background.
@safe
private struct Layer {
    private let video: UnsafeMutablePointer<UInt8>
    private let videoStride: Int
    private let background: UnsafePointer<UInt8>
    private let backgroundStride: Int
    let planeLayout: PlaneLayout
    let bytes: SampleBytes
    /// True where each pixel has one byte, so that the alpha of bytes is that of pixels.
    let isPlain: Bool
    /// True where the layer before has the same layout, and so the same alpha for each byte.
    let sharesByteAlpha: Bool

    init(_ video: MutablePlane, _ background: Plane, _ planeLayout: PlaneLayout, sharesByteAlpha: Bool) {
        unsafe self.video = video.base.assumingMemoryBound(to: UInt8.self)
        videoStride = video.stride
        unsafe self.background = background.base.assumingMemoryBound(to: UInt8.self)
        backgroundStride = background.stride
        self.planeLayout = planeLayout
        bytes = SampleBytes(planeLayout)
        isPlain = planeLayout == .full(bytesPerSample: 1)
        self.sharesByteAlpha = sharesByteAlpha
    }

    /// True where neither plane has padding between its rows.
    func isWithoutPadding(width: Int) -> Bool {
        let count = bytes.place(from: 0, to: width).count
        return videoStride == count && backgroundStride == count
    }

    /// The rows of samples that begin in these rows of pixels.
    func part(_ rows: Range<Int>, rowsAhead: Int) -> dm_blend_part {
        let first = groups(of: planeLayout.rowsPerSample, in: rows.lowerBound)
        return unsafe dm_blend_part(
            video: video + first &* videoStride, video_stride: videoStride,
            background: background + first &* backgroundStride, background_stride: backgroundStride,
            rows: groups(of: planeLayout.rowsPerSample, in: rows.upperBound) &- first, rows_ahead: rowsAhead)
    }
}

/// Blends rows of all planes.
private struct BlendRows: BandWork {
    let blender: Blender
    /// That of all pixels where there are no covers.
    let cover: Cover
    let covers: AlphaCovers?
    /// Nil where no cover is mixed.
    let alpha: Plane?
    let over: OverAlpha?
    let layers: Planes<Layer>
    let rowsPerStrip: Int

    private var loops: Loops { blender.loops }

    /// Number of rows by which runs of mixed alpha are prefetched. Such runs are too short for the hardware prefetcher.
    private var rowsAhead: Int { blender.copiesPastCache ? 16 : 0 }

    func work(_ rows: Range<Int>, _ memory: MatteMemory) {
        let width = blender.width
        let memory = memory.part(BlendMemory.self)
        let whole = AlphaRun(cover: cover, start: 0, end: width)
        let room = unsafe memory.runs.reserve(AlphaCovers.segments(width: width), filler: whole)
        let byteAlpha = unsafe memory.byteAlpha.reserve(blender.rowBytes * rowsPerStrip, filler: 0)
        for y in stride(from: rows.lowerBound, to: rows.upperBound, by: rowsPerStrip) {
            let strip = y..<min(y &+ rowsPerStrip, rows.upperBound)
            var runs = unsafe AlphaCovers.findRuns(of: strip, in: covers, orAll: whole, into: room)
            var (opacity, stride) = unsafe (alpha?.row(y).assumingMemoryBound(to: UInt8.self), alpha?.stride ?? 0)
            if let over {
                let target = unsafe memory.alpha.reserve(width * rowsPerStrip, filler: 0)
                runs = unsafe over.apply(to: runs, strip, opacity, stride: stride, into: target, width: width)
                unsafe (opacity, stride) = unsafe (UnsafePointer(target), width)
            }
            for index in 0..<layers.count {
                guard let layer = layers[index] else { continue }
                let part = unsafe layer.part(strip, rowsAhead: rowsAhead)
                if let opacity = unsafe opacity {
                    runs.forEachMixed { run in
                        let (start, count) = layer.bytes.place(from: run.start, to: run.end)
                        var (alpha, stride) = unsafe (opacity + run.start, stride)
                        if !layer.isPlain {
                            let expanded = unsafe byteAlpha + start
                            if !layer.sharesByteAlpha {
                                unsafe expandAlpha(of: run, layer.planeLayout, strip, (alpha, stride), expanded)
                            }
                            unsafe (alpha, stride) = unsafe (UnsafePointer(expanded), blender.rowBytes)
                        }
                        unsafe loops.blend(part, start: start, count: count, alpha: alpha, alphaStride: stride)
                    }
                }
                unsafe copyClear(runs, layer, part)
            }
        }
        if blender.copiesPastCache { dm_finish_copies() }
    }

    /// Computes the alpha of every byte of a run.
    ///
    /// - Parameters:
    ///   - alpha: the alpha of the run's first pixel.
    ///   - target: receives the alpha of the run's first byte and of those that follow.
    private func expandAlpha(
        of run: AlphaRun, _ planeLayout: PlaneLayout, _ rows: Range<Int>,
        _ alpha: (first: UnsafePointer<UInt8>, stride: Int), _ target: UnsafeMutablePointer<UInt8>
    ) {
        let rowsPerSample = planeLayout.rowsPerSample
        for (index, y) in Swift.stride(from: 0, to: rows.count, by: rowsPerSample).enumerated() {
            unsafe planeLayout.expandAlpha(
                upper: alpha.first + y &* alpha.stride, stride: alpha.stride, rows: min(rowsPerSample, rows.count &- y),
                pixels: run.end &- run.start, into: target + index &* blender.rowBytes, loops)
        }
    }

    /// Copies the background to the clear runs of the video. Where planes have no padding, a clear run at the end of a
    /// row and one at the beginning of the next are copied as one.
    private func copyClear(_ runs: AlphaRuns, _ layer: Layer, _ part: dm_blend_part) {
        let (last, rows) = unsafe (runs.count &- 1, part.rows)
        let beginning = layer.bytes.place(from: runs[0].start, to: runs[0].end)
        let joinsRows =
            layer.isWithoutPadding(width: blender.width) && runs[0].cover == .clear && runs[last].cover == .clear
        for row in 0..<rows {
            let (target, source) = unsafe (
                part.video + row &* part.video_stride, part.background + row &* part.background_stride
            )
            for index in 0...last where runs[index].cover == .clear {
                if joinsRows && index == 0 && row > 0 { continue }
                var (start, count) = layer.bytes.place(from: runs[index].start, to: runs[index].end)
                if joinsRows && index == last {
                    count &+= (last == 0 ? rows &- 1 : row &+ 1 < rows ? 1 : 0) &* beginning.count
                }
                if blender.copiesPastCache {
                    unsafe loops.copyPastCache(
                        source + start, count: count,
                        ahead: blender.isBackgroundInCache ? 0 : 4 &* part.background_stride,
                        into: target + start)
                } else {
                    unsafe (target + start).update(from: source + start, count: count)
                }
            }
        }
    }
}
