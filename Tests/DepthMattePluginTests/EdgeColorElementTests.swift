import CGStreamer
import DepthKernels
import GstTestSupport
import TestSupport
import Testing

/// `decontaminate` and `light-wrap` of the element; their arithmetic is tested beside the kernels.
@Suite struct EdgeColorElementTests {
    private static let (width, height) = (144, 108)
    private static let depth = DepthShape("GRAY16_LE", width, height)

    /// How much of a pixel is the person: an outline four pixels soft.
    private static func share(_ x: Int, _ y: Int) -> Double {
        let (dx, dy) = ((Double(x) - 72) / 30, (Double(y) - 60) / 42)
        return min(max((1 - (dx * dx + dy * dy).squareRoot()) * 9 + 0.5, 0), 1)
    }

    /// A person at 0.8 m before a wall at 1.6 m.
    private static let counts = (0..<width * height).map { share($0 % width, $0 / width) >= 0.5 ? 800 : 1600 }
    /// A dark person before a bright wall.
    private static let picture: [UInt8] = (0..<width * height).map {
        let share = share($0 % width, $0 / width)
        return UInt8((share * 40 + (1 - share) * 200).rounded())
    }
    /// Before a background of the person's color there is nothing else to be seen.
    private static let settings = ["anchor": "fixed", "method": "fusion", "background-color": "0xff282828"]

    private static func composite(_ format: String, _ settings: [String: String]) -> [UInt8]? {
        let video = VideoShape(format, width, height)
        return Bench(["depth"], EdgeColorElementTests.settings.with(settings)).process(
            video: Reference.matteView(alpha: picture, video), video, depth: depth.bytes(counts: counts), depth)
    }

    @Test(arguments: FormatTests.videoFormats)
    func `the wall leaves half a rim at most, in every format`(format: String) throws {
        let video = VideoShape(format, EdgeColorElementTests.width, EdgeColorElementTests.height)
        let person = Reference.matteView(
            alpha: [UInt8](repeating: 40, count: EdgeColorElementTests.counts.count), video)
        func rim(_ settings: [String: String]) throws -> Double {
            Difference(try #require(EdgeColorElementTests.composite(format, settings)), person, video).mean
        }
        let (with, without) = try (rim([:]), rim(["decontaminate": "0"]))
        #expect(without > 0.1 && with <= without / 2, "\(with) \(without)")
    }

    @Test(arguments: ["I420", "RGBA", "YUY2"])
    func `a matte of depth alone lets the video's colors be`(format: String) {
        let settings = ["method": "threshold"]
        let composite = EdgeColorElementTests.composite(format, settings)
        #expect(composite != nil)
        #expect(composite == EdgeColorElementTests.composite(format, settings.with(["decontaminate": "0"])))
    }

    @Test(arguments: ["RGBA", "BGRx", "AYUV", "I420"])
    func `straight alpha carries the person's color`(format: String) throws {
        func rim(_ strength: String) throws -> Double {
            let bytes = try #require(
                EdgeColorElementTests.composite(
                    format, ["background-mode": "transparent", "decontaminate": strength]))
            let sibling = ["BGRx": "BGRA", "I420": "A420"][format] ?? format
            let video = VideoShape(sibling, EdgeColorElementTests.width, EdgeColorElementTests.height)
            let (gray, alpha) = (video.components[0], video.components[3])
            let person = Reference.matteView(
                alpha: [UInt8](repeating: 40, count: EdgeColorElementTests.counts.count), video)
            var (sum, count) = (0.0, 0.0)
            Reference.forEachSample(of: gray) { x, y in
                let (index, opacity) = (gray.index(x, y), bytes[alpha.index(x, y)])
                guard opacity > 0, opacity < 255 else { return }
                sum += Double(abs(Int(bytes[index]) - Int(person[index]))) * Double(opacity) / 255
                count += 1
            }
            return sum / count
        }
        let (with, without) = try (rim("1"), rim("0"))
        #expect(without > 5 && with <= without / 2, "\(with) \(without)")
    }

    @Test(arguments: ["fusion", "threshold"])
    func `light wraps the person and nothing else`(method: String) throws {
        let settings = ["method": method, "background-color": "0xffffffff", "decontaminate": "0", "blur-radius": "1"]
        let plain = try #require(EdgeColorElementTests.composite("GRAY8", settings))
        var before = plain
        for strength in ["0", "0.3", "1"] {
            let wrapped = try #require(
                EdgeColorElementTests.composite("GRAY8", settings.with(["light-wrap": strength])))
            if strength == "0" {
                #expect(wrapped == plain)
                continue
            }
            #expect(zip(wrapped, before).allSatisfy { $0 >= $1 } && wrapped != before)
            // Deep within nothing shows.
            let middle = 60 * EdgeColorElementTests.width + 72
            #expect(wrapped[middle] == plain[middle])
            before = wrapped
        }
    }

    @Test(arguments: ["cutoff=3 method=fusion", "method=fusion decontaminate=1 light-wrap=1"])
    func `the original shows what came`(settings: String) throws {
        let properties = Dictionary(
            uniqueKeysWithValues: settings.split(separator: " ").map {
                (String($0.prefix { $0 != "=" }), String($0.drop { $0 != "=" }.dropFirst()))
            })
        let video = VideoShape("GRAY8", EdgeColorElementTests.width, EdgeColorElementTests.height)
        let original = EdgeColorElementTests.composite("GRAY8", properties.with(["view": "original"]))
        let picture = Reference.matteView(alpha: EdgeColorElementTests.picture, video)
        #expect(Difference(original ?? [], picture, video).isNone)
        // The quarter of a quad that shows it is as it came, too.
        let quads = ["0", "1"].map {
            EdgeColorElementTests.composite("GRAY8", properties.with(["view": "quad", "decontaminate": $0])) ?? []
        }
        for y in 0..<54 {
            let row = (y * EdgeColorElementTests.width)..<(y * EdgeColorElementTests.width + 72)
            #expect(quads[0][row] == quads[1][row])
        }
    }
}
