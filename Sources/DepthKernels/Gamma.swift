/// opacity ^ gamma, for opacities of 0…1. Two roots and the square are computed as such.
enum GammaCurve: Equatable {
    case identity, squareRoot, fourthRoot, square
    case other(Float)

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

    /// Changes a run of blocks in place, with `stride` floats from one to the next.
    func apply(to first: UnsafeMutablePointer<Float>, blocks: Int, stride: Int, _ loops: Loops) {
        switch self {
        case .identity: break
        case .squareRoot: unsafe loops.squareRoots(first, blocks, stride)
        case .fourthRoot:
            unsafe loops.squareRoots(first, blocks, stride)
            unsafe loops.squareRoots(first, blocks, stride)
        case .square: unsafe loops.squares(first, blocks, stride)
        case .other(let gamma): unsafe loops.powers(first, blocks, stride, gamma)
        }
    }
}
