import DepthKernels
import TestSupport
import Testing

/// A format of the tests: its planes, and where the components lie in them.
private struct Format: CustomTestStringConvertible {
    let testDescription: String
    let layout: PixelLayout
    let colors: VideoColors

    private typealias Component = VideoColors.Component

    private init?(_ name: String, _ planes: [PlaneLayout], _ components: [Component], isYUV: Bool = true) {
        testDescription = name
        layout = PixelLayout(planes: planes)
        guard let colors = VideoColors(isYUV ? .yuv(isLimited: true) : .rgb, components) else { return nil }
        self.colors = colors
    }

    private static func half(_ x: Int, _ y: Int, _ bytes: Int) -> PlaneLayout {
        .subsampled(horizontal: x, vertical: y, bytesPerSample: bytes)
    }

    static let all: [Format] = [
        Format("RGB", [.full(bytesPerSample: 3)], packed([0, 1, 2], step: 3), isYUV: false),
        Format("xBGR", [.full(bytesPerSample: 4)], packed([3, 2, 1], step: 4), isYUV: false),
        Format("Y444", [PlaneLayout](repeating: .full(bytesPerSample: 1), count: 3), planar(0, 0)),
        Format("I420", [.full(bytesPerSample: 1), half(2, 2, 1), half(2, 2, 1)], planar(1, 1)),
        Format("Y42B", [.full(bytesPerSample: 1), half(2, 1, 1), half(2, 1, 1)], planar(1, 0)),
        Format("YUV9", [.full(bytesPerSample: 1), half(4, 4, 1), half(4, 4, 1)], planar(2, 2)),
        Format(
            "NV12", [.full(bytesPerSample: 1), half(2, 2, 2)],
            [
                Component(plane: 0, offset: 0, step: 1, shiftX: 0, shiftY: 0),
                Component(plane: 1, offset: 0, step: 2, shiftX: 1, shiftY: 1),
                Component(plane: 1, offset: 1, step: 2, shiftX: 1, shiftY: 1),
            ]),
        Format(
            "YUY2", [.packed422(lumaFirst: true)],
            [
                Component(plane: 0, offset: 0, step: 2, shiftX: 0, shiftY: 0),
                Component(plane: 0, offset: 1, step: 4, shiftX: 1, shiftY: 0),
                Component(plane: 0, offset: 3, step: 4, shiftX: 1, shiftY: 0),
            ]),
    ].compactMap { $0 }

    private static func packed(_ offsets: [Int], step: Int) -> [Component] {
        offsets.map { Component(plane: 0, offset: $0, step: step, shiftX: 0, shiftY: 0) }
    }

    private static func planar(_ shiftX: Int, _ shiftY: Int) -> [Component] {
        (0..<3).map {
            Component(plane: $0, offset: 0, step: 1, shiftX: $0 == 0 ? 0 : shiftX, shiftY: $0 == 0 ? 0 : shiftY)
        }
    }

    /// The first pixel of a byte, the number of its pixels along each axis, and its component; nil for a byte of none.
    func place(plane: Int, x: Int, y: Int) -> (x: Int, y: Int, across: Int, down: Int, component: Int)? {
        switch layout.planes[plane] {
        case .full(let bytes):
            let component = bytes == 3 ? x % 3 : bytes == 4 ? 3 - x % 4 : plane
            return component < 3 ? (x / bytes, y, 1, 1, component) : nil
        case .subsampled(let across, let down, let bytes):
            return (x / bytes * across, y * down, across, down, bytes == 1 ? plane : 1 + x % 2)
        case .packed422:
            return x.isMultiple(of: 2) ? (x / 2, y, 1, 1, 0) : (x / 4 * 2, y, 2, 1, x % 4 == 1 ? 1 : 2)
        }
    }
}

/// A color component of a picture at a pixel, 0…255.
private typealias Paint = (_ component: Int, _ x: Int, _ y: Int) -> Double

/// Planes of one format.
private struct Picture {
    let format: Format
    let width: Int
    let height: Int
    let planes: [GuardedPlane]

    /// Each sample is the mean of its pixels; bytes of no component are 77.
    init(_ format: Format, _ width: Int, _ height: Int, _ paint: Paint) {
        self.format = format
        self.width = width
        self.height = height
        planes = format.layout.planes.indices.map { plane in
            GuardedPlane(
                rowBytes: format.layout.rowBytes(plane: plane, width: width),
                rows: format.layout.rows(plane: plane, height: height)
            ) { x, y in
                guard let place = format.place(plane: plane, x: x, y: y) else { return 77 }
                var (sum, count) = (0.0, 0.0)
                for row in place.y..<min(place.y + place.down, height) {
                    for column in place.x..<max(min(place.x + place.across, width), place.x + 1) {
                        sum += paint(place.component, column, row)
                        count += 1
                    }
                }
                return UInt8(min(max(sum / max(count, 1), 0), 255).rounded())
            }
        }
    }

