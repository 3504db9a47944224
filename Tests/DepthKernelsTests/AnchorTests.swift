import DepthKernels
import TestSupport
import Testing

@Suite struct FaceDepthTests {
    private func placement(_ depth: DepthMap, _ width: Int, _ height: Int) -> DepthPlacement {
        DepthPlacement(
            depthWidth: depth.image.width, depthHeight: depth.image.height, videoWidth: width, videoHeight: height)
    }

    @Test func theMedianSkipsHolesAndAveragesTheTwoInTheMiddle() throws {
        let depth = try DepthMap(counts: [9, 9, 9, 9, 9, 700, 0, 9, 9, 900, 1001, 9, 9, 9, 9, 9], width: 4)
        let place = placement(depth, 4, 4)
        let box = Rectangle<Double>(x: 0, y: 0, width: 4, height: 4)
        #expect(faceDepth(in: depth.image, scale: DepthScale(), placement: place, box: box) == 0.9)
        let even = try DepthMap(counts: [9, 9, 9, 9, 9, 700, 800, 9, 9, 900, 1001, 9, 9, 9, 9, 9], width: 4)
        #expect(faceDepth(in: even.image, scale: DepthScale(), placement: place, box: box) == (0.8 + 0.9) / 2)
    }

    @Test(arguments: [Float.nan, -.nan, .infinity, -.infinity, -1, 0])
    func `metres that are no distance count in no median`(hole: Float) throws {
        let depth = try DepthMap(
            metres: [9, 9, 9, 9, 9, 0.5, hole, 9, 9, 0.75, hole, 9, 9, 9, 9, 9], width: 4)
        let box = Rectangle<Double>(x: 0, y: 0, width: 4, height: 4)
        let place = placement(depth, 4, 4)
        #expect(faceDepth(in: depth.image, scale: DepthScale(), placement: place, box: box) == 0.625)
    }

    @Test func manyBoxesAgreeWithTheTranscription() throws {
        var random = RepeatableRandomNumberGenerator(seed: 11)
        let counts = (0..<(97 * 61)).map { _ in Int.random(in: 0...4000, using: &random) % 3500 }
        let scales = [DepthScale(), DepthScale(kind: .disparity, unit: 0.0005), DepthScale(kind: .relative)]
        let integers = try DepthMap(counts: counts, width: 97)
        let floats = try DepthMap(metres: counts.map { Float($0) * 0.0013 }, width: 97)
        for round in 0..<300 {
            let depth = round % 4 == 3 ? floats : integers
            let scale = scales[round % 3]
            let box = (
                x: Double.random(in: 0..<600, using: &random), y: Double.random(in: 0..<300, using: &random),
                width: Double.random(in: 0.1..<400, using: &random),
                height: Double.random(in: 0.1..<300, using: &random)
            )
            let isInside = box.x + box.width <= 777 && box.y + box.height <= 431
            let expected = ReferenceMatte.faceDepth(
                metres: depth.metres(scale), width: 97, height: 61, videoWidth: 777, videoHeight: 431, box: box)
            let found = faceDepth(
                in: depth.image, scale: scale, placement: placement(depth, 777, 431),
                box: Rectangle<Double>(x: box.x, y: box.y, width: box.width, height: box.height))
            #expect(found == (isInside ? expected : nil))
        }
    }

