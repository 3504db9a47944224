/// Registers depth maps to the color camera's view.
///
/// Each sample is a point in space, which the color camera sees at some place and distance. A sample covers the rectangle up to
/// the middle between it and its neighbors, as the color camera sees them, so that the gaps which the warp itself opens are
/// closed. Where a neighbor is not on the same surface, the sample covers no more than its own angle: the shadow that the color
/// camera sees beside a near thing, where the depth camera measured nothing, stays not measured. Of two surfaces at a pixel the
/// nearest wins.
package final class DepthAlignment {
    package let calibration: Calibration
    package let width: Int
    package let height: Int
    /// The size of the map that comes out.
    package let outputWidth: Int
    package let outputHeight: Int

    /// Two neighbors whose distances differ by less than this share are on one surface: a wall seen at 87 degrees at a focal
    /// length of 600 samples, and less than the depth of a head at arm's length.
    private static let surfaceStep: Float = 0.03
    /// Pixels by which rectangles overlap: those of rotated maps have edges that do not meet.
    private static let overlap: Float = 0.05

    private let color: CameraIntrinsics
    private let translation: SIMD3<Float>
    /// The color camera's lens in the form of `alignProject`; nil where it has none.
    private let radial: SIMD8<Float>?
    private let tangential: SIMD2<Float>
    /// Half the angle of a sample in pixels of the color camera.
    private let half: SIMD2<Float>
    /// The samples' directions in the color camera's coordinates, three numbers each; a direction that is not there is NaN.
    private var rays = Scratch<Float>()
    /// Places and distances of three rows of samples in the color camera's picture, and edges of one.
    private var rows = Scratch<Float>()
    private var bounds = Scratch<Int32>()
    private var metres = DepthMetres()
    private let loops = Loops.best

    /// - Parameters:
    ///   - width, height: of the depth maps.
    ///   - outputWidth, outputHeight: of the maps that come out.
    /// - Returns: nil where the calibration has no color camera, or numbers that are no camera's.
    package init?(_ calibration: Calibration, width: Int, height: Int, outputWidth: Int, outputHeight: Int) {
        guard let color = calibration.color, width > 0, height > 0, outputWidth > 0, outputHeight > 0,
            width <= 32768, height <= 32768, outputWidth <= 32768, outputHeight <= 32768
        else { return nil }
        let depth = calibration.depth.scaled(toWidth: width, height: height)
        self.calibration = calibration
        self.width = width
        self.height = height
        self.outputWidth = outputWidth
        self.outputHeight = outputHeight
        self.color = color.scaled(toWidth: outputWidth, height: outputHeight)
        let pose = calibration.depthToColor
        translation = SIMD3<Float>(pose.translation)
        let lens = color.distortion
        let numbersOfLens = [
            lens.k1, lens.k2, lens.k3, 0, lens.k4, lens.k5, lens.k6, min(lens.largestRadiusSquared, 1e9),
        ]
        radial = lens.isNone ? nil : SIMD8<Float>(SIMD8<Double>(numbersOfLens))
        tangential = SIMD2(Float(lens.p1), Float(lens.p2))
        half = SIMD2(Float(0.5 * self.color.fx / depth.fx), Float(0.5 * self.color.fy / depth.fy))
        let numbers = [depth.fx, depth.fy, self.color.fx, self.color.fy]
        guard numbers.allSatisfy({ $0.isFinite && $0 > 0 }) else { return nil }
        prepareRays(depth, pose)
    }

    private func prepareRays(_ depth: CameraIntrinsics, _ pose: CameraPose) {
        let rays = unsafe rays.reserve(3 * width * height, filler: 0)
        let r = pose.rotation
        for y in 0..<height {
            let (rayX, rayY, rayZ) = unsafe rowOfRays(rays, y)
            for x in 0..<width {
                guard let ray = depth.ray(column: Double(x), row: Double(y)) else {
                    unsafe (rayX[x], rayY[x], rayZ[x]) = (.nan, .nan, .nan)
                    continue
                }
                unsafe rayX[x] = Float(r[0] * ray.x + r[1] * ray.y + r[2])
                unsafe rayY[x] = Float(r[3] * ray.x + r[4] * ray.y + r[5])
                unsafe rayZ[x] = Float(r[6] * ray.x + r[7] * ray.y + r[8])
            }
        }
    }

    private func rowOfRays(
        _ rays: UnsafeMutablePointer<Float>, _ y: Int
    ) -> (UnsafeMutablePointer<Float>, UnsafeMutablePointer<Float>, UnsafeMutablePointer<Float>) {
        let row = unsafe rays + 3 * width * y
        return unsafe (row, row + width, row + 2 * width)
    }

    // MARK: A map

    /// A row of samples as the color camera sees them: columns, rows and distances; a distance of 0 is not measured.
    @unsafe
    private struct Projected {
        let column: UnsafeMutablePointer<Float>
        let row: UnsafeMutablePointer<Float>
        let distance: UnsafeMutablePointer<Float>
    }

    /// Writes the registered map: metres, 0 where not measured.
    ///
    /// - Parameter output: at least `outputWidth` times `outputHeight` numbers.
    /// - Precondition: the map has the size of this.
    package func align(_ depth: DepthImage, scale: DepthScale, into output: UnsafeMutablePointer<Float>) {
        precondition(depth.width == width && depth.height == height, "the map has another size")
        let pixels = outputWidth &* outputHeight
        unsafe output.update(repeating: .infinity, count: pixels)
        let rays = unsafe rays.reserve(3 * width * height, filler: 0)
        // A sample that is not measured stands before and behind each row.
        let stride = width + 16
        let memory = unsafe rows.reserve(13 * stride, filler: 0)
        let edges = unsafe memory + 9 * stride
        let bounds = unsafe bounds.reserve(4 * stride, filler: 0)
        func slot(_ y: Int) -> Projected {
            let start = unsafe memory + (y + 3) % 3 * 3 * stride + 8
            return unsafe Projected(column: start, row: start + stride, distance: start + 2 * stride)
        }
        unsafe slot(-1).distance.update(repeating: 0, count: width)
        unsafe project(depth, scale, 0, rays, slot(0))
        for y in 0..<height {
            let (row, above, below) = unsafe (slot(y), slot(y - 1), slot(y + 1))
            if y + 1 < height {
                unsafe project(depth, scale, y + 1, rays, below)
            } else {
                unsafe below.distance.update(repeating: 0, count: width)
            }
            unsafe findEdges(row, row.column, row.column - 1, row.distance - 1, -half.x, edges)
            unsafe findEdges(row, row.column, row.column + 1, row.distance + 1, half.x, edges + stride)
            unsafe findEdges(row, row.row, above.row, above.distance, -half.y, edges + 2 * stride)
            unsafe findEdges(row, row.row, below.row, below.distance, half.y, edges + 3 * stride)
            unsafe loops.alignBounds(
                edges, edges + stride, count: width, overlap: DepthAlignment.overlap, size: Int32(outputWidth),
                first: bounds, last: bounds + stride)
            unsafe loops.alignBounds(
                edges + 2 * stride, edges + 3 * stride, count: width, overlap: DepthAlignment.overlap,
                size: Int32(outputHeight), first: bounds + 2 * stride, last: bounds + 3 * stride)
            unsafe loops.alignFill(
                row.distance, count: width, firstColumns: bounds, lastColumns: bounds + stride,
                firstRows: bounds + 2 * stride, lastRows: bounds + 3 * stride, width: outputWidth, into: output)
        }
        for index in 0..<pixels {
            let distance = unsafe output[index]
            unsafe output[index] = distance < .infinity ? distance : 0
        }
    }

    private func findEdges(
        _ row: Projected, _ places: UnsafePointer<Float>, _ neighbors: UnsafePointer<Float>,
        _ neighborDistances: UnsafePointer<Float>, _ half: Float, _ edges: UnsafeMutablePointer<Float>
    ) {
        unsafe loops.alignEdges(
            places, row.distance, neighbors, neighborDistances, count: width, step: DepthAlignment.surfaceStep,
            half: half, into: edges)
    }

    /// Projects a row of samples into the color camera's picture.
    private func project(
        _ depth: DepthImage, _ scale: DepthScale, _ y: Int, _ rays: UnsafePointer<Float>, _ target: Projected
    ) {
        let metres = unsafe metres.row(y, of: depth, scale: scale, loops)
        let focus = SIMD4(Float(color.fx), Float(color.fy), Float(color.cx), Float(color.cy))
        unsafe loops.alignProject(
            metres: metres, count: width, rays: rays + 3 * width * y, shift: translation, focus: focus, radial: radial,
            tangential: tangential, columns: target.column, rows: target.row, distances: target.distance)
        unsafe (target.distance[-1], target.distance[width]) = (0, 0)
    }
}
