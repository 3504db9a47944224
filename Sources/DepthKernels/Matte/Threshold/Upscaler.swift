import CDepthKernels

/// The stage that upscales the matte to the video's size.
///
///     alpha = 255 · Σ weight · opacity, clipped to 0…255, rounded to nearest
///
/// Separable: the rows of the map that a strip of video rows depends on are resampled to the video's width; each video row is
/// a weighted sum of four of them. Only mixed segments are computed. Video pixels whose center lies outside the map are 0.
///
/// Source: step 5 of Apple's sample, `CIBicubicScaleTransform` with B = 0 and C = 0.75.
struct Upscaler: ~Copyable {
    private var geometry: UpscaleGeometry?
    private var alpha = Scratch<UInt8>()
    private var covers = Scratch<Cover>()

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
        if known == nil { unsafe memory.update(repeating: .mixed, count: count) }
        let covers = unsafe AlphaCovers(memory, width: width, stripOfRow: geometry.stripOfRow)
        let plane = unsafe MutablePlane(packed: alpha, width: width, height: height)
        bands.share(
            UpscaleRows(map: map, geometry: geometry, alpha: plane, covers: covers, loops: loops), rows: height,
            width: width, rowAlignment: geometry.rowsPerStrip)
        return FinishedMatte(alpha: plane.readOnly, covers: covers, followsVideo: false, bands: bands)
    }
}

private final class UpscaleMemory: MatteMemoryPart {
    var rows = Scratch<Float>()
    var words = Scratch<UInt64>()
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
        let words = unsafe memory.words.reserve(2 * map.clear.stride, filler: 0)
        let (clear, opaque) = unsafe (BitRow(words), BitRow(words + map.clear.stride))
        for y in stride(from: rows.lowerBound, to: rows.upperBound, by: geometry.rowsPerStrip) {
            let strip = y..<min(y &+ geometry.rowsPerStrip, rows.upperBound)
            let covers = unsafe covers.strip(y / geometry.rowsPerStrip)
            let onMap = strip.clamped(to: geometry.rows)
            let sources = onMap.isEmpty ? 0..<0 : geometry.rowTaps.sources(of: onMap)
            unsafe map.clear.intersect(rows: sources, into: clear.words)
            unsafe map.opaque.intersect(rows: sources, into: opaque.words)
            var mixed = 0..<0
            for index in geometry.segments.indices {
                let cover = cover(ofSegment: index, isInside: onMap == strip, clear: clear, opaque: opaque)
                // Those that are so since the last frame are not written again.
                if cover != .mixed, unsafe covers[index] != cover { fill(index, strip, with: cover) }
                unsafe covers[index] = cover
                if cover == .mixed { mixed = (mixed.isEmpty ? index : mixed.lowerBound)..<(index &+ 1) }
                if mixed.isEmpty || cover == .mixed && index &+ 1 < geometry.segments.count { continue }
                draw(self.covers.pixels(mixed), strip, onMap, sources, memory)
                mixed = 0..<0
            }
        }
    }

    /// The cover of a segment of a strip.
    ///
    /// - Parameters:
    ///   - isInside: true where all rows of the strip are on the map.
    ///   - clear, opaque: the columns that are so in all rows of the map that the strip depends on; all where there are none.
    private func cover(ofSegment index: Int, isInside: Bool, clear: BitRow, opaque: BitRow) -> Cover {
        guard let segment = geometry.segments[index] else { return .clear }
        if clear.containsAll(segment.samples) { return .clear }
        return isInside && segment.isInside && opaque.containsAll(segment.samples) ? .opaque : .mixed
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

    /// - Parameters:
    ///   - onMap: the rows of the strip that are on the map.
    ///   - sources: the rows of the map that these depend on.
    private func draw(
        _ pixels: Range<Int>, _ strip: Range<Int>, _ onMap: Range<Int>, _ sources: Range<Int>, _ memory: UpscaleMemory
    ) {
        let columns = pixels.clamped(to: geometry.columns)
        let stride = alpha.rowBytes + loopOverrun
        let rows = unsafe memory.rows.reserve(sources.count * stride, filler: 0)
        for (index, y) in sources.enumerated() { unsafe resample(columns, row: y, into: rows + index &* stride) }
        for y in strip {
            let bytes = unsafe bytes(row: y)
            let drawn = onMap.contains(y) ? columns : pixels.lowerBound..<pixels.lowerBound
            unsafe (bytes + pixels.lowerBound).update(repeating: 0, count: drawn.lowerBound &- pixels.lowerBound)
            unsafe (bytes + drawn.upperBound).update(repeating: 0, count: pixels.upperBound &- drawn.upperBound)
            if drawn.isEmpty { continue }
            let first = geometry.rowTaps.first[y]
            func row(_ tap: Int) -> UnsafePointer<Float> {
                let sample = min(max(first &+ tap, sources.lowerBound), sources.upperBound &- 1)
                return unsafe UnsafePointer(rows + (sample &- sources.lowerBound) &* stride)
            }
            unsafe loops.filterVertically(
                (row(0), row(1), row(2), row(3)), weights: 255 * geometry.rowTaps.weights[y], columns: drawn,
                into: bytes)
        }
    }

    /// Computes the opacities of some columns of the video from a row of the map.
    ///
    /// - Precondition: there is at least one column; the center of each lies on the map.
    private func resample(_ columns: Range<Int>, row y: Int, into target: UnsafeMutablePointer<Float>) {
        let firsts = geometry.columnTaps.first
        unsafe geometry.columnStarts.withUnsafeBufferPointer { starts in
            unsafe geometry.columnWeights.withUnsafeBufferPointer { weights in
                guard let starts = starts.baseAddress, let weights = weights.baseAddress else { return }
                let taps = unsafe dm_resample_taps(
                    starts: starts, weights: weights, stride: alpha.rowBytes,
                    first: firsts[columns.lowerBound] &+ 2, end: firsts[columns.upperBound &- 1] &+ 3)
                unsafe loops.resample(map.row(y) - 2, taps, columns: columns, into: target)
            }
        }
    }
}
