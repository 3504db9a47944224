package import DepthKernels

/// Draws one stream of a scene, video, depth or matte, at one size.
///
/// What does not move is drawn once, at the first frame, and copied from then on. After that nothing is allocated,
/// except by `faces`. A renderer belongs to one thread at a time.
///
/// No argument traps. A plane with fewer rows than `height`, or rows with fewer bytes than `width` samples need, is
/// left as it was, and so is every plane where `width` or `height` is below 1 or beyond `sizeLimit`, or their product
/// beyond `pixelLimit`. Times that are not finite count as 0.
package final class SceneRenderer {
    /// The largest width and height, in pixels.
    package static let sizeLimit = 32_768
    /// The largest picture, in pixels.
    package static let pixelLimit = 1 << 26

    package let scene: Scene
    package let width: Int
    package let height: Int

    var picture: Drawing
    var outlines: Drawing
    var composer: Composer
    var samples: [Float]
    var scanner: Scanner
    /// The room as video, 4 bytes a pixel, rows without padding; empty until it is needed.
    var roomPixels: [SIMD4<UInt8>] = []
    /// The room's depth in metres; empty until it is needed.
    var roomDepth: [Float] = []

    package init(scene: Scene, width: Int, height: Int) {
        self.scene = scene
        self.width = width
        self.height = height
        let canDraw = SceneRenderer.isDrawable(width, height)
        let columns = canDraw ? width : 0
        picture = Drawing(width: columns, height: canDraw ? height : 0, purpose: .picture)
        outlines = Drawing(width: columns, height: canDraw ? height : 0, purpose: .outlines)
        composer = Composer(width: columns)
        scanner = Scanner(width: columns)
        samples = Array(repeating: 0, count: columns)
    }

    /// Draws the video: 4 bytes a pixel, blue, green, red and 255.
    package func drawVideo(seconds: Double, into plane: MutablePlane) {
        guard isLargeEnough(plane, bytesPerPixel: 4) else { return }
        switch scene.pattern {
        case .person: drawPersonVideo(seconds: seconds, into: plane)
        case .ramp: drawRampVideo(into: plane)
        case .blank: fill(plane, with: SIMD4<UInt8>.blankPixel)
        }
    }

    /// Draws the depth in metres, as native 32-bit floats; 0 is "not measured".
    ///
    /// `frame` numbers the noise: the same frame number has the same noise. `noise` is its standard deviation at 1 m,
    /// in metres; it grows with the square of the depth. `holes` is the share, 0…1, of samples that are not measured.
    package func drawDepth(seconds: Double, frame: UInt64, noise: Double, holes: Double, into plane: MutablePlane) {
        guard isLargeEnough(plane, bytesPerPixel: 4) else { return }
        let faults = DepthFaults(seed: scene.seed, frame: frame, noise: noise, holes: holes)
        switch scene.pattern {
        case .person: drawPersonDepth(seconds: seconds, faults: faults, into: plane)
        case .ramp: drawRampDepth(faults: faults, into: plane)
        case .blank: fill(plane, with: SIMD4<UInt8>.zero)
        }
    }

    /// Draws the exact alpha of the foreground, antialiased, one byte a pixel.
    package func drawMatte(seconds: Double, into plane: MutablePlane) {
        guard isLargeEnough(plane, bytesPerPixel: 1) else { return }
        switch scene.pattern {
        case .person: drawPersonMatte(seconds: seconds, into: plane)
        case .ramp: drawRampMatte(into: plane)
        case .blank: fill(plane, with: UInt8.zero)
        }
    }

    /// Where the faces are; none in `ramp` and `blank`.
    package func faces(seconds: Double) -> [FaceBox] {
        guard scene.pattern == .person else { return [] }
        return [Person(seed: scene.seed, seconds: seconds).faceBox]
    }

    // MARK: Helpers

    private static func isDrawable(_ width: Int, _ height: Int) -> Bool {
        (1...sizeLimit).contains(width) && (1...sizeLimit).contains(height) && width * height <= pixelLimit
    }

    private func isLargeEnough(_ plane: MutablePlane, bytesPerPixel: Int) -> Bool {
        SceneRenderer.isDrawable(width, height) && plane.rows >= height && plane.rowBytes >= width * bytesPerPixel
    }

    private func fill<Pixel: BitwiseCopyable>(_ plane: MutablePlane, with pixel: Pixel) {
        for row in 0..<height {
            for column in 0..<width { plane.store(pixel, row, column) }
        }
    }
}

extension SIMD4<UInt8> {
    /// Mid grey.
    fileprivate static let blankPixel = SIMD4<UInt8>(128, 128, 128, 255)
}
