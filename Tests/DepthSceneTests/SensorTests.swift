import DepthKernels
import DepthScene
import Testing

/// The faults of depth cameras: `SensorKind`.
@Suite struct SensorTests {
    private static let faulty = SensorKind.allCases.filter { $0 != .ideal }
    private static let (width, height) = (640, 360)
    /// Focal length of the scene, in samples, as `SensorView` has it.
    private static let focal = Float(width) / 1.15

    private let person = SceneRenderer.person(SensorTests.width, SensorTests.height)
    private let ramp = SceneRenderer(
        scene: Scene(pattern: .ramp, seed: 5), width: SensorTests.width, height: SensorTests.height)

    /// The depth of the person, by row.
    private func rows(_ sensor: SensorKind, parallax: Double = -1) -> [ArraySlice<Float>] {
        let samples = person.depth(at: 0, sensor: sensor, parallax: parallax).floats
        return (0..<SensorTests.height).map { samples[($0 * SensorTests.width)..<(($0 + 1) * SensorTests.width)] }
    }

    private func column(_ index: Int, of row: ArraySlice<Float>) -> Float { row[row.startIndex + index] }

    // MARK: All sensors

    @Test(arguments: faulty)
    func `the same seed and frame give the same map`(sensor: SensorKind) {
        let first = person.depth(at: 1, frame: 4, sensor: sensor).bytes
        for other in SensorTests.faulty { _ = person.depth(at: 2, frame: 7, sensor: other) }
        #expect(first == person.depth(at: 1, frame: 4, sensor: sensor).bytes)
        let fresh = SceneRenderer.person(SensorTests.width, SensorTests.height)
        #expect(first == fresh.depth(at: 1, frame: 4, sensor: sensor).bytes)
        #expect(first != fresh.depth(at: 1, frame: 5, sensor: sensor).bytes)
        let sown = SceneRenderer(scene: Scene(pattern: .ramp, seed: 6), width: ramp.width, height: ramp.height)
        #expect(ramp.depth(at: 0, sensor: sensor).bytes != sown.depth(at: 0, sensor: sensor).bytes)
    }

    @Test(arguments: faulty)
    func `the exact depth, the video and the matte stay`(sensor: SensorKind) {
        let fresh = SceneRenderer.person(64, 36)
        let used = SceneRenderer.person(64, 36)
        _ = used.depth(at: 1, sensor: sensor)
        #expect(used.depth(at: 1, noise: 0.01).bytes == fresh.depth(at: 1, noise: 0.01).bytes)
        #expect(used.video(at: 1).bytes == fresh.video(at: 1).bytes)
        #expect(used.matte(at: 1).bytes == fresh.matte(at: 1).bytes)
    }

    /// Metres at one and two metres, by the formula of each sensor.
    private static let deviations: [(SensorKind, Float, Float)] = [
        (.structuredLight, 1.43e-3, 4 * 1.43e-3), (.stereo, 0.08 / (665 * 0.055), 4 * 0.08 / (665 * 0.055)),
        (.tof, 1e-3, 2e-3), (.phone, 0.5e-3, 4 * 0.5e-3),
    ]

    @Test(arguments: deviations)
    func `noise has its deviation at one metre and at two`(sensor: SensorKind, atOne: Float, atTwo: Float) {
        let frames = (0..<8).map { ramp.depth(at: 0, frame: UInt64($0), sensor: sensor).floats }
        for (metres, expected): (Float, Float) in [(1, atOne), (2, atTwo)] {
            let middle = Int((metres - 0.5) / 4 * Float(ramp.width))
            let variances = ((middle - 6)...(middle + 6)).map { column in
                let samples = frames.flatMap { frame in
                    (0..<ramp.height).map { Double(frame[$0 * ramp.width + column]) }
                }
                let mean = samples.reduce(0, +) / Double(samples.count)
                #expect(abs(mean - Double(metres)) < 0.05)
                return samples.reduce(0) { $0 + ($1 - mean) * ($1 - mean) } / Double(samples.count)
            }
            let deviation = (variances.reduce(0, +) / Double(variances.count)).squareRoot()
            #expect(abs(deviation / Double(expected) - 1) < 0.15, "\(metres) m: \(deviation), not \(expected)")
        }
    }

