package import DepthKernels

/// Draws one stream of a scene, video, depth or matte, at one size.
///
/// The room does not move: it is drawn once, at the first frame, and copied from then on. A renderer belongs to one
/// thread at a time.
///
/// No argument traps. A plane with fewer rows than `height`, or rows with fewer bytes than `width` samples need, is
/// left as it was, and so is every plane where `width` or `height` is below 1 or beyond `sizeLimit`, or their product
/// beyond `pixelLimit`. Times that are not finite count as 0.
package final class SceneRenderer {
    /// The largest width and height, in pixels.
    package static let sizeLimit = SensorView.largestWidth
    /// The largest picture, in pixels.
    package static let pixelLimit = 1 << 26

    /// An upper bound of the bytes of memory that drawing a stream takes besides its pictures: three floats of the room and
    /// a sensor's four for each pixel, and those again while an array grows.
    package static func mostMemory(width: Int, height: Int) -> Int { 48 * width * height + (1 << 20) }

    package let scene: Scene
    package let width: Int
    package let height: Int

    private let ramp: RampPattern
    private var composer: Composer
    /// The room as video, rows without padding.
    private lazy var roomPixels = drawRoomPixels()
    /// The room's depth in metres.
    private lazy var roomDepth = drawRoomDepth()
    private lazy var roomReflectance = drawRoomReflectance()
    /// The sensor of the last frame.
    private var sensor: DepthSensor?

    package init(scene: Scene, width: Int, height: Int) {
        self.scene = scene
        self.width = width
        self.height = height
        ramp = RampPattern(width: width)
        composer = Composer(width: SceneRenderer.isDrawable(width, height) ? width : 0)
    }

    /// Draws the video: 4 bytes a pixel, blue, green, red and 255. `frame` seeds the noise of `dim`, and the flicker of
    /// `RoomChange.screen`.
    package func drawVideo(seconds: Double, frame: UInt64 = 0, into plane: MutablePlane) {
        guard isLargeEnough(plane, bytesPerPixel: 4) else { return }
        switch scene.pattern {
        case .ramp: for row in 0..<height { write(row, to: plane) { ramp.color($0).pixel } }
        case .blank: for row in 0..<height { write(row, to: plane) { _ in Color(repeating: 128).pixel } }
        default: drawPersons(seconds: seconds, frame: frame, into: plane)
        }
    }

    /// Draws the depth in metres, as native 32-bit floats; 0 is "not measured".
    ///
    /// `frame` seeds the noise: the same frame number has the same noise. `noise` is its standard deviation at 1 m,
    /// in metres; it grows with the square of the depth. `holes` is the share, 0…1, of samples that are not measured.
    /// Both are added to the faults of `sensor`. `parallax` is the distance, in metres, between the depth camera and
    /// the color camera, in whose view the map is; below 0 it is that of the sensor.
    package func drawDepth(
        seconds: Double, frame: UInt64, sensor kind: SensorKind = .ideal, parallax: Double = -1, noise: Double,
        holes: Double, into plane: MutablePlane
    ) {
        guard isLargeEnough(plane, bytesPerPixel: 4) else { return }
        let drawing = drawing(of: persons(seconds: seconds), onlyOutlines: true)
        let faults = DepthFaults(seed: scene.seed, frame: frame, noise: noise, holes: holes)
        let sensor = sensor(of: kind, parallax: kind.parallax(parallax))
        if let sensor { measure(drawing, frame: frame, with: sensor) }
        var samples = [Float](repeating: 0, count: width)
        for row in 0..<height {
            if let sensor {
                for column in 0..<width { samples[column] = sensor.measured[row &* width &+ column] }
            } else {
                drawExactDepth(row, of: drawing, into: &samples)
            }
            faults.apply(to: &samples, row: row)
            write(row, to: plane) { samples[$0] }
        }
    }

    /// Draws the exact alpha of the foreground, antialiased, one byte a pixel.
    package func drawMatte(seconds: Double, into plane: MutablePlane) {
        guard isLargeEnough(plane, bytesPerPixel: 1) else { return }
        let drawing = drawing(of: scene.foreground(seconds: seconds), onlyOutlines: true)
        let isRamp = scene.pattern == .ramp
        var free = [Float](repeating: 0, count: width)
        for row in 0..<height {
            composer.uncover(row, of: drawing, into: &free)
            write(row, to: plane) { column in
                let alpha = isRamp ? ramp.share(column) : 1 - free[column]
                return UInt8(truncatingIfNeeded: Numeric.integer(alpha * 255 + 0.5, 0, 255))
            }
        }
    }

    /// The rectangles that a face detector would report, in fractions 0…1 of the frame's width and height; none in
    /// `ramp` and `blank`.
    package func faces(seconds: Double) -> [Rectangle<Double>] {
        persons(seconds: seconds).map { $0.faceBox(through: scene.view) }
    }

    /// The focal lengths of a picture of any size, in pixels; pictures that are not 16:9 are stretched.
    ///
    /// - Parameter lens: horizontal angle of view, in degrees.
    package static func focalLengths(lens: Double, width: Int, height: Int) -> (x: Double, y: Double) {
        let tangent = Double(Scene.tangent(ofHalf: lens))
        return (Double(width) / 2 / tangent, Double(height) * Double(Drawing.sceneWidth) / 2 / tangent)
    }

    /// True for the share, 0…1, of frame numbers that a camera with dropouts loses.
    package static func isDropped(_ frame: UInt64, seed: UInt32, share: Double) -> Bool {
        let salt: UInt32 = 0x7a31_9d05
        return Double(Hash.unit(FrameHash(seed: seed ^ salt, frame: frame).row(0)[0])) < share
    }

    // MARK: Persons and room

    /// All persons at one moment, from back to front; none in `ramp` and `blank`.
    private func persons(seconds: Double) -> [Person] {
        scene.background(seconds: seconds) + scene.foreground(seconds: seconds)
    }

    private func drawing(of persons: [Person], onlyOutlines: Bool) -> Drawing {
        var drawing = Drawing(width: width, height: height, view: scene.view, onlyOutlines: onlyOutlines)
        for person in persons { drawing.add(person) }
        return drawing
    }

    private func drawPersons(seconds: Double, frame: UInt64, into plane: MutablePlane) {
        let room = roomPixels
        var drawings = [scene.background(seconds: seconds), scene.foreground(seconds: seconds)]
            .filter { !$0.isEmpty }.map { drawing(of: $0, onlyOutlines: false) }
        if scene.change == .screen { drawings.insert(television(frame: frame), at: 0) }
        let light = scene.change == .light ? (0..<width).map { scene.light(x: (Float($0) + 0.5) / Float(width)) } : nil
        let noise = scene.pattern == .dim ? VideoNoise(seed: scene.seed, frame: frame) : nil
        var pixels = [Color](repeating: .zero, count: width)
        for row in 0..<height {
            for column in 0..<width { pixels[column] = Color(room[row &* width &+ column]) }
            for drawing in drawings {
                let painted = composer.paint(row, of: drawing)
                for column in 0..<width where painted[column].w > 0 {
                    pixels[column] = painted[column] + pixels[column] * (1 - painted[column].w)
                }
            }
            if let light { for column in 0..<width { pixels[column] *= light[column] } }
            noise?.apply(to: &pixels, row: row)
            write(row, to: plane) { pixels[$0].pixel }
        }
    }

    private func television(frame: UInt64) -> Drawing {
        var drawing = Drawing(width: width, height: height, view: scene.view, onlyOutlines: false)
        drawing.addTelevision(brightness: Hash.unit(FrameHash(seed: scene.seed, frame: frame).row(0)[1]))
        return drawing
    }

    private func drawRoomPixels() -> [SIMD4<UInt8>] {
        var room = Drawing(width: width, height: height, view: scene.view, onlyOutlines: false)
        room.addRoom(of: scene)
        return (0..<height).flatMap { row in
            composer.paint(row, of: room).enumerated().map { ($1 + SceneRenderer.dither($0, row)).pixel }
        }
    }

    /// Draws a row of the exact depth; for `blank` the samples are left as they are.
    private func drawExactDepth(_ row: Int, of drawing: Drawing, into samples: inout [Float]) {
        switch scene.pattern {
        case .ramp: for column in 0..<width { samples[column] = ramp.depth(column) }
        case .blank: break
        default:
            let room = roomDepth
            for column in 0..<width { samples[column] = room[row &* width &+ column] }
        }
        composer.measure(row, of: drawing, over: &samples)
    }

    private func drawRoomDepth() -> [Float] {
        guard scene.pattern != .noWall else { return [Float](repeating: 0, count: width * height) }
        var room = Drawing(width: width, height: height, view: scene.view, onlyOutlines: true)
        room.addRoom(of: scene)
        return (0..<height).flatMap { row in
            var samples = [Float](repeating: Drawing.farthestDepth, count: width)
            composer.measure(row, of: room, over: &samples)
            return samples
        }
    }

    private func drawRoomReflectance() -> [Float] {
        var room = Drawing(width: width, height: height, view: scene.view, onlyOutlines: true)
        room.addRoom(of: scene)
        return (0..<height).flatMap { row in
            var reflectance = [Float](repeating: 1, count: width)
            composer.reflect(row, of: room, over: &reflectance)
            return reflectance
        }
    }

    // MARK: The depth camera

    /// The sensor of a kind, reused from the last frame if it is the same; nil for `ideal` without parallax.
    private func sensor(of kind: SensorKind, parallax: Float) -> DepthSensor? {
        if sensor?.kind != kind || sensor?.parallax != parallax {
            sensor = DepthSensor(kind, parallax: parallax, scene, width: width, height: height)
        }
        return sensor
    }

    /// Measures a frame with a sensor. Patterns without persons keep the reflectance of 1 that `expose` starts with.
    private func measure(_ drawing: Drawing, frame: UInt64, with sensor: DepthSensor) {
        for row in 0..<height {
            sensor.expose(row) { depth, reflectance in
                drawExactDepth(row, of: drawing, into: &depth)
                guard scene.pattern.hasPersons else { return }
                let room = roomReflectance
                for column in 0..<width { reflectance[column] = room[row &* width &+ column] }
                composer.reflect(row, of: drawing, over: &reflectance)
            }
        }
        sensor.measure(seed: scene.seed, frame: frame)
    }

    /// Dither noise against banding in gradients, in steps of the 8-bit video; the sum of two uniform hashes.
    private static func dither(_ column: Int, _ row: Int) -> Color {
        let hash = Hash.mix(UInt32(truncatingIfNeeded: column), Hash.mix(UInt32(truncatingIfNeeded: row)))
        let amount = (Hash.unit(hash) + Hash.unit(Hash.mix(hash)) - 1) * 1.1
        return [amount, amount, amount, 0]
    }

    // MARK: Planes

    /// Writes a row, at any alignment.
    ///
    /// - Precondition: the row lies within the plane, and is long enough.
    @inline(__always)
    private func write<Pixel: BitwiseCopyable>(_ row: Int, to plane: MutablePlane, _ pixel: (_ column: Int) -> Pixel) {
        let memory = unsafe plane.row(row)
        for column in 0..<width {
            let offset = column &* MemoryLayout<Pixel>.size
            unsafe memory.storeBytes(of: pixel(column), toByteOffset: offset, as: Pixel.self)
        }
    }

    private static func isDrawable(_ width: Int, _ height: Int) -> Bool {
        (1...sizeLimit).contains(width) && (1...sizeLimit).contains(height) && width * height <= pixelLimit
    }

    private func isLargeEnough(_ plane: MutablePlane, bytesPerPixel: Int) -> Bool {
        SceneRenderer.isDrawable(width, height) && plane.rows >= height && plane.rowBytes >= width * bytesPerPixel
    }
}
