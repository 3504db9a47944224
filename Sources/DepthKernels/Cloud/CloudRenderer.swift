/// Draws a depth map as a cloud of points from any point of view.
///
/// The picture: every measured sample at 1 mm or more is a point (`CloudSensor`). Points are rotated and moved
/// (`CloudView`); those nearer to the viewer than 1 mm are left out. Each point is drawn as a disc that faces the
/// viewer, about the pixel that it projects to: it covers the pixels whose center is no more than half of `pointSize`
/// from the center of that pixel. A pixel shows the nearest point whose disc covers it, of equally near ones the one
/// whose four bytes are the least as a number, and the background where there is none; so the picture does not depend
/// on the drawing order. Discs of points beside the picture reach into it.
///
/// The algorithm: a z-buffer has a key for each pixel and for a margin as wide as a disc's radius: distance and color
/// in one number, ordered by distance. The first pass leaves the least key of its points at each pixel. The second pass
/// takes the least key in a disc about each pixel, which gives the same picture as drawing every disc, at a cost that
/// does not depend on the number of points.
///
/// Each worker of `pool` projects a share of the map's rows into a buffer of its own; the buffers are merged row by row
/// before the second pass.
///
/// Arithmetic is in single precision. Eight bytes for each pixel of the output and each worker are kept between frames;
/// nothing is allocated in the steady state. Not for two threads at once.
@safe
package final class CloudRenderer {
    /// The parameters of a frame, besides its depth and colors.
    package struct Settings: Equatable, Sendable {
        package var sensor: CloudSensor
        package var view = CloudView()
        /// Vertical angle of view, in degrees; clamped to 1…170.
        package var fieldOfView = 70.0
        /// Diameter of a point in pixels; clamped to 1…64.
        package var pointSize = 5.0
        /// The pixel where no point is.
        package var background = SIMD4<UInt8>(0, 0, 0, 255)
        /// Index of the pixel's alpha byte, which is 255 on points; nil = none.
        package var alphaByte: Int?

        package init(sensor: CloudSensor) { self.sensor = sensor }
    }

    private let loops: Loops
    private var rays = Scratch<Float>()
    private var heights = Scratch<Int>()
    /// Column 0 of each row of keys, in the buffer that holds the merged row.
    private var merged = unsafe Scratch<UnsafeMutablePointer<Double>>()
    private var buffers = Scratch<CloudKeyBuffer>()
    private let bands: Bands<CloudMemory>

    /// - Parameter leastPixels: the smallest band of rows, in samples or pixels.
    package init(loops: Loops = bestLoops, leastPixels: Int = CloudRenderer.leastPixels) {
        self.loops = loops
        bands = Bands(leastPixels: leastPixels)
    }

    /// The default of the smallest band: it takes some 20 microseconds, about as long as a thread takes to wake.
    package static let leastPixels = 1 << 14
    private static let mostPlacesPerSample = 4

    /// The number of threads that maps of so many samples, or pictures of so many pixels, can occupy.
    package static func usefulThreads(pixels: Int) -> Int { max(pixels / leastPixels, 1) }

    /// The threads that share the work; nil for the calling thread alone. The result does not depend on them.
    package var pool: (any WorkerPool)? {
        get { bands.pool }
        set { bands.pool = newValue }
    }

    /// Draws one frame.
    ///
    /// - Parameters:
    ///   - picture: the colors; its placement is that of this depth map.
    ///   - target: `height` rows of `width` pixels of four bytes.
    /// - Returns: false, with nothing drawn, where a side is not 1…65536 pixels, the target is smaller than that, or the placement
    ///   is for a depth map of another size.
    package func draw(
        _ depth: DepthImage, scale: DepthScale, colors picture: CloudPicture, settings: Settings,
        into target: MutablePlane, width: Int, height: Int
    ) -> Bool {
        guard 1...VideoPicture.largestSide ~= width, 1...VideoPicture.largestSide ~= height,
            target.rowBytes >= width * 4, target.rows >= height, picture.placement.depthWidth == depth.width,
            picture.placement.depthHeight == depth.height
        else { return false }
        let disc = CloudDisc(pointSize: settings.pointSize)
        let background = unsafe unsafeBitCast(settings.background, to: UInt32.self)
        let grid = CloudGrid(
            width: width, height: height, radius: disc.radius, spare: depth.width + DepthMetres.padding,
            background: background)
        guard grid.places <= Int(Int32.max) else { return false }
        project(depth, scale, picture, settings, on: grid)
        let keys = unsafe merge(on: grid)
        unsafe drawDiscs(disc, grid, keys, into: target)
        return true
    }

    /// The first pass: leaves in each place the least key of the points that project there.
    private func project(
        _ depth: DepthImage, _ scale: DepthScale, _ picture: CloudPicture, _ settings: Settings, on grid: CloudGrid
    ) {
        let lens = CloudLens(width: grid.width, height: grid.height, fieldOfView: settings.fieldOfView)
        let projection = CloudProjection(settings.sensor, CloudPose(settings.view), lens, margin: grid.radius)
        let room = depth.width + DepthMetres.padding
        let rays = unsafe rays.reserve(3 * room, filler: 0)
        for x in 0..<depth.width {
            let ray = projection.ray(column: x)
            for axis in 0..<3 { unsafe rays[axis &* room &+ x] = ray[axis] }
        }
        let work = unsafe CloudProjectionPass(
            depth: depth, scale: scale, picture: picture, opaque: CloudRenderer.opaqueBits(settings.alphaByte),
            projection: projection, rays: rays, room: room, grid: grid, loops: loops)
        // One band for each worker: the less the buffers overlap, the cheaper is the merge. In a picture much larger
        // than the map the merge costs more than the parallel projection saves.
        let isWorthMerging = depth.width * depth.height >= grid.places / CloudRenderer.mostPlacesPerSample
        bands.share(work, rows: depth.height, width: depth.width, bandsPerWorker: isWorthMerging ? 1 : 0)
    }

    /// Merges the workers' buffers.
    ///
    /// - Returns: column 0 of each row.
    private func merge(on grid: CloudGrid) -> UnsafeMutablePointer<UnsafeMutablePointer<Double>> {
        let first = unsafe bands.own.keys(for: grid) + grid.origin
        let merged = unsafe merged.reserve(grid.rows, filler: first)
        for y in 0..<grid.rows { unsafe merged[y] = first + y &* grid.stride }
        let memories = bands.memories
        let buffers = unsafe buffers.reserve(memories.count, filler: CloudKeyBuffer(first: first, touched: 0..<0))
        unsafe buffers[0] = CloudKeyBuffer(first: first, touched: memories[0].touched)
        var count = 1
        // Workers without points have no buffer.
        for memory in memories.dropFirst() where !memory.touched.isEmpty {
            unsafe buffers[count] = CloudKeyBuffer(first: memory.keys(for: grid) + grid.origin, touched: memory.touched)
            count += 1
        }
        for memory in memories { memory.touched = 0..<0 }
        if count > 1 {
            let work = unsafe CloudMergePass(buffers: buffers, count: count, grid: grid, rows: merged, loops: loops)
            bands.share(work, rows: grid.rows, width: grid.columns)
        }
        return unsafe merged
    }

    /// The second pass: draws the picture line by line and clears the buffers behind itself.
    private func drawDiscs(
        _ disc: CloudDisc, _ grid: CloudGrid, _ keys: UnsafePointer<UnsafeMutablePointer<Double>>,
        into target: MutablePlane
    ) {
        let heights = unsafe heights.reserve(CloudDisc.largestRadius + 1, filler: 0)
        for beside in 0...disc.radius { unsafe heights[beside] = disc.halfHeight(beside: beside) }
        let work = unsafe CloudDiscPass(keys: keys, grid: grid, heights: heights, target: target, loops: loops)
        // Bands are at least as high as the rows that two of them share, and consist of whole pairs of lines.
        let cut = bands.share(
            work, rows: grid.height, width: grid.width, rowAlignment: max(grid.rowsShared, 2), bandsPerWorker: 4)
        // The rows at the end of each band are still to be cleared: the next band has read them too.
        for band in 0..<cut.count {
            let end = cut.rows(of: band).upperBound
            for y in end..<(end + grid.rowsShared) {
                unsafe keys[y].update(repeating: grid.emptyKey, count: grid.columns)
            }
        }
    }

    /// A pixel with an alpha of 255 and all other bytes 0.
    static func opaqueBits(_ alphaByte: Int?) -> UInt32 {
        var pixel = SIMD4<UInt8>()
        if let alphaByte, 0...3 ~= alphaByte { pixel[alphaByte] = 255 }
        return unsafe unsafeBitCast(pixel, to: UInt32.self)
    }
}

/// A disc of whole pixels.
struct CloudDisc: Equatable {
    static let largestRadius = 32
    private let squaredRadius: Double
    /// Pixels from the middle to the last row or column.
    let radius: Int

    /// - Parameter pointSize: diameter in pixels, clamped to 1…64; NaN counts as 5.
    init(pointSize: Double) {
        let half = clamped(pointSize, to: 1...Double(2 * CloudDisc.largestRadius), orIfNaN: 5) / 2
        squaredRadius = half * half
        radius = floorIndex(half, in: 0...CloudDisc.largestRadius)
    }

    /// Pixels above the middle row in the column at a distance of `beside` columns from the middle.
    ///
    /// - Precondition: `0 <= beside <= radius`.
    func halfHeight(beside: Int) -> Int {
        floorIndex((squaredRadius - Double(beside * beside)).squareRoot(), in: 0...radius)
    }
}
