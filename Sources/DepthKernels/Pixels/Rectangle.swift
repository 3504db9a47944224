/// A rectangle with sides along the axes: whole pixels (`Int`), or video pixels and fractions of a frame (`Double`).
///
/// Its right and lower edges lie outside of it. It is empty where `width` or `height` is not above 0.
package struct Rectangle<Scalar: Comparable & ExpressibleByIntegerLiteral & Sendable>: Equatable, Sendable {
    /// The upper left corner.
    package var x: Scalar
    package var y: Scalar
    package var width: Scalar
    package var height: Scalar

    package init(x: Scalar = 0, y: Scalar = 0, width: Scalar, height: Scalar) {
        self.x = x
        self.y = y
        self.width = width
        self.height = height
    }
}

/// Edges instead of sizes. Sums wrap around, so that a rectangle keeps edges as far apart as `Int.min` and `Int.max`.
extension Rectangle<Int> {
    package init(left: Int, top: Int, right: Int, bottom: Int) {
        self.init(x: left, y: top, width: right &- left, height: bottom &- top)
    }

    package var left: Int { x }
    package var top: Int { y }
    package var right: Int { x &+ width }
    package var bottom: Int { y &+ height }

    var isEmpty: Bool { left >= right || top >= bottom }

    /// The part of the rectangle that lies in another one.
    func intersection(_ other: Rectangle<Int>) -> Rectangle<Int> {
        Rectangle(
            left: max(left, other.left), top: max(top, other.top), right: min(right, other.right),
            bottom: min(bottom, other.bottom))
    }
}
