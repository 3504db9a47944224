/// Draws a picture of a depth map, one pixel for each sample, at the map's place on a frame: nearest-neighbour
/// resampling.
///
/// Keeps its memory between frames and allocates none in the steady state.
package struct DepthOverlay: ~Copyable {
    private var columns = Scratch<Int32>()

    package init() {}

    /// Fills the first `width` × `height` pixels of `target`.
    ///
    /// - Parameters:
    ///   - samples: four bytes for each sample of the map.
    ///   - placement: the map's place on the video. The target shows all of the video, at a size of its own.
    ///   - outside: the pixel beside the map.
    package mutating func draw(
        _ samples: Plane, placement: DepthPlacement, into target: MutablePlane, width: Int, height: Int,
        outside: SIMD4<UInt8>
    ) {
        let width = min(width, target.rowBytes / 4)
        let height = min(height, target.rows)
        guard width > 0, height > 0, samples.rowBytes >= placement.depthWidth &* 4,
            samples.rows >= placement.depthHeight
        else { return }
        let outside = unsafe unsafeBitCast(outside, to: UInt32.self)
        let columns = unsafe columns.reserve(width, filler: -1)
        for x in 0..<width {
            let videoX = (Double(x) + 0.5) * Double(placement.videoWidth) / Double(width)
            unsafe columns[x] = sampleIndex(placement.depthPoint(videoX: videoX, videoY: 0).x, of: placement.depthWidth)
        }
        for y in 0..<height {
            let videoY = (Double(y) + 0.5) * Double(placement.videoHeight) / Double(height)
            let row = sampleIndex(placement.depthPoint(videoX: 0, videoY: videoY).y, of: placement.depthHeight)
            let into = unsafe target.row(y)
            guard row >= 0 else {
                for x in 0..<width { unsafe into.storeBytes(of: outside, toByteOffset: x &* 4, as: UInt32.self) }
                continue
            }
            let from = unsafe samples.row(Int(row))
            for x in 0..<width {
                let column = unsafe Int(columns[x])
                var pixel = outside
                if column >= 0 { pixel = unsafe from.loadUnaligned(fromByteOffset: column &* 4, as: UInt32.self) }
                unsafe into.storeBytes(of: pixel, toByteOffset: x &* 4, as: UInt32.self)
            }
        }
    }
}

/// The sample that contains a point; −1 beside the map.
func sampleIndex(_ place: Double, of count: Int) -> Int32 {
    guard place >= 0, place < Double(count) else { return -1 }
    return Int32(truncatingIfNeeded: floorIndex(place, in: 0...(count - 1)))
}
