/// Downscales a picture to an area of another picture of the same layout and size, with a box filter: each sample is
/// the mean of the samples that it covers, rounded to nearest, halves up.
///
/// - Parameter area: in pixels, clipped to the picture. Its left and upper edges must not part pixels that share a
///   sample.
/// - Returns: false, with undefined contents of `target`, if a plane is missing or too small, or the area is empty.
package func downscale(
    _ source: Planes<Plane>, into target: Planes<MutablePlane>, layout: PixelLayout, width: Int, height: Int,
    area: Rectangle<Int>
) -> Bool {
    let area = area.intersection(Rectangle(left: 0, top: 0, right: width, bottom: height))
    guard layout.fits(source, width: width, height: height), layout.fits(target.readOnly, width: width, height: height),
        !area.isEmpty
    else { return false }
    for (index, planeLayout) in layout.planes.enumerated() {
        guard let from = source[index], let into = target[index] else { return false }
        ChannelGroup.forEach(of: planeLayout, width: width) { channels in
            let columns = (area.left / channels.horizontal)..<groups(of: channels.horizontal, in: area.right)
            let rows = (area.top / channels.vertical)..<groups(of: channels.vertical, in: area.bottom)
            // A row of packed 4:2:2 may end with a luma sample that belongs to no pixel.
            let samples = min(channels.count, groups(of: channels.horizontal, in: width))
            let sourceRows = layout.rows(plane: index, height: height)
            for y in rows {
                let covered = DepthKernels.covered(by: y &- rows.lowerBound, of: rows.count, samples: sourceRows)
                for channel in 0..<channels.channelCount {
                    let (offset, step) = (channels.offset(channel), channels.step)
                    for x in columns {
                        let across = DepthKernels.covered(
                            by: x &- columns.lowerBound, of: columns.count, samples: samples)
                        var sum: UInt64 = 0
                        for y in covered {
                            let row = unsafe from.row(y)
                            for column in across {
                                unsafe sum &+= UInt64(
                                    row.load(fromByteOffset: column &* step &+ offset, as: UInt8.self))
                            }
                        }
                        let count = UInt64(covered.count &* across.count)
                        unsafe into.row(y).storeBytes(
                            of: UInt8(truncatingIfNeeded: (sum &+ count / 2) / count),
                            toByteOffset: x &* step &+ offset, as: UInt8.self)
                    }
                }
            }
        }
    }
    return true
}

/// The range of source samples that target sample `index` of `count` covers; never empty.
private func covered(by index: Int, of count: Int, samples: Int) -> Range<Int> {
    let first = min(index &* samples / count, samples &- 1)
    return first..<max(first &+ 1, (index &+ 1) &* samples / count)
}
