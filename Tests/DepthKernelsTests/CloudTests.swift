import DepthKernels
import TestSupport
import Testing

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

@Suite struct CloudTests {
    private static let black: UInt32 = 0xff00_0000

    // MARK: Places of points

    /// The corners of a cube of 20 cm about the center of the turn, on whole samples of a map of 121 x 121.
    struct Cube {
        static let side = 121
        /// Focal length and middle of the sensor, in samples.
        static let (focalLength, middle) = (120.0, 60.0)
        let corners: [SIMD3<Double>] = [-0.1, 0.1].flatMap { x in
            [-0.1, 0.1].flatMap { y in [0.4, 0.6].map { z in SIMD3(x, y, z) } }
        }

        /// Corner `index` has the color `index + 1`.
        func scene() throws -> CloudFixture {
            var metres = [Float](repeating: .nan, count: Cube.side * Cube.side)
            var colors = [SIMD4<UInt8>](repeating: pixel(0), count: metres.count)
            for (index, corner) in corners.enumerated() {
                let column = Cube.middle + Cube.focalLength * corner.x / corner.z
                let row = Cube.middle + Cube.focalLength * corner.y / corner.z
                try #require(column == column.rounded() && row == row.rounded())
                let place = Int(row) * Cube.side + Int(column)
                metres[place] = Float(corner.z)
                colors[place] = pixel(index + 1)
            }
            return try CloudFixture(metres: metres, colors: colors, width: Cube.side)
        }
    }

    static let views: [(yaw: Double, pitch: Double, roll: Double, zoom: Double, pan: SIMD2<Double>)] = [
        (0, 0, 0, 0, [0, 0]), (30, 0, 0, 0, [0, 0]), (0, 30, 0, 0, [0, 0]), (0, 0, 30, 0, [0, 0]),
        (-20, 45, 10, 0.1, [0.03, -0.05]), (90, 0, 0, 0, [0, 0]), (180, 0, 0, -0.3, [0, 0]), (0, 90, 90, 0, [0, 0]),
        (123, -37, -171, -1, [-0.2, 0.1]), (10, 10, 10, 0.35, [0, 0]),
    ]

    @Test(arguments: views)
    func `the corners of a turned cube are where trigonometry says`(
        yaw: Double, pitch: Double, roll: Double, zoom: Double, pan: SIMD2<Double>
    ) throws {
        let cube = Cube()
        let (width, height, fieldOfView) = (320, 240, 60.0)
        var settings = CloudRenderer.Settings(
            sensor: CloudSensor(
                width: Cube.side, height: Cube.side, fieldOfView: 70, fx: Cube.focalLength, fy: Cube.focalLength,
                cx: Cube.middle, cy: Cube.middle))
        settings.view.yaw = yaw
        settings.view.pitch = pitch
        settings.view.roll = roll
        settings.view.zoom = zoom
        settings.view.panX = pan.x
        settings.view.panY = pan.y
        settings.fieldOfView = fieldOfView
        settings.pointSize = 1
        let shown = try cube.scene().draw(settings, width: width, height: height)

        func radians(_ degrees: Double) -> Double { degrees * .pi / 180 }
        var expected: [Int: (distance: Double, color: UInt32)] = [:]
        for (index, corner) in cube.corners.enumerated() {
            // About the point half a metre ahead: the upright axis, the level one, the line of sight.
            var (x, y, z) = (corner.x, corner.y, corner.z - 0.5)
            (x, z) = (x * cos(radians(yaw)) - z * sin(radians(yaw)), x * sin(radians(yaw)) + z * cos(radians(yaw)))
            (y, z) = (
                y * cos(radians(pitch)) - z * sin(radians(pitch)), y * sin(radians(pitch)) + z * cos(radians(pitch))
            )
            (x, y) = (x * cos(radians(roll)) - y * sin(radians(roll)), x * sin(radians(roll)) + y * cos(radians(roll)))
            (x, y, z) = (x + pan.x, y + pan.y, z + 0.5 - zoom)
            guard z > 0.001 else { continue }
            let focalLength = 120 / tan(radians(fieldOfView / 2))
            let place = (x: 159.5 + focalLength * x / z, y: 119.5 + focalLength * y / z)
            let (column, row) = (nearest(place.x, 320), nearest(place.y, 240))
            guard let column, let row else { continue }
            if z < expected[row * 320 + column]?.distance ?? .infinity {
                expected[row * 320 + column] = (z, UInt32(index + 1))
            }
        }
        #expect(!expected.isEmpty)
        for (place, color) in shown.enumerated() {
            #expect(color == expected[place]?.color ?? CloudTests.black, "column \(place % 320), row \(place / 320)")
        }
    }

