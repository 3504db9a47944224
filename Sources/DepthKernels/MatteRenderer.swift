/// Makes the matte: depth in, one byte of alpha for each video pixel out.
///
/// Four steps, each in a file of its own: threshold (`OpacityCurve`, `Threshold`), blur (`GaussianBlur`), gamma
/// (`GammaCurve`), enlargement (`AlphaRows`). The order is that of Apple's sample "Enhancing live video by
/// leveraging TrueDepth camera data". Before the enlargement opacities are floats of 0…1 at the depth map's size, in it
/// whole numbers of 16 bits. Arithmetic is done only where the matte changes; elsewhere it is known.
///
/// Keeps its memory between frames and takes none in the steady state. Not for two threads at once.
package final class MatteRenderer {
    /// Larger frames are cut to this many pixels along each axis.
    package static let largestSide = 1 << 16

    private let loops: Loops
    private var mask = BinaryMaskStorage()
    private var opacities = OpacityStorage()
    private var threshold = Threshold()
    private var line = Scratch<Float>()
    private var bits = Scratch<UInt16>()
    private var blur = GaussianBlur()
    private var wideBlur = WideBlur()
    private var alpha = Scratch<UInt8>()
    private var geometry: UpscaleGeometry?
    /// The last frame's opacities and where they lie; nil where nothing is shown.
    private var prepared: (map: OpacityMap, geometry: UpscaleGeometry)?
    let bands = Bands()

    /// Pixels of the last frame.
    package private(set) var width = 1
    package private(set) var height = 1
    /// Mean opacity of the last frame's mask, 0…1, after blur and gamma.
    package private(set) var coverage = 0.0

    package init(loops: Loops = .best) { self.loops = loops }

    /// How many threads have something to do for pictures of so many pixels.
    package static func usefulThreads(pixels: Int) -> Int { max(pixels / Bands.leastPixels, 1) }

    /// Who works on large frames; nil for the calling thread alone. It makes no difference to what comes out.
    package var crew: (any Crew)? {
        get { bands.crew }
        set { bands.crew = newValue }
    }

    /// Renders one frame. Every number in `settings` is allowed, NaN included: they are brought into range first, and
    /// with a cutoff or near limit that is not a number nothing is shown.
    ///
    /// - parameter placement: where the map lies on the video. If it was made for other sizes than those of `depth` and
    ///   the video, the whole map is stretched over the frame.
    /// - returns: the alpha plane, `videoWidth` bytes in each of `videoHeight` rows, valid until the next call. Sizes
    ///   below 1 count as 1, those above `largestSide` as that.
    package func render(
        depth: DepthImage, scale: DepthScale, placement: DepthPlacement, videoWidth: Int, videoHeight: Int,
        settings: MatteSettings
    ) -> Plane {
        prepare(
            depth: depth, scale: scale, placement: placement, videoWidth: videoWidth, videoHeight: videoHeight,
            settings: settings)
        return plane()
    }

    /// The part of `render` that is done at the depth map's size; `Blender` makes the alpha as it needs it.
    package func prepare(
        depth: DepthImage, scale: DepthScale, placement: DepthPlacement, videoWidth: Int, videoHeight: Int,
        settings: MatteSettings
    ) {
        width = min(max(videoWidth, 1), MatteRenderer.largestSide)
        height = min(max(videoHeight, 1), MatteRenderer.largestSide)
        prepared = nil
        coverage = 0
        let settings = settings.clamped
        guard settings.showsAnything else { return }
        let map = opacities.reserve(width: depth.width, height: depth.height)
        if settings.hasFeather {
            fillByCurve(map, depth, scale, settings)
            smooth(map, settings: settings)
        } else {
            let mask = mask.reserve(width: depth.width, height: depth.height)
            let step = threshold.step(for: depth, scale: scale, settings: settings)
            let work = StepCut(mask: mask, depth: depth, step: step, loops: loops)
            bands.share(work, rows: map.height, width: map.width)
            smooth(mask, into: map, settings: settings)
        }
        coverage = meanOpacity(map)
        let fitting =
            placement.isMade(for: depth, videoWidth: width, videoHeight: height)
            ? placement
            : DepthPlacement(
                depthWidth: depth.width, depthHeight: depth.height, videoWidth: width, videoHeight: height)
        if geometry?.placement != fitting || geometry?.upscale != settings.upscale {
            geometry = UpscaleGeometry(placement: fitting, upscale: settings.upscale)
        }
        prepared = geometry.map { (map, $0) }
    }

    /// The last frame's alpha, `width` bytes in each of `height` rows, valid until the next call.
    package func plane() -> Plane {
        let pixels = unsafe alpha.reserve(width * height, filler: 0)
        let isShown = withRows(in: bands.own) { reader in
            for y in 0..<reader.height {
                let row = unsafe pixels + y &* reader.width
                let runs = unsafe reader.read(y..<(y &+ 1), into: row, stride: reader.width)
                for index in 0..<runs.count where runs[index].cover != .mixed {
                    let run = runs[index]
                    let byte: UInt8 = run.cover == .opaque ? 255 : 0
                    unsafe (row + run.start).update(repeating: byte, count: run.end &- run.start)
                }
            }
        }
        if !isShown { unsafe pixels.update(repeating: 0, count: width * height) }
        return unsafe Plane(packed: pixels, width: width, height: height)
    }

    /// Lends the last frame's alpha, row by row, to one thread of several.
    ///
    /// - returns: false, without a call, where nothing is shown.
    func withRows(in memory: BandMemory, _ body: (inout AlphaReader) -> Void) -> Bool {
        guard let (map, geometry) = prepared else { return false }
        return memory.alpha.withRows(of: map, geometry, loops, body)
    }

    /// The mean of all opacities, 0…1.
    private func meanOpacity(_ map: OpacityMap) -> Double {
        var sum = 0.0
        for y in 0..<map.height { sum += map.sum(row: y) }
        return min(max(sum / Double(map.width * map.height), 0), 1)
    }

    private func fillByCurve(_ map: OpacityMap, _ depth: DepthImage, _ scale: DepthScale, _ settings: MatteSettings) {
        let curve = threshold.curve(for: depth, scale: scale, settings: settings)
        unsafe map.fill(
            rows: 0..<map.height, from: depth, by: curve, line: line.reserve(map.paddedWidth, filler: 0),
            sorting: Sorting(&bits, blocks: map.blocks), loops)
    }

    /// Blur and gamma of a mask. Its zeros and ones are their own powers.
    private func smooth(_ mask: BinaryMask, into map: OpacityMap, settings: MatteSettings) {
        let size = WideBlur.cellSize(sigma: settings.blurRadius, gamma: settings.gamma, map: map)
        if settings.blurRadius > 0 && size == 1 {
            blur.apply(to: mask, into: map, sigma: settings.blurRadius, gamma: GammaCurve(settings.gamma), bands, loops)
        } else {
            mask.expand(rows: 0..<map.height, into: map, loops)
            if settings.blurRadius > 0 { smoothWidely(map, settings: settings, size: size) }
        }
    }

    /// Blur and gamma, in place.
    private func smooth(_ map: OpacityMap, settings: MatteSettings) {
        let curve = GammaCurve(settings.gamma)
        let size = WideBlur.cellSize(sigma: settings.blurRadius, gamma: settings.gamma, map: map)
        if settings.blurRadius <= 0 {
            for y in 0..<map.height {
                map.mixed(y).forEachRun(upTo: map.blocks) { run in
                    unsafe curve.apply(
                        to: map.row(y) + run.lowerBound &* blockWidth, blocks: run.count, stride: blockWidth, loops)
                }
                map.finish(row: y, low: 0, high: 1, sorting: Sorting(&bits, blocks: map.blocks), loops)
            }
        } else if size > 1 {
            smoothWidely(map, settings: settings, size: size)
        } else {
            blur.apply(to: map, sigma: settings.blurRadius, gamma: curve, bands, loops)
        }
    }

    private func smoothWidely(_ map: OpacityMap, settings: MatteSettings, size: Int) {
        let curve = GammaCurve(settings.gamma)
        wideBlur.apply(to: map, sigma: settings.blurRadius, size: size, gamma: curve, loops) { cells, sigma in
            blur.apply(to: cells, sigma: sigma, gamma: nil, bands, loops)
        }
    }
}

/// Tells the samples of a depth image apart.
private struct StepCut: BandWork {
    let mask: BinaryMask
    let depth: DepthImage
    let step: Threshold.Step
    let loops: Loops

    func work(_ rows: Range<Int>, _ memory: BandMemory) { mask.fill(rows: rows, from: depth, by: step, loops) }
}

extension DepthPlacement {
    fileprivate func isMade(for depth: DepthImage, videoWidth: Int, videoHeight: Int) -> Bool {
        depthWidth == depth.width && depthHeight == depth.height
            && self.videoWidth == videoWidth && self.videoHeight == videoHeight
    }
}
