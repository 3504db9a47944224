import DepthKernels
import TestSupport
import Testing

/// The alpha that is made while blending, a few rows at a time and only where it changes, is that of the whole plane.
@Suite struct StripTests {
    static let layouts = [
        PixelLayout(.full(bytesPerSample: 1)),
        PixelLayout(
            .full(bytesPerSample: 1), .subsampled(horizontal: 2, vertical: 2, bytesPerSample: 1),
            .subsampled(horizontal: 2, vertical: 2, bytesPerSample: 1)),
        PixelLayout(.full(bytesPerSample: 4)), PixelLayout(.packed422(lumaFirst: true)),
        PixelLayout(.full(bytesPerSample: 3)),
        PixelLayout(.full(bytesPerSample: 1), .subsampled(horizontal: 2, vertical: 2, bytesPerSample: 2)),
        PixelLayout(
            .full(bytesPerSample: 1), .subsampled(horizontal: 2, vertical: 1, bytesPerSample: 1),
            .subsampled(horizontal: 2, vertical: 1, bytesPerSample: 1)),
        PixelLayout(
            .full(bytesPerSample: 1), .subsampled(horizontal: 4, vertical: 4, bytesPerSample: 1),
            .subsampled(horizontal: 4, vertical: 4, bytesPerSample: 1), .full(bytesPerSample: 1)),
    ]

    /// Maps laid over the frame, beside it, far smaller and far larger than it.
    static let placements = [
        (0.0, 0.0, 1.0), (7, 5, 1), (-13, 9, 0.5), (40, -30, 0.3), (3, 3, 4), (200, 0, 1), (0.5, 0.25, 0.013),
    ]

    @Test(arguments: layouts, [(64, 48), (61, 37), (33, 2), (190, 141), (9, 201)])
    func `strips blend as the whole plane does`(layout: PixelLayout, size: (width: Int, height: Int)) throws {
        let depth = try DepthMap(counts: RendererTests.scene(width: 61, height: 37), width: 61)
        let (width, height) = size
        let matte = Matte()
        let blenders = [false, true].map {
            Blender(layout: layout, width: width, height: height, copiesPastCache: $0)
        }
        let frame = MatteFrame(depth: depth.image, width: width, height: height)
        for (offsetX, offsetY, zoom) in StripTests.placements {
            for (upscale, blurRadius) in [(Upscale.bicubic, 1.5), (.bilinear, 1.5), (.bicubic, 10)] {
                let reading = DepthReading(fit: .contain, offsetX: offsetX, offsetY: offsetY, zoom: zoom)
                var settings = MatteSettings(blurRadius: blurRadius, upscale: upscale)
                settings.depth = reading
                let fresh = Matte()
                fresh.render(frame, settings)
                let whole = Frames(layout, size).blended {
                    blenders[0].blend(video: $0, background: $1, alpha: fresh.finished.alpha)
                }
                // Results of an earlier frame must not show: neither an opaque one nor a clear one.
                for var before in [MatteSettings.step(cutoff: 10), .step(cutoff: 0.1), settings] {
                    before.depth = reading
                    matte.render(frame, before)
                    _ = Frames(layout, size).blended {
                        blenders[0].blend(video: $0, background: $1, matte: matte.finished)
                    }
                    matte.render(frame, settings)
                    for blender in blenders {
                        let strips = Frames(layout, size).blended {
                            blender.blend(video: $0, background: $1, matte: matte.finished)
                        }
                        #expect(strips == whole, "\(offsetX) \(offsetY) \(zoom) \(upscale) \(blurRadius)")
                    }
                }
            }
        }
    }

    /// The map's ends lie at columns that runs do not end at; what was there in an earlier frame must be gone.
    @Test(arguments: [-6.0, -5, -3, -1, 1, 3, 5, 6])
    func `nothing of an earlier frame is left at the ends of the map`(offset: Double) throws {
        let (width, height) = (320, 24)
        let person = try DepthMap(counts: (0..<64 * 12).map { $0 / 64 < 6 ? 3000 : 700 }, width: 64)
        let nobody = try DepthMap(counts: [Int](repeating: 3000, count: 64 * 12), width: 64)
        var settings = MatteSettings.step(cutoff: 1)
        settings.depth.offsetX = offset
        let kept = Matte()
        for map in [person, nobody] {
            kept.render(MatteFrame(depth: map.image, width: width, height: height), settings)
            _ = kept.finished.alpha
        }
        #expect(kept.finished.alpha.bytes.allSatisfy { $0 == 0 })
        kept.render(MatteFrame(depth: person.image, width: width, height: height), settings)
        let fresh = matte(person.image, width: width, height: height, settings: settings)
        #expect(kept.finished.alpha.bytes == fresh)
        let beside = offset > 0 ? 0..<Int(offset) : (width + Int(offset))..<width
        #expect((0..<height).allSatisfy { y in beside.allSatisfy { fresh[y * width + $0] == 0 } }, "beside the map")
        var hidden = settings
        hidden.cutoff = .nan
        kept.render(MatteFrame(depth: person.image, width: width, height: height), hidden)
        #expect(kept.finished.alpha.bytes.allSatisfy { $0 == 0 })
        kept.render(MatteFrame(depth: person.image, width: width, height: height), settings)
        #expect(kept.finished.alpha.bytes == fresh)
    }

    @Test func `a matte of another size is refused`() throws {
        let depth = try DepthMap(counts: [Int](repeating: 700, count: 16), width: 4)
        let matte = Matte()
        matte.render(MatteFrame(depth: depth.image, width: 8, height: 8), MatteSettings())
        let blender = Blender(layout: StripTests.layouts[0], width: 9, height: 8)
        var isBlended = true
        _ = Frames(StripTests.layouts[0], (9, 8)).blended {
            isBlended = blender.blend(video: $0, background: $1, matte: matte.finished)
            return isBlended
        }
        #expect(!isBlended)
    }
}

/// A video frame and a background of any bytes, with as many planes as a layout has.
struct Frames {
    private let layout: PixelLayout
    private let size: (width: Int, height: Int)

    init(_ layout: PixelLayout, _ size: (width: Int, height: Int)) {
        self.layout = layout
        self.size = size
    }

    /// The bytes of the video after `body`; none where that says that it has not blended.
    func blended(_ body: (Planes<MutablePlane>, Planes<Plane>) -> Bool) -> [UInt8] {
        let shapes = layout.planes.indices.map {
            (layout.rowBytes(plane: $0, width: size.width), layout.rows(plane: $0, height: size.height))
        }
        let count = shapes.reduce(0) { $0 + $1.0 * $1.1 }
        var (video, background) = (randomBytes(count, seed: 1), randomBytes(count, seed: 2))
        let isDone = video.withUnsafeMutableBytes { video in
            background.withUnsafeMutableBytes { background in
                guard let video = planes(video, shapes), let background = planes(background, shapes) else {
                    return false
                }
                return body(video, background.readOnly)
            }
        }
        return isDone ? video : []
    }

    private func planes(_ bytes: UnsafeMutableRawBufferPointer, _ shapes: [(Int, Int)]) -> Planes<MutablePlane>? {
        var planes = Planes<MutablePlane>()
        var offset = 0
        for (rowBytes, rows) in shapes {
            guard let base = bytes.baseAddress,
                let plane = MutablePlane(
                    base: base + offset, length: bytes.count - offset, rowBytes: rowBytes, rows: rows, stride: rowBytes)
            else { return nil }
            planes.append(plane)
            offset += rowBytes * rows
        }
        return planes
    }
}
