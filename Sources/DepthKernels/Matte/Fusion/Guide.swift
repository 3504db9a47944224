/// A video's colors as Y'UV: luma of 0 to 1, color differences about 0 and weighted by `chroma`.
///
/// The weights are those of BT.601 whatever the video's matrix is: colors are only ever compared with others of the
/// same frame. Y'UV is a linear map of a pixel's bytes, so linear operations are done on the bytes.
struct Guide {
    /// Weight of the color differences relative to luma: light and shadow change the luma of a surface more than its
    /// hue.
    private static let chroma: Float = 1.5

    private let video: VideoPicture
    let colors: VideoColors
    let width: Int
    let height: Int

    /// - Returns: nil where the color components are not known or planes are missing.
    init?(_ video: VideoPicture, width: Int, height: Int) {
        guard let colors = video.colors, colors.fits(video.planes, width: width, height: height) else { return nil }
        self.video = video
        self.colors = colors
        self.width = width
        self.height = height
    }

    /// Reads the bytes of some pixels of a row as numbers.
    ///
    /// - Parameter target: three rows, `stride` numbers apart; channels that gray video lacks are 0.
    /// - Precondition: the columns and the row are inside the video.
    func read(
        row y: Int, columns: Range<Int>, into target: UnsafeMutablePointer<Float>, stride: Int, _ loops: Loops
    ) {
        for index in 0..<3 {
            let line = unsafe target + index &* stride
            guard index < colors.components.count, let bytes = unsafe row(y, of: colors.components[index]) else {
                for x in columns { unsafe line[x] = 0 }
                continue
            }
            let component = colors.components[index]
            unsafe loops.widen(bytes, step: component.step, shift: component.shiftX, columns: columns, into: line)
        }
    }

    func prefetch(row y: Int, columns: Range<Int>) {
        for component in colors.components where y & (1 &<< component.shiftY &- 1) == 0 {
            video.planes[component.plane]?.prefetch(
                row: y &>> component.shiftY,
                from: component.offset &+ columns.lowerBound &>> component.shiftX &* component.step,
                count: columns.count &>> component.shiftX &* component.step)
        }
    }

    /// The first byte of a component in the row of its plane that a row of pixels shares.
    private func row(_ y: Int, of component: VideoColors.Component) -> UnsafePointer<UInt8>? {
        guard let plane = video.planes[component.plane] else { return nil }
        return unsafe plane.row(y &>> component.shiftY).assumingMemoryBound(to: UInt8.self) + component.offset
    }

    /// The bytes of a component's rows.
    func plane(of component: VideoColors.Component) -> Plane? { video.planes[component.plane] }

    /// Red, green and blue, 0…1, of Y'UV.
    static func channels(_ color: SIMD3<Float>) -> SIMD3<Float> {
        let (red, blue) = (color.x + color.z / (chroma * 0.877), color.x + color.y / (chroma * 0.492))
        return SIMD3(red, (color.x - 0.299 * red - 0.114 * blue) / 0.587, blue)
    }

    /// The map from bytes to Y'UV.
    var map: ColorMap {
        switch colors.model {
        case .rgb:
            let luma = SIMD3<Float>(0.299, 0.587, 0.114)
            let (u, v) = (Guide.chroma * 0.492 / 255, Guide.chroma * 0.877 / 255)
            return ColorMap(
                rows: (luma / 255, (SIMD3(0, 0, 1) - luma) * u, (SIMD3(1, 0, 0) - luma) * v), offset: SIMD3())
        case .yuv(let isLimited):
            // From the range of the format to U = 0.492 (B − Y') and V = 0.877 (R − Y'), of which it holds 0.564 and
            // 0.713.
            let range: Float = Guide.chroma / (isLimited ? 224 : 255)
            let factors = SIMD3(isLimited ? 1 / 219 : 1 / 255, range * 0.492 / 0.564, range * 0.877 / 0.713)
            let black = SIMD3<Float>(isLimited ? 16 : 0, 128, 128)
            return ColorMap(
                rows: (SIMD3(factors.x, 0, 0), SIMD3(0, factors.y, 0), SIMD3(0, 0, factors.z)),
                offset: -black * factors)
        case .gray(let isLimited):
            let factor: Float = isLimited ? 1 / 219 : 1 / 255
            return ColorMap(
                rows: (SIMD3(factor, 0, 0), SIMD3(), SIMD3()), offset: SIMD3(isLimited ? -16 * factor : 0, 0, 0))
        }
    }
}

/// A linear map of three channels to three.
struct ColorMap {
    let rows: (SIMD3<Float>, SIMD3<Float>, SIMD3<Float>)
    let offset: SIMD3<Float>

    /// The factor of each channel where none depends on another; nil where one does.
    var diagonal: SIMD3<Float>? {
        guard SIMD2(rows.0.y, rows.0.z) == SIMD2(), SIMD2(rows.1.x, rows.1.z) == SIMD2() else { return nil }
        return SIMD2(rows.2.x, rows.2.y) == SIMD2() ? SIMD3(rows.0.x, rows.1.y, rows.2.z) : nil
    }

    /// Maps colors in place.
    ///
    /// - Parameter planes: three rows, `stride` numbers apart.
    func apply(to planes: UnsafeMutablePointer<Float>, stride: Int, count: Int) {
        let (second, third) = unsafe (planes + stride, planes + 2 &* stride)
        let (m0, m1, m2) = rows
        for x in 0..<count {
            let (a, b, c) = unsafe (planes[x], second[x], third[x])
            unsafe planes[x] = m0.x * a + m0.y * b + m0.z * c + offset.x
            unsafe second[x] = m1.x * a + m1.y * b + m1.z * c + offset.y
            unsafe third[x] = m2.x * a + m2.y * b + m2.z * c + offset.z
        }
    }

    /// Converts a model a · color + b to a model of the channels that the color is computed from.
    ///
    /// - Parameter model: three rows of a and one of b, `stride` numbers apart.
    func pullBack(_ model: UnsafeMutablePointer<Float>, stride: Int, count: Int) {
        let (second, third, constant) = unsafe (model + stride, model + 2 &* stride, model + 3 &* stride)
        let (m0, m1, m2) = rows
        for x in 0..<count {
            let (a, b, c) = unsafe (model[x], second[x], third[x])
            unsafe model[x] = a * m0.x + b * m1.x + c * m2.x
            unsafe second[x] = a * m0.y + b * m1.y + c * m2.y
            unsafe third[x] = a * m0.z + b * m1.z + c * m2.z
            unsafe constant[x] += a * offset.x + b * offset.y + c * offset.z
        }
    }
}