    /// The whole number next to a place; nil outside the picture. No place of the test is half way between two.
    private func nearest(_ place: Double, _ count: Int) -> Int? {
        let whole = place.rounded()
        #expect(abs(abs(place - whole) - 0.5) > 1e-4, "rounding decides here")
        return whole >= 0 && whole < Double(count) ? Int(whole) : nil
    }

    @Test func `seen from where the camera stood, the cloud is the picture`() throws {
        let (width, height) = (33, 17)
        let metres = (0..<width * height).map { $0 % 7 == 3 ? Float.nan : 0.5 + Float($0 % 11) / 10 }
        let colors = (0..<width * height).map { pixel($0 + 1) }
        let scene = try CloudFixture(metres: metres, colors: colors, width: width)
        var settings = scene.settings
        settings.pointSize = 1
        let shown = try scene.draw(settings, width: width, height: height)
        for index in shown.indices {
            #expect(shown[index] == (metres[index].isNaN ? CloudTests.black : UInt32(index + 1)))
        }
    }

    @Test func `what lies nearer than a millimetre is not drawn`() throws {
        let scene = try CloudFixture(metres: [0.0009], colors: [pixel(7)], width: 1)
        #expect(try scene.draw(scene.settings, width: 5, height: 5).allSatisfy { $0 == CloudTests.black })
        // InstanceBox a metre away, but the viewer has come up to it.
        let far = try CloudFixture(metres: [0.5], colors: [pixel(7)], width: 1)
        var settings = far.settings
        settings.view.zoom = 0.498
        #expect(try far.draw(settings, width: 5, height: 5)[12] == 7)
        settings.view.zoom = 0.4995
        #expect(try far.draw(settings, width: 5, height: 5).allSatisfy { $0 == CloudTests.black })
    }

    @Test func `the angle of view sets what half a picture spans`() throws {
        // One sample straight ahead and one half a metre below it, a metre away.
        let sensor = CloudSensor(width: 1, height: 2, fieldOfView: 70, fy: 2, cy: 1e-9)
        let scene = try CloudFixture(metres: [1, 1], colors: [pixel(4), pixel(7)], width: 1)
        var settings = CloudRenderer.Settings(sensor: sensor)
        settings.pointSize = 1
        for fieldOfView in [50.0, 70, 90, 120, 170] {
            settings.fieldOfView = fieldOfView
            let shown = try scene.draw(settings, width: 101, height: 201)
            #expect(shown[100 * 101 + 50] == 4)
            let row = (100 + 0.5 * 100.5 / tan(fieldOfView / 2 * .pi / 180)).rounded()
            #expect(shown.firstIndex(of: 7) == (row <= 200 ? Int(row) * 101 + 50 : nil))
        }
    }

    // MARK: Pixels

