import CGStreamer
import GstBridge
import GstTestSupport
import Testing

/// No pixel of the room leaves but where the depth says foreground, whatever goes wrong.
///
/// The video is of one secret color. Depth has its left quarter near; the fault happens at frame 5 of 12. No frame may
/// show the secret right of the middle, and a frame without depth may not show it anywhere.
@Suite struct PrivacyTests {
    enum Fault: CaseIterable {
        case noDepthEver, depthComesLate, depthDies, depthGap, depthCapsChange, videoCapsChange, flush
        case backgroundReplaced, backgroundUnreadable, faceLost, allInvalid, unmappableVideo, unmappableDepth
        case shortVideo, shortDepth, propertiesChange, modeChange, depthReleased
    }

    enum Mode: CaseIterable {
        case opaque, transparent, fused
    }

    @Test(arguments: Fault.allCases, Mode.allCases)
    func `no fault shows the room`(fault: Fault, mode: Mode) {
        let scene = Scene(mode)
        for number in 0..<12 {
            if number == 5 { scene.happen(fault) }
            if number > 5, fault == .propertiesChange { scene.changeProperties(number) }
            scene.pushDepth(number, fault)
            scene.pushVideo(number, fault)
            guard let frame = scene.bench.output.next() else {
                Issue.record("frame \(number) did not leave")
                return
            }
            #expect(scene.secretPixels(frame, rightOf: 0.5) == 0, "frame \(number)")
            if scene.isUncut(number, fault) { #expect(scene.secretPixels(frame, rightOf: 0) == 0, "frame \(number)") }
        }
        #expect(scene.bench.bus.errors().isEmpty)
    }

    /// An element and what is pushed through it.
    private final class Scene {
        let bench: Bench
        private var shape: VideoShape
        private var depth = Room.depth
        private let secret: [UInt8]
        private let folder = TemporaryFolder()
        /// Flushing starts the streams anew.
        private var origin = 0

        init(_ mode: Mode) {
            let isOpaque = mode != .transparent
            secret = isOpaque ? Room.secret : Room.secret + [255]
            shape = VideoShape(isOpaque ? "RGB" : "RGBA", 64, 48)
            bench = Bench(
                ["depth"],
                [
                    "anchor": "auto", "cutoff": "1", "blur-radius": "0", "margin": "0.2", "hold-time": "0",
                    "max-skew": "0",
                    "background-color": "0xff102030", "background-mode": isOpaque ? "auto" : "transparent",
                    "method": mode == .fused ? "fusion" : "threshold",
                ])
            bench.depth.start(depth)
            bench.video.start(shape)
        }

        func happen(_ fault: Fault) {
            switch fault {
            case .depthGap: bench.depth.gap(at: time(ofFrame: 5), 7 * frameDuration)
            case .depthCapsChange:
                depth = DepthShape("GRAY16_BE", 16, 12)
                bench.depth.setCaps(depth.caps)
            case .videoCapsChange:
                shape = VideoShape(shape.format, 32, 24)
                bench.video.setCaps(shape.caps)
            case .flush:
                for feed in [bench.depth, bench.video] { feed.beginFlush() }
                for feed in [bench.depth, bench.video] { feed.endFlush() }
                origin = 5
            case .backgroundReplaced:
                let picture = png(width: 4, height: 4) { _, _ in [9, 9, 9] }
                bench.set("background", folder.write("new.png", picture))
            case .backgroundUnreadable: bench.set("background", folder["none.png"])
            case .modeChange: bench.set("background-mode", "color")
            case .depthReleased: bench.release("depth")
            case .depthDies: bench.depth.end()
            default: break
            }
        }

        func changeProperties(_ number: Int) {
            for (name, values) in [
                "margin": ["0", "0.3"], "view": ["composite", "matte"], "blur-radius": ["0", "1"],
                "invert": ["false", "false"], "background-fit": ["cover", "stretch"], "gamma": ["1", "2"],
                "background-color": ["0xff000000", "0xff405060"],
            ] { bench.set(name, values[number % 2]) }
        }

        /// True where frame `number` has no depth to be cut out along.
        func isUncut(_ number: Int, _ fault: Fault) -> Bool {
            switch fault {
            case .noDepthEver: true
            case .depthComesLate: number < 5
            case .depthDies, .depthGap, .allInvalid, .depthReleased: number >= 5
            case .unmappableVideo, .unmappableDepth, .shortVideo, .shortDepth: number == 5
            default: false
            }
        }

        func pushDepth(_ number: Int, _ fault: Fault) {
            let isAfter = number >= 5
            switch fault {
            case .noDepthEver:
                if number == 0 { bench.depth.end() }
                return
            case .depthComesLate where !isAfter:
                if number == 0 { bench.depth.push(map(near: true), at: time(ofFrame: 5)) }
                return
            case .depthComesLate where number == 5: return
            case .depthDies where isAfter, .depthGap where isAfter, .depthReleased where isAfter: return
            case .allInvalid where isAfter: bench.depth.push(map(near: false), at: time(ofFrame: number))
            case .shortDepth where number == 5: bench.depth.push([1], at: time(ofFrame: number))
            case .unmappableDepth where number == 5:
                bench.depth.push(unmappableBuffer(size: map(near: true).count), at: time(ofFrame: number))
            default: bench.depth.push(map(near: true), at: time(ofFrame: number - origin))
            }
        }

        func pushVideo(_ number: Int, _ fault: Fault) {
            let picture = (0..<shape.width * shape.height).flatMap { _ in secret }
            let start = time(ofFrame: number - origin)
            switch fault {
            case .shortVideo where number == 5: bench.video.push([1, 2], at: start)
            case .unmappableVideo where number == 5: bench.video.push(unmappableBuffer(size: picture.count), at: start)
            default:
                let buffer = guardedBuffer(picture)
                if fault != .faceLost || number < 5 { buffer.addRegion(4, 4, 8, 8) }
                bench.video.push(buffer, at: start)
            }
        }

        /// The left quarter near, or nothing measured at all.
        private func map(near: Bool) -> [UInt8] {
            depth.bytes(
                counts: (0..<depth.width * depth.height).map {
                    !near ? 0 : $0 % depth.width < depth.width / 4 ? 700 : 3000
                })
        }

        /// Pixels of the secret color in the columns right of a share of the width, whatever their alpha.
        func secretPixels(_ frame: Recorder.Frame, rightOf share: Double) -> Int {
            let bytes = frame.bytes
            guard bytes.count == shape.width * shape.height * secret.count else { return -1 }
            let first = Int(share * Double(shape.width))
            return (0..<shape.width * shape.height).count { pixel in
                pixel % shape.width >= first && isSecret(bytes[(pixel * secret.count)...].prefix(3))
            }
        }

        /// True where a color is the secret one, or all but.
        private func isSecret(_ color: ArraySlice<UInt8>) -> Bool {
            zip(color, secret).allSatisfy { abs(Int($0) - Int($1)) <= 8 }
        }
    }
}
