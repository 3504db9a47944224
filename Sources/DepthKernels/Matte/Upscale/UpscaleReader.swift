import CDepthKernels

/// Upscales the alpha of one frame, a few rows at a time, on one thread.
///
///     alpha = 255 · Σ weight · opacity, clipped to 0…255, rounded to nearest
///
/// In 16-bit fixed point, at half the cost of single precision, with an error below a quarter of a byte's step
/// (`toFixed`, `resample`, `filterVertically`).
///
/// Separable: rows of the map are first resampled to the video's width and kept in a ring buffer; each video row is a
/// weighted sum of up to four of them. Only mixed runs are computed; elsewhere alpha is known to be 0 or 255, and no
/// byte is written. Video pixels whose center lies outside the map are 0. A sample here is one of the opacity map: a
/// depth sample or a cell of several (`CellGrid`).
final class UpscaleReader: AlphaReader, MatteMemoryPart {
    /// Runs start and end at multiples of this many pixels, which suit the vectors of the loops and every chroma
    /// sample.
    private static let segmentWidth = 16

    private struct Frame {
        let map: OpacityMap
        let geometry: UpscaleGeometry
        let loops: Loops
        /// Words of a set of segments of a row.
        let segmentWords: Int

        var width: Int { geometry.placement.videoWidth }

        /// The columns of a run that are on the map.
        func columns(of run: AlphaRun) -> Range<Int> {
            let start = min(max(run.start, geometry.columns.lowerBound), run.end)
            return start..<max(min(run.end, geometry.columns.upperBound), start)
        }
    }

    private var frame: Frame?
    /// The row of the map in each slot of the ring buffer; -1 for none.
    private var keptRows = InlineArray<8, Int>(repeating: -1)
    /// The ring buffer of resampled rows.
    private var kept = Scratch<Int16>()
    /// For each row in the ring buffer, the segments of pixels that have been resampled.
    private var segments = Scratch<UInt64>()
    private var line = Scratch<Int16>()
    private var sets = Scratch<UInt64>()
    private var runs = Scratch<AlphaRun>()
    private var rowTaps = Scratch<dm_row_taps>()

    /// - Precondition: the map has the size of the geometry's grid.
    func begin(_ map: OpacityMap, _ geometry: UpscaleGeometry, _ loops: Loops) {
        let segmentCount = groups(of: UpscaleReader.segmentWidth, in: geometry.placement.videoWidth)
        frame = Frame(map: map, geometry: geometry, loops: loops, segmentWords: groups(of: 64, in: segmentCount))
        keptRows = InlineArray(repeating: -1)
    }

    /// - Precondition: `begin` came before; rows are read from top to bottom.
    func read(_ rows: Range<Int>, into alpha: UnsafeMutablePointer<UInt8>, stride: Int) -> AlphaRuns {
        guard let frame else { return .none }
        let found = findRuns(rows, frame)
        if found.isAnyMixed {
            let onMap = rows.clamped(to: frame.geometry.rows)
            for y in rows where !onMap.contains(y) {
                let row = unsafe alpha + (y &- rows.lowerBound) &* stride
                found.forEachMixed { run in unsafe (row + run.start).update(repeating: 0, count: run.end &- run.start) }
            }
            var start = onMap.lowerBound
            while start < onMap.upperBound {
                let end = endOfRows(from: start, to: onMap.upperBound, frame)
                unsafe write(
                    start..<end, found, to: alpha + (start &- rows.lowerBound) &* stride, stride: stride, frame)
                start = end
            }
        }
        return found
    }

    // MARK: Runs

    private func findRuns(_ rows: Range<Int>, _ frame: Frame) -> AlphaRuns {
        let (map, geometry) = (frame.map, frame.geometry)
        let capacity = map.width * 2 + 8
        let memory = unsafe runs.reserve(capacity, filler: AlphaRun(cover: .mixed, start: 0, end: 0))
        var list = unsafe AlphaRunList(memory, width: frame.width, alignment: UpscaleReader.segmentWidth)
        let onMap = rows.clamped(to: geometry.rows)
        if !onMap.isEmpty {
            list.append(.clear, to: geometry.columns.lowerBound)
            appendRuns(geometry.rowTaps.sources(of: onMap), isWhole: onMap == rows, frame, to: &list)
        }
        list.append(.clear, to: frame.width)
        return list.runs
    }

