/// Writes depth maps as codes into a half of a picture in 4:2:0.
///
/// Keeps its memory between frames and allocates none in the steady state.
package struct CodedDepthWriter: ~Copyable {
    private var reader = DepthMetres()
    private var columns = Scratch<Int32>()
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
        guard let picture = CodedArea(writing: planes, area, colors) else { return false }
        let width = picture.width
        let rows = unsafe metres.reserve(2 * width, filler: 0)
        let columns = unsafe columns.reserve(width, filler: 0)
        if let depth {
            for x in 0..<width {
                let place = depth.placement.depthPoint(videoX: Double(x) + 0.5, videoY: 0).x
                unsafe columns[x] = sampleIndex(place, of: depth.image.width)
            }
        }
        let isPlain = unsafe depth?.image.width == width && columns[0] == 0 && columns[width - 1] == width - 1
        let spacing = DepthSpacing(coding, span)
        for pair in 0..<(picture.height / 2) {
            for row in 0..<2 {
                let target = unsafe rows + row &* width
                unsafe target.update(repeating: 0, count: width)
                guard let depth else { continue }
                let place = depth.placement.depthPoint(videoX: 0, videoY: Double(2 &* pair &+ row) + 0.5).y
                let y = sampleIndex(place, of: depth.image.height)
                guard y >= 0 else { continue }
                let line = unsafe reader.row(Int(y), of: depth.image, scale: depth.scale, loops)
                if isPlain {
                    for x in 0..<width { unsafe target[x] = measured(line[x]) }
                } else {
                    for x in 0..<width {
                        let column = unsafe Int(columns[x])
                        unsafe target[x] = column < 0 ? 0 : measured(line[column])
                    }
                }
            }
            switch coding {
            case .gray: unsafe writeGray(rows, spacing, pair, picture)
            case .black: unsafe writeBlack(rows, spacing, pair, picture)
            case .record3d, .realsense, .depthkit: unsafe writeHue(rows, coding, spacing, matrix, pair, picture)
            }
        }
        return true
    }

    @inline(__always)
    private func measured(_ metres: Float) -> Float { metres > 0 && metres < .infinity ? metres : 0 }

    // MARK: Nearness

    /// Luma 16 (far) to 235 (near), U from 128 to 192 by the share of holes. A hole has the farther of the two distances beside it, so
    /// that its border is no edge that a codec smears.
    private func writeGray(
        _ rows: UnsafeMutablePointer<Float>, _ spacing: DepthSpacing, _ pair: Int, _ picture: CodedArea
    ) {
        let width = picture.width
        let chroma = unsafe picture.chroma(pair)
        for x in 0..<(width / 2) {
            let (upper, lower) = unsafe (rows + 2 &* x, rows + (width &+ 2 &* x))
            let holes = unsafe isHole(upper[0]) + isHole(upper[1]) + isHole(lower[0]) + isHole(lower[1])
            unsafe chroma.u[x &* picture.chromaStep] = nearestByte(128 + NearnessCodes.holeChroma * holes / 4)
            unsafe chroma.v[x &* picture.chromaStep] = 128
        }
        for row in 0..<2 {
            let (line, luma) = unsafe (rows + row &* width, picture.luma(2 &* pair &+ row))
            unsafe fillHoles(line, width)
            unsafe writeCodes(line, width, spacing, far: NearnessCodes.far, range: NearnessCodes.range, into: luma)
        }
    }

    @inline(__always)
    private func isHole(_ metres: Float) -> Float { metres > 0 ? 0 : 1 }

    /// Writes the luma of a row; black where nothing was measured. Two plain loops, which the compiler makes vectors of.
    private func writeCodes(
        _ line: UnsafeMutablePointer<Float>, _ width: Int, _ spacing: DepthSpacing, far: Float, range: Float,
        into luma: UnsafeMutablePointer<UInt8>
    ) {
        for x in 0..<width {
            let metres = unsafe line[x]
            let code = far + range * spacing.share(metres)
            unsafe line[x] = metres > 0 ? code : NearnessCodes.far
        }
        for x in 0..<width { unsafe luma[x] = nearestByte(line[x]) }
    }

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

    private func writeBlack(
        _ rows: UnsafeMutablePointer<Float>, _ spacing: DepthSpacing, _ pair: Int, _ picture: CodedArea
    ) {
        fillChroma(pair, picture)
        let far = NearnessCodes.far + NearnessCodes.guardBand
        let range = NearnessCodes.range - NearnessCodes.guardBand
        for row in 0..<2 {
            let (line, luma) = unsafe (rows + row &* picture.width, picture.luma(2 &* pair &+ row))
            unsafe writeCodes(line, picture.width, spacing, far: far, range: range, into: luma)
        }
    }

    private func fillChroma(_ pair: Int, _ picture: CodedArea) {
        let chroma = unsafe picture.chroma(pair)
        for x in 0..<(picture.width / 2) {
            unsafe chroma.u[x &* picture.chromaStep] = 128
            unsafe chroma.v[x &* picture.chromaStep] = 128
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
            if spacing.contains(metres) { hue = spacing.share(metres) }
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
