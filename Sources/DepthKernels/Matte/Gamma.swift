/// The stage that widens or narrows the softened mask: opacity ^ gamma.
///
/// Source: step 4 of Apple's sample, `CIGammaAdjust` with a power of 0.5. Has no state.
enum Gamma: Equatable {
    case identity, squareRoot, fourthRoot, square
    case other(Float)

    /// A quarter of the smallest step that a byte of alpha can show: opacities nearer than that to clear or opaque count as
    /// such.
    private static let invisible: Float = 0.25 / 255

    /// - Precondition: `gamma` is finite and above 0.
    init(_ gamma: Double) {
        switch gamma {
        case 1: self = .identity
        case 0.5: self = .squareRoot
        case 0.25: self = .fourthRoot
        case 2: self = .square
        default: self = .other(Float(gamma))
        }
    }

    /// Changes a map in place, and says anew which samples are clear and which are opaque.
    func apply(to map: OpacityMap, _ bands: MatteBands, _ loops: Loops) {
        bands.share(Rows(gamma: self, map: map, loops: loops), rows: map.height, width: map.width)
    }

    private struct Rows: BandWork {
        let gamma: Gamma
        let map: OpacityMap
        let loops: Loops

        func work(_ rows: Range<Int>, _ memory: MatteMemory) {
            for y in rows {
                map.forEachMixedRun(row: y) { run in
                    let first = unsafe map.row(y) + run.lowerBound &* blockWidth
                    unsafe gamma.raise(first, count: run.count &* blockWidth, loops)
                    unsafe map.classify(
                        first, blocks: run, row: y, clear: Gamma.invisible, opaque: 1 - Gamma.invisible, loops)
                }
            }
        }
    }

    private func raise(_ first: UnsafeMutablePointer<Float>, count: Int, _ loops: Loops) {
        switch self {
        case .identity: break
        case .squareRoot: unsafe loops.squareRoots(first, count: count)
        case .fourthRoot:
            unsafe loops.squareRoots(first, count: count)
            unsafe loops.squareRoots(first, count: count)
        case .square: unsafe loops.squares(first, count: count)
        case .other(let gamma): unsafe loops.powers(first, count: count, exponent: gamma)
        }
    }
}
