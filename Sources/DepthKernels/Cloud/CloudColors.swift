/// The picture that a cloud is colored with: four bytes a pixel, in the output's order.
@safe
package struct CloudPicture {
    let plane: Plane
    let placement: DepthPlacement

    /// - Parameter placement: the depth map's place on the picture.
    /// - Returns: nil if the plane is smaller than the picture.
    package init?(plane: Plane, placement: DepthPlacement) {
        let (rowBytes, overflow) = placement.videoWidth.multipliedReportingOverflow(by: 4)
        guard !overflow, rowBytes <= plane.rowBytes, placement.videoHeight <= plane.rows else { return nil }
        self.plane = plane
        self.placement = placement
    }
}

/// Looks up the pixel of the picture at the center of each sample of a depth map, clamped to the picture.
struct CloudColors: ~Copyable {
    private var row = Scratch<UInt32>()
    private var columns = Scratch<Int32>()
    private var columnsKey: DepthPlacement?

    /// The colors of the samples of row `y`, four bytes each. The row is padded to a multiple of 8 samples.
    mutating func row(_ y: Int, of picture: CloudPicture) -> UnsafeRawPointer {
        let placement = picture.placement
        let width = placement.depthWidth
        let source = unsafe picture.plane.row(line(y, of: placement))
        if placement.showsEachPixelOnce && width % 8 == 0 { return unsafe source }
        let columns = unsafe columns(of: placement)
        let colors = unsafe row.reserve(width + DepthMetres.padding, filler: 0)
        for x in 0..<width {
            let offset = unsafe Int(columns[x]) &* 4
            unsafe colors[x] = source.loadUnaligned(fromByteOffset: offset, as: UInt32.self)
        }
        return UnsafeRawPointer(colors)
    }

    private func line(_ y: Int, of placement: DepthPlacement) -> Int {
        let at = placement.top + (Double(y) + 0.5) * placement.height / Double(placement.depthHeight)
        return floorIndex(at, in: 0...(placement.videoHeight - 1))
    }

    private mutating func columns(of placement: DepthPlacement) -> UnsafePointer<Int32> {
        let columns = unsafe columns.reserve(placement.depthWidth, filler: 0)
        if placement != columnsKey {
            for x in 0..<placement.depthWidth {
                let at = placement.left + (Double(x) + 0.5) * placement.width / Double(placement.depthWidth)
                unsafe columns[x] = Int32(clamping: floorIndex(at, in: 0...(placement.videoWidth - 1)))
            }
            columnsKey = placement
        }
        return unsafe UnsafePointer(columns)
    }
}

extension DepthPlacement {
    /// True where the map has the picture's size and place, so that sample (x, y) lies on pixel (x, y).
    fileprivate var showsEachPixelOnce: Bool {
        depthWidth == videoWidth && depthHeight == videoHeight && left == 0 && top == 0
            && width == Double(videoWidth) && height == Double(videoHeight)
    }
}
