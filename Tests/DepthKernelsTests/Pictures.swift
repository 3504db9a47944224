import DepthKernels
import TestSupport
import Testing

/// A depth map in guarded memory of its own.
struct DepthMap {
    let memory: GuardedPlane
    let image: DepthImage

    /// Counts in the encoding's own bytes.
    init(counts: [Int], width: Int, encoding: DepthEncoding = .gray16LE) throws {
        try self.init(samples: counts, width: width, encoding: encoding) { count in
            switch encoding {
            case .gray8: return [UInt8(count)]
            case .gray16BE: return [UInt8(count >> 8), UInt8(count & 255)]
            case .gray16LE, .float16LE, .float32LE: return [UInt8(count & 255), UInt8(count >> 8)]
            }
        }
    }

    init(metres: [Float], width: Int) throws {
        try self.init(samples: metres, width: width, encoding: .float32LE) { metres in
            (0..<4).map { UInt8(truncatingIfNeeded: metres.bitPattern >> ($0 * 8)) }
        }
    }

    /// Bit patterns of 16-bit floats.
    init(halves: [UInt16], width: Int) throws {
        try self.init(samples: halves, width: width, encoding: .float16LE) { [UInt8($0 & 255), UInt8($0 >> 8)] }
    }

    private init<Sample>(
        samples: [Sample], width: Int, encoding: DepthEncoding, bytes: (Sample) -> [UInt8]
    ) throws {
        memory = GuardedPlane(rowBytes: width * encoding.bytesPerSample, bytes: samples.flatMap(bytes))
        image = try #require(
            DepthImage(
                plane: memory.plane.readOnly, width: width, height: samples.count / width, encoding: encoding))
    }

    /// Every sample in metres, by `scale`; 0 where it was not measured.
    func metres(_ scale: DepthScale = DepthScale()) -> [Double] {
        (0..<image.height).flatMap { y in
            (0..<image.width).map { x in image.metres(x: x, y: y, scale: scale) ?? 0 }
        }
    }

    /// A matte by a fresh renderer, the map stretched over the frame.
    func alpha(
        _ settings: MatteSettings, scale: DepthScale = DepthScale(), videoWidth: Int? = nil, videoHeight: Int? = nil,
        loops: Loops = bestLoops
    ) -> [UInt8] {
        let width = videoWidth ?? image.width
        let height = videoHeight ?? image.height
        var settings = settings
        settings.depth.scale = scale
        return matte(image, width: width, height: height, settings: settings, loops: loops)
    }
}

extension DepthMap {
    /// The difference of a fresh renderer's matte from the reference's, on a video of any size.
    func difference(
        _ settings: MatteSettings, scale: DepthScale = DepthScale(), video size: (width: Int, height: Int)? = nil
    ) -> Difference {
        let (width, height) = size ?? (image.width, image.height)
        return Difference(
            alpha(settings, scale: scale, videoWidth: width, videoHeight: height),
            settings.reference.alpha(
                metres: metres(scale), width: image.width, height: image.height, videoWidth: width, videoHeight: height)
        )
    }
}

extension MatteSettings {
    /// The defaults with other numbers.
    init(blurRadius: Double, gamma: Double = 0.5, upscale: Upscale = .bicubic) {
        self.init()
        (self.blurRadius, self.gamma, self.upscale) = (blurRadius, gamma, upscale)
    }
}

/// The bytes of a fresh matte.
func matte(
    _ depth: DepthImage, width: Int, height: Int, settings: MatteSettings = MatteSettings(), loops: Loops = bestLoops
) -> [UInt8] {
    let matte = Matte(loops: loops)
    matte.render(MatteFrame(depth: depth, width: width, height: height), settings)
    // The plane is the matte's memory.
    return withExtendedLifetime(matte) { matte.finished.alpha.bytes }
}

/// A picture of one of the layouts that the elements know, at odd addresses between guards.
struct Canvas {
    static let layouts: [PixelLayout] = [
        PixelLayout(.full(bytesPerSample: 1)), PixelLayout(.full(bytesPerSample: 3)),
        PixelLayout(.full(bytesPerSample: 4)),
        PixelLayout(
            .full(bytesPerSample: 1), .subsampled(horizontal: 2, vertical: 2, bytesPerSample: 1),
            .subsampled(horizontal: 2, vertical: 2, bytesPerSample: 1), .full(bytesPerSample: 1)),
        PixelLayout(.full(bytesPerSample: 1), .subsampled(horizontal: 2, vertical: 2, bytesPerSample: 2)),
        PixelLayout(
            .full(bytesPerSample: 1), .subsampled(horizontal: 2, vertical: 1, bytesPerSample: 1),
            .subsampled(horizontal: 2, vertical: 1, bytesPerSample: 1)),
        PixelLayout(.packed422(lumaFirst: true)), PixelLayout(.packed422(lumaFirst: false)),
    ]