    @Test func `boxes beside each other are read as one alone is`() throws {
        var random = RepeatableRandomNumberGenerator(seed: 12)
        let depth = try DepthMap(
            counts: (0..<(320 * 240)).map { _ in Int.random(in: 500..<4000, using: &random) }, width: 320)
        let place = placement(depth, 1280, 960)
        for row in 0..<8 {
            for column in 0..<8 {
                let box = Rectangle<Double>(x: Double(column) * 160, y: Double(row) * 120, width: 160, height: 120)
                let alone = faceDepth(in: depth.image, scale: DepthScale(), placement: place, box: box)
                #expect(
                    faceDepth(in: depth.image, scale: DepthScale(), placement: place, box: box, among: 64) == alone)
            }
        }
    }

    @Test func `of boxes over each other every few rows and columns count`() throws {
        // The box's half begins at column 80 and row 60. Of its 160 x 120 samples 64 boxes have 301 each: every eighth counts.
        let counts = (0..<(320 * 240)).map { ($0 % 320 - 80) % 8 == 0 && ($0 / 320 - 60) % 8 == 0 ? 500 : 3000 }
        let depth = try DepthMap(counts: counts, width: 320)
        let whole = Rectangle<Double>(x: 0, y: 0, width: 1280, height: 960)
        let distances = [1, 64].map {
            faceDepth(
                in: depth.image, scale: DepthScale(), placement: placement(depth, 1280, 960), box: whole, among: $0)
        }
        #expect(distances == [3.0, 0.5])
    }

    @Test func whatIsNoBoxInTheFrameIsNoFace() throws {
        let depth = try DepthMap(counts: [Int](repeating: 800, count: 64), width: 8)
        let place = placement(depth, 80, 80)
        let wrong = [
            (0.0, 0.0, 0.0, 10.0), (0, 0, 10, 0), (-0.1, 0, 10, 10), (0, -1, 10, 10), (71, 0, 10, 10),
            (0, 70.5, 10, 10),
            (.nan, 0, 10, 10), (0, 0, .nan, 10), (0, 0, .infinity, 10), (-.infinity, 0, .infinity, 10), (0, 0, -10, 10),
            (1e300, 0, 1e300, 1),
        ]
        for (x, y, width, height) in wrong {
            let box = Rectangle<Double>(x: x, y: y, width: width, height: height)
            #expect(faceDepth(in: depth.image, scale: DepthScale(), placement: place, box: box) == nil)
        }
        let whole = Rectangle<Double>(x: 0, y: 0, width: 80, height: 80)
        #expect(faceDepth(in: depth.image, scale: DepthScale(), placement: place, box: whole) == 0.8)
        let holes = try DepthMap(counts: [Int](repeating: 0, count: 64), width: 8)
        #expect(faceDepth(in: holes.image, scale: DepthScale(), placement: place, box: whole) == nil)
    }

    @Test(arguments: [(1.0, 0.0, true), (-1, 1, true), (2, 0, false), (0, -2, false)])
    func `a map that moves by a pixel continues, one that jumps does not`(x: Double, y: Double, continues: Bool) {
        func place(_ x: Double, _ y: Double) -> DepthPlacement {
            DepthPlacement(
                depthWidth: 8, depthHeight: 8, videoWidth: 80, videoHeight: 80, offsetX: 0.1 + x, offsetY: 0.7 + y)
        }
        #expect(place(x, y).continues(place(0, 0)) == continues)
    }

    @Test func aFaceBesideTheMapHasNoDepth() throws {
        let depth = try DepthMap(counts: [Int](repeating: 800, count: 64), width: 8)
        let place = DepthPlacement(depthWidth: 8, depthHeight: 8, videoWidth: 80, videoHeight: 80, offsetX: 40)
        func face(x: Double) -> Double? {
            faceDepth(
                in: depth.image, scale: DepthScale(), placement: place,
                box: Rectangle<Double>(x: x, y: 0, width: 20, height: 20))
        }
        #expect(face(x: 0) == nil)
        #expect(face(x: 60) == 0.8)
    }
}

