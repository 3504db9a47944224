/// The stage that upscales the matte to the video's size, row by row as it is read (`UpscaleReader`).
///
/// The state is the last frame's opacities, for the readers, and the geometry, which depends on sizes and settings
/// alone.
///
/// Source: step 5 of Apple's sample, `CIBicubicScaleTransform` with B = 0 and C = 0.75.
struct Upscaler {
    private var geometry: UpscaleGeometry?
    /// Nil where the alpha of the whole frame is 0.
    private var opacities: OpacityMap?

    /// Sets the alpha of the frame to 0.
    mutating func hideAll() { opacities = nil }

    /// - Precondition: the map has the size of the grid, and the grid is one of the placement's depth map.
    mutating func show(_ opacities: OpacityMap, on grid: CellGrid, _ placement: DepthPlacement, _ upscale: Upscale) {
        if geometry?.placement != placement || geometry?.upscale != upscale || geometry?.grid != grid {
            geometry = UpscaleGeometry(placement: placement, upscale: upscale, grid: grid)
        }
        self.opacities = opacities
    }

    /// The preferred number of rows to be read at a time.
    var rowsPerStrip: Int {
        guard opacities != nil, let geometry else { return rowsPerPlainStrip }
        return geometry.rowsPerStrip
    }

    /// The reader of the frame's alpha on one thread.
    ///
    /// - Returns: nil where the alpha of the whole frame is 0.
    func reader(_ memory: MatteMemory, _ loops: Loops) -> (any AlphaReader)? {
        guard let opacities, let geometry else { return nil }
        let reader = memory.part(UpscaleReader.self)
        reader.begin(opacities, geometry, loops)
        return reader
    }
}
