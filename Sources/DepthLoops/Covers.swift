import CVectors

/// Says of each opacity of a run of blocks of 16 whether it is at most `low`, and whether it is at least `high`: a bit for
/// each.
///
/// - parameter stride: floats from one block to the next.
package func sortSamples(
    _ first: UnsafePointer<Float>, blocks: Int, stride: Int, low: Float, high: Float,
    clear: UnsafeMutablePointer<UInt16>, opaque: UnsafeMutablePointer<UInt16>
) {
    for block in 0..<blocks {
        let bits = unsafe comparison_bits_of_floats(first + block &* stride, low, high)
        unsafe clear[block] = bits.at_most
        unsafe opaque[block] = bits.at_least
    }
}
