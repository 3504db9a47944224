import DepthKernels
import TestSupport
import Testing

/// The registration of depth maps, on scenes whose answer is known.
@Suite struct DepthRegistrationTests {
    private static func camera(
        _ width: Int, _ height: Int, focus: Double, distortion: LensDistortion = .none
    ) -> CameraIntrinsics {
        CameraIntrinsics(
            width: width, height: height, fx: focus, fy: focus, cx: Double(width - 1) / 2, cy: Double(height - 1) / 2,
            distortion: distortion)
    }

    /// Two cameras side by side that look the same way.
    private static func pair(
        _ depth: CameraIntrinsics, _ color: CameraIntrinsics, translation: SIMD3<Double> = .zero,
        rotation: [Double] = CameraPose.identity.rotation
    ) -> Calibration {
        Calibration(depth: depth, color: color, depthToColor: CameraPose(rotation: rotation, translation: translation))
    }

    /// Each sample would cover the whole picture, which takes hours.
    @Test func `focal lengths that are no camera's are refused`() {
        let calibration = DepthRegistrationTests.pair(
            DepthRegistrationTests.camera(64, 48, focus: 1e-3), DepthRegistrationTests.camera(64, 48, focus: 1e6))
        #expect(
            DepthRegistration(calibration, width: 64, height: 48, outputWidth: 64, outputHeight: 48) == nil)
    }

    /// Registers a map of counts of a millimetre.
    private func register(
        _ counts: [Int], width: Int, _ calibration: Calibration, encoding: DepthEncoding = .gray16LE,
        invalid: Int = -2, loops: Loops = bestLoops
    ) throws -> [Int] {
        let map = try DepthMap(counts: counts, width: width, encoding: encoding)
        let color = try #require(calibration.color)
        let output = try register(map, calibration, invalid: invalid, loops: loops)
        let picture = try #require(
            DepthImage(plane: output.plane.readOnly, width: color.width, height: color.height, encoding: encoding))
        return (0..<color.height).flatMap { y in
            (0..<color.width).map { x in
                Int(((picture.metres(x: x, y: y, scale: DepthScale()) ?? 0) * 1000).rounded())
            }
        }
    }

    private func register(
        _ map: DepthMap, _ calibration: Calibration, invalid: Int = -2, loops: Loops
    ) throws -> GuardedPlane {
        let color = try #require(calibration.color)
        let registration = try #require(
            DepthRegistration(
                calibration, width: map.image.width, height: map.image.height, outputWidth: color.width,
                outputHeight: color.height, loops: loops))
        let output = GuardedPlane(
            rowBytes: color.width * map.image.encoding.bytesPerSample, rows: color.height
        ) { _, _ in 0x55 }
        #expect(registration.align(map.image, scale: DepthScale(invalidCount: invalid), into: output.plane))
        #expect(output.guardsAreIntact)
        return output
    }

    private func randomCounts(_ count: Int, seed: UInt64) -> [Int] {
        var random = RepeatableRandomNumberGenerator(seed: seed)
        return (0..<count).map { _ in
            Bool.random(using: &random) ? Int.random(in: 1...65534, using: &random) : 0
        }
    }

    // MARK: Exact scenes

    @Test(arguments: [(1, 1), (7, 5), (33, 3), (64, 48)], [DepthEncoding.gray16LE, .gray16BE])
    func `one camera sees what the other sees, where they are one`(size: (Int, Int), encoding: DepthEncoding) throws {
        let camera = DepthRegistrationTests.camera(size.0, size.1, focus: 50)
        let counts = randomCounts(size.0 * size.1, seed: 3)
        let result = try register(
            counts, width: size.0, DepthRegistrationTests.pair(camera, camera), encoding: encoding)
        #expect(result == counts)
    }

    @Test(arguments: [
        (-2, [1000, 0, 0, 700]), (-1, [1000, 65534, 0, 700]), (700, [1000, 0, 0, 0]),
    ])
    func `counts that are not measured are not registered`(invalid: Int, expected: [Int]) throws {
        let camera = DepthRegistrationTests.camera(4, 1, focus: 50)
        let result = try register(
            [1000, 65535, 0, 700], width: 4, DepthRegistrationTests.pair(camera, camera), invalid: invalid)
        #expect(result == expected)
    }

    @Test func `metres stay metres, and what was not measured stays so`() throws {
        let camera = DepthRegistrationTests.camera(4, 2, focus: 50)
        let map = try DepthMap(metres: [1, 2.5, .nan, 0, -1, .infinity, 0.25, 8], width: 4)
        let output = try register(map, DepthRegistrationTests.pair(camera, camera), loops: bestLoops)
        let picture = try #require(
            DepthImage(plane: output.plane.readOnly, width: 4, height: 2, encoding: .float32LE))
        let metres = (0..<8).map { picture.metres(x: $0 % 4, y: $0 / 4, scale: DepthScale()) }
        #expect(metres == [1, 2.5, nil, nil, nil, nil, 0.25, 8])
    }

    /// 2 m away, 0.08 m are 4 columns at a focal length of 100.
    @Test func `a wall moves by the parallax, and a column that nobody saw is not measured`() throws {
        let camera = DepthRegistrationTests.camera(16, 4, focus: 100)
        let result = try register(
            [Int](repeating: 2000, count: 64), width: 16,
            DepthRegistrationTests.pair(camera, camera, translation: SIMD3(0.08, 0, 0)))
        for y in 0..<4 {
            #expect(Array(result[16 * y..<16 * y + 16]) == [0, 0, 0, 0] + [Int](repeating: 2000, count: 12))
        }
    }

    @Test(arguments: [1.5, 2, 3.7])
    func `the gaps of a magnified map are closed`(magnification: Double) throws {
        let depth = DepthRegistrationTests.camera(20, 16, focus: 40)
        let color = DepthRegistrationTests.camera(
            Int(20 * magnification), Int(16 * magnification), focus: 40 * magnification)
        let result = try register(
            [Int](repeating: 1500, count: 320), width: 20, DepthRegistrationTests.pair(depth, color))
        #expect(result.allSatisfy { $0 == 1500 })
    }

    @Test func `of samples at one pixel the nearest stays`() throws {
        let depth = DepthRegistrationTests.camera(32, 32, focus: 80)
        let color = DepthRegistrationTests.camera(16, 16, focus: 40)
        // Each pixel of the color camera sees four samples, one of them nearer.
        let counts = (0..<1024).map { $0 % 2 == 0 && $0 / 32 % 2 == 0 ? 900 : 3000 }
        #expect(try register(counts, width: 32, DepthRegistrationTests.pair(depth, color)).allSatisfy { $0 == 900 })
    }

    /// A thing 1 m away before a wall at 2 m: it moves by 10 columns, the wall by 5.
    @Test(arguments: [1, 4])
    func `the shadow beside a near thing is not measured, and the thing covers the wall`(enlargement: Int) throws {
        let camera = DepthRegistrationTests.camera(60, 3, focus: 100)
        let color = DepthRegistrationTests.camera(
            60 * enlargement, 3 * enlargement, focus: 100 * Double(enlargement))
        let row = (0..<60).map { (20..<30).contains($0) ? 1000 : 2000 }
        let result = try register(
            row + row + row, width: 60,
            DepthRegistrationTests.pair(camera, color, translation: SIMD3(0.1, 0, 0)))
        let start = 3 * enlargement / 2 * color.width
        let middle = Array(result[start..<(start + color.width)])
        func part(_ columns: Range<Int>) -> Set<Int> {
            Set(middle[(columns.lowerBound * enlargement)..<(columns.upperBound * enlargement)])
        }
        #expect(part(0..<5) == [0] && part(5..<25) == [2000])
        #expect(part(25..<30) == [0], "the shadow")
        #expect(part(30..<40) == [1000] && part(40..<60) == [2000])
    }

    /// The plane z = 1.5 + 0.4 x, in metres, as both cameras measure it.
    @Test func `a slanted wall has the distance that the color camera would measure, without a gap`() throws {
        let depth = DepthRegistrationTests.camera(80, 60, focus: 90)
        let color = DepthRegistrationTests.camera(120, 90, focus: 160)
        let translation = SIMD3(0.02, -0.01, 0.005)
        let counts = (0..<4800).map { index in
            let x = (Double(index % 80) - depth.cx) / depth.fx
            return Int((1000 * 1.5 / (1 - 0.4 * x)).rounded())
        }
        let result = try register(
            counts, width: 80, DepthRegistrationTests.pair(depth, color, translation: translation))
        var worst = 0
        for y in 4..<86 {
            for x in 4..<116 {
                // In the color camera's coordinates the plane is z − tz = 1.5 + 0.4 (x − tx).
                let ray = (Double(x) - color.cx) / color.fx
                let z = (1.5 + translation.z - 0.4 * translation.x) / (1 - 0.4 * ray)
                worst = max(worst, abs(result[120 * y + x] - Int((1000 * z).rounded())))
            }
        }
        // A sample has one distance over its whole angle: half a sample of the slant.
        #expect(worst <= 6)
    }

    @Test(arguments: [2.0, 10, 45, 90])
    func `a turned map has no gaps`(degrees: Double) throws {
        let camera = DepthRegistrationTests.camera(101, 101, focus: 100)
        let (sine, cosine) = (sinus(degrees), sinus(90 - degrees))
        let result = try register(
            [Int](repeating: 1000, count: 101 * 101), width: 101,
            DepthRegistrationTests.pair(camera, camera, rotation: [cosine, -sine, 0, sine, cosine, 0, 0, 0, 1]))
        for y in 0..<101 {
            for x in 0..<101 where (x - 50) * (x - 50) + (y - 50) * (y - 50) < 48 * 48 {
                #expect(result[101 * y + x] == 1000)
            }
        }
    }

    /// By its series; the tests of this target import no C library for it.
    private func sinus(_ degrees: Double) -> Double {
        let x = degrees * .pi / 180
        var (term, sum) = (x, x)
        for n in stride(from: 2.0, to: 30, by: 2) {
            term *= -x * x / (n * (n + 1))
            sum += term
        }
        return sum
    }

    @Test(arguments: [false, true])
    func `a lens that both cameras have changes nothing`(isInverse: Bool) throws {
        let lens = LensDistortion([0.1, -0.05, 0.001, -0.002, 0.01, 0.05, 0.01], isInverse: isInverse)
        let camera = DepthRegistrationTests.camera(64, 48, focus: 60, distortion: lens)
        let counts = randomCounts(64 * 48, seed: 5)
        #expect(try register(counts, width: 64, DepthRegistrationTests.pair(camera, camera)) == counts)
    }

    /// x″ = x (1 + k1 r²): the point at x = 0.5 is seen at 0.5 · 1.05.
    @Test func `the lens of the color camera moves a point by its formula`() throws {
        let depth = DepthRegistrationTests.camera(201, 1, focus: 100)
        let color = DepthRegistrationTests.camera(
            401, 1, focus: 200, distortion: LensDistortion([0.2]))
        var counts = [Int](repeating: 0, count: 201)
        counts[150] = 1000
        let result = try register(counts, width: 201, DepthRegistrationTests.pair(depth, color))
        let seen = result.indices.filter { result[$0] > 0 }
        #expect(seen.contains(200 + 105) && seen.allSatisfy { abs($0 - 305) <= 1 })
    }

    // MARK: Anything

    @Test func `any calibration and map is registered without a trap, and alike by both sets of loops`() throws {
        var random = RepeatableRandomNumberGenerator(seed: 11)
        func number(_ range: ClosedRange<Double>) -> Double { Double.random(in: range, using: &random) }
        for round in 0..<60 {
            func camera() -> CameraIntrinsics {
                CameraIntrinsics(
                    width: Int.random(in: 1...70, using: &random), height: Int.random(in: 1...50, using: &random),
                    fx: number(1...200), fy: number(1...200), cx: number(-100...100), cy: number(-100...100),
                    distortion: Bool.random(using: &random)
                        ? .none
                        : LensDistortion(
                            (0..<8).map { _ in number(-3...3) }, isInverse: Bool.random(using: &random)))
            }
            let calibration = DepthRegistrationTests.pair(
                camera(), camera(), translation: SIMD3(number(-1...1), number(-1...1), number(-1...1)))
            let (width, height) = (calibration.depth.width, calibration.depth.height)
            let counts = randomCounts(width * height, seed: UInt64(round))
            let best = try register(counts, width: width, calibration)
            let plain = try register(counts, width: width, calibration, loops: baselineLoops)
            // The compiler may contract products and sums differently.
            let same = zip(best, plain).count { $0 == $1 }
            #expect(same * 100 >= best.count * 97, "round \(round)")
        }
    }

    @Test func `a calibration without a color camera, or of no camera, is refused`() {
        let camera = DepthRegistrationTests.camera(4, 4, focus: 4)
        func registration(_ calibration: Calibration, _ width: Int = 4) -> DepthRegistration? {
            DepthRegistration(calibration, width: width, height: 4, outputWidth: 4, outputHeight: 4)
        }
        #expect(registration(DepthRegistrationTests.pair(camera, camera)) != nil)
        #expect(registration(Calibration(depth: camera)) == nil)
        #expect(registration(DepthRegistrationTests.pair(camera, camera), 0) == nil)
        var flat = camera
        flat.fx = 0
        #expect(registration(DepthRegistrationTests.pair(flat, camera)) == nil)
        flat.fx = .nan
        #expect(registration(DepthRegistrationTests.pair(camera, flat)) == nil)
    }

    @Test func `a map of another size and a plane that is too small are refused`() throws {
        let camera = DepthRegistrationTests.camera(4, 4, focus: 4)
        let registration = try #require(
            DepthRegistration(
                DepthRegistrationTests.pair(camera, camera), width: 4, height: 4, outputWidth: 4, outputHeight: 4))
        let map = try DepthMap(counts: [Int](repeating: 1, count: 16), width: 4)
        let other = try DepthMap(counts: [Int](repeating: 1, count: 8), width: 4)
        let plane = GuardedPlane(rowBytes: 8, rows: 4) { _, _ in 0 }
        let small = GuardedPlane(rowBytes: 8, rows: 3) { _, _ in 0 }
        #expect(registration.align(map.image, scale: DepthScale(), into: plane.plane))
        #expect(!registration.align(other.image, scale: DepthScale(), into: plane.plane))
        #expect(!registration.align(map.image, scale: DepthScale(), into: small.plane))
    }
}