@Suite struct PointDepthTests {
    @Test func thePointIsTheMedianOfItsNeighbourhood() throws {
        var counts = [Int](repeating: 2000, count: 400)
        for y in 8...12 {
            for x in 8...12 { counts[y * 20 + x] = 700 + x }
        }
        counts[10 * 20 + 10] = 0
        let depth = try DepthMap(counts: counts, width: 20)
        let place = DepthPlacement(depthWidth: 20, depthHeight: 20, videoWidth: 200, videoHeight: 100)
        func point(_ x: Double, _ y: Double) -> Double? {
            pointDepth(in: depth.image, scale: DepthScale(), placement: place, x: x, y: y)
        }
        #expect(point(0.52, 0.52) == 0.71)
        #expect(point(0, 0) == 2)
        #expect(point(1, 1) == 2)
        for (x, y) in [(-0.1, 0.5), (0.5, 1.1), (.nan, 0.5), (0.5, .infinity)] { #expect(point(x, y) == nil) }
        let empty = try DepthMap(counts: [0], width: 1)
        #expect(
            pointDepth(
                in: empty.image, scale: DepthScale(),
                placement: DepthPlacement(depthWidth: 1, depthHeight: 1, videoWidth: 9, videoHeight: 9), x: 0.5, y: 0.5)
                == nil)
    }
}

@Suite struct NearestSubjectTests {
    /// `width · height` samples of which each layer, from the front, holds a share of the pixels.
    private func layers(_ layers: [(metres: Double, share: Double)], noise: Double = 0.01) throws -> DepthMap {
        var random = RepeatableRandomNumberGenerator(seed: 5)
        var counts: [Int] = []
        for layer in layers {
            for _ in 0..<Int(layer.share * 200 * 150) {
                let error = Double.random(in: -noise...noise, using: &random)
                counts.append(Int((layer.metres * (1 + error) * 1000).rounded()))
            }
        }
        counts += [Int](repeating: 0, count: max(200 * 150 - counts.count, 0))
        return try DepthMap(counts: Array(counts.shuffled(using: &random).prefix(200 * 150)), width: 200)
    }

    @Test func thePersonBeforeTheWallIsFound() throws {
        let depth = try layers([(0.9, 0.2), (2.5, 0.7)])
        let found = try #require(nearestSubjectDepth(in: depth.image, scale: DepthScale()))
        #expect(abs(found - 0.9) < 0.01)
    }

    @Test func flyingPixelsInFrontAreNoSubject() throws {
        let depth = try layers([(0.2, 0.02), (0.4, 0.02), (1.2, 0.15), (3, 0.6)])
        let found = try #require(nearestSubjectDepth(in: depth.image, scale: DepthScale()))
        #expect(abs(found - 1.2) < 0.015)
    }

    @Test func aSubjectCountsByItsShareOfWhatWasMeasured() throws {
        let depth = try layers([(1, 0.03), (4, 0.3)])
        let found = try #require(nearestSubjectDepth(in: depth.image, scale: DepthScale()))
        #expect(abs(found - 1) < 0.015)
    }

    @Test func `a thing that was followed may grow smaller than a new one`() throws {
        let depth = try layers([(1, 0.04), (3, 0.9)])
        func found(_ followed: Double?) throws -> Double {
            try #require(nearestSubjectDepth(in: depth.image, scale: DepthScale(), followed: followed))
        }
        #expect(abs(try found(nil) - 3) < 0.03)
        #expect(abs(try found(3) - 3) < 0.03)
        #expect(abs(try found(1) - 1) < 0.015)
        let gone = try layers([(1, 0.03), (3, 0.9)])
        let next = try #require(nearestSubjectDepth(in: gone.image, scale: DepthScale(), followed: 1))
        #expect(abs(next - 3) < 0.03)
    }

    @Test func whereNothingIsBigTheBiggestCounts() throws {
        let counts = (0..<60).map { 10 + $0 * $0 * 18 } + [500, 505]
        let depth = try DepthMap(counts: counts, width: 62)
        #expect(nearestSubjectDepth(in: depth.image, scale: DepthScale()) != nil)
    }

    @Test func nothingMeasuredIsNoSubject() throws {
        let holes = try DepthMap(counts: [0, 0], width: 2)
        #expect(nearestSubjectDepth(in: holes.image, scale: DepthScale()) == nil)
        let faults = try DepthMap(metres: [.nan, -1], width: 2)
        #expect(nearestSubjectDepth(in: faults.image, scale: DepthScale()) == nil)
    }

