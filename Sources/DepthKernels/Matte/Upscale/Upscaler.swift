import CDepthKernels

/// The stage that upscales the matte to the video's size.
///
///     alpha = 255 · Σ weight · opacity, clipped to 0…255, rounded to nearest
///
/// In 16-bit fixed point, at half the cost of single precision, with an error below a quarter of a byte's step
/// (`toFixed`, `resample`, `filterVertically`). Separable: the rows of the map that a strip of video rows depends on are
/// resampled to the video's width; each video row is a weighted sum of up to four of them. Only mixed segments are
/// computed. Video pixels whose center lies outside the map are 0.
///
/// Source: step 5 of Apple's sample, `CIBicubicScaleTransform` with B = 0 and C = 0.75.
struct Upscaler: ~Copyable {
    private var geometry: UpscaleGeometry?
    private var alpha = Scratch<UInt8>()
    private var covers = Scratch<Cover>()
    /// True while the covers are those of the alpha on the geometry.
    private var areCoversKnown = false
    /// The one band of a clear frame.
    private var clearRows: [Int32] = []

    /// - Precondition: the map has the size of the grid, and the grid is one of the placement's depth map.
    mutating func upscale(
        _ map: OpacityMap, on grid: CellGrid, _ placement: DepthPlacement, _ upscale: Upscale, _ bands: MatteBands,
        _ loops: Loops
    ) -> FinishedMatte {
        let (width, height) = (placement.videoWidth, placement.videoHeight)
        let alpha = unsafe alpha.reserve(width * height, filler: 0)
        let known = geometry.flatMap { $0.fits(placement, upscale, grid) ? $0 : nil }
        let geometry = known ?? UpscaleGeometry(placement: placement, upscale: upscale, grid: grid)
        self.geometry = geometry
        let count = groups(of: geometry.rowsPerStrip, in: height) * AlphaCovers.segments(width: width)
        let memory = unsafe covers.reserve(count, filler: .mixed)
        if known == nil || !areCoversKnown { unsafe memory.update(repeating: .mixed, count: count) }
        areCoversKnown = true
        let covers = unsafe AlphaCovers(memory, width: width, bandOfRow: geometry.stripOfRow)
        let plane = unsafe MutablePlane(packed: alpha, width: width, height: height)
        bands.share(
            UpscaleRows(map: map, geometry: geometry, alpha: plane, covers: covers, loops: loops), rows: height,
            width: width, rowAlignment: geometry.rowsPerStrip)
        return FinishedMatte(alpha: plane.readOnly, covers: covers, followsVideo: false, bands: bands)
    }

    /// The alpha of a frame without a person: 0 everywhere.
    mutating func clear(width: Int, height: Int, _ bands: MatteBands) -> FinishedMatte {
        areCoversKnown = false
        let alpha = unsafe alpha.reserve(width * height, filler: 0)
        unsafe alpha.update(repeating: 0, count: width * height)
        let segments = AlphaCovers.segments(width: width)
        let covers = unsafe covers.reserve(segments, filler: .clear)
        unsafe covers.update(repeating: .clear, count: segments)
        if clearRows.count != height { clearRows = [Int32](repeating: 0, count: height) }
        return unsafe FinishedMatte(
            alpha: MutablePlane(packed: alpha, width: width, height: height).readOnly,
            covers: AlphaCovers(covers, width: width, bandOfRow: clearRows),
            followsVideo: false, bands: bands)
    }
}

private final class UpscaleMemory: MatteMemoryPart {
    var line = Scratch<Int16>()
    var rows = Scratch<Int16>()
}

/// Upscales strips of rows.
private struct UpscaleRows: BandWork {
    let map: OpacityMap
    let geometry: UpscaleGeometry
    let alpha: MutablePlane
    let covers: AlphaCovers
    let loops: Loops

