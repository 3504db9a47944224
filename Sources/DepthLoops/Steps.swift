package import CVectors

/// Adds the steps of a row of samples, and their responses, to a row of cells.
///
/// - parameter steps: the first of them counts `weight`, the next as much less, and so on.
/// - parameter values: a block of 0 and one of 1, and what the steps' `response` counts from.
/// - parameter blocks: of a response; less than 64.
/// - Precondition: no pointer is nil, and there is room in `sums` for the response to every step.
package func addSteps(
    _ steps: UnsafePointer<MaskStep>, count: Int, weight: Float, _ values: UnsafePointer<Float>, blocks: Int,
    into sums: StepSums
) {
    guard let responses = unsafe sums.responses, let edges = unsafe sums.edges, let rises = unsafe sums.rises,
        let touched = unsafe sums.touched, let risen = unsafe sums.risen
    else { return }
    var weight = weight
    for index in 0..<count {
        let step = unsafe steps[index]
        let (first, last, edge) = (Int(step.first), Int(step.last), Int(step.edge))
        let (response, target) = unsafe (values + Int(step.response), responses + first & ~15)
        var place = 0
        while place < blocks &* 16 {
            unsafe add(load(response + place) * weight, to: target + place)
            place &+= 16
        }
        unsafe add(load(values + (16 &- edge & 15)) * weight, to: edges + edge & ~15)
        let behind = edge &>> 4 &+ 1
        unsafe rises[behind] += weight
        unsafe risen[behind &>> 6] |= 1 &<< UInt64(truncatingIfNeeded: behind)
        let bits: UInt64 = 2 &<< UInt64(truncatingIfNeeded: last &>> 4 &- first &>> 4) &- 1
        let (word, shift) = (first &>> 10, UInt64(truncatingIfNeeded: first &>> 4 & 63))
        unsafe touched[word] |= bits &<< shift
        unsafe touched[word &+ 1] |= (bits &>> 1) &>> (63 &- shift)
        weight = -weight
    }
}

@inline(__always)
private func load(_ source: UnsafePointer<Float>) -> SIMD16<Float> {
    unsafe UnsafeRawPointer(source).loadUnaligned(as: SIMD16<Float>.self)
}

@inline(__always)
private func add(_ block: SIMD16<Float>, to target: UnsafeMutablePointer<Float>) {
    unsafe UnsafeMutableRawPointer(target).storeBytes(of: load(target) + block, as: SIMD16<Float>.self)
}
