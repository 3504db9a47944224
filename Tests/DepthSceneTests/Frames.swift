import DepthKernels
import DepthScene

/// Memory that a frame is drawn into: rows with padding after them, and a guard value wherever no pixel is.
struct Canvas {
    static let guardValue: UInt8 = 0xa5

    let width: Int
    let height: Int
    let bytesPerPixel: Int
    let padding: Int
    private(set) var bytes: [UInt8]

    init(width: Int, height: Int, bytesPerPixel: Int, padding: Int = 0) {
        self.width = width
        self.height = height
        self.bytesPerPixel = bytesPerPixel
        self.padding = padding
        bytes = Array(repeating: Canvas.guardValue, count: (width * bytesPerPixel + padding) * height)
    }

    var stride: Int { width * bytesPerPixel + padding }

    mutating func draw(_ body: (MutablePlane) -> Void) {
        unsafe bytes.withUnsafeMutableBytes { memory in
            guard let base = memory.baseAddress else { return }
            let plane = unsafe MutablePlane(
                base: base, length: memory.count, rowBytes: width * bytesPerPixel, rows: height,
                stride: width * bytesPerPixel + padding)
            if let plane { body(plane) }
        }
    }

    /// The bytes of the picture, without the padding.
    var pixels: [UInt8] {
        (0..<height).flatMap { bytes[($0 * stride)..<($0 * stride + width * bytesPerPixel)] }
    }

    /// The bytes after each row.
    var guards: [UInt8] {
        (0..<height).flatMap { bytes[($0 * stride + width * bytesPerPixel)..<(($0 + 1) * stride)] }
    }

    /// The picture as native 32-bit floats.
    var floats: [Float] {
        let bytes = pixels
        return unsafe bytes.withUnsafeBytes { memory in
            (0..<(width * height)).map { unsafe memory.loadUnaligned(fromByteOffset: $0 * 4, as: Float.self) }
        }
    }
}

extension SceneRenderer {
    static func person(_ width: Int, _ height: Int, seed: UInt32 = 0) -> SceneRenderer {
        SceneRenderer(scene: Scene(pattern: .person, seed: seed), width: width, height: height)
    }

    func video(at seconds: Double, padding: Int = 0) -> Canvas {
        var canvas = Canvas(width: width, height: height, bytesPerPixel: 4, padding: padding)
        canvas.draw { drawVideo(seconds: seconds, into: $0) }
        return canvas
    }

    func depth(
        at seconds: Double, frame: UInt64 = 0, sensor: SensorKind = .ideal, parallax: Double = -1, noise: Double = 0,
        holes: Double = 0, padding: Int = 0
    ) -> Canvas {
        var canvas = Canvas(width: width, height: height, bytesPerPixel: 4, padding: padding)
        canvas.draw {
            drawDepth(
                seconds: seconds, frame: frame, sensor: sensor, parallax: parallax, noise: noise, holes: holes, into: $0
            )
        }
        return canvas
    }

    func matte(at seconds: Double, padding: Int = 0) -> Canvas {
        var canvas = Canvas(width: width, height: height, bytesPerPixel: 1, padding: padding)
        canvas.draw { drawMatte(seconds: seconds, into: $0) }
        return canvas
    }
}

/// A picture size.
struct Size: Sendable, CustomStringConvertible {
    let width: Int
    let height: Int
    var description: String { "\(width)x\(height)" }

    static let small = [Size(width: 1, height: 1), Size(width: 2, height: 2), Size(width: 33, height: 17)]
}

/// Twenty moments, a little more than half a second apart and so in no step with the movements.
let moments = (0..<20).map { Double($0) * 0.537 }

/// Nothing of the person is farther than this, and nothing of the room nearer than `roomFrom`; metres.
let faceDepth: Float = 0.70
let personUpTo = faceDepth + 0.22
let roomFrom = faceDepth + 0.35
