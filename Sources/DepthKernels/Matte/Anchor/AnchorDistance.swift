/// The distance of the face in `box`, in metres.
///
/// It is the median of the measured samples in the central half of the box; for an even number of samples, the mean of
/// the two in the middle. A sample counts if any part of it lies in that half. (Apple's sample code reads the one
/// sample in the middle, which fails in a hole.)
///
/// - Parameter boxes: how many boxes of the frame are measured. Together they read about as many samples as one box as
///   large as the frame: of boxes that overlap, and of one that is much larger than the others, only every second,
///   third… row and column counts.
/// - Returns: nil if the box is empty, not finite or not wholly inside the frame, and if no sample in it was measured.
package func faceDepth(
    in image: DepthImage, scale: DepthScale, placement: DepthPlacement, box: Rectangle<Double>, among boxes: Int = 1
) -> Double? {
    guard box.isInside(frameWidth: placement.videoWidth, frameHeight: placement.videoHeight) else { return nil }
    let half = box.centralHalf
    // The far corner is x + w · 0.75, not x + w · 0.25 + w · 0.5: the sum must round as the oracle's does.
    let first = placement.depthPoint(videoX: half.x, videoY: half.y)
    let last = placement.depthPoint(videoX: box.x + box.width * 0.75, videoY: box.y + box.height * 0.75)
    let area =
        (min(last.x, Double(image.width)) - max(first.x, 0)) * (min(last.y, Double(image.height)) - max(first.y, 0))
    let grid = SampleGrid(
        columns: samples(from: first.x, to: last.x, limit: image.width),
        rows: samples(from: first.y, to: last.y, limit: image.height),
        step: step(among: boxes, of: area, in: image), in: image)
    return MedianSearch(image: image, scale: scale).median(of: grid)
}

extension DepthField {
    /// Tells what the central half of a head's box shows where the head is not found; in depth pixels and metres.
    ///
    /// - Returns: 0 for the room, 1 for something nearer, as a hand, and 3 for only what is at the head's distance.
    func hides(_ box: Rectangle<Double>, at distance: Double) -> Int {
        let (half, tolerance) = (box.centralHalf, Double(HeadProbes.tolerance(Float(distance))))
        let search = MedianSearch(image: image, scale: scale)
        var (all, near, nearer) = (0, 0, 0)
        SampleGrid(
            columns: samples(from: half.x, to: half.x + half.width, limit: image.width),
            rows: samples(from: half.y, to: half.y + half.height, limit: image.height),
            step: floorIndex(half.width / 32, in: 1...image.width), in: image
        ).forEach { x, y in
            guard let metres = search.key(x: x, y: y).map({ search.metres(key: $0) }) else { return }
            all &+= 1
            if metres < distance + tolerance { near &+= 1 }
            if metres < distance - tolerance { nearer &+= 1 }
        }
        return all == 0 || 2 * near < all ? 0 : 10 * nearer > 3 * all ? 1 : 3
    }
}

/// The step with which the halves of all boxes together have about a quarter of the map's samples, but each at least 64.
///
/// - Parameter area: of one half on the map, in samples.
private func step(among boxes: Int, of area: Double, in image: DepthImage) -> Int {
    guard boxes > 1 else { return 1 }
    let share = Double(image.width &* image.height) / 4 / Double(boxes) + 1  // 1: boxes that only touch are read whole
    let leastShare = 64.0  // enough for a median
    return ceilIndex((area / max(share, leastShare)).squareRoot(), in: 1...image.width)
}

/// The samples that overlap the interval from `start` to `end`: at least one, unless it lies outside the map.
private func samples(from start: Double, to end: Double, limit: Int) -> Range<Int> {
    guard end > 0, start < Double(limit) else { return 0..<0 }
    let first = floorIndex(start, in: 0...limit)
    return first..<max(first + 1, ceilIndex(end, in: 0...limit))
}

/// The distance under a point of the frame, in metres: the median of the measured samples in the 5 × 5 around it.
///
/// - Parameters:
///   - x: 0…1, from the frame's left edge to its right edge.
///   - y: 0…1, from the frame's upper edge to its lower edge.
/// - Returns: nil if the point is not in 0…1 or not on the map, and if no sample near it was measured.
package func pointDepth(
    in image: DepthImage, scale: DepthScale, placement: DepthPlacement, x: Double, y: Double
) -> Double? {
    guard x >= 0, x <= 1, y >= 0, y <= 1 else { return nil }
    let point = placement.depthPoint(
        videoX: x * Double(placement.videoWidth), videoY: y * Double(placement.videoHeight))
    guard point.x >= 0, point.x <= Double(image.width), point.y >= 0, point.y <= Double(image.height) else {
        return nil
    }
    let reach = 2
    let column = floorIndex(point.x, in: 0...(image.width - 1))
    let row = floorIndex(point.y, in: 0...(image.height - 1))
    let grid = SampleGrid(
        columns: (column - reach)..<(column + reach + 1), rows: (row - reach)..<(row + reach + 1), in: image)
    return MedianSearch(image: image, scale: scale).median(of: grid)
}

extension Rectangle<Double> {
    /// The half as wide and half as high rectangle with the same center.
    fileprivate var centralHalf: Rectangle<Double> {
        Rectangle(x: x + width * 0.25, y: y + height * 0.25, width: width * 0.5, height: height * 0.5)
    }

    /// True where the rectangle has an area and all of it is in the frame; false for numbers that are not finite.
    fileprivate func isInside(frameWidth: Int, frameHeight: Int) -> Bool {
        x >= 0 && y >= 0 && width > 0 && height > 0
            && x + width <= Double(frameWidth) && y + height <= Double(frameHeight)
    }
}
