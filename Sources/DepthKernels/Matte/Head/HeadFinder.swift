/// The stage that finds heads in a depth map, by their size in metres: something rounded, 0.1 to 0.3 m wide, that ends at both
/// sides and above, with neck and shoulders below it at about its own distance.
///
/// 1. Probes (`HeadProbes`) give each cell of a coarse map (`DepthField.Cells`) the log odds that it is the middle of a head.
/// 2. The local maxima over the size of a head are its candidates, at most 16.
/// 3. Their shape (`HeadShape`) gives the width and the middle, and tells what is flat; what is above and below them
///    (`HeadOutline`) tells what is no top of a body. One below a likelier one is its hand, knee or shirt.
///
/// Sources: heads as peaks, Munaro and Menegatti, Autonomous Robots 37, 2014; the size of a head from its depth, Xia, Chen and
/// Aggarwal, CVPR Workshops 2011. Reference: `Tests/quality/head_finder.py`.
struct HeadFinder: ~Copyable {
    /// The most heads that are found, and the most peaks that are looked at.
    static let mostHeads = 8
    private static let mostPeaks = 16
    /// The log odds that a head needs, and those where one is known.
    static let (least, leastKnown) = (0.0, -2.0)
    /// The log odds that the shape may add to those of the probes.
    private static let mostOfShape = 2.0
    /// Log odds by which cells of a peak differ at most.
    private static let plateau: Float = 0.3
    /// Metres: half the width that a head has, about a peak; the width for which cells are counted; the widths that heads have.
    private static let (reach, apart, widths) = (0.1, 0.16, 0.085...0.28)
    /// Metres: the nearest head, and by how much the cells of a peak differ at most.
    private static let (nearest, deep): (Float, Float) = (0.15, 0.1)
    /// Metres by which a head's sides lie behind its middle; how much more and less counts; and log odds for each metre.
    private static let relief = (usual: 0.018, counted: -0.02...0.0067, odds: 300.0)
    /// Metres, for a sensor's noise of `noise`·z² and a relief that it hides by half; and log odds less for each metre beyond `widths`.
    private static let (noise, hidden, tooWide) = (0.01, 0.06, 30.0)
    /// The side of a face's box in widths of the head, and in metres.
    private static let side = (widths: 1.05, metres: 0.15...0.20)
    /// Metres from the middle to the vertex at most, and sides from the vertex to the middle of the box.
    private static let (vertex, below) = (0.17, 0.85)
    /// Cells in `apart`: smaller heads are not searched; of larger ones every second cell of each row and column is enough.
    private static let (narrow, wide) = (5.0, 10.0)

    private var places = ScratchList<HeadProbes.Place>()
    private var shape = HeadShape()
    private var logOdds = Scratch<Float>()
    private var sizes = Scratch<Double>()
    private var candidates = ScratchList<Int32>()
    /// The heads of the last map, the likeliest first.
    var heads: [Head] = []

    init() { heads.reserveCapacity(HeadFinder.mostHeads + 1) }

    /// Finds the heads of a map.
    ///
    /// - Parameters:
    ///   - tracks: the heads of the last map; about known ones less evidence suffices.
    ///   - phase: the rows that are searched apart from the surroundings of `tracks`: one of each four; nil for all.
    mutating func find(in cells: DepthField.Cells, about tracks: [Head], phase: Int?, _ bands: MatteBands) {
        heads.removeAll(keepingCapacity: true)
        shape.reserve(cells)
        if places.count == 0 { HeadProbes.list(&places) }
        let count = cells.width * cells.height
        let peaks = unsafe Peaks(
            cells: cells, logOdds: logOdds.reserve(count, filler: 0), sizes: sizes.reserve(count, filler: 0))
        let search = Search(
            peaks: peaks, probes: HeadProbes(cells, places: places.elements), tracks: tracks, phase: phase)
        bands.share(search, rows: cells.height, width: cells.width * cells.step * cells.step)
        candidates.removeAll(most: count)
        for index in 0..<count where unsafe peaks.logOdds[index] > -.infinity {
            candidates.append(Int32(truncatingIfNeeded: index))
        }
        for _ in 0..<HeadFinder.mostPeaks {
            guard let peak = candidates.elements.max(by: { unsafe peaks.logOdds[Int($0)] < peaks.logOdds[Int($1)] })
            else { break }
            let (x, y) = (Int(peak) % cells.width, Int(peak) / cells.width)
            let radius = HeadFinder.apart * cells.focal / Double(cells[x, y])
            // The cells of the same head.
            candidates.removeAll { cell in
                let (dx, dy) = (Int(cell) % cells.width - x, Int(cell) / cells.width - y)
                return Double(dx * dx + dy * dy) < radius * radius
            }
            if let head = head(at: Int(peak), peaks) { insert(head) }
        }
        for index in heads.indices.reversed() where heads[..<index].contains(where: { heads[index].isBelow($0) }) {
            heads.remove(at: index)
        }
    }

