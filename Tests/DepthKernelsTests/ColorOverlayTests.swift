import DepthKernels
import TestSupport
import Testing

@Suite struct ColorOverlayTests {
    /// A map of 16-bit counts, and the picture that it is laid on.
    struct Scene: CustomTestStringConvertible {
        var depth = (width: 5, height: 4)
        var picture = (width: 5, height: 4)
        var bytesPerPixel = 4
        var mix: Double?
        var fit = DepthFit.stretch
        var offset = (x: 0.0, y: 0.0)
        var zoom = 1.0
        var order = PixelOrder.rgba
        var unmeasuredAlpha: UInt8 = 255

        var testDescription: String {
            "\(depth) on \(picture), \(bytesPerPixel) bytes, mix \(mix.map { "\($0)" } ?? "none"), \(fit) \(offset) "
                + "\(zoom), holes \(unmeasuredAlpha)"
        }
    }

    static let scenes = [
        Scene(), Scene(order: .bgra), Scene(bytesPerPixel: 3), Scene(bytesPerPixel: 3, order: .bgra),
        Scene(unmeasuredAlpha: 0), Scene(order: .argb, unmeasuredAlpha: 0),
        Scene(mix: 0), Scene(mix: 0.5), Scene(mix: 1), Scene(mix: 0.3, order: .abgr, unmeasuredAlpha: 0),
        Scene(bytesPerPixel: 3, mix: 0.7),
        Scene(picture: (13, 9), mix: 0.5), Scene(picture: (13, 9), fit: .contain), Scene(picture: (9, 17), fit: .cover),
        Scene(picture: (37, 20), mix: 0.25, fit: .width, offset: (-3.5, 2.25), zoom: 0.7, unmeasuredAlpha: 0),
        Scene(picture: (3, 2), bytesPerPixel: 3), Scene(picture: (1, 1), mix: 0.5),
        Scene(depth: (1, 1), picture: (7, 5), mix: 0.5), Scene(picture: (20, 11), offset: (1e5, 0), unmeasuredAlpha: 0),
    ]

    private let range = DepthColorRange.fixed(min: 0.5, max: 4)

    private func colors(_ scene: Scene) -> DepthColors {
        DepthColors(palette: .jet, order: scene.order, unmeasuredAlpha: scene.unmeasuredAlpha)
    }

    /// Counts of a millimetre with holes; the same for every map.
    private func counts(_ scene: Scene) -> [Int] {
        (0..<scene.depth.width * scene.depth.height).map { $0 % 7 == 3 ? 0 : 300 + $0 * 211 % 4200 }
    }

    private func placement(_ scene: Scene) -> DepthPlacement {
        DepthPlacement(
            depthWidth: scene.depth.width, depthHeight: scene.depth.height, videoWidth: scene.picture.width,
            videoHeight: scene.picture.height, fit: scene.fit, offsetX: scene.offset.x, offsetY: scene.offset.y,
            scale: scene.zoom)
    }

    private func pictureByte(_ x: Int, _ y: Int) -> UInt8 { UInt8(truncatingIfNeeded: x * 37 + y * 101 + 11) }