    var bytes: [[UInt8]] { planes.map(\.bytes) }
    var isIntact: Bool { planes.allSatisfy(\.guardsAreIntact) }

    func change(
        alpha: GuardedPlane, background: Picture? = nil, _ settings: EdgeSettings = EdgeSettings(),
        loops: Loops = bestLoops, pool: ReversedWorkerPool? = nil
    ) {
        let edge = EdgeColors(format.colors, width: width, height: height, loops: loops)
        edge.pool = pool
        edge.change(
            Planes(planes), alpha: alpha.plane.readOnly, background: background.map { Planes($0.planes).readOnly },
            settings)
    }

    /// The same picture again.
    var copy: Picture { Picture(format, planes: planes, width, height) }

    private init(_ format: Format, planes: [GuardedPlane], _ width: Int, _ height: Int) {
        self.format = format
        self.width = width
        self.height = height
        self.planes = planes.map { GuardedPlane(rowBytes: $0.rowBytes, bytes: $0.bytes) }
    }

    /// Calls `body` for every byte of a component, with the mean alpha of its pixels.
    func forEachSample(_ alpha: GuardedPlane, _ body: (_ plane: Int, _ x: Int, _ y: Int, _ alpha: Double) -> Void) {
        for (plane, memory) in planes.enumerated() {
            for y in 0..<memory.rows {
                for x in 0..<memory.rowBytes {
                    guard let place = format.place(plane: plane, x: x, y: y), place.x < width else { continue }
                    var (sum, count) = (0, 0)
                    for row in place.y..<min(place.y + place.down, height) {
                        for column in place.x..<min(place.x + place.across, width) {
                            sum += Int(alpha[column, row])
                            count += 1
                        }
                    }
                    body(plane, x, y, Double(sum) / Double(count))
                }
            }
        }
    }
}

/// The colors of a person and of a room in the way that real ones are: plain parts, steps, and a little noise.
private func person(_ component: Int, _ x: Int, _ y: Int) -> Double {
    let part = (x / 23 + y / 31) % 3
    return [150.0, 108, 144][component] + Double(part * 14) - Double(y) * 0.2 + Double((x * 7 + y * 5) % 9)
}

private func room(_ component: Int, _ x: Int, _ y: Int) -> Double {
    let part = (x / 37 + y / 29) % 3
    return [205.0, 140, 118][component] - Double(part * 22) + Double(x) * 0.15 + Double((x * 3 + y * 11) % 9)
}

/// A person with a soft outline and a few strands of hair.
private func outline(_ width: Int, _ height: Int) -> GuardedPlane {
    let (w, h) = (Double(width), Double(height))
    return GuardedPlane(rowBytes: width, rows: height) { x, y in
        let (dx, dy) = ((Double(x) - w / 2) / (w * 0.3), (Double(y) - h * 0.6) / (h * 0.42))
        let distance = (dx * dx + dy * dy).squareRoot()
        let body = (1 - distance) * h * 0.3 / 5 + 0.5
        let strand = (x + y / 3) % 9 == 0 && distance < 1.12 ? 0.6 : 0
        return UInt8((min(max(max(body, strand), 0), 1) * 255).rounded())
    }
}

private func mixed(_ alpha: GuardedPlane) -> Paint {
    { component, x, y in
        let a = Double(alpha[x, y]) / 255
        return a * person(component, x, y) + (1 - a) * room(component, x, y)
    }
}

@Suite struct EdgeColorsTests {
    /// The mean error of mixed samples before a new background, beside the exact composite.
    private func error(_ video: Picture, _ alpha: GuardedPlane) -> Double {
        let exact = Picture(video.format, video.width, video.height) { person($0, $1, $2) }
        var (sum, count) = (0.0, 0.0)
        video.forEachSample(alpha) { plane, x, y, alpha in
            guard alpha > 0, alpha < 255 else { return }
            // Whatever the new background is, it is the same in both.
            sum += abs(Double(video.planes[plane][x, y]) - Double(exact.planes[plane][x, y])) * alpha / 255
            count += 1
        }
        return sum / count
    }

    @Test(arguments: Format.all, [(320, 240), (160, 90)])
    private func `composites err half as much at mixed pixels`(format: Format, size: (Int, Int)) {
        let alpha = outline(size.0, size.1)
        let video = Picture(format, size.0, size.1, mixed(alpha))
        let before = error(video, alpha)
        video.change(alpha: alpha)
        let after = error(video, alpha)
        #expect(before > 5 && after <= before / 2, "\(after) of \(before)")
        #expect(video.isIntact)
    }

