/// The element of a rank in sorted order; reorders the elements (quickselect).
///
/// Source: Hoare, "Algorithm 65: find", CACM 4(7), 1961.
func select(rank: Int, of numbers: UnsafeMutablePointer<Float>, count: Int) -> Float {
    var (low, high) = (0, count - 1)
    while low < high {
        let pivot = unsafe numbers[(low + high) / 2]
        var (left, right) = (low, high)
        while left <= right {
            while unsafe numbers[left] < pivot { left += 1 }
            while unsafe numbers[right] > pivot { right -= 1 }
            guard left <= right else { break }
            unsafe (numbers[left], numbers[right]) = unsafe (numbers[right], numbers[left])
            left += 1
            right -= 1
        }
        if rank <= right { high = right } else if rank >= left { low = left } else { break }
    }
    return unsafe numbers[rank]
}

/// The median; of an even count the mean of the two in the middle. Reorders the numbers.
///
/// - Precondition: `count > 0`.
func median(of numbers: UnsafeMutablePointer<Float>, count: Int) -> Double {
    let upper = unsafe Double(select(rank: count / 2, of: numbers, count: count))
    guard count.isMultiple(of: 2) else { return upper }
    return unsafe (upper + Double(select(rank: count / 2 - 1, of: numbers, count: count))) / 2
}
