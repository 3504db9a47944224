/// The stage that widens or narrows the softened mask: opacity ^ gamma.
///
/// Source: step 4 of Apple's sample, `CIGammaAdjust` with a power of 0.5. Has no state.
struct Gamma {
    private let exponent: Float

    /// A quarter of the smallest step that a byte of alpha can show: opacities nearer than that to clear or opaque count as
    /// such.
    private static let invisible: Float = 0.25 / 255

    /// - Precondition: `gamma` is finite and above 0.
    init(_ gamma: Double) { exponent = Float(gamma) }

    /// Changes a map in place, and says anew which samples are clear and which are opaque.
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
