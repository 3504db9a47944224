/// The share of a depth map that was not measured, 0…1, estimated from every eighth row.
package func unmeasuredShare(of image: DepthImage, scale: DepthScale, loops: Loops = bestLoops) -> Double {
    var unmeasured = 0
    var looked = 0
    let measured = image.encoding.fullScale.map { CountRange(measuredBy: scale, fullScale: $0) }
    for y in stride(from: 0, to: image.height, by: 8) {
        looked &+= image.width
        if let measured, image.encoding == .gray16LE {
            unsafe unmeasured &+= image.width &- measured.size(ofRow: image.plane.row(y), width: image.width, loops)
        } else {
            for x in 0..<image.width where image.metres(x: x, y: y, scale: scale) == nil { unmeasured &+= 1 }
        }
    }
    return looked == 0 ? 0 : Double(unmeasured) / Double(looked)
}

extension CountRange {
    /// The number of little-endian counts of a row that are inside.
    fileprivate func size(ofRow row: UnsafeRawPointer, width: Int, _ loops: Loops) -> Int {
        guard start < end else { return 0 }
        let (first, span) = (UInt16(truncatingIfNeeded: start), UInt16(truncatingIfNeeded: end &- 1 &- start))
        let hole = hole >= start && hole < end ? Int32(truncatingIfNeeded: hole) : -1
        return unsafe loops.countInside(row, count: width, first: first, span: span, hole: hole)
    }
}
