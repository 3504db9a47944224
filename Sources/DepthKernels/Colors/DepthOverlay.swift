/// Draws a picture of a depth map, one pixel for each sample, at the map's place on a frame: nearest-neighbour
/// resampling.
///
/// Keeps its memory between frames and allocates none in the steady state.
package struct DepthOverlay: ~Copyable {
    private var columns = SampleColumns()

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
        let columns = unsafe columns.columns(of: placement, width: width)
        for y in 0..<height {
            let row = placement.row(y, of: height)
            let into = unsafe target.row(y)
            guard row >= 0 else {
                for x in 0..<width { unsafe into.storeBytes(of: outside, toByteOffset: x &* 4, as: UInt32.self) }
                continue
            }
            let from = unsafe samples.row(row)
            for x in 0..<width {
                let column = unsafe Int(columns[x])
                var pixel = outside
                if column >= 0 { pixel = unsafe from.loadUnaligned(fromByteOffset: column &* 4, as: UInt32.self) }
                unsafe into.storeBytes(of: pixel, toByteOffset: x &* 4, as: UInt32.self)
            }
        }
    }
}
