import DepthKernels
import DepthScene
package import Foundation

/// A folder as `fakenect-record` writes it, with frames of the scene of `depthtestsrc`.
package final class FreenectDump {
    package let folder: URL
    /// The frames of each stream, again and again.
    package private(set) var videos: [Data] = []
    package private(set) var depths: [Data] = []
    private var index = ""

    /// - Parameters:
    ///   - distinct: frames that differ; later ones repeat them.
    ///   - largest: the largest value in the depth's header: 10000 for millimetres, 65535 for raw counts.
    package init(distinct: Int = 3, largest: Int = 10_000) throws {
        folder = FileManager.default.temporaryDirectory.appending(path: "freenect-dump-\(UUID())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let scene = SceneRenderer(scene: Scene(pattern: .person, seed: 1), width: 640, height: 480)
        for number in 0..<distinct {
            let seconds = Double(number) / 30
            let bgra = FreenectDump.draw { scene.drawVideo(seconds: seconds, into: $0) }
            var rgb: [UInt8] = []
            rgb.reserveCapacity(640 * 480 * 3)
            for pixel in 0..<640 * 480 { rgb += [bgra[pixel * 4 + 2], bgra[pixel * 4 + 1], bgra[pixel * 4]] }
            let floats = FreenectDump.draw {
                scene.drawDepth(seconds: seconds, frame: UInt64(number), noise: 0.002, holes: 0.02, into: $0)
            }
            let counts = floats.withUnsafeBytes { bytes in
                (0..<640 * 480).map { sample in
                    let metres = bytes.loadUnaligned(fromByteOffset: sample * 4, as: Float.self)
                    // Of raw counts, any do.
                    return largest == 10_000 ? UInt16(metres * 1000) : UInt16(metres * 1000) % 2048
                }
            }
            videos.append(Data(rgb))
            depths.append(counts.withUnsafeBytes { Data($0) })
            try (Data("P6 640 480 255\n".utf8) + videos[number]).write(to: folder.appending(path: "video\(number)"))
            try (Data("P5 640 480 \(largest)\n".utf8) + depths[number]).write(
                to: folder.appending(path: "depth\(number)"))
        }
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    private static func draw(_ body: (MutablePlane) -> Void) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: 640 * 480 * 4)
        bytes.withUnsafeMutableBytes { memory in
            guard let base = memory.baseAddress else { return }
            let plane = MutablePlane(base: base, length: memory.count, rowBytes: 2560, rows: 480, stride: 2560)
            if let plane { body(plane) }
        }
        return bytes
    }

    /// Adds a frame.
    ///
    /// - Parameter seconds: when the host received it.
    package func add(_ type: String, number: Int, ticks: UInt32, seconds: Double) throws {
        let isDepth = type == "d"
        let name = "\(type)-\(1_288_634_398 + seconds)-\(ticks).\(isDepth ? "pgm" : "ppm")"
        try FileManager.default.createSymbolicLink(
            at: folder.appending(path: name),
            withDestinationURL: folder.appending(path: "\(isDepth ? "depth" : "video")\(number % videos.count)"))
        index += name + "\n"
    }

    /// Adds a line to the index.
    package func add(line: String) { index += line + "\n" }

    /// Adds pairs of frames, the depth 2 ms after the video.
    ///
    /// - Parameter interval: between two frames for the host; for the camera it is a thirtieth of a second.
    package func addPairs(_ count: Int, firstTick: UInt32 = 1_735_028_192, interval: Double = 0.001) throws {
        for number in 0..<count {
            let ticks = firstTick &+ UInt32(number) &* 2_000_000
            try add("r", number: number, ticks: ticks, seconds: Double(number) * interval)
            try add("d", number: number, ticks: ticks &+ 120_000, seconds: Double(number) * interval + interval / 10)
        }
    }

    /// Writes the index.
    package func writeIndex() throws { try Data(index.utf8).write(to: folder.appending(path: "INDEX.txt")) }
}
