/// Eight and sixteen numbers that are computed as one vector.
typealias Eight = SIMD8<Float>
typealias Sixteen = SIMD16<Float>

@inline(__always)
func eight(_ numbers: UnsafePointer<Float>, _ index: Int = 0) -> Eight {
    unsafe UnsafeRawPointer(numbers + index).loadUnaligned(as: Eight.self)
}

@inline(__always)
func sixteen(_ numbers: UnsafePointer<Float>) -> Sixteen {
    unsafe UnsafeRawPointer(numbers).loadUnaligned(as: Sixteen.self)
}

@inline(__always)
func store(_ numbers: Eight, _ target: UnsafeMutablePointer<Float>) {
    unsafe UnsafeMutableRawPointer(target).storeBytes(of: numbers, as: Eight.self)
}

@inline(__always)
func store(_ numbers: Sixteen, _ target: UnsafeMutablePointer<Float>) {
    unsafe UnsafeMutableRawPointer(target).storeBytes(of: numbers, as: Sixteen.self)
}
