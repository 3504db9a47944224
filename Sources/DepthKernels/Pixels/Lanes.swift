import CDepthKernels

/// Numbers that are processed as one vector.
typealias Lanes = SIMD16<Float>

/// Numbers in a block, which is processed as one vector.
let blockWidth = Lanes.scalarCount

@inline(__always)
func loadLanes(_ source: UnsafePointer<Float>) -> Lanes {
    unsafe UnsafeRawPointer(source).loadUnaligned(as: Lanes.self)
}

@inline(__always)
func storeLanes(_ lanes: Lanes, to target: UnsafeMutablePointer<Float>) {
    unsafe UnsafeMutableRawPointer(target).storeBytes(of: lanes, as: Lanes.self)
}

@inline(__always)
func larger(_ one: Lanes, _ other: Lanes) -> Lanes { one.replacing(with: other, where: other .> one) }

@inline(__always)
func smaller(_ one: Lanes, _ other: Lanes) -> Lanes { one.replacing(with: other, where: other .< one) }

/// The square root of each number, in vector instructions.
@inline(__always)
func squareRoots(_ numbers: Lanes) -> Lanes { dm_square_roots(numbers) }