    @Test func largeMapsFloatsAndDisparitiesAreUnderstood() throws {
        let large = try DepthMap(counts: [Int](repeating: 1234, count: 1000 * 300), width: 1000)
        #expect(nearestSubjectDepth(in: large.image, scale: DepthScale()) == 1.234)
        let floats = try DepthMap(metres: [0.7, 0.7, 0.7, .nan, 3e38, 1e-30], width: 6)
        #expect(nearestSubjectDepth(in: floats.image, scale: DepthScale()).map { $0 > 0 } == true)
        let disparity = try DepthMap(counts: [10, 10, 10, 200, 200, 0], width: 6)
        #expect(nearestSubjectDepth(in: disparity.image, scale: DepthScale(kind: .disparity, unit: 0.01)) == 0.5)
    }
}

@Suite struct AnchorTimeTests {
    private let matte = Matte()
    private var settings = MatteSettings()

    init() {
        settings.anchor.mode = .nearest
        settings.anchor.smoothing = 10
    }

    /// The anchor's distance after a frame of one distance, in metres.
    private func distance(of millimetres: Int, at seconds: Double, _ mask: MaskShape = .cutoff) throws -> Double {
        var settings = settings
        settings.mask = mask
        let depth = try DepthMap(counts: [Int](repeating: millimetres, count: 64), width: 8)
        matte.render(MatteFrame(depth: depth.image, width: 8, height: 8, time: Int64(seconds * 1e9)), settings)
        return matte.report.anchorDistance
    }

    @Test func `the low-pass is one of time, while another mask is set too`() throws {
        #expect(try distance(of: 3000, at: 0) == 3)
        for second in 1...60 { _ = try distance(of: 1000, at: Double(second), .highPass) }
        let expected = 1 + 2 * 0.0024752  // e^-6
        #expect(abs(try distance(of: 1000, at: 60) - expected) < 0.0001)
    }

    @Test func `a frame of the same time moves nothing, an earlier one and one after a reset jump`() throws {
        #expect(try distance(of: 3000, at: 5) == 3)
        #expect(try distance(of: 1000, at: 5) == 3)
        #expect(try distance(of: 1000, at: 4) == 1)
        matte.reset()
        #expect(try distance(of: 2000, at: 4.1) == 2)
    }
}

@Suite struct FollowedFaceTests {
    /// The distance that the anchor takes of two faces at 1 m and 2 m, frame after frame; each side in pixels.
    private func distances(_ sides: [(Double, Double)], _ select: FaceSelect) throws -> [Double] {
        var settings = MatteSettings()
        settings.anchor.mode = .face
        settings.anchor.faceSelect = select
        settings.anchor.smoothing = 0
        let depth = try DepthMap(counts: (0..<80 * 40).map { $0 % 80 < 40 ? 1000 : 2000 }, width: 80)
        let matte = Matte()
        return sides.enumerated().map { frame, sides in
            let faces = [
                Rectangle<Double>(x: 10, y: 10, width: sides.0, height: sides.0),
                Rectangle<Double>(x: 50, y: 10, width: sides.1, height: sides.1),
            ]
            let time = Int64(frame) * 33_000_000
            matte.render(MatteFrame(depth: depth.image, width: 80, height: 40, faces: faces, time: time), settings)
            return matte.report.anchorDistance
        }
    }

    @Test func `faces of one size do not take turns`() throws {
        #expect(try distances([(20, 19), (19, 20), (20, 19), (18, 20)], .largest) == [1, 1, 1, 1])
        #expect(try distances([(19, 20), (20, 19), (19, 20)], .largest) == [2, 2, 2])
    }

    @Test func `a face that is clearly larger takes over`() throws {
        #expect(try distances([(20, 19), (16, 20), (20, 19)], .largest) == [1, 2, 2])
    }

    @Test func `first and all follow no face`() throws {
        #expect(try distances([(20, 19), (16, 20)], .first) == [1, 1])
        #expect(try distances([(20, 19), (16, 20)], .all) == [2, 2])
    }
}
