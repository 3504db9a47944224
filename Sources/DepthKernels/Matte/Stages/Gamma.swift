/// The stage that widens or narrows the softened mask: opacity ^ gamma. It has no state.
///
/// Source: step 4 of Apple's sample, `CIGammaAdjust` with a power of 0.5.
struct Gamma {
    private let exponent: Float

    /// Opacities nearer than this to 0 or 1 count as clear or opaque: a quarter of a step of 8-bit alpha.
    private static let invisible: Float = 0.25 / 255

    /// - Precondition: `gamma` is finite and above 0.
    init(_ gamma: Double) { exponent = Float(gamma) }

    /// Changes a map in place, and updates its sets.
    func apply(to map: OpacityMap, _ bands: MatteBands, _ loops: Loops) {
        bands.share(Rows(exponent: exponent, map: map, loops: loops), rows: map.height, width: map.width)
    }

    private struct Rows: BandWork {
        let exponent: Float
        let map: OpacityMap
        let loops: Loops

        func work(_ rows: Range<Int>, _ memory: MatteMemory) {
            for y in rows {
                map.forEachMixedRun(row: y) { run in
                    let first = unsafe map.row(y) + run.lowerBound &* blockWidth
                    unsafe loops.raise(first, count: run.count &* blockWidth, to: exponent)
                    unsafe map.classify(
                        first, blocks: run, row: y, clear: Gamma.invisible, opaque: 1 - Gamma.invisible, loops)
                }
            }
        }
    }
}