    /// - Parameter isWhole: true where all requested rows are on the map; otherwise no run is opaque in all of them.
    private func appendRuns(_ sources: Range<Int>, isWhole: Bool, _ frame: Frame, to list: inout AlphaRunList) {
        let (map, geometry, count) = (frame.map, frame.geometry, frame.map.width)
        let sets = unsafe sets.reserve(2 * map.words, filler: 0)
        unsafe join(sources, of: map, into: sets)
        let (clear, opaque) = unsafe (BitRow(sets), BitRow(sets + map.words))
        var sample = 0
        while sample < count {
            let start = sample
            let isOpaque = opaque.contains(start)
            if !isOpaque && !clear.contains(start) {
                sample = min(clear.first(from: start, to: count), opaque.first(from: start, to: count))
                continue
            }
            sample = (isOpaque ? opaque : clear).firstMissing(from: start, to: count)
            if isOpaque && !isWhole { continue }
            let (first, end) = (geometry.firstClearOfLeft[start], geometry.firstReachingRight[sample])
            if first < end {
                list.append(.mixed, to: first)
                list.append(isOpaque ? .opaque : .clear, to: end)
            }
        }
        list.append(.mixed, to: geometry.columns.upperBound)
    }

    /// Intersects the sets of clear samples of some rows of the map, and those of opaque samples.
    private func join(_ rows: Range<Int>, of map: OpacityMap, into sets: UnsafeMutablePointer<UInt64>) {
        for word in stride(from: 0, to: 2 &* map.words, by: SampleWords.scalarCount) {
            var common = SampleWords(repeating: .max)
            for y in rows {
                unsafe common &= UnsafeRawPointer(map.clear(y).words + word).loadUnaligned(as: SampleWords.self)
            }
            unsafe UnsafeMutableRawPointer(sets + word).storeBytes(of: common, as: SampleWords.self)
        }
    }

    // MARK: Bytes

    /// The end of the rows that can be computed at a time, limited by the size of the ring buffer.
    private func endOfRows(from start: Int, to limit: Int, _ frame: Frame) -> Int {
        let taps = frame.geometry.rowTaps
        let sources = taps.sources(of: start)
        var (end, endOfSources) = (start &+ 1, sources.upperBound)
        while end < limit && end &- start < UpscaleGeometry.largestStrip {
            let next = taps.sources(of: end)
            // Stops before a gap in the rows of the map, which would be resampled for nothing.
            if next.upperBound &- sources.lowerBound > UpscaleGeometry.rowsKept || next.lowerBound > endOfSources {
                break
            }
            (end, endOfSources) = (end &+ 1, next.upperBound)
        }
        return end
    }

