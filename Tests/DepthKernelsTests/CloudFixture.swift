import DepthKernels
import TestSupport
import Testing

/// A depth map in metres and a color for each of its samples.
struct CloudFixture {
    let depth: DepthMap
    let memory: GuardedPlane
    let picture: CloudPicture

    /// - Parameter colors: four bytes each, as they are stored.
    init(metres: [Float], colors: [SIMD4<UInt8>], width: Int) throws {
        try self.init(DepthMap(metres: metres, width: width), colors)
    }

    init(_ depth: DepthMap, _ colors: [SIMD4<UInt8>]) throws {
        self.depth = depth
        let (width, height) = (depth.image.width, depth.image.height)
        memory = GuardedPlane(rowBytes: width * 4, bytes: colors.flatMap { [$0.x, $0.y, $0.z, $0.w] })
        let placement = DepthPlacement(
            depthWidth: width, depthHeight: height, videoWidth: width, videoHeight: height)
        picture = try #require(CloudPicture(plane: memory.plane.readOnly, placement: placement))
    }

    var settings: CloudRenderer.Settings {
        CloudRenderer.Settings(
            sensor: CloudSensor(width: depth.image.width, height: depth.image.height, fieldOfView: 70))
    }

    /// The picture as one number for each pixel, by a fresh renderer unless one is given.
    func draw(
        _ settings: CloudRenderer.Settings, width: Int, height: Int, scale: DepthScale = DepthScale(),
        renderer: CloudRenderer = CloudRenderer()
    ) throws -> [UInt32] {
        let target = GuardedPlane(rowBytes: width * 4, rows: height) { _, _ in 0xee }
        try #require(
            renderer.draw(
                depth.image, scale: scale, colors: picture, settings: settings, into: target.plane, width: width,
                height: height))
        #expect(target.guardsAreIntact)
        let bytes = target.bytes
        return stride(from: 0, to: bytes.count, by: 4).map { index in
            (0..<4).reduce(UInt32(0)) { $0 | UInt32(bytes[index + $1]) << UInt32(8 * $1) }
        }
    }
}

/// A pixel whose four bytes are the number's, the lowest first.
func pixel(_ number: Int) -> SIMD4<UInt8> {
    SIMD4(UInt8(number & 255), UInt8(number >> 8 & 255), UInt8(number >> 16 & 255), UInt8(number >> 24 & 255))
}
