/// Draws a depth map as a cloud of points, seen by a viewer who may stand elsewhere than the depth camera.
///
/// What the picture is. Every sample that is measured, and 1 mm away or more, is a point (`CloudSensor`). The points are
/// turned and moved (`CloudView`), those nearer to the viewer than 1 mm left out, and each of the others shows at the
/// pixel that it falls into. There it is a disc that faces the viewer: it covers the pixels whose middle is no more than
/// half of `pointSize` from the middle of that pixel. A pixel shows the nearest point whose disc covers it, among equally
/// near ones the one whose four bytes are the least as a number, and the background where there is none. So the picture
/// does not depend on the order in which points are drawn. Discs of points beside the picture reach into it.
///
/// How. A buffer has a key for each pixel and for a rim as wide as a disc's radius: distance and color in one number,
/// ordered by distance. Points leave the least key at their pixel; a second pass then takes the least key of a disc about
/// each pixel, which gives the same picture as drawing every disc and costs the same for any number of points.
///
/// Each of several workers (`pool`) takes a share of the map's rows to a buffer of its own; before the second pass the keys
/// of each row are brought to one of the buffers.
///
/// Arithmetic is in single precision. Eight bytes for each pixel of the output and each worker are kept between frames;
/// none are taken in the steady state. Not for two threads at once.
@safe
package final class CloudRenderer {
    /// What a frame is drawn with, besides its depth and colors.
    package struct Settings: Equatable, Sendable {
        package var sensor: CloudSensor
        package var view = CloudView()
        /// Vertical angle of the picture, in degrees; kept within 1…170.
        package var fieldOfView = 70.0
        /// Diameter of a point in pixels; kept within 1…64.
        package var pointSize = 5.0
        /// Where no point is.
        package var background = SIMD4<UInt8>(0, 0, 0, 255)
        /// The byte of a pixel that is 255 wherever a point is; nil = none.
        package var alphaByte: Int?

        package init(sensor: CloudSensor) { self.sensor = sensor }
    }

    private let loops: Loops
    private var rays = Scratch<Float>()
    private var heights = Scratch<Int>()
    /// Column 0 of each row of keys, in the buffer that has all of that row's.
    private var gathered = unsafe Scratch<UnsafeMutablePointer<Double>>()
    private var layers = Scratch<CloudLayer>()
    private let bands: Bands<CloudMemory>

    /// - Parameter leastPixels: samples or pixels below which a band of rows is not worth the while.
    package init(loops: Loops = .best, leastPixels: Int = CloudRenderer.leastPixels) {
        self.loops = loops
        bands = Bands(leastPixels: leastPixels)
    }

    /// They take some 20 microseconds, as long as a thread takes to wake.
    package static let leastPixels = 1 << 14
    private static let mostPlacesPerSample = 4

    /// How many threads have something to do for maps of so many samples, or pictures of so many pixels.
    package static func usefulThreads(pixels: Int) -> Int { max(pixels / leastPixels, 1) }

    /// Who works on a cloud; nil for the calling thread alone. It makes no difference to what comes out.
    package var pool: (any WorkerPool)? {
        get { bands.pool }
        set { bands.pool = newValue }
    }

    /// Draws one frame.
    ///
    /// - Parameter picture: what gives the colors; its placement is of this depth map.
    /// - Parameter target: gets `width` pixels of four bytes in each of `height` rows.
    /// - Returns: false, with nothing drawn, where the target is smaller than that, has more than 65536 pixels a side, or
    ///   the placement is of another map.
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
        drop(depth, scale, picture, settings, on: grid)
        let keys = unsafe gather(on: grid)
        unsafe spread(disc, grid, keys, into: target)
        return true
    }

    /// Leaves in each place the least key of the points that fall there.
    private func drop(
        _ depth: DepthImage, _ scale: DepthScale, _ picture: CloudPicture, _ settings: Settings, on grid: CloudGrid
    ) {
        let lens = CloudLens(width: grid.width, height: grid.height, fieldOfView: settings.fieldOfView)
        let projection = CloudProjection(settings.sensor, CloudPose(settings.view), lens, rim: grid.radius)
        let room = depth.width + DepthMetres.padding
        let rays = unsafe rays.reserve(3 * room, filler: 0)
        for x in 0..<depth.width {
            let ray = projection.ray(column: x)
            for axis in 0..<3 { unsafe rays[axis &* room &+ x] = ray[axis] }
        }
        let work = unsafe CloudDrop(
            depth: depth, scale: scale, picture: picture, opaque: CloudRenderer.opaqueBits(settings.alphaByte),
            projection: projection, rays: rays, room: room, grid: grid, loops: loops)
        // One band for each: the fewer places two workers have both come to, the less is there to be gathered. In a picture
        // much larger than the map that takes longer than what is saved.
        let isWorthGathering = depth.width * depth.height >= grid.places / CloudRenderer.mostPlacesPerSample
        bands.share(work, rows: depth.height, width: depth.width, bandsPerWorker: isWorthGathering ? 1 : 0)
    }

    /// Brings the keys of each row to one buffer.
    private func gather(on grid: CloudGrid) -> UnsafeMutablePointer<UnsafeMutablePointer<Double>> {
        let first = unsafe bands.own.keys(for: grid) + grid.origin
        let gathered = unsafe gathered.reserve(grid.rows, filler: first)
        for y in 0..<grid.rows { unsafe gathered[y] = first + y &* grid.stride }
        let memories = bands.memories
        let layers = unsafe layers.reserve(memories.count, filler: CloudLayer(first: first, touched: 0..<0))
        unsafe layers[0] = CloudLayer(first: first, touched: memories[0].touched)
        var count = 1
        // Only who has got points needs a buffer.
        for memory in memories.dropFirst() where !memory.touched.isEmpty {
            unsafe layers[count] = CloudLayer(first: memory.keys(for: grid) + grid.origin, touched: memory.touched)
            count += 1
        }
        for memory in memories { memory.touched = 0..<0 }
        if count > 1 {
            let work = unsafe CloudGather(layers: layers, count: count, grid: grid, rows: gathered, loops: loops)
            bands.share(work, rows: grid.rows, width: grid.columns)
        }
        return unsafe gathered
    }

    /// Draws the picture line by line and empties the buffers behind itself.
    private func spread(
        _ disc: CloudDisc, _ grid: CloudGrid, _ keys: UnsafePointer<UnsafeMutablePointer<Double>>,
        into target: MutablePlane
    ) {
        let heights = unsafe heights.reserve(CloudDisc.largestRadius + 1, filler: 0)
        for beside in 0...disc.radius { unsafe heights[beside] = disc.halfHeight(beside: beside) }
        let work = unsafe CloudSpread(keys: keys, grid: grid, heights: heights, target: target, loops: loops)
        // Bands as high as what two of them have in common, at least, and of whole pairs of lines.
        let cut = bands.share(
            work, rows: grid.height, width: grid.width, rowAlignment: max(grid.rowsShared, 2), bandsPerWorker: 4)
        // Those that no line of the picture was drawn below, and those that two bands have looked at.
        for band in 0..<cut.count {
            let end = cut.rows(of: band).upperBound
            for y in end..<(end + grid.rowsShared) {
                unsafe keys[y].update(repeating: grid.emptyKey, count: grid.columns)
            }
        }
    }

    /// A pixel of which only the alpha is not 0.
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

    /// - Parameter pointSize: diameter in pixels, kept within 1…64; 5 for what is no number.
    init(pointSize: Double) {
        let half = clamped(pointSize, to: 1...Double(2 * CloudDisc.largestRadius), orIfNaN: 5) / 2
        squaredRadius = half * half
        radius = floorIndex(half, in: 0...CloudDisc.largestRadius)
    }

    /// Pixels above the middle row in the column that is `beside` columns from the middle.
    ///
    /// - Precondition: `0 <= beside <= radius`.
    func halfHeight(beside: Int) -> Int {
        floorIndex((squaredRadius - Double(beside * beside)).squareRoot(), in: 0...radius)
    }
}
