/// The middle of the values; of the two in the middle, their mean. 0 for none.
func median(_ values: [Double]) -> Double { quantile(values, 0.5) }

/// The value that a share of the values is not above, between neighbours by proportion. 0 for no values.
///
/// - Parameter share: 0…1.
func quantile(_ values: [Double], _ share: Double) -> Double {
    let sorted = values.sorted()
    guard let last = sorted.indices.last else { return 0 }
    let place = share * Double(last)
    let lower = Int(place)
    let upper = min(lower + 1, last)
    return sorted[lower] + (sorted[upper] - sorted[lower]) * (place - Double(lower))
}

/// A number with so many digits behind the point.
func fixed(_ value: Double, _ digits: Int) -> String {
    guard value.isFinite, abs(value) < 1e12 else { return "-" }
    let scale = (0..<digits).reduce(1) { product, _ in product * 10 }
    let scaled = Int((abs(value) * Double(scale)).rounded())
    let sign = value < 0 && scaled > 0 ? "-" : ""
    guard digits > 0 else { return "\(sign)\(scaled)" }
    let fraction = String(scaled % scale)
    return "\(sign)\(scaled / scale)." + String(repeating: "0", count: digits - fraction.count) + fraction
}

/// A number without a fraction that is nought.
func short(_ value: Double) -> String {
    let text = "\(value)"
    return text.hasSuffix(".0") ? String(text.dropLast(2)) : text
}

/// The text with spaces behind it.
func padded(_ text: String, to width: Int) -> String {
    text + String(repeating: " ", count: max(width - text.count, 0))
}

/// The text with spaces before it.
func rightAligned(_ text: String, to width: Int) -> String {
    String(repeating: " ", count: max(width - text.count, 0)) + text
}