    private mutating func insert(_ head: Head) {
        let place = heads.firstIndex { $0.logOdds < head.logOdds } ?? heads.count
        guard place < HeadFinder.mostHeads else { return }
        heads.insert(head, at: place)
        if heads.count > HeadFinder.mostHeads { heads.removeLast() }
    }

    private mutating func head(at peak: Int, _ peaks: Peaks) -> Head? {
        let (cells, step) = (peaks.cells, Double(peaks.cells.step))
        let probed = unsafe Double(peaks.logOdds[peak])
        let middle = peaks.middle(of: peak)
        let (x, y) = (middle % cells.width, middle / cells.width)
        let shape = unsafe shape.measure(cells, x: x, y: y, size: peaks.sizes[middle])
        let (metres, width) = (shape.distance, shape.width)
        let noise = HeadFinder.noise * metres * metres / HeadFinder.hidden
        let trust = 1 / (1 + noise * noise)  // of the relief, against the sensor's noise
        let counted = HeadFinder.relief.counted
        let relief = clamped(shape.relief - HeadFinder.relief.usual, to: counted, orIfNaN: counted.lowerBound)
        let excess = max(HeadFinder.widths.lowerBound - width, width - HeadFinder.widths.upperBound, 0)
        let logOdds =
            probed + HeadOutline(cells, distance: metres).logOdds(x: x, y: y, width: width)
            + HeadFinder.relief.odds * trust * relief - HeadFinder.tooWide * excess
        let perMetre = cells.focal / metres
        let (perWidth, sides) = HeadFinder.side
        let side = clamped(perWidth * width, to: sides, orIfNaN: sides.lowerBound) * perMetre * step
        let vertex = max(Double(shape.vertex), Double(y) - HeadFinder.vertex * perMetre) * step
        let top = 0.5 * (vertex + HeadFinder.below * side) + 0.5 * Double(y) * step - 0.5 * side + step / 2
        let head = Head(
            box: Rectangle(x: (shape.middle + 0.5) * step - side / 2, y: top, width: side, height: side),
            distance: metres, logOdds: logOdds, width: width)
        // A likely head must be one that is found where no head is known.
        let least = logOdds > HeadFinder.least ? HeadFinder.least : HeadFinder.leastKnown
        return logOdds > least && probed > least - HeadFinder.mostOfShape ? head : nil
    }

    /// The cells of a map and their log odds.
    @safe
    private struct Peaks {
        let cells: DepthField.Cells
        let logOdds: UnsafeMutablePointer<Float>
        /// The size of a head that fits best.
        let sizes: UnsafeMutablePointer<Double>

