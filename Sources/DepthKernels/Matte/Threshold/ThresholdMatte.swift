/// The matte of depth alone: a threshold of the map, smoothed, and enlarged to the video's size.
///
/// Each stage has a file of its own with its formula and its source; the source of all is Apple's sample "Enhancing live video by
/// leveraging TrueDepth camera data". No frame depends on the one before.
struct ThresholdMatte: ~Copyable {
    private var mask = ThresholdMask()
    private var smooth = Smooth()
    private var upscaler = Upscaler()
    private var shares = Scratch<Float>()
    /// Mean opacity of the last frame, 0…1, after smoothing and gamma.
    private(set) var coverage = 0.0

    /// Computes the alpha of a frame.
    ///
    /// - Parameters:
    ///   - cutoff: metres; replaces that of the settings.
    ///   - settings: clamped.
    mutating func render(
        _ depth: DepthImage, _ placement: DepthPlacement, cutoff: Double, _ settings: MatteSettings,
        _ bands: MatteBands, _ loops: Loops
    ) -> FinishedMatte {
        let (sigma, gamma) = (settings.blurRadius, settings.gamma)
        let grid = CellGrid(depthWidth: depth.width, depthHeight: depth.height, sigma: sigma, gamma: gamma)
        let mask = mask.make(of: depth, cutoff: cutoff, settings, bands, loops)
        let opacities = smooth.smooth(mask, sigma: sigma, gamma: gamma, on: grid, bands, loops)
        coverage = mean(of: opacities, on: grid)
        return upscaler.upscale(opacities, on: grid, placement, settings.upscale, bands, loops)
    }

    /// The mean of all opacities, 0…1, weighted by the share of each cell that lies on the depth map.
    private mutating func mean(of map: OpacityMap, on grid: CellGrid) -> Double {
        let blocks = groups(of: blockWidth, in: map.width)
        let shares = unsafe shares.reserve(blocks * blockWidth, filler: 0)
        for x in 0..<blocks * blockWidth {
            unsafe shares[x] = x < map.width ? Float(grid.share(of: x, samples: grid.depthWidth)) : 0
        }
        var sum = 0.0
        for y in 0..<map.height {
            var lanes = Lanes(repeating: 0)
            for block in 0..<blocks where map.clear.bits(y)[block: block] != .max {
                let x = block &* blockWidth
                unsafe lanes += loadLanes(map.row(y) + x) * loadLanes(shares + x)
            }
            sum += grid.share(of: y, samples: grid.depthHeight) * Double(lanes.sum())
        }
        let cells = Double(grid.depthWidth * grid.depthHeight) / Double(grid.cellSize * grid.cellSize)
        return min(max(sum / cells, 0), 1)
    }
}
