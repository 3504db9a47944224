/// Writes metres as 16-bit counts.
///
///     count = round(metres / unit), at most 65534
///
/// Units: `metres` holds native Float32 samples, `unit` metres per count. Holes: a sample that is 0, negative or not
/// finite becomes 0, "not measured", as which many take 65535. Shape: two planes of the same picture; of planes of
/// different sizes, the common part is written.
package func writeCounts(metres: Plane, unit: Float, bigEndian: Bool, into counts: MutablePlane) {
    let columns = min(metres.rowBytes / 4, counts.rowBytes / 2)
    for y in 0..<min(metres.rows, counts.rows) {
        let source = unsafe metres.row(y)
        let target = unsafe counts.row(y)
        for x in 0..<columns {
            let scaled = unsafe source.load(fromByteOffset: x &* 4, as: Float.self) / unit
            let whole = floorWhole(min(scaled.rounded(), 65_534))
            let count = scaled > 0 && scaled.isFinite ? UInt16(truncatingIfNeeded: whole) : 0
            let stored = bigEndian ? count.bigEndian : count.littleEndian
            unsafe target.storeBytes(of: stored, toByteOffset: x &* 2, as: UInt16.self)
        }
    }
}
