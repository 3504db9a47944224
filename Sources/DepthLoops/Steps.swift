/// Adds the response of a kernel to each step of a row of 0 and 1.
///
/// - parameter steps: where the row changes, going up and down by turns.
/// - parameter values: `length` numbers for a step up, then as many for a step down.
/// - parameter line: where the response to a step at 0 begins.
/// - Precondition: `length` is a multiple of 16, and there is room for that many behind every step.
package func addSteps(
    _ steps: UnsafePointer<Int32>, count: Int, isFirstUp: Bool, values: UnsafePointer<Float>, length: Int,
    into line: UnsafeMutablePointer<Float>
) {
    var isUp = isFirstUp
    for index in 0..<count {
        let target = unsafe line + Int(steps[index])
        let response = unsafe isUp ? values : values + length
        var start = 0
        while start < length {
            let place = unsafe UnsafeMutableRawPointer(target + start)
            let sum =
                unsafe place.loadUnaligned(as: SIMD16<Float>.self)
                + UnsafeRawPointer(response + start).loadUnaligned(as: SIMD16<Float>.self)
            unsafe place.storeBytes(of: sum, as: SIMD16<Float>.self)
            start &+= 16
        }
        isUp.toggle()
    }
}

/// Copies a run of blocks of 16 opacities, with 0 for those that rounding has left below it.
package func copyNotNegative(
    _ source: UnsafePointer<Float>, blocks: Int, into target: UnsafeMutablePointer<Float>
) {
    for index in 0..<(blocks &* 16) { unsafe target[index] = source[index] > 0 ? source[index] : 0 }
}