    @Test(arguments: Format.all)
    private func `one color before another is found exactly`(format: Format) {
        let alpha = outline(67, 45)
        let video = Picture(format, 67, 45) { component, x, y in
            let a = Double(alpha[x, y]) / 255
            return a * Double(40 + 30 * component) + (1 - a) * Double(220 - 50 * component)
        }
        let half = video.copy
        let before = video.bytes
        video.change(alpha: alpha)
        half.change(alpha: alpha, EdgeSettings(decontaminate: 0.5))
        video.forEachSample(alpha) { plane, x, y, alpha in
            guard alpha > 1, alpha < 254, let place = format.place(plane: plane, x: x, y: y) else { return }
            let (own, new) = (Double(before[plane][y * video.planes[plane].rowBytes + x]), video.planes[plane][x, y])
            // A byte's rounding of color and of mean alpha is all that is left, the more the clearer the sample.
            #expect(abs(Int(new) - (40 + 30 * place.component)) <= 3, "\(plane) \(x) \(y) alpha \(alpha): \(new)")
            #expect(abs(Double(half.planes[plane][x, y]) - (own + Double(new)) / 2) <= 1)
        }
    }

    @Test(arguments: Format.all, [0, -1, -Double.infinity, .nan])
    private func `nothing changes where nothing is to be done`(format: Format, strength: Double) {
        let alpha = outline(61, 47)
        let video = Picture(format, 61, 47, mixed(alpha))
        let before = video.bytes
        let background = Picture(format, 61, 47) { _, _, _ in 250 }
        video.change(
            alpha: alpha, background: background, EdgeSettings(decontaminate: strength, lightWrap: strength))
        #expect(video.bytes == before)
        // Without a background there is no light.
        video.change(alpha: alpha, EdgeSettings(decontaminate: 0, lightWrap: 1))
        #expect(video.bytes == before)
    }

    @Test(arguments: Format.all)
    private func `clear and opaque samples keep their bytes`(format: Format) {
        let alpha = GuardedPlane(rowBytes: 150, bytes: alphaLikePicture(width: 150, height: 60, seed: 4))
        let video = Picture(format, 150, 60) { component, x, y in Double((x * 31 + y * 17 + component * 71) % 256) }
        let before = video.bytes
        video.change(alpha: alpha)
        var isAnyChanged = false
        for (plane, memory) in video.planes.enumerated() {
            for (index, byte) in memory.bytes.enumerated() where byte != before[plane][index] {
                isAnyChanged = true
                let place = format.place(plane: plane, x: index % memory.rowBytes, y: index / memory.rowBytes)
                #expect(place.map { $0.x < 150 } == true, "a byte of no component changed")
            }
        }
        video.forEachSample(alpha) { plane, x, y, alpha in
            guard alpha == 0 || alpha == 255 else { return }
            let memory = video.planes[plane]
            #expect(memory[x, y] == before[plane][y * memory.rowBytes + x])
        }
        #expect(isAnyChanged && video.isIntact)
    }

    @Test(arguments: Format.all)
    private func `colors that nobody knows change nothing`(format: Format) {
        for plain in [0, 255] as [UInt8] {
            // Nothing but mixed pixels beside room, or beside the person.
            let alpha = GuardedPlane(rowBytes: 80, rows: 40) { x, _ in x < 40 ? plain : 100 }
            let video = Picture(format, 80, 40) { component, x, y in Double((x * 31 + y * 17 + component * 71) % 256) }
            let before = video.bytes
            video.change(alpha: alpha)
            #expect(video.bytes == before)
        }
    }

    @Test(arguments: Format.all)
    private func `neither threads nor instruction sets show`(format: Format) {
        let (width, height) = (801, 603)
        let alpha = outline(width, height)
        let background = Picture(format, width, height) { component, x, y in Double((x + y * 2 + component * 50) % 256)
        }
        let video = Picture(format, width, height, mixed(alpha))
        for settings in [EdgeSettings(), EdgeSettings(decontaminate: 0.7, lightWrap: 0.6)] {
            var expected: [[UInt8]]?
            for loops in usableLoops {
                for threads in [1, 2, 7] {
                    let (picture, pool) = (video.copy, ReversedWorkerPool(size: threads))
                    picture.change(alpha: alpha, background: background, settings, loops: loops, pool: pool)
                    #expect(threads == 1 || pool.cuts > 0, "the frame was not cut")
                    #expect(picture.bytes == expected ?? picture.bytes, "\(loops), \(threads) threads")
                    expected = expected ?? picture.bytes
                }
            }
            #expect(expected != video.bytes)
        }
    }

