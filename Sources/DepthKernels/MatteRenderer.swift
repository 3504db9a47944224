/// Makes the matte: depth in, one byte of alpha for each video pixel out.
///
/// Four steps, each in a file of its own: threshold (`OpacityCurve`, `Threshold`), blur (`GaussianBlur`), gamma
/// (`GammaCurve`), enlargement (`AlphaRows`). The order is that of Apple's sample "Enhancing live video by leveraging
/// TrueDepth camera data". Before the enlargement opacities are floats of 0…1, one for each sample of the depth map, or for
/// each cell of several where the blur is wide (`MatteGrid`); in it they are whole numbers of 16 bits. Arithmetic is done only
/// where the matte changes; elsewhere it is known.
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
    private var coarse = Coarse()
    private var alpha = Scratch<UInt8>()
    private var geometry: UpscaleGeometry?
    /// The last frame's opacities and where they lie; nil where nothing is shown.
    private var prepared: (map: OpacityMap, geometry: UpscaleGeometry)?
    let bands = MatteBands(leastPixels: MatteRenderer.leastPixels)

    /// Pixels of the last frame.
    package private(set) var width = 1
    package private(set) var height = 1
    /// Mean opacity of the last frame's mask, 0…1, after blur and gamma.
    package private(set) var coverage = 0.0

    package init(loops: Loops = .best) { self.loops = loops }

    /// How many threads have something to do for pictures of so many pixels.
    package static func usefulThreads(pixels: Int) -> Int { max(pixels / leastPixels, 1) }

    /// Pixels below which a band of rows takes no longer than a thread takes to wake.
    private static let leastPixels = 1 << 16

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

    /// The part of `render` that is done before the enlargement; `Blender` makes the alpha as it needs it.
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
        let grid = MatteGrid(
            depthWidth: depth.width, depthHeight: depth.height, sigma: settings.blurRadius, gamma: settings.gamma)
        let map = smoothed(depth, scale, settings, on: grid)
        coverage = meanOpacity(map, of: grid)
        let fitting =
            placement.isMade(for: depth, videoWidth: width, videoHeight: height)
            ? placement
            : DepthPlacement(
                depthWidth: depth.width, depthHeight: depth.height, videoWidth: width, videoHeight: height)
        if geometry?.placement != fitting || geometry?.upscale != settings.upscale || geometry?.grid != grid {
            geometry = UpscaleGeometry(placement: fitting, upscale: settings.upscale, grid: grid)
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

    /// Rows of the last frame's alpha that are best read together.
    var rowsPerStrip: Int { prepared?.geometry.rowsPerStrip ?? MatteRenderer.rowsPerPlainStrip }

    /// The same where there is nothing to read: few calls, and yet the planes take turns.
    static let rowsPerPlainStrip = 16

    /// Lends the last frame's alpha, some rows at a time, to one thread of several.
    ///
    /// - returns: false, without a call, where nothing is shown.
    func withRows(in memory: MatteMemory, _ body: (inout AlphaReader) -> Void) -> Bool {
        guard let (map, geometry) = prepared else { return false }
        return memory.alpha.withRows(of: map, geometry, loops, body)
    }

    /// The mean of all opacities, 0…1, each by how much of it lies on the depth map.
    private func meanOpacity(_ map: OpacityMap, of grid: MatteGrid) -> Double {
        func share(column x: Int) -> Double { grid.share(of: x, samples: grid.depthWidth) }
        var inside = 0..<map.width
        while let first = inside.first, share(column: first) < 1 { inside.removeFirst() }
        while let last = inside.last, share(column: last) < 1 { inside.removeLast() }
        var sum = 0.0
        for y in 0..<map.height {
            let shareOfRow = grid.share(of: y, samples: grid.depthHeight)
            if shareOfRow == 0 || !map.isAnyTouched(row: y) { continue }
            var beyond = 0.0
            for x in 0..<inside.lowerBound { beyond += (1 - share(column: x)) * Double(map.opacity(x: x, y: y)) }
            for x in inside.upperBound..<map.width {
                beyond += (1 - share(column: x)) * Double(map.opacity(x: x, y: y))
            }
            sum += shareOfRow * (map.sum(row: y, loops) - beyond)
        }
        let cells = Double(grid.depthWidth * grid.depthHeight) / Double(grid.cellSize * grid.cellSize)
        return min(max(sum / cells, 0), 1)
    }

    // MARK: Mask, blur, gamma

    /// The matte on a grid, not yet enlarged.
    private func smoothed(
        _ depth: DepthImage, _ scale: DepthScale, _ settings: MatteSettings, on grid: MatteGrid
    ) -> OpacityMap {
        settings.hasFeather
            ? smoothed(curved(depth, scale, settings), settings, on: grid)
            : smoothed(cut(depth, scale, settings), settings, on: grid)
    }

    private func cut(_ depth: DepthImage, _ scale: DepthScale, _ settings: MatteSettings) -> BinaryMask {
        let mask = mask.reserve(width: depth.width, height: depth.height)
        let step = threshold.step(for: depth, scale: scale, settings: settings)
        bands.share(StepCut(mask: mask, depth: depth, step: step, loops: loops), rows: mask.height, width: mask.width)
        return mask
    }

    private func curved(_ depth: DepthImage, _ scale: DepthScale, _ settings: MatteSettings) -> OpacityMap {
        let map = opacities.reserve(width: depth.width, height: depth.height)
        let curve = threshold.curve(for: depth, scale: scale, settings: settings)
        unsafe map.fill(
            rows: 0..<map.height, from: depth, by: curve, line: line.reserve(map.paddedWidth, filler: 0),
            sorting: Sorting(&bits, blocks: map.blocks), loops)
        return map
    }

    /// Blur and gamma of a mask. Its zeros and ones are their own powers.
    private func smoothed(_ mask: BinaryMask, _ settings: MatteSettings, on grid: MatteGrid) -> OpacityMap {
        let map = opacities.reserve(width: grid.width, height: grid.height)
        guard settings.blurRadius > 0 else {
            mask.expand(rows: 0..<map.height, into: map, loops)
            return map
        }
        let isDone = blur.apply(
            to: mask, cellSize: grid.cellSize, into: map, grid.bell(of: settings.blurRadius),
            gamma: GammaCurve(settings.gamma), bands, loops)
        if isDone { return map }
        if grid.cellSize > 1 { return blurred(coarse.halve(mask, to: grid, bands, loops), settings, on: grid) }
        mask.expand(rows: 0..<map.height, into: map, loops)
        return blurred(map, settings, on: grid)
    }

    /// The same of a map.
    private func smoothed(_ map: OpacityMap, _ settings: MatteSettings, on grid: MatteGrid) -> OpacityMap {
        if settings.blurRadius > 0 { return blurred(coarse.halve(map, to: grid, bands, loops), settings, on: grid) }
        let curve = GammaCurve(settings.gamma)
        for y in 0..<map.height {
            map.mixed(y).forEachRun(upTo: map.blocks) { run in
                unsafe curve.apply(
                    to: map.row(y) + run.lowerBound &* blockWidth, blocks: run.count, stride: blockWidth, loops)
            }
            map.finish(row: y, low: 0, high: 1, sorting: Sorting(&bits, blocks: map.blocks), loops)
        }
        return map
    }

    private func blurred(_ map: OpacityMap, _ settings: MatteSettings, on grid: MatteGrid) -> OpacityMap {
        blur.apply(
            to: map, grid.bell(of: settings.blurRadius), gamma: GammaCurve(settings.gamma), bands, loops)
        return map
    }
}

typealias MatteBands = Bands<MatteMemory>

/// What one worker keeps for the steps of a matte and for the blend behind them.
final class MatteMemory: BandMemory {
    var blur = BlurMemory()
    var alpha = AlphaRows()
    var blend = BlendMemory()
}

/// Tells the samples of a depth image apart.
private struct StepCut: BandWork {
    let mask: BinaryMask
    let depth: DepthImage
    let step: Threshold.Step
    let loops: Loops

    func work(_ rows: Range<Int>, _ memory: MatteMemory) { mask.fill(rows: rows, from: depth, by: step, loops) }
}

extension DepthPlacement {
    fileprivate func isMade(for depth: DepthImage, videoWidth: Int, videoHeight: Int) -> Bool {
        depthWidth == depth.width && depthHeight == depth.height
            && self.videoWidth == videoWidth && self.videoHeight == videoHeight
    }
}
