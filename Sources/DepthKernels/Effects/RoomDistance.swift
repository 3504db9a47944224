/// The blur of each part of the room by its distance from the plane in focus.
///
/// A lens blurs a point at distance z by a circle that grows as |1/f − 1/z|, with f the distance in focus. Here it is
/// relative to the blur at infinity:
///
///     c = |1 − f / z|,   at most 1
///
/// Source: the thin lens equation. Units: metres. Holes: 1, with a sixteenth of the weight of a measured sample. The
/// person does not count, nor do samples up to the cutoff in the cells next to the person: there the person's outline
/// in the depth map is too wide. Nine samples of each cell of 8…32 pixels are averaged, the grid is convolved
/// (`PictureCells`) and interpolated linearly. Without samples c is 1.
///
/// Keeps its memory between frames and allocates none in the steady state. Not for two threads at once.
package final class RoomDistance {
    private let loops: Loops
    private var touched = Scratch<Bool>()
    private var sums = Scratch<Float>()
    private var means = Scratch<Float>()
    private var line = Scratch<Float>()
    private var bytes = Scratch<UInt8>()

    /// Samples along each side of a cell.
    private static let samples = 3
    private static let holeWeight: Float = 1 / 16

    package init(loops: Loops = bestLoops) { self.loops = loops }

    /// The focus of the lens, in metres.
    package struct Focus: Sendable {
        package let distance: Double
        /// The depth up to which samples next to the person may be the person's.
        package let cutoff: Double

        package init(distance: Double, cutoff: Double) {
            self.distance = distance
            self.cutoff = cutoff
        }

        /// The blur c, relative to that at infinity.
        func blur(at metres: Double) -> Float {
            let share = 1 - distance / metres
            return distance > 0 ? Float(min(share < 0 ? -share : share, 1)) : 1
        }
    }

    /// Opacities to blend three pictures of the room: the first over the second, and both over the third, each more
    /// blurred than the one before.
    package struct Layers {
        /// Of the first picture over the second: 255 at c = 0, and 0 from c = ½ on.
        package let first: Plane
        /// Of both over the third: 255 up to c = ½, and 0 at c = 1.
        package let second: Plane
    }

    /// Computes the opacities of a frame.
    ///
    /// - Parameters:
    ///   - placement: the map's place on the video.
    ///   - alpha: the person's share of each pixel.
    /// - Returns: planes of the video's size, valid until the next call; nil where alpha is smaller than the video.
    package func layers(
        of depth: DepthImage, scale: DepthScale, _ placement: DepthPlacement, focus: Focus, alpha: Plane
    ) -> Layers? {
        let cells = PictureCells(width: placement.videoWidth, height: placement.videoHeight)
        guard alpha.rowBytes >= cells.width, alpha.rows >= cells.height else { return nil }
        let sums = unsafe sums.reserve(2 * cells.count, filler: 0)
        let means = unsafe means.reserve(2 * cells.paddedCount, filler: 0)
        let touched = unsafe touched.reserve(cells.count, filler: false)
        unsafe findPerson(alpha, cells, touched)
        /// The weighted sum of the blur c over the samples of a cell, and the sum of the weights.
        func weightedSum(column: Int, row: Int, isNearPerson: Bool) -> (sum: Float, weight: Float) {
            var (sum, weight): (Float, Float) = (0, 0)
            let count = RoomDistance.samples
            for j in 0..<count {
                let y = row &* cells.size &+ (2 &* j &+ 1) &* cells.size / (2 &* count)
                if y >= cells.height { continue }
                let opacities = unsafe alpha.row(y).assumingMemoryBound(to: UInt8.self)
                for i in 0..<count {
                    let x = column &* cells.size &+ (2 &* i &+ 1) &* cells.size / (2 &* count)
                    guard x < cells.width, unsafe opacities[x] < 128 else { continue }
                    let point = placement.depthPoint(videoX: Double(x) + 0.5, videoY: Double(y) + 0.5)
                    let metres = depth.metres(
                        x: floorIndex(point.x, in: -1...depth.width), y: floorIndex(point.y, in: -1...depth.height),
                        scale: scale)
                    guard let metres else {
                        sum += RoomDistance.holeWeight
                        weight += RoomDistance.holeWeight
                        continue
                    }
                    if isNearPerson && metres <= focus.cutoff { continue }
                    sum += focus.blur(at: metres)
                    weight += 1
                }
            }
            return (sum, weight)
        }
        for row in 0..<cells.rows {
            for column in 0..<cells.columns {
                let isNear = unsafe isAny(touched, around: (column, row), cells)
                let (sum, weight) = weightedSum(column: column, row: row, isNearPerson: isNear)
                let cell = row &* cells.columns &+ column
                unsafe sums[cell] = sum
                unsafe sums[cells.count &+ cell] = weight
            }
        }
        let length = (cells.columns + 1) * cells.size
        let line = unsafe line.reserve(max(cells.lineCount, cells.paddedColumns + length), filler: 0)
        for plane in 0..<2 {
            unsafe cells.convolve(
                sums + plane &* cells.count, into: means + plane &* cells.paddedCount, line: line, loops)
        }
        for cell in 0..<cells.paddedCount {
            let weight = unsafe means[cells.paddedCount &+ cell]
            unsafe means[cell] = weight > 0 ? min(means[cell] / weight, 1) : 1
        }
        return unsafe enlarge(means, cells, line: line)
    }

    /// Marks the cells with an alpha above 0.
    private func findPerson(_ alpha: Plane, _ cells: PictureCells, _ touched: UnsafeMutablePointer<Bool>) {
        unsafe touched.update(repeating: false, count: cells.count)
        for y in 0..<cells.height {
            let row = unsafe alpha.row(y).assumingMemoryBound(to: UInt8.self)
            let target = unsafe touched + y / cells.size &* cells.columns
            for cell in 0..<cells.columns {
                var any: UInt8 = 0
                for x in (cell &* cells.size)..<min((cell &+ 1) &* cells.size, cells.width) { unsafe any |= row[x] }
                if any > 0 { unsafe target[cell] = true }
            }
        }
    }

    private func isAny(
        _ touched: UnsafePointer<Bool>, around cell: (column: Int, row: Int), _ cells: PictureCells
    ) -> Bool {
        for y in max(cell.row &- 1, 0)...min(cell.row &+ 1, cells.rows &- 1) {
            for x in max(cell.column &- 1, 0)...min(cell.column &+ 1, cells.columns &- 1) {
                if unsafe touched[y &* cells.columns &+ x] { return true }
            }
        }
        return false
    }

    private func enlarge(
        _ shares: UnsafePointer<Float>, _ cells: PictureCells, line: UnsafeMutablePointer<Float>
    ) -> Layers {
        let size = cells.width * cells.height
        let bytes = unsafe bytes.reserve(2 * size, filler: 0)
        let pixels = unsafe line + cells.paddedColumns
        for y in 0..<cells.height {
            let (above, below, share) = cells.rows(around: y, cellHeight: cells.size)
            unsafe loops.interpolate(
                shares + above &* cells.paddedColumns, shares + below &* cells.paddedColumns, share: share,
                columns: 0..<cells.paddedColumns, into: line)
            unsafe loops.enlargeCells(line, intervals: cells.columns &+ 1, size: cells.size, into: pixels)
            unsafe loops.splitShares(
                pixels + cells.size / 2, count: cells.width, first: bytes + y &* cells.width,
                second: bytes + (size &+ y &* cells.width))
        }
        return unsafe Layers(
            first: MutablePlane(packed: bytes, width: cells.width, height: cells.height).readOnly,
            second: MutablePlane(packed: bytes + size, width: cells.width, height: cells.height).readOnly)
    }
}