    @Test(arguments: Format.all)
    private func `pictures of any size are changed within their bounds`(format: Format) {
        for (width, height) in [(1, 1), (2, 1), (1, 7), (3, 5), (8, 8), (9, 17), (64, 3), (5, 130), (40, 1000)] {
            let alpha = GuardedPlane(rowBytes: width, rows: height) { x, y in UInt8((x * 50 + y * 90) % 3 * 127) }
            let video = Picture(format, width, height, mixed(alpha))
            let background = Picture(format, width, height) { _, _, _ in 200 }
            video.change(alpha: alpha, background: background, EdgeSettings(decontaminate: 1, lightWrap: 1))
            #expect(video.isIntact && background.isIntact && alpha.guardsAreIntact)
        }
    }

    @Test func `planes that are too small are left as they are`() {
        let format = Format.all[0]
        let alpha = outline(40, 30)
        for (width, height) in [(39, 30), (40, 29)] {
            let video = Picture(format, width, height) { mixed(alpha)($0, $1, $2) }
            let before = video.bytes
            EdgeColors(format.colors, width: 40, height: 30).change(
                Planes(video.planes), alpha: alpha.plane.readOnly, background: nil, EdgeSettings())
            #expect(video.bytes == before && video.isIntact)
        }
    }

    // MARK: Light wrap

    /// Light reaches beyond mixed cells, so that each cell which is taken for one, or not, shows.
    @Test(arguments: [(61, 37), (190, 141), (320, 240)])
    private func `what the matte knows of its alpha changes no byte`(size: (width: Int, height: Int)) throws {
        let (width, height, format) = (size.width, size.height, Format.all[3])
        let depth = try DepthMap(counts: RendererTests.scene(width: 61, height: 37), width: 61)
        let blender = Blender(layout: format.layout, colors: format.colors, width: width, height: height)
        let (room, matte) = (Picture(format, width, height) { _, _, _ in 240 }, Matte())
        let light = EdgeSettings(decontaminate: 0, lightWrap: 1)
        var changes = 0
        for (offsetX, offsetY, zoom) in StripTests.placements {
            var settings = MatteSettings()
            settings.depth = DepthReading(fit: .contain, offsetX: offsetX, offsetY: offsetY, zoom: zoom)
            matte.render(MatteFrame(depth: depth.image, width: width, height: height), settings)
            let video = Picture(format, width, height, person)
            let (own, other) = (video.copy, video.copy)
            blender.changeEdge(
                of: Planes(own.planes), matte: matte.finished, background: Planes(room.planes).readOnly, light)
            other.change(
                alpha: GuardedPlane(rowBytes: width, bytes: matte.finished.alpha.bytes), background: room, light)
            #expect(own.bytes == other.bytes, "\(offsetX) \(offsetY) \(zoom)")
            if own.bytes != video.bytes { changes += 1 }
        }
        #expect(changes > 2)
    }

    @Test(arguments: Format.all)
    private func `light falls on the edge, the more the stronger, and not within`(format: Format) {
        let (width, height) = (160, 120)
        let alpha = outline(width, height)
        let background = Picture(format, width, height) { _, _, _ in 240 }
        var isClearKept = true
        func brightness(_ light: Double) -> (edge: Double, inside: Double, clear: Double) {
            let video = Picture(format, width, height) { _, _, _ in 60 }
            let before = video.bytes
            video.change(alpha: alpha, background: background, EdgeSettings(decontaminate: 0, lightWrap: light))
            video.forEachSample(alpha) { plane, x, y, alpha in
                let memory = video.planes[plane]
                if alpha == 0, memory[x, y] != before[plane][y * memory.rowBytes + x] { isClearKept = false }
            }
            let depth = (
                edge: (0..<width).first { alpha[$0, 72] == 255 } ?? 0, inside: width / 2, clear: 2
            )
            func luma(_ x: Int) -> Double {
                // The first component, wherever it is.
                let component = format.testDescription == "xBGR" ? (x * 4 + 3) : x
                let step = video.planes[0].rowBytes / width
                return Double(video.planes[0][format.testDescription == "xBGR" ? component : x * step, 72])
            }
            return (luma(depth.edge), luma(depth.inside), luma(depth.clear))
        }
        let results = [0, 0.25, 0.5, 1].map(brightness)
        #expect(results.allSatisfy { $0.inside == 60 && $0.clear == 60 } && isClearKept)
        #expect(results[0].edge == 60)
        #expect(zip(results, results.dropFirst()).allSatisfy { $0.edge < $1.edge })
        #expect(results[3].edge < 200)
    }

    @Test func `light of the person's own color shows nothing`() {
        for format in Format.all {
            let alpha = outline(160, 120)
            let video = Picture(format, 160, 120) { component, _, _ in Double(90 + component * 20) }
            let before = video.bytes
            video.change(alpha: alpha, background: video.copy, EdgeSettings(decontaminate: 0, lightWrap: 1))
            #expect(video.bytes == before)
        }
    }
}
