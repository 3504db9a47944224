import GstTestSupport
import Testing

/// A frame full of one color that nothing else has: where it shows, the room leaks.
enum Room {
    static let secret: [UInt8] = [201, 37, 113]
    static let shape = VideoShape("RGB", 64, 48)
    static let depth = DepthShape("GRAY16_LE", 32, 24)
    static let picture = flat(shape, secret)

    /// Pixels of the room's color.
    static func leaked(_ frame: Recorder.Frame?) -> Int? {
        frame.map { shape.width * shape.height - pixels($0.bytes, otherThan: secret, shape) }
    }

    /// Pixels that are not the background's black.
    static func shown(_ frame: Recorder.Frame?) -> Int? {
        frame.map { pixels($0.bytes, otherThan: [0, 0, 0], shape) }
    }

    /// A map in which everything is as far away.
    static func wall(_ count: Int) -> [UInt8] {
        depth.bytes(counts: [Int](repeating: count, count: depth.width * depth.height))
    }

    static let all = shape.width * shape.height
}

extension Bench {
    /// An element that takes everything within a metre, hard-edged; both streams have begun.
    static func room(_ properties: [String: String] = [:]) -> Bench {
        let bench = Bench(["depth"], ["anchor": "fixed", "blur-radius": "0"].with(properties))
        bench.depth.start(Room.depth)
        bench.video.start(Room.shape)
        return bench
    }

    /// One pair of frames through the element.
    func pair(_ number: Int, depth: [UInt8], video: [UInt8] = Room.picture) -> Recorder.Frame? {
        self.depth.push(depth, at: time(ofFrame: number))
        self.video.push(video, at: time(ofFrame: number))
        return output.next()
    }
}
