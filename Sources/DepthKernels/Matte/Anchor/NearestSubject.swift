/// The distance of the nearest large object in view, in metres; nil if nothing was measured.
///
/// The algorithm searches a histogram of the measured samples from near to far:
///
/// 1. A bin is a sixteenth of an octave of distance wide (3 to 6 %), as a person is a few bins deep near by and far
///    away.
/// 2. The histogram is smoothed with 1 2 3 2 1 (noise of the sensor) and searched for its local maxima.
/// 3. A maximum is a *large object* if it and the three bins on either side hold 5 % of the measured samples. Flying
///    pixels near the lens and specks of noise do not. For the object that was followed so far 3.5 % suffice, so that
///    one of about 5 % does not come and go.
/// 4. The result is the median of the seven bins of the nearest large object, or, where there is none, of the highest
///    maximum.
///
/// Maps of more than 64 Ki samples are subsampled: every second, third, … sample of every second, third, … row.
///
/// - Parameter followed: metres; the distance of the object that was followed so far, if any.
package func nearestSubjectDepth(in image: DepthImage, scale: DepthScale, followed: Double? = nil) -> Double? {
    let search = MedianSearch(image: image, scale: scale)
    let grid = SampleGrid(columns: 0..<image.width, rows: 0..<image.height, step: gridStep(for: image), in: image)
    let histogram = DistanceHistogram(of: grid, in: search)
    guard histogram.total > 0 else { return nil }
    let peak = histogram.nearestLargePeak(followed: followed)
    return search.median(of: grid) { DistanceHistogram.distance(ofBin: $0, from: peak) <= DistanceHistogram.reach }
}

private func gridStep(for image: DepthImage) -> Int {
    var step = 1
    while groups(of: step, in: image.width) * groups(of: step, in: image.height) > 1 << 16 { step += 1 }
    return step
}

/// Histogram of distances, in bins a sixteenth of an octave wide.
private struct DistanceHistogram {
    /// From 2⁻⁶ m (16 mm) to 2¹⁰ m; distances outside count in the first or the last bin.
    private static let binCount = 256
    private static let lowestExponent = -6
    /// Bins on either side of a maximum that belong to the same object.
    static let reach = 3
    private static let shareOfLargeObject = 0.05
    private static let shareOfFollowedObject = 0.035

    private var bins = InlineArray<256, Int>(repeating: 0)
    private(set) var total = 0

    init(of grid: SampleGrid, in search: MedianSearch) {
        grid.forEach { x, y in
            guard let key = search.key(x: x, y: y) else { return }
            bins[DistanceHistogram.bin(metres: search.metres(key: key))] &+= 1
            total &+= 1
        }
    }

    /// The bin of a distance: exponent and first four bits of the significand, a piecewise linear logarithm.
    @inline(__always)
    static func bin(metres: Double) -> Int {
        let sixteenths = Int(truncatingIfNeeded: Float(metres).bitPattern >> 19)
        return min(max(sixteenths - (127 + lowestExponent) * 16, 0), binCount - 1)
    }

    static func distance(ofBin metres: Double, from peak: Int) -> Int {
        let difference = bin(metres: metres) - peak
        return difference < 0 ? -difference : difference
    }

    func nearestLargePeak(followed: Double?) -> Int {
        var highest = (bin: 0, height: -1)
        for bin in 0..<DistanceHistogram.binCount {
            let height = smoothed(bin)
            guard height > 0, height >= smoothed(bin - 1), height >= smoothed(bin + 1) else { continue }
            let isFollowed = followed.map { DistanceHistogram.distance(ofBin: $0, from: bin) <= 1 } ?? false
            let share = isFollowed ? DistanceHistogram.shareOfFollowedObject : DistanceHistogram.shareOfLargeObject
            if Double(mass(around: bin)) >= share * Double(total) { return bin }
            if height > highest.height { highest = (bin, height) }
        }
        return highest.bin
    }

    private func samples(_ bin: Int) -> Int { bin >= 0 && bin < DistanceHistogram.binCount ? bins[bin] : 0 }

    private func smoothed(_ bin: Int) -> Int {
        samples(bin - 2) + 2 * samples(bin - 1) + 3 * samples(bin) + 2 * samples(bin + 1) + samples(bin + 2)
    }

    private func mass(around bin: Int) -> Int {
        var mass = 0
        for offset in -DistanceHistogram.reach...DistanceHistogram.reach { mass += samples(bin + offset) }
        return mass
    }
}