    /// Writes the mixed runs of some rows that are on the map.
    private func write(
        _ rows: Range<Int>, _ found: AlphaRuns, to alpha: UnsafeMutablePointer<UInt8>, stride: Int, _ frame: Frame
    ) {
        let (geometry, width) = (frame.geometry, frame.width)
        let kept = unsafe kept.reserve(width * UpscaleGeometry.rowsKept, filler: 0)
        for y in geometry.rowTaps.sources(of: rows) {
            unsafe resample(row: y, found, into: kept + UpscaleReader.slot(of: y) &* width, frame)
        }

        let any = unsafe UnsafePointer(kept)
        let none = unsafe dm_row_taps(rows: (any, any, any, any), weights: (0, 0, 0, 0))
        let taps = unsafe rowTaps.reserve(UpscaleGeometry.largestStrip, filler: none)
        for (index, y) in rows.enumerated() {
            let (samples, weights) = (geometry.rowTaps.sampleOfEachTap(of: y), geometry.rowTaps.weights[y])
            func row(_ tap: Int) -> UnsafePointer<Int16> {
                unsafe UnsafePointer(kept + UpscaleReader.slot(of: samples[tap]) &* width)
            }
            unsafe taps[index] = dm_row_taps(
                rows: (row(0), row(1), row(2), row(3)), weights: (weights[0], weights[1], weights[2], weights[3]))
        }
        found.forEachMixed { run in
            let columns = frame.columns(of: run)
            for row in 0..<rows.count {
                let target = unsafe alpha + row &* stride
                unsafe (target + run.start).update(repeating: 0, count: columns.lowerBound &- run.start)
                unsafe (target + columns.upperBound).update(repeating: 0, count: run.end &- columns.upperBound)
            }
            if columns.isEmpty { return }
            unsafe frame.loops.filterVertically(taps, rows: rows.count, columns: columns, into: alpha, stride: stride)
        }
    }

    /// The slot of a row of the map in the ring buffer.
    @inline(__always)
    private static func slot(of y: Int) -> Int { y & (UpscaleGeometry.rowsKept &- 1) }

    /// Resamples those parts of the mixed runs of a row of the map that have not been resampled yet. The row replaces
    /// an earlier one in its slot.
    private func resample(row y: Int, _ found: AlphaRuns, into target: UnsafeMutablePointer<Int16>, _ frame: Frame) {
        let slot = UpscaleReader.slot(of: y)
        let words =
            unsafe segments.reserve(frame.segmentWords * UpscaleGeometry.rowsKept, filler: 0) + slot
            &* frame.segmentWords
        if keptRows[slot] != y {
            keptRows[slot] = y
            unsafe words.update(repeating: 0, count: frame.segmentWords)
        }
        let (done, segmentWidth) = unsafe (BitRow(words), UpscaleReader.segmentWidth)
        found.forEachMixed { run in
            let columns = frame.columns(of: run)
            if columns.isEmpty { return }
            let end = groups(of: segmentWidth, in: columns.upperBound)
            var start = done.firstMissing(from: columns.lowerBound / segmentWidth, to: end)
            while start < end {
                let next = done.first(from: start, to: end)
                unsafe resample(
                    columns.clamped(to: (start &* segmentWidth)..<(next &* segmentWidth)), row: y, into: target, frame)
                done.insert(start..<next)
                start = done.firstMissing(from: next, to: end)
            }
        }
    }

    /// - Precondition: the columns are on the map.
    private func resample(
        _ columns: Range<Int>, row y: Int, into target: UnsafeMutablePointer<Int16>, _ frame: Frame
    ) {
        let (map, margin) = (frame.map, UpscaleGeometry.lineMargin)
        let line = unsafe line.reserve(map.paddedWidth + 2 * margin, filler: 0) + margin
        let blocks = frame.geometry.blocks(of: columns)
        for block in blocks {
            let place = unsafe line + block &* blockWidth
            switch map.cover(ofBlock: block, row: y) {
            case .clear: unsafe place.update(repeating: 0, count: blockWidth)
            case .opaque: unsafe place.update(repeating: .max, count: blockWidth)
            case .mixed: unsafe frame.loops.toFixed(map.row(y) + block &* blockWidth, count: blockWidth, into: place)
            }
        }
        if blocks.lowerBound == 0 { unsafe (line - margin).update(repeating: line[0], count: margin) }
        if blocks.upperBound == map.blocks &- 1 {
            let end = unsafe line + map.width
            unsafe end.update(repeating: end[-1], count: map.paddedWidth &- map.width &+ margin)
        }
        unsafe frame.geometry.columnTable.withUnsafeBufferPointer { table in
            guard let first = table.baseAddress else { return }
            let taps = unsafe dm_column_taps(
                first: first, weights01: first + frame.width, weights23: first + 2 &* frame.width)
            unsafe frame.loops.resample(line - margin, taps, columns: columns, into: target)
        }
    }
}
