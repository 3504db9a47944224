/// Draws a depth map as a cloud of points, seen by a viewer who may stand elsewhere than the depth camera.
///
/// What the picture is. Every sample that is measured, and 1 mm away or more, is a point (`CloudSensor`). The points are
/// turned and moved (`CloudView`), those nearer to the viewer than 1 mm left out, and each of the others shows at the
/// pixel that it falls into. There it is a disc that faces the viewer: it covers the pixels whose middle is no more than
/// half of `pointSize` from the middle of that pixel. A pixel shows the nearest point whose disc covers it, among equally
/// near ones the one whose four bytes are the least as a number, and the background where there is none. So the picture
/// does not depend on the order in which points are drawn. Discs of points beside the picture reach into it.
///
/// How. A buffer has a key for each pixel and for a rim as wide as a disc's radius: distance and colour in one number,
/// ordered by distance. Points leave the least key at their pixel; a second pass then takes the least key of a disc about
/// each pixel, which gives the same picture as drawing every disc and costs the same for any number of points.
///
/// Arithmetic is in single precision. Eight bytes for each pixel of the output are kept between frames; none are taken
/// in the steady state. Not for two threads at once.
package final class CloudRenderer {
    /// What a frame is drawn with, besides its depth and colours.
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

    /// Metres; what is nearer is not drawn, as in Apple's sample.
    package static let nearest = 0.001

    private let loops: CloudLoops
    private var metres = DepthMetres()
    private var colors = CloudColors()
    private var buffer = Scratch<Double>()
    private var keys = Scratch<UInt64>()
    private var places = Scratch<Int32>()
    private var rays = Scratch<Float>()
    private var scratch = Scratch<Double>()
    private var heights = Scratch<Int>()
    /// What the buffer was made for; it is empty between two frames.
    private var emptyFor: Grid?

    package init(loops: CloudLoops = .best) { self.loops = loops }

    /// Draws one frame.
    ///
    /// - parameter picture: what gives the colours; its placement is of this depth map.
    /// - parameter target: gets `width` pixels of four bytes in each of `height` rows.
    /// - returns: false, with nothing drawn, where the target is smaller than that, has more than 65536 pixels a side, or
    ///   the placement is of another map.
    package func draw(
        _ depth: DepthImage, scale: DepthScale, colors picture: CloudPicture, settings: Settings,
        into target: MutablePlane, width: Int, height: Int
    ) -> Bool {
        guard 1...MatteRenderer.largestSide ~= width, 1...MatteRenderer.largestSide ~= height,
            target.rowBytes >= width * 4, target.rows >= height, picture.placement.depthWidth == depth.width,
            picture.placement.depthHeight == depth.height
        else { return false }
        let disc = CloudDisc(pointSize: settings.pointSize)
        let background = unsafe unsafeBitCast(settings.background, to: UInt32.self)
        let grid = Grid(
            width: width, height: height, radius: disc.radius, spare: depth.width + DepthMetres.padding,
            background: background)
        guard grid.places <= Int(Int32.max) else { return false }
        let buffer = unsafe emptyBuffer(grid)
        unsafe drop(depth, scale, picture, settings, on: grid, buffer)
        unsafe spread(disc, grid, buffer, into: target)
        return true
    }

    /// The keys of the picture and of the rim about it.
    ///
    /// In memory: spare places, where points end that are not shown; then the rows, from one above the rim to one below,
    /// each with one place more on the left and two on the right.
    private struct Grid: Equatable {
        let width: Int
        let height: Int
        let radius: Int
        let spare: Int
        let background: UInt32

        var columns: Int { width &+ 2 &* radius }
        var rows: Int { height &+ 2 &* radius }
        var stride: Int { columns &+ 3 }
        /// Where column 0 of row 0 is.
        var origin: Int { spare &+ stride &+ 1 }
        var places: Int { spare &+ stride &* (rows &+ 2) }
        /// What is behind every point.
        var emptyKey: Double { Double(bitPattern: 0x7fef_ffff_0000_0000 | UInt64(background)) }
    }

    private func emptyBuffer(_ grid: Grid) -> UnsafeMutablePointer<Double> {
        // The discs are read four columns at a time.
        let count = grid.places &+ 4
        let keys = unsafe buffer.reserve(count, filler: grid.emptyKey)
        if grid != emptyFor {
            unsafe keys.update(repeating: grid.emptyKey, count: count)
            emptyFor = grid
        }
        return unsafe keys
    }

    /// Leaves in each place the least key of the points that fall there.
    private func drop(
        _ depth: DepthImage, _ scale: DepthScale, _ picture: CloudPicture, _ settings: Settings, on grid: Grid,
        _ buffer: UnsafeMutablePointer<Double>
    ) {
        let lens = CloudLens(width: grid.width, height: grid.height, fieldOfView: settings.fieldOfView)
        let projection = CloudProjection(settings.sensor, CloudPose(settings.view), lens, rim: grid.radius)
        let size = SIMD2(Float(grid.columns), Float(grid.rows))
        let opaque = CloudRenderer.opaqueBits(settings.alphaByte)
        let room = depth.width + DepthMetres.padding
        let keys = unsafe keys.reserve(room, filler: 0)
        let places = unsafe places.reserve(room, filler: 0)
        let rays = unsafe rays.reserve(3 * room, filler: 0)
        for x in 0..<depth.width {
            let ray = projection.ray(column: x)
            for axis in 0..<3 { unsafe rays[axis &* room &+ x] = ray[axis] }
        }
        for y in 0..<depth.height {
            let metres = unsafe metres.row(y, of: depth, scale: scale, loops)
            let colors = unsafe colors.row(y, of: picture)
            unsafe loops.projectRow(
                metres, colors, opaque, depth.width, rays, room, projection.start(row: y), projection.shift, size,
                Int32(clamping: grid.origin), Int32(clamping: grid.stride), Float(CloudRenderer.nearest), keys, places)
            unsafe UnsafeMutableRawPointer(keys).withMemoryRebound(to: Double.self, capacity: room) { keys in
                unsafe loops.keepNearest(keys, places, depth.width, buffer)
            }
        }
    }

    /// Draws the picture row by row and empties the buffer behind itself.
    private func spread(
        _ disc: CloudDisc, _ grid: Grid, _ buffer: UnsafeMutablePointer<Double>, into target: MutablePlane
    ) {
        let heights = unsafe heights.reserve(CloudDisc.largestRadius + 1, filler: 0)
        for beside in 0...disc.radius { unsafe heights[beside] = disc.halfHeight(beside: beside) }
        let scratch = unsafe scratch.reserve((grid.radius + 2) * (grid.columns + 8), filler: 0)
        let first = unsafe buffer + grid.origin
        for y in 0..<grid.height {
            unsafe loops.drawDiscs(
                first + (y &+ grid.radius) &* grid.stride, grid.emptyKey, grid.stride, grid.radius, heights, grid.width,
                scratch, target.row(y))
        }
        // Those that no row of the picture was drawn below.
        for y in grid.height..<grid.rows {
            unsafe (first + y &* grid.stride).update(repeating: grid.emptyKey, count: grid.columns)
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

    /// - parameter pointSize: diameter in pixels, kept within 1…64; 5 for what is no number.
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

/// From a sample of the depth map to the pixel that it shows at: the numbers that `projectRow` works with.
struct CloudProjection {
    /// A ray's change from one column to the next, and from one row to the next.
    private let across: SIMD3<Double>
    private let along: SIMD3<Double>
    private let first: SIMD3<Double>
    private let moved: SIMD3<Double>

    /// - parameter rim: how many columns and rows there are before the picture's first; places are counted from there.
    init(_ sensor: CloudSensor, _ pose: CloudPose, _ lens: CloudLens, rim: Int) {
        let (centreX, centreY) = (lens.centreX + Double(rim), lens.centreY + Double(rim))
        // What shows at column x / z and row y / z.
        func seen(_ point: SIMD3<Double>) -> SIMD3<Double> {
            SIMD3(
                lens.focalLength * point.x + centreX * point.z, lens.focalLength * point.y + centreY * point.z, point.z)
        }
        across = seen(pose.turned(SIMD3(1 / sensor.fx, 0, 0)))
        along = seen(pose.turned(SIMD3(0, 1 / sensor.fy, 0)))
        first = seen(pose.turned(SIMD3(-sensor.cx / sensor.fx, -sensor.cy / sensor.fy, 1)))
        moved = seen(pose.shift)
    }

    var shift: SIMD3<Float> { SIMD3<Float>(moved) }

    /// From the ray of a row's first sample to that of another column.
    func ray(column: Int) -> SIMD3<Float> { SIMD3<Float>(across * Double(column)) }
    func start(row: Int) -> SIMD3<Float> { SIMD3<Float>(first + along * Double(row)) }
}