    func work(_ rows: Range<Int>, _ memory: MatteMemory) {
        let memory = memory.part(UpscaleMemory.self)
        for y in stride(from: rows.lowerBound, to: rows.upperBound, by: geometry.rowsPerStrip) {
            let strip = y..<min(y &+ geometry.rowsPerStrip, rows.upperBound)
            let covers = unsafe covers.band(y / geometry.rowsPerStrip)
            let onMap = strip.clamped(to: geometry.rows)
            let isMixed = { segment in
                let cover = cover(ofSegment: segment, strip, onMap)
                // Those that are so since the last frame are not written again.
                if cover != .mixed, unsafe covers[segment] != cover { fill(segment, strip, with: cover) }
                unsafe covers[segment] = cover
                return cover == .mixed
            }
            forEachRun(of: geometry.segments.count, where: isMixed) { run in
                draw(self.covers.pixels(run), strip, onMap, memory)
            }
        }
    }

    private func cover(ofSegment index: Int, _ strip: Range<Int>, _ onMap: Range<Int>) -> Cover {
        guard let segment = geometry.segments[index], !onMap.isEmpty else { return .clear }
        let sources = geometry.rowTaps.sources(of: onMap)
        let cover = map.cover(segment.blocks, row: sources.lowerBound)
        for y in sources where map.cover(segment.blocks, row: y) != cover { return .mixed }
        return cover == .opaque && (!segment.isInside || onMap != strip) ? .mixed : cover
    }

    private func bytes(row y: Int) -> UnsafeMutablePointer<UInt8> {
        unsafe alpha.row(y).assumingMemoryBound(to: UInt8.self)
    }

    private func fill(_ segment: Int, _ rows: Range<Int>, with cover: Cover) {
        let pixels = covers.pixels(segment..<(segment &+ 1))
        for y in rows {
            unsafe (bytes(row: y) + pixels.lowerBound)
                .update(repeating: cover == .opaque ? 255 : 0, count: pixels.count)
        }
    }

    /// - Parameter onMap: the rows of the strip that are on the map.
    private func draw(_ pixels: Range<Int>, _ strip: Range<Int>, _ onMap: Range<Int>, _ memory: UpscaleMemory) {
        let (columns, width) = (pixels.clamped(to: geometry.columns), alpha.rowBytes)
        let sources = geometry.rowTaps.sources(of: onMap)
        let rows = unsafe memory.rows.reserve(sources.count * width, filler: 0)
        for (index, y) in sources.enumerated() {
            unsafe resample(columns, row: y, into: rows + index &* width, memory)
        }
        for y in strip {
            let bytes = unsafe bytes(row: y)
            let drawn = onMap.contains(y) ? columns : pixels.lowerBound..<pixels.lowerBound
            unsafe (bytes + pixels.lowerBound).update(repeating: 0, count: drawn.lowerBound &- pixels.lowerBound)
            unsafe (bytes + drawn.upperBound).update(repeating: 0, count: pixels.upperBound &- drawn.upperBound)
            if drawn.isEmpty { continue }
            let (samples, weights) = (geometry.rowTaps.sampleOfEachTap(of: y), geometry.rowTaps.weights[y])
            func row(_ tap: Int) -> UnsafePointer<Int16> {
                unsafe UnsafePointer(rows + (samples[tap] &- sources.lowerBound) &* width)
            }
            unsafe loops.filterVertically(
                dm_row_taps(
                    rows: (row(0), row(1), row(2), row(3)), weights: (weights[0], weights[1], weights[2], weights[3])),
                columns: drawn, into: bytes)
        }
    }

    /// Computes the values of some columns of the video from a row of the map.
    ///
    /// - Precondition: there is at least one column; the center of each lies on the map.
    private func resample(
        _ columns: Range<Int>, row y: Int, into target: UnsafeMutablePointer<Int16>, _ memory: UpscaleMemory
    ) {
        // Room for the seven numbers that are read beyond the last tap.
        let line = unsafe memory.line.reserve(map.stride + blockWidth, filler: 0)
        let samples = geometry.columnTaps.sources(of: columns)
        let start = samples.lowerBound
        unsafe loops.toFixed(
            map.row(y) + start - OpacityMap.margin, count: samples.count &+ 2 &* OpacityMap.margin, into: line + start)
        unsafe geometry.columnTable.withUnsafeBufferPointer { table in
            guard let first = table.baseAddress else { return }
            let taps = unsafe dm_column_taps(
                first: first, weights01: first + alpha.rowBytes, weights23: first + 2 &* alpha.rowBytes)
            unsafe loops.resample(line, taps, columns: columns, into: target)
        }
    }
}