    @Test(arguments: [
        (SensorKind.structuredLight, Float(0.5), Float(4.5)), (.tof, 0.25, 4), (.stereo, 0.3, 8),
        (.phone, 0, .infinity),
    ])
    func `nothing is measured beyond the reach`(sensor: SensorKind, nearest: Float, farthest: Float) {
        let (exact, measured) = (ramp.depth(at: 0).floats, ramp.depth(at: 0, sensor: sensor, parallax: 0).floats)
        // The band at the left of a stereo camera has a test of its own.
        let wrong = exact.indices.filter { index in
            (sensor != .stereo || index % ramp.width >= 80)
                && (measured[index] > 0) != (nearest...farthest).contains(exact[index])
        }
        #expect(wrong.isEmpty, "\(wrong.count) samples")
    }

    @Test(arguments: faulty)
    func `any size can be measured, and blank stays blank`(sensor: SensorKind) {
        for (width, height) in [(1, 1), (1, 97), (97, 1), (2, 2), (3, 5), (1, 4000), (4000, 1), (33, 17)] {
            for pattern in ScenePattern.allCases {
                let scene = SceneRenderer(scene: Scene(pattern: pattern, seed: 2), width: width, height: height)
                let samples = scene.depth(at: 0.5, frame: .max, sensor: sensor).floats
                #expect(samples.allSatisfy { $0.isFinite && $0 >= 0 })
                if pattern == .blank { #expect(samples.allSatisfy { $0 == 0 }) }
            }
        }
    }

    // MARK: Parallax and grazing rays

    /// Rows in which the body stands before the front of the desk.
    private static let bodyRows = 308..<352

    /// What makes the holes on the left and on the right of the body: metres from the color camera to the emitter or the
    /// second eye, and to the depth camera. A parallax of -1 is that of the device.
    private static let shadows: [(SensorKind, Double, left: Float, right: Float)] = [
        (.structuredLight, 0, 0.075, 0), (.structuredLight, 0.05, 0.025, 0.05), (.structuredLight, -1, 0.05, 0.025),
        (.stereo, 0, 0.055, 0), (.stereo, -1, 0.07, 0), (.tof, 0, 0, 0), (.tof, -1, 0, 0.032), (.ideal, -1, 0, 0),
        (.ideal, 0.06, 0, 0.06), (.phone, 0.06, 0, 0),
    ]

    @Test(arguments: shadows)
    func `shadows are as wide as baseline and parallax make them`(
        sensor: SensorKind, parallax: Double, left: Float, right: Float
    ) throws {
        let (exact, measured) = (rows(.ideal), rows(sensor, parallax: parallax))
        var errors: [Float] = [0, 0]
        for row in SensorTests.bodyRows {
            let isPerson = exact[row].map { $0 <= personUpTo }
            let edges = (try #require(isPerson.firstIndex(of: true)), try #require(isPerson.lastIndex(of: true)))
            for (index, (baseline, edge, out)) in [(left, edges.0, -1), (right, edges.1, 1)].enumerated() {
                let (near, far) = (column(edge, of: exact[row]), column(edge + out, of: exact[row]))
                let lost = (1...60).count { column(edge + out * $0, of: measured[row]) == 0 }
                // A window's half of the foreground lies over what a stereo camera does not see.
                let fat: Float = sensor == .stereo && index == 0 ? 3 : 0
                errors[index] += Float(lost) + fat - SensorTests.focal * baseline * (1 / near - 1 / far)
            }
        }
        let mean = errors.map { abs($0) / Float(SensorTests.bodyRows.count) }
        #expect(mean[0] < 2.5 && mean[1] < 2.5, "\(errors)")
    }

    @Test(arguments: [SensorKind.structuredLight, .tof, .ideal])
    func `a band at the right is out of the depth camera's sight`(sensor: SensorKind) {
        let (exact, measured) = (rows(.ideal), rows(sensor, parallax: 0.06))
        // Of the wall.
        let errors = (5..<60).map { row in
            let lost = (600..<640).count { column($0, of: measured[row]) == 0 }
            return Float(lost) - SensorTests.focal * 0.06 / column(620, of: exact[row])
        }
        #expect(abs(errors.reduce(0, +)) < 2 * Float(errors.count), "\(errors)")
    }

    /// The desk's top is 22 cm below the camera, 1.4 to 2 m away: the cosines are 0.11 and 0.14.
    @Test(arguments: [(SensorKind.structuredLight, 1, 1), (.tof, 0.97, 0.72), (.stereo, 0, 0)])
    func `rays that graze the desk are lost, the more the flatter they meet it`(
        sensor: SensorKind, back: Double, front: Double
    ) {
        let measured = rows(sensor, parallax: 0)
        func lost(_ rows: Range<Int>) -> Double {
            let samples = rows.flatMap { row in (56..<90).map { column($0, of: measured[row]) } }
            return Double(samples.count { $0 == 0 }) / Double(samples.count)
        }
        let (far, near, drawers) = (lost(259..<264), lost(277..<281), lost(290..<300))
        #expect(abs(far - back) <= 0.05 && abs(near - front) <= 0.1 && drawers < 0.02, "\(far), \(near), \(drawers)")
    }

    // MARK: Structured light

    @Test func `depth comes in eighths of a pixel of disparity`() {
        let steps = ramp.depth(at: 0, sensor: .structuredLight).floats.filter { $0 > 0 }.map { 8 * 580 * 0.075 / $0 }
        #expect(steps.allSatisfy { abs($0 - $0.rounded()) < 0.01 })
        #expect(Set(steps.map { $0.rounded() }).count > 100)
    }

    @Test func `edges are jagged by up to two samples`() {
        let (exact, measured) = (rows(.ideal), rows(.structuredLight))
        let moved = SensorTests.bodyRows.compactMap { row -> Int? in
            let from = exact[row].lastIndex { $0 <= personUpTo }
            let to = measured[row].lastIndex { $0 > 0 && $0 <= personUpTo }
            return from.flatMap { from in to.map { $0 - from } }
        }
        #expect(Set(moved).count > 2)
        #expect(moved.allSatisfy { abs($0) <= 4 }, "\(moved)")
    }

    @Test func `hair is mostly lost and the face is not`() throws {
        let box = try #require(person.faces(seconds: 0).first)
        let measured = rows(.structuredLight)
        func lost(_ top: Double, _ bottom: Double) -> Double {
            let columns = Int((box.x + box.width * 0.4) * 640)...Int((box.x + box.width * 0.6) * 640)
            let samples = (Int(top * 360)..<Int(bottom * 360)).flatMap { row in
                columns.map { column($0, of: measured[row]) }
            }
            return Double(samples.count { $0 == 0 }) / Double(samples.count)
        }
        let (hair, face) = (lost(box.y - 0.06, box.y), lost(box.y + box.height * 0.4, box.y + box.height * 0.8))
        #expect(hair > 0.5, "\(hair)")
        #expect(face < 0.02, "\(face)")
    }

    // MARK: Time of flight

    @Test func `mixed pixels are between both depths, and only at edges`() {
        let (exact, measured) = (rows(.ideal), rows(.tof))
        var (mixed, lost, wrong) = (0, 0, 0)
        for row in 1..<(SensorTests.height - 1) {
            for x in 1..<(SensorTests.width - 1) {
                let own = column(x, of: exact[row])
                let around = [
                    column(x - 1, of: exact[row]), column(x + 1, of: exact[row]), column(x, of: exact[row - 1]),
                    column(x, of: exact[row + 1]), own,
                ]
                let (near, far) = (around.min() ?? own, around.max() ?? own)
                let told = column(x, of: measured[row])
                guard told > 0 else {
                    if far > near * 1.05 { lost += 1 }
                    continue
                }
                if told < near - 0.1 || told > far + 0.1 { wrong += 1 }
                if far > personUpTo && told > near + 0.1 && told < far - 0.1 { mixed += 1 }
            }
        }
        #expect(mixed > 500 && lost > 200 && wrong == 0, "\(mixed) mixed, \(lost) lost, \(wrong) wrong")
    }

    // MARK: Stereo

    @Test func `the foreground is fatter by half a window`() throws {
        let (exact, measured) = (rows(.ideal), rows(.stereo))
        for row in SensorTests.bodyRows {
            let from = try #require(exact[row].firstIndex { $0 <= personUpTo }) - exact[row].startIndex
            let to = try #require(measured[row].firstIndex { $0 > 0 && $0 <= personUpTo }) - measured[row].startIndex
            #expect((3...6).contains(from - to), "\(from - to) in row \(row)")
        }
    }

    @Test func `what the right camera does not see has no depth`() throws {
        let (exact, measured) = (rows(.ideal), rows(.stereo))
        for row in SensorTests.bodyRows {
            let edge = try #require(exact[row].firstIndex { $0 <= personUpTo }) - exact[row].startIndex
            let (near, far) = (column(edge, of: exact[row]), column(edge - 20, of: exact[row]))
            let width = Int(SensorTests.focal * 0.07 * (1 / near - 1 / far))
            for x in (edge - width + 2)..<(edge - 5) { #expect(column(x, of: measured[row]) == 0) }
        }
    }

    @Test func `a band at the left is out of the second camera's sight`() {
        let (exact, measured) = (rows(.ideal), rows(.stereo))
        for row in stride(from: 0, to: SensorTests.height, by: 7) {
            for x in 0..<60 {
                let band = SensorTests.focal * 0.07 / column(x, of: exact[row])
                if Float(x) + 1 < band { #expect(column(x, of: measured[row]) == 0) }
                if Float(x) > band + 20 { #expect(column(x, of: measured[row]) > 0) }
            }
        }
    }

    @Test(arguments: [(SensorKind.stereo, 0.7...1.0), (.structuredLight, -0.1...0.1), (.tof, -0.1...0.1)])
    func `neighbours share the noise of a stereo camera alone`(sensor: SensorKind, range: ClosedRange<Double>) {
        let (exact, measured) = (ramp.depth(at: 0).floats, ramp.depth(at: 0, sensor: sensor).floats)
        var (product, square) = (0.0, 0.0)
        for row in 0..<(ramp.height - 1) {
            for x in 100..<500 {
                let index = row * ramp.width + x
                let (own, below) = (measured[index] - exact[index], measured[index + ramp.width] - exact[index])
                product += Double(own * below)
                square += Double(own * own)
            }
        }
        #expect(range.contains(product / square), "\(product / square)")
    }

    // MARK: Telephone

    @Test func `a telephone's map has soft edges and no holes`() throws {
        let (exact, measured) = (rows(.ideal), rows(.phone))
        #expect(measured.allSatisfy { $0.allSatisfy { $0 > 0 } })
        for row in SensorTests.bodyRows {
            let left = try #require(exact[row].map { $0 <= personUpTo }.firstIndex(of: true))
            let (near, far) = (column(left + 16, of: measured[row]), column(left - 16, of: measured[row]))
            let between = ((left - 16)..<(left + 16)).count {
                let depth = column($0, of: measured[row])
                return depth > near * 1.1 && depth < far * 0.9
            }
            #expect((3...9).contains(between), "\(between)")
        }
    }
}
