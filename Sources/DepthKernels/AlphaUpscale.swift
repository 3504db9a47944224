/// From opacities at the depth map's size to bytes of alpha at the video's.
///
///     alpha = 255 · Σ weight · opacity, clipped to 0…255, rounded to nearest (halves to even)
///
/// Separable: depth rows are stretched to the video's width first, the last four of them are kept, and each video row
/// is a weighted sum of up to four. Video pixels whose centre lies outside the map are 0.
struct AlphaUpscale: ~Copyable {
    private var geometry: Geometry?
    private var stretchedRows = Scratch<Float>()

    /// Rows of the depth map that a video row can depend on.
    static let rowsKept = 4

    /// Fills `alpha`, which has `placement.videoWidth` bytes in a row and no padding.
    ///
    /// - Precondition: map and alpha have the sizes of the placement.
    mutating func fill(
        _ alpha: UnsafeMutablePointer<UInt8>, from map: OpacityMap, placement: DepthPlacement, upscale: Upscale
    ) {
        if geometry?.placement != placement || geometry?.upscale != upscale {
            geometry = Geometry(placement: placement, upscale: upscale)
        }
        guard let geometry else { return }
        let width = placement.videoWidth
        let kept = unsafe stretchedRows.reserve(width * AlphaUpscale.rowsKept, filler: 0)
        let pass = unsafe UpscalePass(map: map, geometry: geometry, kept: kept, width: width)
        unsafe alpha.update(repeating: 0, count: width * geometry.rows.lowerBound)
        var stretched = 0
        for y in geometry.rows {
            let rows = geometry.sourceRows(of: y)
            // Placement never mirrors, so the rows that are needed only move down.
            stretched = max(stretched, rows.lowerBound)
            while stretched < rows.upperBound {
                pass.stretch(row: stretched)
                stretched &+= 1
            }
            unsafe pass.write(row: y, from: rows, to: alpha + y &* width)
        }
        let below = placement.videoHeight - geometry.rows.upperBound
        unsafe (alpha + geometry.rows.upperBound &* width).update(repeating: 0, count: below * width)
    }

    /// What depends on the sizes and the placement only.
    fileprivate struct Geometry {
        let placement: DepthPlacement
        let upscale: Upscale
        /// Video pixels whose centre lies on the map.
        let columns: Range<Int>
        let rows: Range<Int>
        let horizontal: AxisWeights
        let vertical: AxisWeights
        /// For each edge between blocks of the map, the first video column that needs nothing on its left…
        let firstBehind: [Int]
        /// …and the first one that needs something on its right.
        let firstAcross: [Int]

        init(placement: DepthPlacement, upscale: Upscale) {
            self.placement = placement
            self.upscale = upscale
            let kernel: ResampleKernel = upscale == .bicubic ? .cubic : .linear
            let scaleX = Double(placement.depthWidth) / placement.width
            let scaleY = Double(placement.depthHeight) / placement.height
            horizontal = AxisWeights(
                kernel, count: placement.videoWidth, sourceCount: placement.depthWidth, scale: scaleX,
                origin: -placement.left * scaleX)
            vertical = AxisWeights(
                kernel, count: placement.videoHeight, sourceCount: placement.depthHeight, scale: scaleY,
                origin: -placement.top * scaleY)
            columns = Geometry.pixels(placement.videoWidth, onMapOf: Double(placement.depthWidth)) {
                placement.depthPoint(videoX: $0, videoY: 0).x
            }
            rows = Geometry.pixels(placement.videoHeight, onMapOf: Double(placement.depthHeight)) {
                placement.depthPoint(videoX: 0, videoY: $0).y
            }
            let edges = (0...groups(of: blockWidth, in: placement.depthWidth)).map { $0 * blockWidth }
            (firstBehind, firstAcross) = Geometry.crossings(edges, weights: horizontal, columns: columns)
        }

        /// The pixels whose centre `position` puts into 0..<`extent`.
        private static func pixels(
            _ count: Int, onMapOf extent: Double, position: (Double) -> Double
        ) -> Range<Int> {
            let start = partitionPoint(count) { position(Double($0) + 0.5) >= 0 }
            return start..<max(start, partitionPoint(count) { position(Double($0) + 0.5) >= extent })
        }

        private static func crossings(
            _ edges: [Int], weights: AxisWeights, columns: Range<Int>
        ) -> (behind: [Int], across: [Int]) {
            func first(where predicate: (Int) -> Bool) -> Int {
                columns.lowerBound + partitionPoint(columns.count) { predicate(columns.lowerBound + $0) }
            }
            let behind = edges.map { edge in first { weights.first[$0] >= edge } }
            let across = edges.map { edge in first { weights.first[$0] + weights.taps > edge } }
            return (behind, across)
        }

        func sourceRows(of y: Int) -> Range<Int> {
            vertical.first[y]..<(vertical.first[y] &+ vertical.taps)
        }
    }
}

/// One frame's work.
@safe
private struct UpscalePass {
    let map: OpacityMap
    let geometry: AlphaUpscale.Geometry
    /// A ring of `rowsKept` rows of video width.
    private let kept: UnsafeMutablePointer<Float>
    private let width: Int

