import DepthKernels
import TestSupport
import Testing

/// The matte of `method=fusion` against the frames that `Golden/regenerate_fusion.py` wrote, and its promises.
@Suite struct FusionTests {
    private let golden: GoldenFrames

    init() throws { golden = try GoldenFrames() }

    @Test func `the matte is the oracle's, frame after frame`() throws {
        let matte = Matte()
        for (number, frame) in golden.frames.enumerated() {
            let alpha = try golden.alpha(of: matte, number)
            let difference = Difference(alpha, frame.alpha)
            #expect(difference.largest <= 4 && difference.mean < 0.1, "frame \(number): \(difference)")
            let mean = Double(alpha.reduce(0) { $0 + Int($1) }) / Double(255 * alpha.count)
            #expect(abs(matte.report.coverage - mean) < 0.01, "\(matte.report.coverage) \(mean)")
        }
    }

    @Test func `the stages are the oracle's, one by one`() throws {
        let (stages, matte) = (try GoldenStages("fusion"), Matte())
        for number in golden.frames.indices {
            _ = try golden.alpha(of: matte, number)
            try stages.check(matte, number)
        }
    }

    @Test func `neither threads nor instruction sets show`() throws {
        // Large enough to be cut.
        let large = try golden.enlarged(by: 5)
        func run(_ matte: Matte) throws -> [[UInt8]] { try large.frames.indices.map { try large.alpha(of: matte, $0) } }
        let expected = try run(Matte())
        for loops in usableLoops {
            for size in [1, 2, 7] {
                let (matte, pool) = (Matte(loops: loops), ReversedWorkerPool(size: size))
                matte.pool = pool
                let alphas = try run(matte)
                #expect(alphas == expected, "\(loops), \(size) threads")
                #expect(size == 1 || pool.cuts > 0, "the frame was not cut")
            }
        }
    }

    @Test func `nothing of the past is left after a reset`() throws {
        let matte = Matte()
        _ = try golden.alpha(of: matte, 0)
        matte.reset()
        #expect(try golden.alpha(of: matte, 2) == golden.alpha(of: Matte(), 2))
    }

    @Test func `nothing of the past is left where time jumps`() throws {
        for jump in [-1_000_000_000, 5_000_000_000] as [Int64] {
            let matte = Matte()
            _ = try golden.alpha(of: matte, 0, time: 10_000_000_000)
            let alpha = try golden.alpha(of: matte, 2, time: 10_000_000_000 + jump)
            #expect(try alpha == golden.alpha(of: Matte(), 2))
        }
    }

    @Test func `nothing of the past is left after a cut`() throws {
        let matte = Matte()
        for number in 0..<2 { _ = try golden.alpha(of: matte, number) }
        let other = golden.frames[2].video.map { 255 - $0 }
        let (alpha, fresh) = try (
            golden.alpha(of: matte, 2, video: other), golden.alpha(of: Matte(), 2, video: other)
        )
        #expect(alpha == fresh)
    }

    @Test func `a matte approaches what is seen whatever settle is`() throws {
        var settings = GoldenFrames.settings
        settings.settle = 1
        let matte = Matte()
        _ = try golden.alpha(of: matte, 2, settings)
        for _ in 0..<100 { _ = try golden.alpha(of: matte, 1, settings, video: golden.frames[2].video) }
        let last = try golden.alpha(of: matte, 1, settings, video: golden.frames[2].video)
        settings.settle = 0
        let wanted = try golden.alpha(of: Matte(), 1, settings, video: golden.frames[2].video)
        #expect(Difference(last, wanted).mean < 1)
    }

    @Test func `a still picture keeps its matte stiller with settle than without`() throws {
        func change(settle: Double) throws -> Double {
            let matte = Matte()
            var settings = GoldenFrames.settings
            settings.settle = settle
            let (first, second) = try (
                golden.alpha(of: matte, 0, settings), golden.alpha(of: matte, 1, settings)
            )
            return Difference(first, second).mean
        }
        let (with, without) = try (change(settle: 0.7), change(settle: 0))
        #expect(without > 0 && with < 0.6 * without, "\(with) \(without)")
    }

    @Test func `without a person there is no matte`() throws {
        var settings = GoldenFrames.settings
        settings.cutoff = 0.5
        #expect(try golden.alpha(of: Matte(), 0, settings).allSatisfy { $0 == 0 })
    }

    @Test func `what lies at or before near is room`() throws {
        var settings = GoldenFrames.settings
        settings.near = 1.1
        #expect(try golden.alpha(of: Matte(), 0, settings).allSatisfy { $0 == 0 })
    }

    @Test func `pixels beside the depth map are background`() throws {
        var settings = GoldenFrames.settings
        settings.depth.offsetX = 60
        let alpha = try golden.alpha(of: Matte(), 0, settings)
        let width = golden.width
        #expect(alpha.contains(255))
        for y in 0..<golden.height { #expect(alpha[(y * width)..<(y * width + 60)].allSatisfy { $0 == 0 }) }
    }

    @Test(arguments: [(1, 1), (2, 3), (17, 5), (400, 3), (33, 300)])
    func `videos of any size get a matte`(width: Int, height: Int) throws {
        for detail in MatteDetail.allCases {
            var settings = GoldenFrames.settings
            settings.detail = detail
            let matte = Matte()
            for number in 0..<2 {
                let bytes = (0..<(width * height * 3)).map { UInt8(truncatingIfNeeded: $0 * 37 + number) }
                let alpha = try golden.alpha(of: matte, number, settings, video: bytes, width: width, height: height)
                #expect(alpha.count == width * height)
            }
        }
    }

    @Test(arguments: [
        (1, 1), (1, 9), (9, 1), (5, 4), (800, 2), (1000, 1), (1, 1000), (2305, 1), (1, 321), (4000, 3),
    ])
    func `depth maps of any size get a matte`(width: Int, height: Int) throws {
        let counts = (0..<(width * height)).map { [0, 900, 1900][$0 % 3] }
        let depth = try DepthMap(counts: counts, width: width)
        for detail in MatteDetail.allCases {
            var settings = GoldenFrames.settings
            settings.detail = detail
            for anchor in [AnchorMode.fixed, .auto] {
                settings.anchor.mode = anchor
                let matte = Matte()
                for number in 0..<2 {
                    let alpha = try golden.alpha(of: matte, number, settings, depth: depth)
                    #expect(alpha.count == golden.width * golden.height)
                }
            }
        }
    }
}

/// The golden frames of `method=fusion`.
struct GoldenFrames {
    struct Frame {
        /// Counts of a millimetre.
        let depth: [Int]
        let depthWidth: Int
        /// Red, green and blue of each pixel.
        let video: [UInt8]
        let alpha: [UInt8]
    }

