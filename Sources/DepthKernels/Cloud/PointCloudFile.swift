/// A depth map as a file of colored points: binary little-endian PLY ("The PLY Polygon File Format", Greg Turk, 1994).
///
/// One element `vertex` with the properties float x, y, z, in metres in the depth camera's coordinates (x to the right,
/// y down, z forward), and uchar red, green, blue. The points are those that `CloudRenderer` draws, row by row, in the
/// camera's coordinates whatever the view.
package struct PointCloudFile: Sendable {
    package let points: Int
    package let bytes: [UInt8]

    private static let bytesPerPoint = 15

    /// An upper bound of the bytes of memory that making the file of a map takes: the points twice, and the header.
    package static func mostMemory(width: Int, height: Int) -> Int { 2 * bytesPerPoint * width * height + 4096 }

    /// - Parameters:
    ///   - picture: the colors; its placement is that of this depth map.
    ///   - order: the byte order of the picture.
    package init(
        _ depth: DepthImage, scale: DepthScale, colors picture: CloudPicture, order: PixelOrder, sensor: CloudSensor
    ) {
        var writer = PointWriter(capacity: depth.width * depth.height * PointCloudFile.bytesPerPoint)
        var metres = DepthMetres()
        var colors = CloudColors()
        let loops = bestLoops
        let isOfThisMap =
            picture.placement.depthWidth == depth.width && picture.placement.depthHeight == depth.height
        for y in 0..<(isOfThisMap ? depth.height : 0) {
            let metres = unsafe metres.row(y, of: depth, scale: scale, loops)
            let colors = unsafe colors.row(y, of: picture)
            for x in 0..<depth.width {
                let z = unsafe metres[x]
                guard z >= Float(CloudSensor.nearest), z.isFinite else { continue }
                let across = Float((Double(x) - sensor.cx) / sensor.fx)
                let along = Float((Double(y) - sensor.cy) / sensor.fy)
                let pixel = unsafe colors.loadUnaligned(fromByteOffset: x &* 4, as: SIMD4<UInt8>.self)
                writer.append(SIMD3(z * across, z * along, z), pixel[order.red], pixel[order.green], pixel[order.blue])
            }
        }
        points = writer.points
        bytes = PointCloudFile.header(points: writer.points) + writer.bytes
    }

    private static func header(points: Int) -> [UInt8] {
        let lines = [
            "ply", "format binary_little_endian 1.0", "comment metres: x right, y down, z forward",
            "element vertex \(points)", "property float x", "property float y", "property float z",
            "property uchar red", "property uchar green", "property uchar blue", "end_header",
        ]
        return lines.flatMap { Array($0.utf8) + [UInt8(ascii: "\n")] }
    }
}

private struct PointWriter {
    private(set) var bytes: [UInt8] = []
    private(set) var points = 0

    init(capacity: Int) { bytes.reserveCapacity(capacity) }

    mutating func append(_ place: SIMD3<Float>, _ red: UInt8, _ green: UInt8, _ blue: UInt8) {
        append(place.x)
        append(place.y)
        append(place.z)
        bytes.append(red)
        bytes.append(green)
        bytes.append(blue)
        points += 1
    }

    private mutating func append(_ number: Float) {
        let bits = number.bitPattern
        for shift in [UInt32(0), 8, 16, 24] { bytes.append(UInt8(truncatingIfNeeded: bits >> shift)) }
    }
}