    init(map: OpacityMap, geometry: AlphaUpscale.Geometry, kept: UnsafeMutablePointer<Float>, width: Int) {
        self.map = map
        self.geometry = geometry
        unsafe self.kept = kept
        self.width = width
    }

    private func keptRow(_ y: Int) -> UnsafeMutablePointer<Float> {
        unsafe kept + (y & (AlphaUpscale.rowsKept &- 1)) &* width
    }

    /// Stretches one row of the map to the video's width.
    func stretch(row y: Int) {
        let source = unsafe map.row(y)
        let target = unsafe keptRow(y)
        forEachSpan(rows: y..<(y &+ 1)) { cover, columns in
            switch cover {
            case .clear: unsafe (target + columns.lowerBound).update(repeating: 0, count: columns.count)
            case .opaque: unsafe (target + columns.lowerBound).update(repeating: 1, count: columns.count)
            case .mixed: unsafe stretch(source, to: target, columns: columns)
            }
        }
    }

    private func stretch(_ source: UnsafePointer<Float>, to target: UnsafeMutablePointer<Float>, columns: Range<Int>) {
        let taps = geometry.horizontal.taps
        unsafe geometry.horizontal.first.withUnsafeBufferPointer { first in
            unsafe geometry.horizontal.weights.withUnsafeBufferPointer { weights in
                for x in columns {
                    var sum: Float = 0
                    for tap in 0..<taps {
                        sum += unsafe source[first[x] &+ tap] * weights[x &* taps &+ tap]
                    }
                    unsafe target[x] = sum
                }
            }
        }
    }

    /// Writes one video row from the stretched rows it depends on.
    func write(row y: Int, from rows: Range<Int>, to target: UnsafeMutablePointer<UInt8>) {
        let columns = geometry.columns
        unsafe target.update(repeating: 0, count: columns.lowerBound)
        forEachSpan(rows: rows) { cover, columns in
            switch cover {
            case .clear: unsafe (target + columns.lowerBound).update(repeating: 0, count: columns.count)
            case .opaque: unsafe (target + columns.lowerBound).update(repeating: 255, count: columns.count)
            case .mixed: unsafe mix(row: y, from: rows, to: target, columns: columns)
            }
        }
        unsafe (target + columns.upperBound).update(repeating: 0, count: width &- columns.upperBound)
    }

    private func mix(row y: Int, from rows: Range<Int>, to target: UnsafeMutablePointer<UInt8>, columns: Range<Int>) {
        func tap(_ index: Int) -> (row: UnsafeMutablePointer<Float>, weight: Float) {
            // Maps of fewer than four rows, and two-tap weights, fill the rest with nothing of a row that exists.
            guard index < rows.count else { return unsafe (keptRow(rows.lowerBound), 0) }
            return unsafe (
                keptRow(rows.lowerBound &+ index), 255 * geometry.vertical.weights[y &* rows.count &+ index]
            )
        }
        let (row0, weight0) = unsafe tap(0)
        let (row1, weight1) = unsafe tap(1)
        let (row2, weight2) = unsafe tap(2)
        let (row3, weight3) = unsafe tap(3)
        for x in columns {
            let sum = unsafe row0[x] * weight0 + row1[x] * weight1 + row2[x] * weight2 + row3[x] * weight3
            unsafe target[x] = roundedByte(sum)
        }
    }

    /// Calls `body` for stretches of video columns, from left to right, that together are all columns on the map. What
    /// it calls clear or opaque is so in all of `rows`.
    @inline(__always)
    private func forEachSpan(rows: Range<Int>, _ body: (_ cover: Cover, _ columns: Range<Int>) -> Void) {
        var next = geometry.columns.lowerBound
        var block = 0
        while block < map.blocks {
            let here = cover(ofBlock: block, rows: rows)
            let start = block
            repeat { block &+= 1 } while block < map.blocks && cover(ofBlock: block, rows: rows) == here
            guard here != .mixed else { continue }
            let first = start == 0 ? geometry.columns.lowerBound : geometry.firstBehind[start]
            let end = block == map.blocks ? geometry.columns.upperBound : geometry.firstAcross[block]
            guard end > first else { continue }
            if first > next { body(.mixed, next..<first) }
            body(here, first..<end)
            next = end
        }
        if next < geometry.columns.upperBound { body(.mixed, next..<geometry.columns.upperBound) }
    }

    @inline(__always)
    private func cover(ofBlock block: Int, rows: Range<Int>) -> Cover {
        var result = unsafe map.coverRow(rows.lowerBound)[block]
        var y = rows.lowerBound &+ 1
        while y < rows.upperBound {
            result = unsafe result.joined(with: map.coverRow(y)[block])
            y &+= 1
        }
        return result
    }
}

/// The nearest whole number, halves to even, of a number clipped to 0…255.
@inline(__always)
func roundedByte(_ value: Float) -> UInt8 {
    // Adding 1.5 · 2²³ leaves the nearest whole number in the low bits.
    let shifted = min(max(value, 0), 255) + 12_582_912
    return UInt8(truncatingIfNeeded: shifted.bitPattern)
}
