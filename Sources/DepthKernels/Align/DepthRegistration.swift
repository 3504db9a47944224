import CDepthKernels

/// Registers depth maps to the color camera's view.
///
/// Each sample is a point in space, which the color camera sees at some place and distance. A sample covers the rectangle up to
/// the middle between it and its neighbors, as the color camera sees them, so that the gaps which the warp itself opens are
/// closed. Where a neighbor is not on the same surface, the sample covers no more than its own angle: the shadow that the color
/// camera sees beside a near thing, where the depth camera measured nothing, stays not measured. Of two surfaces at a pixel the
/// nearest wins.
package final class DepthRegistration {
    package let calibration: Calibration
    package let width: Int
    package let height: Int
    /// The size of the map that comes out.
    package let outputWidth: Int
    package let outputHeight: Int

    /// Two neighbors whose distances differ by less than this share are on one surface: a wall seen at 87 degrees at a focal
    /// length of 600 samples, and less than the depth of a head at arm's length.
    private static let surfaceStep: Float = 0.03
    /// Half of the most pixels that one sample may cover in each direction.
    private static let largestHalf: Float = 64
    /// Pixels by which rectangles overlap at least.
    private static let leastOverlap: Float = 0.05

    private let color: CameraIntrinsics
    /// The color camera's lens and place.
    private let lens: dm_lens
    /// Half the angle of a sample in pixels of the color camera.
    private let half: SIMD2<Float>
    /// Pixels by which a rectangle extends beyond the middle between samples. Where the cameras are turned about their line of sight, a
    /// sample is a tilted square, and its rectangle is the one around that.
    private let overlap: SIMD2<Float>
    /// The samples' directions in the color camera's coordinates, three numbers each; a direction that is not there is NaN.
    private var rays = Scratch<Float>()
    /// Places and distances of three rows of samples in the color camera's picture, and edges of one.
    private var rows = Scratch<Float>()
    private var bounds = Scratch<Int32>()
    /// The nearest distance at each pixel so far, in counts or metres by the map's encoding.
    private var nearestCounts = Scratch<UInt16>()
    private var nearestMetres = Scratch<Float>()
    private var counts = Scratch<UInt16>()
    private var metres = DepthMetres()
    private let loops: Loops

    /// - Parameters:
    ///   - width, height: of the depth maps.
    ///   - outputWidth, outputHeight: of the maps that come out.
    /// - Returns: nil where the calibration has no color camera, or numbers that are no camera's.
    package init?(
        _ calibration: Calibration, width: Int, height: Int, outputWidth: Int, outputHeight: Int,
        loops: Loops = bestLoops
    ) {
        guard let color = calibration.color, width > 0, height > 0, outputWidth > 0, outputHeight > 0,
            width <= 32768, height <= 32768, outputWidth <= 32768, outputHeight <= 32768
        else { return nil }
        let depth = calibration.depth.scaled(toWidth: width, height: height)
        self.calibration = calibration
        self.loops = loops
        self.width = width
        self.height = height
        self.outputWidth = outputWidth
        self.outputHeight = outputHeight
        self.color = color.scaled(toWidth: outputWidth, height: outputHeight)
        let pose = calibration.depthToColor
        lens = dm_lens(self.color, at: pose.translation)
        half = SIMD2(Float(0.5 * self.color.fx / depth.fx), Float(0.5 * self.color.fy / depth.fy))
        let tilt = SIMD2(pose.rotated([0, 1, 0]).x, pose.rotated([1, 0, 0]).y)
        let extent = SIMD2(0.5 * self.color.fx / depth.fy, 0.5 * self.color.fy / depth.fx)
        overlap = SIMD2<Float>(SIMD2(abs(tilt.x), abs(tilt.y)) * extent) + DepthRegistration.leastOverlap
        let numbers = [depth.fx, depth.fy, self.color.fx, self.color.fy]
        // A sample covers as many pixels as the focal lengths say: more than a hundred in each direction are no camera's.
        guard numbers.allSatisfy({ $0.isFinite && $0 > 0 }), half.max() <= DepthRegistration.largestHalf,
            overlap.max() <= 2 * DepthRegistration.largestHalf
        else { return nil }
        prepareRays(depth, pose)
    }

    private func prepareRays(_ depth: CameraIntrinsics, _ pose: CameraPose) {
        let rays = unsafe rays.reserve(3 * width * height, filler: 0)
        for y in 0..<height {
            let (rayX, rayY, rayZ) = unsafe rowOfRays(rays, y)
            for x in 0..<width {
                guard let ray = depth.ray(column: Double(x), row: Double(y)) else {
                    unsafe (rayX[x], rayY[x], rayZ[x]) = (.nan, .nan, .nan)
                    continue
                }
                let direction = pose.rotated(SIMD3(ray.x, ray.y, 1))
                unsafe (rayX[x], rayY[x], rayZ[x]) = (Float(direction.x), Float(direction.y), Float(direction.z))
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

    /// A row of samples as the color camera sees them: columns, rows and distances; one of 0 or infinity is not measured.
    @unsafe
    private struct Projected {
        let column: UnsafeMutablePointer<Float>
        let row: UnsafeMutablePointer<Float>
        let distance: UnsafeMutablePointer<Float>
    }

    /// Writes the registered map, in the encoding and unit of the map; 0 where not measured.
    ///
    /// The scale of counts is metric, without a bias. A distance beyond the last count becomes the last but one.
    ///
    /// - Returns: false for a map of another size, 8-bit counts or 16-bit floats, and for a plane that is too small.
    package func align(_ depth: DepthImage, scale: DepthScale, into output: MutablePlane) -> Bool {
        guard depth.width == width, depth.height == height, output.rows >= outputHeight,
            output.rowBytes >= outputWidth * depth.encoding.bytesPerSample
        else {
            return false
        }
        let pixels = outputWidth &* outputHeight
        switch depth.encoding {
        case .gray16LE, .gray16BE:
            let nearest = unsafe nearestCounts.reserve(pixels, filler: 0)
            let counts = unsafe counts.reserve(width, filler: 0)
            unsafe nearest.update(repeating: .max, count: pixels)
            unsafe forEachRow(depth, scale) { row in
                unsafe loops.alignCounts(row.samples.distance, count: width, scale: Float(1 / scale.unit), into: counts)
                unsafe loops.alignFill(counts, row.pixels, into: nearest)
            }
            unsafe write(nearest, isSwapped: (depth.encoding == .gray16BE) == (UInt16(littleEndian: 1) == 1), output)
        case .float32LE:
            let nearest = unsafe nearestMetres.reserve(pixels, filler: 0)
            unsafe nearest.update(repeating: .infinity, count: pixels)
            unsafe forEachRow(depth, scale) { row in
                let distances = unsafe row.samples.distance
                for x in 0..<width where unsafe distances[x] == 0 { unsafe distances[x] = .infinity }
                unsafe loops.alignFill(distances, row.pixels, into: nearest)
            }
            unsafe write(nearest, output)
        case .gray8, .float16LE: return false
        }
        return true
    }

    private func write(_ nearest: UnsafePointer<UInt16>, isSwapped: Bool, _ output: MutablePlane) {
        for y in 0..<outputHeight {
            let (source, target) = unsafe (nearest + y &* outputWidth, output.row(y))
            for x in 0..<outputWidth {
                let count = unsafe source[x]
                let written = count == .max ? 0 : count
                unsafe target.storeBytes(
                    of: isSwapped ? written.byteSwapped : written, toByteOffset: x &* 2, as: UInt16.self)
            }
        }
    }

    private func write(_ nearest: UnsafePointer<Float>, _ output: MutablePlane) {
        for y in 0..<outputHeight {
            let (source, target) = unsafe (nearest + y &* outputWidth, output.row(y))
            for x in 0..<outputWidth {
                let metres = unsafe source[x]
                unsafe target.storeBytes(
                    of: (metres < .infinity ? metres : 0).bitPattern.littleEndian, toByteOffset: x &* 4,
                    as: UInt32.self)
            }
        }
    }

    /// A row of samples, and the pixels that each covers, from the first to the last.
    @unsafe
    private struct CoveringRow {
        let samples: Projected
        let pixels: dm_rectangles
    }

    private func forEachRow(_ depth: DepthImage, _ scale: DepthScale, _ body: (CoveringRow) -> Void) {
        let rays = unsafe rays.reserve(3 * width * height, filler: 0)
        // A sample that is not measured stands before and behind each row.
        let stride = width + 16
        let memory = unsafe rows.reserve(13 * stride, filler: 0)
        let edges = unsafe memory + 9 * stride
        let bounds = unsafe bounds.reserve(4 * stride, filler: 0)
        let pixels = unsafe dm_rectangles(
            first_columns: bounds, last_columns: bounds + stride, first_rows: bounds + 2 * stride,
            last_rows: bounds + 3 * stride, count: width, width: outputWidth)
        /// The memory of row `y`, from −1 on: three rows take turns.
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
            func findEdges(
                _ places: UnsafePointer<Float>, _ neighbors: UnsafePointer<Float>, _ distances: UnsafePointer<Float>,
                _ half: Float, _ edges: UnsafeMutablePointer<Float>
            ) {
                unsafe loops.alignEdges(
                    .init(
                        places: places, distances: row.distance, neighbors: neighbors, neighbor_distances: distances,
                        step: DepthRegistration.surfaceStep, half: half), count: width, into: edges)
            }
            unsafe findEdges(row.column, row.column - 1, row.distance - 1, -half.x, edges)
            unsafe findEdges(row.column, row.column + 1, row.distance + 1, half.x, edges + stride)
            unsafe findEdges(row.row, above.row, above.distance, -half.y, edges + 2 * stride)
            unsafe findEdges(row.row, below.row, below.distance, half.y, edges + 3 * stride)
            unsafe loops.alignCoveredPixels(
                .init(one: edges, other: edges + stride, overlap: overlap.x, size: Int32(outputWidth)), count: width,
                first: bounds, last: bounds + stride)
            unsafe loops.alignCoveredPixels(
                .init(
                    one: edges + 2 * stride, other: edges + 3 * stride, overlap: overlap.y, size: Int32(outputHeight)),
                count: width, first: bounds + 2 * stride, last: bounds + 3 * stride)
            unsafe body(CoveringRow(samples: row, pixels: pixels))
        }
    }

    /// Projects a row of samples into the color camera's picture.
    private func project(
        _ depth: DepthImage, _ scale: DepthScale, _ y: Int, _ rays: UnsafePointer<Float>, _ target: Projected
    ) {
        let metres = unsafe metres.row(y, of: depth, scale: scale, loops)
        unsafe loops.alignProject(
            dm_lens_row(
                metres: metres, rays: rays + 3 * width * y, count: width, columns: target.column, rows: target.row,
                distances: target.distance), lens)
        unsafe (target.distance[-1], target.distance[width]) = (0, 0)
    }
}

extension dm_lens {
    /// - Parameter position: of the scene's origin, as the camera sees it.
    fileprivate init(_ camera: CameraIntrinsics, at position: SIMD3<Double>) {
        let (lens, shift) = (camera.distortion, SIMD3<Float>(position))
        self.init(
            shift_x: shift.x, shift_y: shift.y, shift_z: shift.z, fx: Float(camera.fx), fy: Float(camera.fy),
            cx: Float(camera.cx), cy: Float(camera.cy), k1: Float(lens.k1), k2: Float(lens.k2), k3: Float(lens.k3),
            k4: Float(lens.k4), k5: Float(lens.k5), k6: Float(lens.k6), p1: Float(lens.p1), p2: Float(lens.p2),
            largest_radius_squared: Float(min(lens.largestRadiusSquared, 1e9)), is_distorted: !lens.isNone,
            is_inverse: lens.isInverse)
    }
}
