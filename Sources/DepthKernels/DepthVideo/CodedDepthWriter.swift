/// Writes depth maps as codes into a half of a picture in 4:2:0.
///
/// Keeps its memory between frames and allocates none in the steady state.
package struct CodedDepthWriter: ~Copyable {
    private var reader = DepthMetres()
    private var columns = SampleColumns()
    private var metres = Scratch<Float>()
    private var hues = Scratch<Float>()
    private let loops = bestLoops

    package init() {}

    /// A map, and its place on the area.
    package typealias Map = (image: DepthImage, scale: DepthScale, placement: DepthPlacement)

    /// Fills an area; pixels take the nearest sample of the map, and beside it none.
    ///
    /// - Parameters:
    ///   - depth: nil is a map without measured samples.
    ///   - colors: places of the components of the picture, 4:2:0.
    /// - Returns: false where the area does not lie in the planes; nothing is written.
    package mutating func write(
        _ depth: Map?, _ coding: DepthCoding, _ span: DepthSpan, _ matrix: LumaMatrix,
        into planes: Planes<MutablePlane>, _ area: Rectangle<Int>, _ colors: VideoColors
    ) -> Bool {
        guard let picture = CodedArea(planes.readOnly, area, colors) else { return false }
        let width = picture.width
        let rows = unsafe metres.reserve(2 * width, filler: 0)
        var columns: UnsafePointer<Int32>?
        if let depth { unsafe columns = self.columns.columns(of: depth.placement, width: width) }
        let spacing = DepthSpacing(coding, span)
        for pair in 0..<(picture.height / 2) {
            for row in 0..<2 {
                let target = unsafe rows + row &* width
                guard let depth, let columns = unsafe columns,
                    case let y = depth.placement.row(2 &* pair &+ row, of: picture.height), y >= 0
                else {
                    unsafe target.update(repeating: 0, count: width)
                    continue
                }
                let line = unsafe reader.row(y, of: depth.image, scale: depth.scale, loops)
                unsafe read(line, depth.image.width, columns, into: target, width)
            }
            switch coding {
            case .gray, .black: unsafe writeNearness(rows, NearnessCodes(coding), spacing, pair, picture)
            case .record3d, .realsense, .depthkit: unsafe writeHue(rows, coding, spacing, matrix, pair, picture)
            }
        }
        return true
    }

    /// The sample of each column, in metres; 0 where nothing was measured.
    private func read(
        _ line: UnsafePointer<Float>, _ count: Int, _ columns: UnsafePointer<Int32>,
        into target: UnsafeMutablePointer<Float>, _ width: Int
    ) {
        if unsafe count == width && columns[0] == 0 && columns[width - 1] == width - 1 {
            for x in 0..<width { unsafe target[x] = measured(line[x]) }
            return
        }
        for x in 0..<width {
            let column = unsafe Int(columns[x])
            unsafe target[x] = column < 0 ? 0 : measured(line[column])
        }
    }

    @inline(__always)
    private func measured(_ metres: Float) -> Float { metres > 0 && metres < .infinity ? metres : 0 }

    // MARK: Nearness

    /// Luma, and for `gray` U from 128 to 192 by the share of holes. There a hole has the farther of the two distances beside it, so
    /// that its border is no edge of the luma.
    private func writeNearness(
        _ rows: UnsafeMutablePointer<Float>, _ codes: NearnessCodes, _ spacing: DepthSpacing, _ pair: Int,
        _ picture: CodedArea
    ) {
        let width = picture.width
        let chroma = unsafe picture.chroma(pair)
        for x in 0..<(width / 2) {
            let (upper, lower) = unsafe (rows + 2 &* x, rows + (width &+ 2 &* x))
            let holes = unsafe isHole(upper[0]) + isHole(upper[1]) + isHole(lower[0]) + isHole(lower[1])
            unsafe chroma.u[x &* picture.chromaStep] = nearestByte(128 + codes.holeChroma * holes / 4)
            unsafe chroma.v[x &* picture.chromaStep] = 128
        }
        for row in 0..<2 {
            let (line, luma) = unsafe (rows + row &* width, picture.luma(2 &* pair &+ row))
            if codes.holeChroma > 0 { unsafe fillHoles(line, width) }
            // Two plain loops, which the compiler makes vectors of.
            for x in 0..<width {
                let metres = unsafe line[x]
                let code = codes.far + codes.range * spacing.share(metres)
                unsafe line[x] = metres > 0 ? code : NearnessCodes.black
            }
            for x in 0..<width { unsafe luma[x] = nearestByte(line[x]) }
        }
    }

    @inline(__always)
    private func isHole(_ metres: Float) -> Float { metres > 0 ? 0 : 1 }

    /// Gives each hole the farther of the measured distances left and right of it.
    private func fillHoles(_ line: UnsafeMutablePointer<Float>, _ width: Int) {
        var x = 0
        var left: Float = 0
        while x < width {
            if unsafe line[x] > 0 {
                left = unsafe line[x]
                x &+= 1
                continue
            }
            let start = x
            while x < width, unsafe line[x] <= 0 { x &+= 1 }
            let right = unsafe x < width ? line[x] : 0
            for hole in start..<x { unsafe line[hole] = max(left, right) }
        }
    }

    // MARK: Hue

    private mutating func writeHue(
        _ rows: UnsafeMutablePointer<Float>, _ coding: DepthCoding, _ spacing: DepthSpacing, _ matrix: LumaMatrix,
        _ pair: Int, _ picture: CodedArea
    ) {
        let width = picture.width
        // Two rows of B − Y, and two of R − Y.
        let differences = unsafe hues.reserve(4 * width, filler: 0)
        for row in 0..<2 {
            let luma = unsafe picture.luma(2 &* pair &+ row)
            for x in 0..<width {
                let color = unsafe hueColor(rows[row &* width &+ x], coding, spacing)
                let y = matrix.red * color.x + matrix.green * color.y + matrix.blue * color.z
                unsafe luma[x] = nearestByte(matrix.black + matrix.lumaScale * y)
                unsafe differences[row &* width &+ x] = (color.z - y) / matrix.blueRange
                unsafe differences[(2 &+ row) &* width &+ x] = (color.x - y) / matrix.redRange
            }
        }
        let chroma = unsafe picture.chroma(pair)
        for x in 0..<(width / 2) {
            func mean(_ line: UnsafeMutablePointer<Float>) -> Float {
                unsafe (line[2 &* x] + line[2 &* x &+ 1] + line[width &+ 2 &* x] + line[width &+ 2 &* x &+ 1]) / 4
            }
            unsafe chroma.u[x &* picture.chromaStep] = nearestByte(128 + matrix.chromaScale * mean(differences))
            unsafe chroma.v[x &* picture.chromaStep] = nearestByte(
                128 + matrix.chromaScale * mean(differences + 2 &* width))
        }
    }

    /// Red, green and blue, 0 to 1 in steps of 1/255: a color of the hue circle, from red through yellow, at full saturation.
    @inline(__always)
    private func hueColor(_ metres: Float, _ coding: DepthCoding, _ spacing: DepthSpacing) -> SIMD3<Float> {
        var hue: Float = 0
        if coding == .record3d {
            if metres > spacing.near && metres < spacing.far { hue = spacing.share(metres) }
        } else {
            guard metres > 0 else { return SIMD3(repeating: 0) }
            hue = Float(nearestWhole(spacing.share(metres) * 1529)) / 1530
        }
        let sixths = hue * 6
        let color = SIMD3(abs(sixths - 3) - 1, 2 - abs(sixths - 2), 2 - abs(sixths - 4))
        return SIMD3(
            Float(nearestByte(255 * color.x)), Float(nearestByte(255 * color.y)), Float(nearestByte(255 * color.z)))
            / 255
    }
}