    @Test(arguments: [1, 1.9, 2, 3, 4, 5, 6.5, 9, 21])
    func `a pixel shows the nearest of the discs that cover it`(pointSize: Double) throws {
        let (width, height) = (37, 23)
        var random = RepeatableRandomNumberGenerator(seed: 5)
        let metres = (0..<width * height).map { _ in
            Int.random(in: 0..<12, using: &random) == 0 ? Float.random(in: 0.2...9, using: &random) : .nan
        }
        let scene = try CloudFixture(metres: metres, colors: (1...width * height).map { pixel($0) }, width: width)
        var settings = scene.settings
        settings.pointSize = pointSize
        settings.background = pixel(0xabcdef)
        let shown = try scene.draw(settings, width: width, height: height)
        for y in 0..<height {
            for x in 0..<width {
                let covering = metres.indices.filter { index in
                    let (dx, dy) = (Double(index % width - x), Double(index / width - y))
                    return !metres[index].isNaN && dx * dx + dy * dy <= pointSize * pointSize / 4
                }
                let nearest = covering.min { metres[$0] < metres[$1] }
                #expect(shown[y * width + x] == nearest.map { UInt32($0 + 1) } ?? 0xabcdef)
            }
        }
    }

    @Test func `five pixels across is a square without its corners`() throws {
        var metres = [Float](repeating: .nan, count: 49)
        metres[24] = 1
        let scene = try CloudFixture(metres: metres, colors: [SIMD4<UInt8>](repeating: pixel(1), count: 49), width: 7)
        let shown = try scene.draw(scene.settings, width: 7, height: 7).map { $0 == 1 ? 1 : 0 }
        #expect(
            shown == [
                0, 0, 0, 0, 0, 0, 0,
                0, 0, 1, 1, 1, 0, 0,
                0, 1, 1, 1, 1, 1, 0,
                0, 1, 1, 1, 1, 1, 0,
                0, 1, 1, 1, 1, 1, 0,
                0, 0, 1, 1, 1, 0, 0,
                0, 0, 0, 0, 0, 0, 0,
            ])
    }

    @Test func `the disc of a point beside the picture reaches into it`() throws {
        var metres = [Float](repeating: .nan, count: 25)
        metres[10] = 1  // column 0 of the middle row: column -1 of a picture that is three columns wide
        let scene = try CloudFixture(metres: metres, colors: [SIMD4<UInt8>](repeating: pixel(1), count: 25), width: 5)
        var settings = scene.settings
        settings.pointSize = 3
        #expect(try scene.draw(settings, width: 3, height: 5).filter { $0 == 1 }.count == 3)
    }

    @Test func `of points equally far the least number shows, whichever comes first`() throws {
        for colors in [[9, 4, 6], [4, 6, 9], [6, 9, 4]] {
            // Three samples in a row fall into one pixel.
            let scene = try CloudFixture(metres: [2, 2, 2], colors: colors.map { pixel($0) }, width: 3)
            var settings = CloudRenderer.Settings(sensor: CloudSensor(width: 3, height: 1, fieldOfView: 70, fx: 1e5))
            settings.pointSize = 1
            #expect(try scene.draw(settings, width: 1, height: 1) == [4])
        }
    }

    @Test func `points are opaque where the picture has an alpha`() throws {
        let scene = try CloudFixture(metres: [1], colors: [SIMD4(1, 2, 3, 4)], width: 1)
        var settings = scene.settings
        settings.background = SIMD4(0, 0, 0, 0)
        settings.pointSize = 1
        settings.alphaByte = 3
        #expect(try scene.draw(settings, width: 1, height: 1) == [0xff03_0201])
        settings.alphaByte = 0
        #expect(try scene.draw(settings, width: 1, height: 1) == [0x0403_02ff])
    }

    @Test func `colors come from the pixel under each sample`() throws {
        let depth = try DepthMap(metres: [1, 1, 1, 1], width: 4)
        let memory = GuardedPlane(rowBytes: 32, bytes: (0..<8).flatMap { [UInt8($0), 0, 0, 0] })
        func shown(_ fit: DepthFit, scale: Double) throws -> [UInt8] {
            let placement = DepthPlacement(
                depthWidth: 4, depthHeight: 1, videoWidth: 8, videoHeight: 1, fit: fit, scale: scale)
            let picture = try #require(CloudPicture(plane: memory.plane.readOnly, placement: placement))
            let target = GuardedPlane(rowBytes: 16, rows: 1) { _, _ in 0 }
            var settings = CloudRenderer.Settings(sensor: CloudSensor(width: 4, height: 1, fieldOfView: 70))
            settings.pointSize = 1
            #expect(
                CloudRenderer().draw(
                    depth.image, scale: DepthScale(), colors: picture, settings: settings, into: target.plane,
                    width: 4, height: 1))
            return (0..<4).map { target[$0 * 4, 0] }
        }
        #expect(try shown(.stretch, scale: 1) == [1, 3, 5, 7])
        #expect(try shown(.stretch, scale: 0.5) == [2, 3, 4, 5])
        // Beside the picture its edge goes on.
        #expect(try shown(.stretch, scale: 2) == [0, 2, 6, 7])
    }

    // MARK: Counts

    @Test func `counts of every kind and encoding become points`() throws {
        let scales = [
            (DepthScale(), 1500, 1.5), (DepthScale(unit: 0.0005, bias: 0.25), 1500, 1.0),
            (DepthScale(kind: .disparity, unit: 0.001, bias: 0.5, invalidCount: -1), 0, 2.0),
            (DepthScale(kind: .disparity, unit: 0.001), 250, 4.0),
            (DepthScale(kind: .disparity, unit: -0.001, bias: 0.5), 250, 4.0),
            (DepthScale(unit: -0.001, bias: 1.75), 250, 1.5),
        ]
        for (scale, count, metres) in scales {
            for encoding in [DepthEncoding.gray16LE, .gray16BE, .gray8] where encoding != .gray8 || count < 256 {
                let depth = try DepthMap(counts: [count], width: 1, encoding: encoding)
                let scene = try CloudFixture(depth, [pixel(3)])
                // The point vanishes when the viewer has come up to it.
                var settings = scene.settings
                settings.pointSize = 1
                settings.view.zoom = metres - 0.002
                #expect(try scene.draw(settings, width: 1, height: 1, scale: scale) == [3], "\(encoding) \(scale)")
                settings.view.zoom = metres
                #expect(try scene.draw(settings, width: 1, height: 1, scale: scale) == [CloudTests.black])
            }
        }
        for scale in [DepthScale(unit: .nan), DepthScale(bias: .infinity), DepthScale(invalidCount: 1500)] {
            let scene = try CloudFixture(DepthMap(counts: [1500], width: 1), [pixel(3)])
            #expect(try scene.draw(scene.settings, width: 1, height: 1, scale: scale) == [CloudTests.black])
        }
    }

    @Test func `relative depth counts its full scale as a metre`() throws {
        for (encoding, kind, count) in [
            (DepthEncoding.gray8, DepthScale.Kind.relative, 255), (.gray16LE, .relative, 65535),
            (.gray8, .relativeInverted, 0), (.gray16LE, .relativeInverted, 0),
        ] {
            let scene = try CloudFixture(DepthMap(counts: [count], width: 1, encoding: encoding), [pixel(3)])
            var settings = scene.settings
            settings.view.zoom = 0.99
            let scale = DepthScale(kind: kind)
            #expect(try scene.draw(settings, width: 1, height: 1, scale: scale) == [3])
            settings.view.zoom = 1
            #expect(try scene.draw(settings, width: 1, height: 1, scale: scale) == [CloudTests.black])
        }
    }

    // MARK: Always the same, and never a trap

    @Test func `nothing of a frame is left for the next`() throws {
        let renderer = CloudRenderer()
        var random = RepeatableRandomNumberGenerator(seed: 8)
        for (width, height, size) in [(40, 30, 5.0), (40, 30, 5), (40, 30, 9), (7, 50, 5), (64, 48, 1), (40, 30, 5)] {
            let metres = (0..<600).map { _ in Float.random(in: 0...2, using: &random) }
            let scene = try CloudFixture(metres: metres, colors: (0..<600).map { pixel($0) }, width: 30)
            var settings = scene.settings
            settings.pointSize = size
            settings.view.yaw = Double.random(in: -180...180, using: &random)
            settings.background = pixel(Int.random(in: 0...0xffffff, using: &random))
            let kept = try scene.draw(settings, width: width, height: height, renderer: renderer)
            #expect(try kept == scene.draw(settings, width: width, height: height))
        }
    }

    /// By bands of a few rows, from a map that is turned so that the workers' points come to the same rows of the picture,
    /// to others, or to none.
    @Test(arguments: [1.0, 2, 5, 6, 40])
    func `any number of workers draws the same picture, bit for bit, and leaves nothing behind`(size: Double) throws {
        var random = RepeatableRandomNumberGenerator(seed: 10)
        for loops in usableLoops {
            let pools = [2, 3, 7].map { ReversedWorkerPool(size: $0) }
            let renderers = pools.map { pool in
                let renderer = CloudRenderer(loops: loops, leastPixels: 40)
                renderer.pool = pool
                return renderer
            }
            let poses = [(0.0, 0.0), (25, 0), (0, 90), (10, 180), (180, 0), (5, 37)]
            for (index, (yaw, roll)) in (poses + poses.reversed()).enumerated() {
                let (width, height) = index < poses.count ? (61, 47) : (38, 90)
                let metres = (0..<2400).map { _ in
                    Bool.random(using: &random) ? Float.random(in: 0.3...2, using: &random) : 0
                }
                let scene = try CloudFixture(metres: metres, colors: (0..<2400).map { pixel($0 * 7919) }, width: 60)
                var settings = scene.settings
                settings.pointSize = size
                (settings.view.yaw, settings.view.roll) = (yaw, roll)
                settings.view.panY = index == 3 ? 3 : 0
                let alone = try scene.draw(
                    settings, width: width, height: height, renderer: CloudRenderer(loops: loops))
                for renderer in renderers {
                    let shared = try scene.draw(settings, width: width, height: height, renderer: renderer)
                    #expect(
                        shared.elementsEqual(alone),
                        "\(loops), yaw \(yaw), roll \(roll), \(renderer.pool?.size ?? 1) workers")
                }
            }
            for pool in pools { #expect(pool.cuts >= 12, "no picture was cut") }
        }
    }

    @Test func `what showed at the edges is gone from the next frame, at every width and size of points`() throws {
        for width in 1...13 {
            for size in [1.0, 3, 4, 5, 7] {
                let renderer = CloudRenderer()
                let count = width * 9
                let near = try CloudFixture(
                    metres: [Float](repeating: 1, count: count), colors: (1...count).map { pixel($0) }, width: width)
                let nothing = try CloudFixture(
                    metres: [Float](repeating: 0, count: count), colors: (1...count).map { pixel($0) }, width: width)
                var settings = near.settings
                settings.pointSize = size
                _ = try near.draw(settings, width: width, height: 9, renderer: renderer)
                let left = try nothing.draw(settings, width: width, height: 9, renderer: renderer)
                #expect(left.allSatisfy { $0 == CloudTests.black }, "\(width) wide, points of \(size)")
                let again = try near.draw(settings, width: width, height: 9, renderer: renderer)
                #expect(try again == near.draw(settings, width: width, height: 9))
            }
        }
    }

    @Test func `what is infinitely far is not drawn, wherever one looks`() throws {
        let far: [Float] = [.infinity, -.infinity, .nan]
        let scene = try CloudFixture(
            metres: (0..<15).map { far[$0 % 3] }, colors: [SIMD4<UInt8>](repeating: pixel(7), count: 15), width: 5)
        for loops in usableLoops {
            for yaw in stride(from: -180.0, through: 180, by: 15) {
                var settings = scene.settings
                settings.view.yaw = yaw
                settings.view.pitch = yaw / 3
                let shown = try scene.draw(settings, width: 9, height: 7, renderer: CloudRenderer(loops: loops))
                #expect(shown.allSatisfy { $0 == CloudTests.black }, "\(loops), \(yaw) degrees")
            }
        }
    }

    @Test func `every instruction set draws the same picture, bit for bit, at every width`() throws {
        var random = RepeatableRandomNumberGenerator(seed: 9)
        for width in 1...40 {
            let metres = (0..<width * 5).map { _ in Float.random(in: -0.2...1.5, using: &random) }
            let scene = try CloudFixture(metres: metres, colors: (0..<width * 5).map { pixel($0) }, width: width)
            for size in [1.0, 2, 5, 7] {
                var settings = scene.settings
                settings.pointSize = size
                settings.view.yaw = Double(width) * 7
                settings.view.roll = Double(width)
                settings.view.zoom = -0.4
                let pictures = try usableLoops.map {
                    try scene.draw(settings, width: width, height: 6, renderer: CloudRenderer(loops: $0))
                }
                for picture in pictures { #expect(picture == pictures[0], "\(width) wide, points of \(size)") }
            }
        }
    }

    static let wild: [Double] = [
        .nan, .infinity, -.infinity, 0, -0.0, 1e-300, -1, 1e9, -1e9, 1e300, -1e300, .greatestFiniteMagnitude, 89.999,
        360,
    ]

    @Test func `no number in any setting is a trap`() throws {
        let metres: [Float] = [
            .nan, .infinity, -.infinity, 0, -1, .leastNonzeroMagnitude, 0.001, 1, 3e38, .greatestFiniteMagnitude, 2, 1,
        ]
        let scenes = try [
            CloudFixture(metres: metres, colors: (0..<12).map { pixel($0) }, width: 4),
            CloudFixture(metres: [1], colors: [pixel(1)], width: 1),
        ]
        let paths: [WritableKeyPath<CloudRenderer.Settings, Double>] = [
            \.view.yaw, \.view.pitch, \.view.roll, \.view.zoom, \.view.panX, \.view.panY, \.fieldOfView, \.pointSize,
        ]
        for scene in scenes {
            for value in CloudTests.wild {
                for path in paths {
                    var settings = scene.settings
                    settings[keyPath: path] = value
                    for (width, height) in [(1, 1), (2, 3), (9, 1)] {
                        _ = try scene.draw(settings, width: width, height: height)
                    }
                }
                for other in CloudTests.wild {
                    let sensors = [
                        CloudSensor(width: 4, height: 3, fieldOfView: value, fx: other),
                        CloudSensor(width: 1, height: 1, fieldOfView: 70, fx: value, fy: other, cx: other, cy: value),
                    ]
                    for sensor in sensors {
                        _ = try scene.draw(CloudRenderer.Settings(sensor: sensor), width: 5, height: 4)
                    }
                }
            }
        }
    }

    @Test func `a target or a picture that does not fit is refused`() throws {
        let scene = try CloudFixture(metres: [1, 1], colors: [pixel(1), pixel(2)], width: 2)
        let target = GuardedPlane(rowBytes: 16, rows: 2) { _, _ in 0 }
        for (width, height) in [(5, 2), (4, 3), (0, 1), (1, 0), (-1, 1), (1 << 17, 1), (.max, .max)] {
            #expect(
                !CloudRenderer().draw(
                    scene.depth.image, scale: DepthScale(), colors: scene.picture, settings: scene.settings,
                    into: target.plane, width: width, height: height))
        }
        let other = try CloudFixture(metres: [1], colors: [pixel(1)], width: 1)
        #expect(
            !CloudRenderer().draw(
                other.depth.image, scale: DepthScale(), colors: scene.picture, settings: scene.settings,
                into: target.plane, width: 1, height: 1))
        let wide = DepthPlacement(depthWidth: 2, depthHeight: 1, videoWidth: 5, videoHeight: 2)
        #expect(CloudPicture(plane: target.plane.readOnly, placement: wide) == nil)
        #expect(target.guardsAreIntact && target.bytes.allSatisfy { $0 == 0 })
    }
}
