/// The order of the components of a color in four bytes: the index of each component's byte.
package struct PixelOrder: Equatable, Sendable {
    package let red: Int
    package let green: Int
    package let blue: Int
    package let alpha: Int

    /// Returns nil unless the four are 0, 1, 2 and 3 in some order.
    package init?(red: Int, green: Int, blue: Int, alpha: Int) {
        guard Set([red, green, blue, alpha]) == [0, 1, 2, 3] else { return nil }
        (self.red, self.green, self.blue, self.alpha) = (red, green, blue, alpha)
    }

    private init(_ red: Int, _ green: Int, _ blue: Int, _ alpha: Int) {
        (self.red, self.green, self.blue, self.alpha) = (red, green, blue, alpha)
    }

    package static let rgba = PixelOrder(0, 1, 2, 3)
    package static let bgra = PixelOrder(2, 1, 0, 3)
    package static let argb = PixelOrder(1, 2, 3, 0)
    package static let abgr = PixelOrder(3, 2, 1, 0)

    package func pixel(_ color: SIMD3<UInt8>, alpha opacity: UInt8 = 255) -> SIMD4<UInt8> {
        var pixel = SIMD4<UInt8>()
        pixel[red] = color.x
        pixel[green] = color.y
        pixel[blue] = color.z
        pixel[alpha] = opacity
        return pixel
    }
}
