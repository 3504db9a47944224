import DepthKernels
import GstBridge
import GstTestSupport
import TestSupport
import Testing

/// Depth maps of strange content and of every size, through each element that reads depth.
@Suite struct DepthPatternTests {
    private static let (width, height) = (32, 24)

    /// Counts of a map, by the number of the sample.
    struct Pattern: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let count: @Sendable (Int) -> Int

        /// How many samples are measured.
        var measured: Int { (0..<DepthPatternTests.width * DepthPatternTests.height).count { 1...65_534 ~= count($0) } }
    }

    static let patterns = [
        Pattern(testDescription: "all 0") { _ in 0 },
        Pattern(testDescription: "all 65535") { _ in 65_535 },
        Pattern(testDescription: "all 1") { _ in 1 },
        Pattern(testDescription: "checkerboard of the ends") { ($0 + $0 / width) % 2 == 0 ? 0 : 65_535 },
        Pattern(testDescription: "checkerboard of near and far") { ($0 + $0 / width) % 2 == 0 ? 1 : 65_535 },
        Pattern(testDescription: "one sample") { $0 == width * height / 2 + 9 ? 700 : 0 },
        Pattern(testDescription: "the last sample") { $0 == width * height - 1 ? 65_535 : 0 },
        Pattern(testDescription: "every count") { $0 * 65_535 / (width * height - 1) },
    ]

    @Test(arguments: DepthReader.all, patterns)
    func `a map of strange counts gives a frame, the same in both byte orders`(reader: DepthReader, pattern: Pattern)
        throws
    {
        let counts = (0..<DepthPatternTests.width * DepthPatternTests.height).map(pattern.count)
        let frames = try ["GRAY16_LE", "GRAY16_BE"].map { format in
            let depth = DepthShape(format, DepthPatternTests.width, DepthPatternTests.height)
            let bench = reader.bench()
            reader.start(bench, depth, reader.video(40, 30))
            let frame = reader.frame(
                bench, depth: guardedBuffer(depth.bytes(counts: counts)),
                video: guardedBuffer(noise(reader.video(40, 30), seed: 7)))
            #expect(bench.bus.warnings().isEmpty && bench.bus.errors().isEmpty)
            return try #require(frame).bytes
        }
        // depthalign's maps leave in the order in which they came.
        let other = reader.factory == "depthalign" ? swapped(frames[1]) : frames[1]
        #expect(frames[0] == other)
        if reader.testDescription == "depthcolorize equalize" {
            let opaque = stride(from: 3, to: frames[0].count, by: 4).count { frames[0][$0] == 255 }
            #expect(opaque == pattern.measured, "the samples with a color")
        }
    }

    // MARK: Counts and distances

    private static let depth = DepthShape("GRAY16_LE", width, height)
    private static let scene = sceneCounts(width, height)

    @Test(arguments: DepthReader.all + others, ["GRAY16_LE", "GRAY16_BE"])
    func `a largest count is as good as 0, unless every count is measured`(reader: DepthReader, format: String) throws {
        let depth = DepthShape(format, DepthPatternTests.width, DepthPatternTests.height)
        let marked = DepthPatternTests.scene.map { $0 == 0 ? 65_535 : $0 }
        func picture(_ counts: [Int], _ properties: [String: String] = [:]) throws -> [UInt8] {
            try #require(reader.picture(depth.bytes(counts: counts), depth, reader.video(40, 30), properties))
        }
        let (zeros, usual) = (try picture(DepthPatternTests.scene), try picture(marked))
        let given = try picture(marked, ["depth-invalid": "0"])
        let none = try picture(marked, ["depth-invalid": "-1"])
        let (isUsual, isGiven, isDifferent) = (usual == zeros, given == zeros, none != zeros)
        #expect(isUsual && isGiven)
        // The cloud's view ends before 65 m, and behind the cutoff there is nothing to see.
        let isUnseen = ["depthcloud", "depthmatte threshold", "depthmatte nearest"].contains(reader.testDescription)
        #expect(isDifferent || isUnseen)
    }

    /// Scales that are exact in binary.
    @Test(
        arguments: DepthReader.all.dropLast() + others,
        [
            (
                ["depth-kind": "disparity", "depth-unit": "0.00048828125"],
                ["depth-unit": "-0.00048828125", "depth-bias": "2"]
            ),
            (["depth-unit": "0.0009765625"], ["depth-unit": "-0.0009765625", "depth-bias": "4"]),
        ])
    func `counts that fall as the others rise give the same frame`(
        reader: DepthReader, scales: (rising: [String: String], falling: [String: String])
    ) throws {
        let counts = DepthPatternTests.scene.map { min($0, 4095) }
        func picture(_ counts: [Int], _ properties: [String: String]) throws -> [UInt8] {
            try #require(
                reader.picture(
                    DepthPatternTests.depth.bytes(counts: counts), DepthPatternTests.depth, reader.video(40, 30),
                    properties))
        }
        let (expected, falling) = (try picture(counts, scales.rising), scales.rising.with(scales.falling))
        let isSame = try picture(counts.map { 4096 - $0 }, falling) == expected
        let isOther = try picture(counts, falling) != expected
        #expect(isSame && isOther)
    }

    @Test(arguments: DepthReader.all.dropLast() + others)
    func `a relative map is turned round with its picture`(reader: DepthReader) throws {
        let depth = DepthShape("GRAY8", DepthPatternTests.width, DepthPatternTests.height)
        let counts = sceneCounts(depth.width, depth.height, largest: 255).map { 255 - $0 }
        let properties = reader.factory == "depthmatte" ? ["cutoff": "2.47"] : [:]
        func picture(_ counts: [Int], _ kind: String) throws -> [UInt8] {
            try #require(
                reader.picture(
                    depth.bytes(counts: counts), depth, reader.video(40, 30), properties.with(["depth-kind": kind])))
        }
        let expected = try picture(counts, "relative")
        let isSame = try picture(counts.map { 255 - $0 }, "relative-inverted") == expected
        let isOther = try picture(counts, "relative-inverted") != expected
        #expect(isSame && isOther)
    }

    /// Where it is seen that a far sample is measured.
    private static let others = [
        DepthReader(
            factory: "depthmatte", properties: ["method": "threshold", "anchor": "fixed", "invert": "true"],
            videoPad: "video", testDescription: "depthmatte inverted"),
        DepthReader(
            factory: "depthmatte", properties: ["view": "quad", "anchor": "fixed", "method": "threshold"],
            videoPad: "video", testDescription: "depthmatte quad"),
        DepthReader(
            factory: "depthmatte",
            properties: ["anchor": "fixed", "background-mode": "blur", "background-blur-depth": "50"],
            videoPad: "video", testDescription: "depthmatte blur"),
    ]

    private func swapped(_ bytes: [UInt8]) -> [UInt8] { bytes.indices.map { bytes[$0 ^ 1] } }

    @Test(arguments: DepthReader.all)
    func `floats that are no distance are not measured, alone and mixed`(reader: DepthReader) throws {
        let depth = DepthShape("F32LE", DepthPatternTests.width, DepthPatternTests.height)
        let count = depth.width * depth.height
        let nothing = try #require(
            reader.picture(BadDepthTests.bytes(.init(repeating: 0, count: count)), depth, reader.video(40, 30)))
        for (index, pattern) in BadDepthTests.unmeasured.enumerated() {
            let one = (0..<count).map { _ in pattern }
            #expect(reader.picture(BadDepthTests.bytes(one), depth, reader.video(40, 30)) == nothing, "\(index)")
        }
        let mixed = (0..<count).map { BadDepthTests.unmeasured[$0 % BadDepthTests.unmeasured.count] }
        #expect(reader.picture(BadDepthTests.bytes(mixed), depth, reader.video(40, 30)) == nothing)
        // Beside samples that are measured, each is as good as zero.
        let (measured, zeros) = (
            mixed.enumerated().map { $0 % 3 == 0 ? Float(0.7).bitPattern : $1 }, [Float(0.7), 0, 0]
        )
        let expected = (0..<count).map { zeros[$0 % 3].bitPattern }
        #expect(
            reader.picture(BadDepthTests.bytes(measured), depth, reader.video(40, 30))
                == reader.picture(BadDepthTests.bytes(expected), depth, reader.video(40, 30)))
    }

    @Test(arguments: DepthReader.all)
    func `the smallest and the largest distances, and random bits, give frames`(reader: DepthReader) {
        let depth = DepthShape("F32LE", DepthPatternTests.width, DepthPatternTests.height)
        var random = RepeatableRandomNumberGenerator(seed: 5)
        let extremes: [Float] = [.leastNonzeroMagnitude, 1e-30, 1e30, 3e38, .greatestFiniteMagnitude]
        let maps = extremes.map { value in (0..<depth.width * depth.height).map { $0 % 2 == 0 ? value : 0.7 } }
        for metres in maps {
            #expect(reader.picture(depth.bytes(metres: metres), depth, reader.video(40, 30)) != nil, "\(metres[0])")
        }
        for _ in 0..<8 {
            let bits = (0..<depth.width * depth.height).map { _ in UInt32.random(in: 0 ... .max, using: &random) }
            #expect(reader.picture(BadDepthTests.bytes(bits), depth, reader.video(40, 30)) != nil)
        }
    }

    // MARK: Sizes

    private static let sizes = [
        (1, 1), (1, 9), (9, 1), (2, 2), (3, 5), (31, 7), (7, 31), (64, 48), (33, 17), (130, 3), (3, 130), (16, 16),
        (1, 1),
    ]

    private func counts(_ width: Int, _ height: Int) -> [Int] { sceneCounts(width, height, largest: 1500) }

    /// Caps change before each frame; nothing of the sizes before may be left.
    @Test(arguments: DepthReader.all)
    func `a map of another size in each frame is read as by a new element`(reader: DepthReader) throws {
        let bench = reader.bench()
        let video = reader.video(40, 30)
        for (number, size) in DepthPatternTests.sizes.enumerated() {
            let depth = DepthShape("GRAY16_LE", size.0, size.1)
            let map = depth.bytes(counts: counts(size.0, size.1))
            reader.start(bench, depth, video, isFirst: number == 0)
            let frame = reader.frame(
                bench, number, depth: guardedBuffer(map), video: guardedBuffer(noise(video, seed: 7)))
            let expected = try #require(reader.picture(map, depth, video), "\(size)")
            #expect(try #require(frame, "\(size)").bytes == expected, "\(size)")
        }
        #expect(bench.bus.errors().isEmpty && bench.bus.warnings().isEmpty)
    }

    /// Larger than the video, one sample, one row, one column, and ratios that are not whole.
    @Test(arguments: sizes)
    func `a matte of a map of any size equals the reference`(width: Int, height: Int) {
        for video in [VideoShape("GRAY8", 40, 30), VideoShape("GRAY8", 5, 3), VideoShape("GRAY8", 1, 1)] {
            var oracle = Oracle(video, DepthShape("GRAY16_LE", width, height))
            oracle.counts = counts(width, height)
            oracle.check(["matte"])
        }
    }
}