    let frames: [Frame]
    let width: Int
    let height: Int

    static let face = Rectangle<Double>(x: 90, y: 38, width: 36, height: 40)

    static var settings: MatteSettings {
        var settings = MatteSettings()
        settings.method = .fusion
        settings.anchor.mode = .fixed
        settings.cutoff = 1.2
        return settings
    }

    init(_ name: String = "fusion", count: Int = 4) throws {
        let depths = try Golden.picture("\(name).depth.pgm")
        let videos = try Golden.picture("\(name).video.pgm")
        let alphas = name == "fusion" ? try Golden.picture("fusion.alpha.pgm").samples : []
        width = videos.width
        height = videos.height / 3 / count
        let (size, samples) = (width * height, depths.width * depths.height / count)
        frames = (0..<count).map { frame in
            let planes = (0..<3).map { videos.samples[((frame * 3 + $0) * size)..<((frame * 3 + $0 + 1) * size)] }
            return Frame(
                depth: Array(depths.samples[(frame * samples)..<((frame + 1) * samples)]), depthWidth: depths.width,
                video: (0..<size).flatMap { pixel in planes.map { UInt8($0[$0.startIndex + pixel]) } },
                alpha: alphas.dropFirst(frame * size).prefix(size).map { UInt8($0) })
        }
    }

    private init(frames: [Frame], width: Int, height: Int) {
        (self.frames, self.width, self.height) = (frames, width, height)
    }

    /// The same frames with every sample and pixel repeated along both axes; they have no mattes.
    func enlarged(by factor: Int) throws -> GoldenFrames {
        func repeated<Element>(_ elements: [Element], width: Int, group: Int = 1) -> [Element] {
            let height = elements.count / (width * group)
            return (0..<(height * factor)).flatMap { y in
                (0..<(width * factor)).flatMap { x in
                    let start = (y / factor * width + x / factor) * group
                    return elements[start..<(start + group)]
                }
            }
        }
        return GoldenFrames(
            frames: frames.map {
                Frame(
                    depth: repeated($0.depth, width: $0.depthWidth), depthWidth: $0.depthWidth * factor,
                    video: repeated($0.video, width: width, group: 3), alpha: [])
            }, width: width * factor, height: height * factor)
    }

    /// Renders a frame and gives back its alpha.
    func alpha(
        of matte: Matte, _ number: Int, _ settings: MatteSettings = GoldenFrames.settings, depth: DepthMap? = nil,
        time: Int64? = nil, video: [UInt8]? = nil, width: Int? = nil, height: Int? = nil,
        faces: [Rectangle<Double>] = [GoldenFrames.face], segmentation: Plane? = nil
    ) throws -> [UInt8] {
        let (width, height) = (width ?? self.width, height ?? self.height)
        let bytes = video ?? frames[number].video
        let depth = try depth ?? DepthMap(counts: frames[number].depth, width: frames[number].depthWidth)
        return try withRGB(bytes, width: width, height: height) { picture in
            matte.render(
                MatteFrame(
                    depth: depth.image, video: picture, width: width, height: height,
                    faces: faces, segmentation: segmentation, time: time), settings)
            return matte.finished.alpha.bytes
        }
    }
}

/// The stages of the frames that `Golden/regenerate_*.py` wrote.
struct GoldenStages {
    private let classes: [Int]
    private let odds: [Int]
    private let shares: [Int]

    init(_ name: String) throws {
        classes = try Golden.picture("\(name).class.pgm").samples
        odds = try Golden.picture("\(name).odds.pgm").samples
        shares = try Golden.picture("\(name).share.pgm").samples
    }

    /// Expects the last frame of a matte to have the stages of a golden one.
    func check(_ matte: Matte, _ number: Int) throws {
        let stages = try #require(matte.stages)
        let count = stages.width * stages.height
        try #require(count * (number + 1) <= classes.count && stages.classes.count == count)
        let first = number * count
        func share(_ isAlike: (Int) -> Bool) -> Double { Double((0..<count).count { isAlike($0) }) / Double(count) }
        #expect(share { Int(stages.classes[$0].rawValue) == classes[first + $0] } == 1, "frame \(number)")
        // The counts are (T + 16) · 2048.
        let isClose = share { abs(stages.logOdds[$0] - (Float(odds[first + $0]) / 2048 - 16)) < 0.1 }
        #expect(isClose > 0.999, "frame \(number): \(isClose)")
        let isSame = share { abs(stages.probabilities[$0] - Float(shares[first + $0]) / 65535) < 0.01 }
        #expect(isSame > 0.999, "frame \(number): \(isSame)")
    }
}