    private func draw(_ scene: Scene, with overlay: ColorOverlay = ColorOverlay()) throws -> GuardedPlane {
        let counts = counts(scene)
        let map = GuardedPlane(rowBytes: scene.depth.width * 2, rows: scene.depth.height) { x, y in
            UInt8(truncatingIfNeeded: counts[y * scene.depth.width + x / 2] >> (x % 2 * 8))
        }
        let image = try #require(
            DepthImage(
                plane: map.plane.readOnly, width: scene.depth.width, height: scene.depth.height, encoding: .gray16LE))
        let picture = GuardedPlane(
            rowBytes: scene.picture.width * scene.bytesPerPixel, rows: scene.picture.height, content: pictureByte)
        let target = try #require(
            ColorOverlay.Target(
                plane: picture.plane, width: scene.picture.width, height: scene.picture.height,
                bytesPerPixel: scene.bytesPerPixel, mix: scene.mix))
        overlay.draw(
            image, scale: DepthScale(), range: range, colors: colors(scene), placement: placement(scene), on: target)
        return picture
    }

    /// The documented formulas, pixel by pixel.
    private func expected(_ scene: Scene, _ x: Int, _ y: Int) -> [UInt8] {
        let placement = placement(scene)
        let point = placement.depthPoint(videoX: Double(x) + 0.5, videoY: Double(y) + 0.5)
        let (column, row) = (Int(point.x.rounded(.down)), Int(point.y.rounded(.down)))
        var count = 0
        if 0..<scene.depth.width ~= column, 0..<scene.depth.height ~= row {
            count = counts(scene)[row * scene.depth.width + column]
        }
        let below = (0..<scene.bytesPerPixel).map { pictureByte(x * scene.bytesPerPixel + $0, y) }
        let pixel: SIMD4<UInt8>
        if count == 0 {
            pixel = scene.order.pixel(SIMD3(), alpha: scene.unmeasuredAlpha)
        } else {
            let position = (4 - Double(count) / 1000) / 3.5
            let index = Int((min(max(position, 0), 1) * 511).rounded(.toNearestOrEven))
            pixel = scene.order.pixel(DepthPalette.jet.color(index: index))
        }
        return below.indices.map { index in
            guard let mix = scene.mix else { return pixel[index] }
            let share = Int((mix * 256).rounded())
            let isHole = count == 0 && scene.unmeasuredAlpha == 0 && index != scene.order.alpha
            let color = isHole ? below[index] : pixel[index]
            return UInt8((Int(below[index]) * (256 - share) + Int(color) * share + 128) / 256)
        }
    }

    private func check(_ scene: Scene, _ picture: GuardedPlane) {
        for y in 0..<scene.picture.height {
            for x in 0..<scene.picture.width {
                let actual = (0..<scene.bytesPerPixel).map { picture[x * scene.bytesPerPixel + $0, y] }
                #expect(actual == expected(scene, x, y), "(\(x), \(y))")
            }
        }
        #expect(picture.guardsAreIntact)
    }

    @Test(arguments: scenes)
    func `every pixel has the color of the sample it lies in, mixed as documented`(scene: Scene) throws {
        check(scene, try draw(scene))
    }

    @Test func `an overlay that has drawn other maps draws the next as a new one would`() throws {
        let overlay = ColorOverlay()
        for scene in ColorOverlayTests.scenes + ColorOverlayTests.scenes.reversed() {
            check(scene, try draw(scene, with: overlay))
        }
    }

    @Test(arguments: [(4, UInt8(255)), (4, 0), (3, 255)])
    func `a map that measured nothing is black or transparent`(bytesPerPixel: Int, unmeasuredAlpha: UInt8) throws {
        let picture = GuardedPlane(rowBytes: 6 * bytesPerPixel, rows: 3, content: pictureByte)
        let target = try #require(
            ColorOverlay.Target(plane: picture.plane, width: 6, height: 3, bytesPerPixel: bytesPerPixel, mix: nil))
        ColorOverlay().drawNothing(colors: DepthColors(unmeasuredAlpha: unmeasuredAlpha), on: target)
        let pixel = [0, 0, 0, unmeasuredAlpha].prefix(bytesPerPixel)
        #expect(picture.bytes == (0..<18).flatMap { _ in pixel })
        #expect(picture.guardsAreIntact)
    }

    @Test func `a picture without room for its pixels is none`() {
        let plane = GuardedPlane(rowBytes: 12, rows: 3, content: pictureByte).plane
        for (width, height, bytes) in [(4, 3, 4), (5, 3, 3), (4, 4, 3), (0, 3, 3), (4, 0, 3), (6, 3, 2), (.max, 3, 4)] {
            #expect(
                ColorOverlay.Target(plane: plane, width: width, height: height, bytesPerPixel: bytes, mix: nil) == nil)
        }
        #expect(ColorOverlay.Target(plane: plane, width: 4, height: 3, bytesPerPixel: 3, mix: .nan) != nil)
    }
}