    let layout: PixelLayout
    let width: Int
    let height: Int
    let planes: [GuardedPlane]

    init(
        _ layout: PixelLayout, width: Int, height: Int,
        content: (_ plane: Int, _ x: Int, _ y: Int) -> UInt8 = { _, _, _ in 100 }
    ) {
        self.layout = layout
        self.width = width
        self.height = height
        planes = layout.planes.indices.map { plane in
            GuardedPlane(
                rowBytes: layout.rowBytes(plane: plane, width: width), rows: layout.rows(plane: plane, height: height)
            ) { content(plane, $0, $1) }
        }
    }

    var bytes: [[UInt8]] { planes.map(\.bytes) }
}

/// Calls `body` with a picture of three bytes a pixel.
func withRGB<Result>(
    _ bytes: [UInt8], width: Int, height: Int, _ body: (VideoPicture) throws -> Result
) throws -> Result {
    try bytes.withUnsafeBytes { bytes in
        let base = try #require(bytes.baseAddress)
        let plane = try #require(
            Plane(base: base, length: bytes.count, rowBytes: 3 * width, rows: height, stride: 3 * width))
        var planes = Planes<Plane>()
        planes.append(plane)
        let components = (0..<3).map { VideoColors.Component(plane: 0, offset: $0, step: 3, shiftX: 0, shiftY: 0) }
        return try body(
            VideoPicture(
                planes: planes, layout: PixelLayout(.full(bytesPerSample: 3)), colors: VideoColors(.rgb, components)))
    }
}

extension MatteSettings {
    /// Threshold alone: no blur, no gamma.
    static func step(near: Double = 0, cutoff: Double, invert: Bool = false) -> MatteSettings {
        var settings = MatteSettings()
        settings.anchor.mode = .fixed
        settings.near = near
        settings.cutoff = cutoff
        settings.invert = invert
        settings.blurRadius = 0
        settings.gamma = 1
        return settings
    }

    /// The same settings for the slow transcription.
    var reference: ReferenceMatte {
        var result = ReferenceMatte()
        result.cutoff = cutoff
        result.near = near
        result.featherNear = featherNear
        result.featherFar = featherFar
        if mask != .cutoff {
            result.focusMask = .init(isBand: mask == .bandPass, focus: focus, slope: slope, width: width)
        }
        result.invert = invert
        result.blurRadius = blurRadius
        result.gamma = gamma
        result.isBicubic = upscale == .bicubic
        return result
    }
}

/// The differences between two pictures of bytes.
struct Difference: CustomStringConvertible {
    let largest: Int
    let mean: Double

    init(_ a: [UInt8], _ b: [UInt8]) {
        let differences = zip(a, b).map { abs(Int($0) - Int($1)) }
        largest = a.count == b.count ? differences.max() ?? 0 : .max
        mean = Double(differences.reduce(0, +)) / Double(max(differences.count, 1))
    }

    /// The promise of the element: 2/255 at every pixel, 0.25/255 on average.
    var isWithinPromise: Bool { largest <= 2 && mean <= 0.25 }

    var description: String { "largest \(largest), mean \(mean)" }
}

/// Random bytes, the same in every run.
func randomBytes(_ count: Int, seed: UInt64) -> [UInt8] {
    var random = RepeatableRandomNumberGenerator(seed: seed)
    return random.bytes(count)
}

/// Alpha as it comes: long runs of 0 and 255 with soft steps between them.
func alphaLikePicture(width: Int, height: Int, seed: UInt64) -> [UInt8] {
    var random = RepeatableRandomNumberGenerator(seed: seed)
    var result: [UInt8] = []
    for _ in 0..<height {
        var row: [UInt8] = []
        while row.count < width {
            let length = Int.random(in: 1...90, using: &random)
            switch Int.random(in: 0..<3, using: &random) {
            case 0: row += [UInt8](repeating: 0, count: length)
            case 1: row += [UInt8](repeating: 255, count: length)
            default: row += (0..<length / 4 + 1).map { _ in UInt8.random(in: 0...255, using: &random) }
            }
        }
        result += row.prefix(width)
    }
    return result
}