        /// The middle of the cells about a peak that are nearly as good.
        func middle(of peak: Int) -> Int {
            let (x, y) = (peak % cells.width, peak / cells.width)
            let metres = cells[x, y]
            let radius = HeadFinder.reach * cells.focal / Double(metres)
            let reach = ceilIndex(radius, in: 0...max(cells.width, cells.height))
            let rows = max(y - reach, 0)..<min(y + reach + 1, cells.height)
            let columns = max(x - reach, 0)..<min(x + reach + 1, cells.width)
            func isOfPeak(_ column: Int, _ row: Int) -> Bool {
                let (dx, dy) = (column - x, row - y)
                return unsafe logOdds[row * cells.width + column] > logOdds[peak] - HeadFinder.plateau
                    && Double(dx * dx + dy * dy) < radius * radius && abs(cells[column, row] - metres) < HeadFinder.deep
            }
            var (sumX, sumY, count) = (0.0, 0.0, 0.0)
            for row in rows {
                for column in columns where isOfPeak(column, row) {
                    (sumX, sumY, count) = (sumX + Double(column), sumY + Double(row), count + 1)
                }
            }
            var (middle, least) = (peak, Double.infinity)
            for row in rows {
                for column in columns where isOfPeak(column, row) {
                    let (dx, dy) = (Double(column) - sumX / count, Double(row) - sumY / count)
                    if dx * dx + dy * dy < least { (middle, least) = (row * cells.width + column, dx * dx + dy * dy) }
                }
            }
            return middle
        }
    }

    /// Fills in the log odds of the cells of a band.
    private struct Search: BandWork {
        let peaks: Peaks
        let probes: HeadProbes
        let tracks: [Head]
        let phase: Int?

        func work(_ rows: Range<Int>, _ memory: MatteMemory) {
            let cells = peaks.cells
            for y in rows {
                let line = unsafe peaks.logOdds + y &* cells.width
                unsafe line.update(repeating: -.infinity, count: cells.width)
                if phase == nil || phase == y & 3 {
                    search(0..<cells.width, row: y)
                } else {
                    for track in tracks { search(track.columns(inRow: y, of: cells), row: y) }
                }
            }
        }

        private func search(_ columns: Range<Int>, row y: Int) {
            let cells = peaks.cells
            let farthest = Float(cells.focal * HeadFinder.apart / HeadFinder.narrow)
            let wide = Float(cells.focal * HeadFinder.apart / HeadFinder.wide)
            for x in columns {
                let (metres, index) = (cells[x, y], y &* cells.width &+ x)
                guard metres > HeadFinder.nearest, metres < farthest, metres > wide || (x | y) & 1 == 0,
                    probes.isEdged(x, y, metres)
                else { continue }
                // A peak's plateau is looked at too.
                var best = least(x, y, metres) - HeadFinder.plateau
                for size in 0..<3 {
                    let size = HeadProbes.sizes[size]
                    let logOdds = probes.logOdds(x, y, metres, size: size, least: best)
                    guard logOdds > best else { continue }
                    best = logOdds
                    unsafe (peaks.logOdds[index], peaks.sizes[index]) = (logOdds, size)
                }
            }
        }

        /// The log odds below which a peak is left out.
        private func least(_ x: Int, _ y: Int, _ metres: Float) -> Float {
            let step = Double(peaks.cells.step)
            let isKnown = tracks.contains {
                $0.isKnown && $0.isAbout(Double(x) * step, Double(y) * step, Double(metres))
            }
            return Float((isKnown ? HeadFinder.leastKnown : HeadFinder.least) - HeadFinder.mostOfShape)
        }
    }
}

extension Head {
    /// True for a point of the map, in depth pixels and metres, that may be the middle of the same head in the next frame.
    fileprivate func isAbout(_ x: Double, _ y: Double, _ metres: Double) -> Bool {
        box.isAt(Rectangle(x: x, y: y, width: 0, height: 0), within: 1) && abs(distance - metres) < 0.4
    }

    /// The columns of a row of cells in which the head may be in the next frame.
    fileprivate func columns(inRow y: Int, of cells: DepthField.Cells) -> Range<Int> {
        let step = Double(cells.step)
        guard abs(box.y + box.height / 2 - Double(y) * step) < box.height else { return 0..<0 }
        let middle = box.x + box.width / 2
        let first = floorIndex((middle - box.width) / step, in: 0...cells.width)
        return first..<max(first, ceilIndex((middle + box.width) / step, in: 0...cells.width))
    }
}
