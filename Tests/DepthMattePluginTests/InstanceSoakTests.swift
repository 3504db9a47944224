import CGStreamer
import GstBridge
import GstTestSupport
import TestSupport
import Testing

/// Many elements in one process.
@Suite struct InstanceSoakTests {
    private static let instances = 64
    private static let frames = Soak.isFull ? 300 : 6
    private static let depth = DepthShape("GRAY16_LE", 32, 24)

    /// The settings of each instance, no two alike.
    private static let settings: [[String: String]] = {
        let modes = ["color", "blur", "comic", "transparent"]
        let views = ["composite", "matte", "depth", "quad"]
        return (0..<instances).map { number in
            [
                "method": number.isMultiple(of: 2) ? "fusion" : "threshold", "anchor": "nearest",
                "background-mode": modes[number / 2 % 4], "view": views[number / 8 % 4],
                "blur-radius": "\(number % 7)", "gamma": "\(0.5 + Double(number) / 40)",
                "background-color": "\(0xff00_0000 + number * 0x01_0305)", "max-threads": "\(number % 3)",
                "settle": "\(Double(number % 5) / 5)", "margin": "\(0.1 + Double(number) / 100)",
            ]
        }
    }()

    private static func shape(_ number: Int) -> VideoShape {
        VideoShape(["I420", "RGBA", "NV12", "BGRx", "GRAY8", "YUY2"][number % 6], 64, 48)
    }

    @Test func `sixty-four instances at once each make what they make alone`() throws {
        let alone = InstanceSoakTests.settings.indices.map { number in
            let bench = begin(number)
            feed(bench, number)
            return digest(bench)
        }
        #expect(alone.allSatisfy { $0.count == InstanceSoakTests.frames })
        var benches: [Bench] = []
        var memory = [residentMemory()]
        for count in [16, 32, InstanceSoakTests.instances] {
            for number in benches.count..<count { benches.append(begin(number)) }
            for (number, bench) in benches.enumerated() where number >= count / 2 || count == 16 { feed(bench, number) }
            for number in (count == 16 ? 0 : count / 2)..<count {
                #expect(digest(benches[number]) == alone[number], "instance \(number)")
            }
            memory.append(residentMemory())
        }
        let each = zip(memory.dropFirst(), memory).map { $0 - $1 }
        Soak.report("memory of 16, 16 and 32 instances: \(each) kB")
        // Memory that earlier tests freed serves the first ones.
        #expect(each[2] <= 4 * max(each[1], 8192), "\(each) kB")
    }

    private func begin(_ number: Int) -> Bench {
        let bench = Bench(["depth"], InstanceSoakTests.settings[number])
        bench.depth.start(InstanceSoakTests.depth)
        bench.video.start(InstanceSoakTests.shape(number))
        return bench
    }

    private func feed(_ bench: Bench, _ number: Int) {
        for frame in 0..<InstanceSoakTests.frames {
            let seed = UInt64(number * 1000 + frame)
            let counts = sceneCounts(InstanceSoakTests.depth.width, InstanceSoakTests.depth.height, seed: seed)
            bench.depth.push(InstanceSoakTests.depth.bytes(counts: counts), at: time(ofFrame: frame))
            bench.video.push(noise(InstanceSoakTests.shape(number), seed: seed), at: time(ofFrame: frame))
        }
        bench.depth.end()
        bench.video.end()
    }

    /// A number for each frame to come, by its bytes.
    private func digest(_ bench: Bench) -> [UInt64] {
        bench.output.rest().map { frame in
            // FNV-1a (Fowler, Noll, Vo).
            frame.bytes.reduce(0xcbf2_9ce4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
        }
    }
}
