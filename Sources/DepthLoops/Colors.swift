package import CDepthKernels

extension LoopSet {
    /// Finds the bin of each of a row of little-endian 32-bit floats, with `bins` equal bins from 0 to a limit.
    ///
    ///     bin = floor(metres · scale), at most bins − 1, in single precision
    ///
    /// Distances at the limit and beyond get the index `bins`; samples that are not measured (not above 0, infinite or NaN)
    /// get `bins + 1`.
    ///
    /// Fields and parameters:
    ///   - bins: at most 2²².
    ///   - scale: bins per metre.
    /// - Precondition: `row` holds `count` floats, aligned or not.
    package static func binsOfMetres(
        _ row: UnsafeRawPointer, count: Int, _ bins: dm_bins, into numbers: UnsafeMutablePointer<Int32>
    ) {
        let last = Float(bins.count &- 1)
        for x in upTo(count) {
            let metres = unsafe row.float(x)
            let bin = floorWhole(max(min(metres * bins.scale, last), 0))
            let measured = metres < bins.limit ? bin : bins.count
            unsafe numbers[x] = metres > 0 && metres < .infinity ? measured : bins.count &+ 1
        }
    }

    /// Maps each of a row of little-endian 32-bit floats to an index on a ramp: `last` up to `near`, 0 from `far` on.
    ///
    ///     index = round((far − metres) · scale), halves up, clamped to 0…last, in single precision
    ///
    /// Samples that are not measured get `last + 1`.
    ///
    /// Fields and parameters:
    ///   - last: below 2²².
    ///   - scale: indices per metre.
    /// - Precondition: `row` holds `count` floats, aligned or not.
    package static func placesOfMetres(
        _ row: UnsafeRawPointer, count: Int, _ ramp: dm_ramp, into numbers: UnsafeMutablePointer<Int32>
    ) {
        let most = Float(ramp.last)
        for x in upTo(count) {
            let metres = unsafe row.float(x)
            let place = floorWhole(max(min((ramp.far - metres) * ramp.scale + 0.5, most), 0))
            let beforeFar = metres < ramp.far ? place : 0
            let behindNear = metres > ramp.near ? beforeFar : ramp.last
            unsafe numbers[x] = metres > 0 && metres < .infinity ? behindNear : ramp.last &+ 1
        }
    }
}

extension UnsafeRawPointer {
    /// Element `index` of a row of little-endian 32-bit floats, aligned or not.
    @inline(__always)
    fileprivate func float(_ index: Int) -> Float {
        unsafe Float(bitPattern: UInt32(littleEndian: loadUnaligned(fromByteOffset: index &* 4, as: UInt32.self)))
    }
}
