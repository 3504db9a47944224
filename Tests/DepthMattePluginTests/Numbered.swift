import GstTestSupport

/// Depth maps that tell in the matte which of them it was made from: number n has its first n columns near.
enum Numbered {
    static let depth = DepthShape("GRAY16_LE", 32, 4)
    static let video = VideoShape("GRAY8", 32, 4)
    static let properties = [
        "method": "threshold", "anchor": "fixed", "blur-radius": "0", "gamma": "1", "view": "matte",
    ]

    static func map(_ number: Int) -> [UInt8] {
        depth.bytes(counts: (0..<32 * 4).map { $0 % 32 < number ? 700 : 3000 })
    }

    static let picture = [UInt8](repeating: 99, count: video.size)

    /// The map behind a matte; 0 where there was none.
    static func number(_ frame: Recorder.Frame) -> Int { frame.bytes.prefix(32).count { $0 == 255 } }
}

extension Bench {
    /// An element that shows the matte; both streams have begun.
    static func numbered(_ properties: [String: String] = [:]) -> Bench {
        let bench = Bench(["depth"], Numbered.properties.with(properties))
        bench.depth.start(Numbered.depth)
        bench.video.start(Numbered.video)
        return bench
    }

    /// Queues video frames, and the end.
    func pushVideo(_ count: Int, perSecond rate: Int = 30) {
        for frame in 0..<count { video.push(Numbered.picture, at: time(ofFrame: frame, perSecond: rate)) }
        video.end()
    }

    /// The numbers of the maps behind all frames to come.
    func numbers() -> [Int] { output.rest().map(Numbered.number) }
}
