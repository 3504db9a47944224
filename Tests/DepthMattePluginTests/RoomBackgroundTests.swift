import CGStreamer
import DepthKernels
import DepthMattePlugin
import GstTestSupport
import TestSupport
import Testing

/// The backgrounds that are made of the video itself.
@Suite struct RoomBackgroundTests {
    private static let settings = ["anchor": "fixed", "blur-radius": "0", "gamma": "1", "background-blur": "100"]
    /// Near in the left half, far in the right one, at the video's size.
    private static let depth = DepthShape("GRAY16_LE", 64, 48)
    private static let halves = (0..<64 * 48).map { $0 % 64 < 32 ? 700 : 3000 }

    /// A person of noise in the left half, before a wall of one color in the right one.
    private func picture(_ shape: VideoShape, wall: [UInt8]) -> [UInt8] {
        var result = flat(shape, wall)
        let person = Reference.opaque(noise(shape, seed: 9), shape)
        for component in shape.components {
            Reference.forEachSample(of: component) { column, row in
                guard column * component.columnsPerSample < 32 else { return }
                result[component.index(column, row)] = person[component.index(column, row)]
            }
        }
        return result
    }

    @Test(arguments: FormatTests.videoFormats)
    func `a blurred room has nothing of the person in it, and the person nothing of the blur`(format: String) throws {
        let shape = VideoShape(format, 64, 48)
        let picture = picture(shape, wall: [140, 90, 170, 255])
        let frame = try #require(
            Bench(["depth"], RoomBackgroundTests.settings.with(["background-mode": "blur"])).process(
                video: picture, shape, depth: RoomBackgroundTests.depth.bytes(counts: RoomBackgroundTests.halves),
                RoomBackgroundTests.depth))
        let difference = Difference(frame, picture, shape)
        #expect(difference.largest <= 1, "\(difference)")
    }

    @Test(arguments: FormatTests.videoFormats, effectModes)
    func `without depth all of the picture is changed, the person too`(format: String, mode: String) throws {
        let shape = VideoShape(format, 64, 48)
        let bench = Bench(["depth"], RoomBackgroundTests.settings.with(["background-mode": mode]))
        bench.depth.start(RoomBackgroundTests.depth)
        bench.depth.end()
        bench.video.start(shape)
        // Stripes of one pixel, which neither a blur nor few tones leave as they are.
        var stripes = flat(shape, [130, 130, 130, 255])
        let light = shape.components.prefix(shape.isYUV || shape.isGray ? 1 : 3)
        for component in light {
            Reference.forEachSample(of: component) { column, row in
                stripes[component.index(column, row)] = column.isMultiple(of: 2) ? 40 : 220
            }
        }
        bench.video.push(stripes, at: 0)
        let bytes = try #require(bench.output.next()?.bytes)
        // Near the edges the stripes do not even out.
        let inside = light.flatMap { component in
            (8..<40).flatMap { row in (8..<56).map { Int(bytes[component.index($0, row)]) } }
        }
        let contrast = (inside.max() ?? 255) - (inside.min() ?? 0)
        #expect(contrast <= 12, "\(contrast)")
    }

    @Test(arguments: effectModes)
    func `a faulty frame shows the color, and nothing of an earlier room`(mode: String) throws {
        let bench = Bench.room(["background-mode": mode, "background-color": "0xff203040", "background-blur": "5"])
        let near = Room.wall(700)
        #expect(Room.leaked(bench.pair(0, depth: near)) == Room.all)
        _ = bench.pair(1, depth: Room.wall(3000))
        bench.depth.push(near, at: time(ofFrame: 2))
        bench.video.push([1, 2, 3], at: time(ofFrame: 2))
        let faulty = try #require(bench.output.next())
        #expect(pixels(faulty.bytes, otherThan: [0x20, 0x30, 0x40], Room.shape) == 0)
        bench.depth.push([1], at: time(ofFrame: 3))
        bench.video.push(Room.picture, at: time(ofFrame: 3))
        let shortDepth = try #require(bench.output.next())
        #expect(pixels(shortDepth.bytes, otherThan: [0x20, 0x30, 0x40], Room.shape) == 0)
        #expect(Room.leaked(bench.pair(4, depth: near)) == Room.all)
    }

    @Test func `the blur is that of a picture of 720 lines, scaled`() throws {
        // An edge in the room: the distance over which it falls from 0.84 to 0.16 of its height is two sigmas.
        func rise(_ height: Int) throws -> Double {
            let shape = VideoShape("GRAY8", height * 2, height)
            let depth = DepthShape("GRAY16_LE", 4, 3)
            let edge = (0..<shape.size).map { UInt8($0 % (height * 2) < height ? 0 : 200) }
            let frame = try #require(
                Bench(
                    ["depth"], RoomBackgroundTests.settings.with(["background-mode": "blur", "background-blur": "60"])
                )
                .process(video: edge, shape, depth: depth.bytes(counts: [Int](repeating: 3000, count: 12)), depth))
            let row = frame[(height * height)..<(height * height + height * 2)]
            return Double(row.count { 32...168 ~= $0 }) / Double(height)
        }
        for height in [72, 144, 288] { #expect(abs(try rise(height) - 2 * 60.0 / 720) < 0.04) }
    }

    @Test func `changing the mode while playing takes effect on the next frame`() throws {
        let bench = Bench.room(["background-mode": "blur"])
        #expect(Room.leaked(bench.pair(0, depth: Room.wall(3000))) == Room.all)
        bench.set("background-mode", "color")
        #expect(Room.leaked(bench.pair(1, depth: Room.wall(3000))) == 0)
        bench.set("background-mode", "comic")
        #expect(Room.leaked(bench.pair(2, depth: Room.wall(3000))) == 0)
        #expect(bench.bus.warnings().isEmpty)
    }
}
