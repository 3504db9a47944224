import CGStreamer
import DepthKernels
import GstBridge
import GstTestSupport
import TestSupport
import Testing

/// An element besides `depthmatte` at work for hours of stream time: settings, caps, seeks, stops and lost buffers in an
/// order that a seed gives, and every frame held to the rules that hold for any.
final class SoakHours {
    let streams: SoakStreams
    private let subject: Subject
    private var random: RepeatableRandomNumberGenerator
    private let settable: [SettableProperty]
    private var shapes: [String: Shape] = [:]
    private var ended: Set<String> = []

    /// What is known of the element.
    struct Subject: Sendable, CustomTestStringConvertible {
        let factory: String
        let leading: String
        /// The request pads.
        let followed: [String]
        let properties: [String: String]
        let downstream: String
        /// Properties that are left alone.
        var fixed: Set<String> = ["max-pixels", "depth-ts-offset"]
        var depthFormats = ["GRAY16_LE", "GRAY16_BE", "F32LE", "F16LE"]
        /// Sizes of depth.
        var depthSizes = [(32, 24), (16, 12), (40, 30), (1, 1)]

        var testDescription: String { factory }

        static let all = [
            Subject(
                factory: "depthcolorize", leading: "depth", followed: ["video"], properties: [:],
                downstream: "video/x-raw, format=(string){ RGB, BGRA }"),
            Subject(
                factory: "depthcloud", leading: "depth", followed: ["video"], properties: [:],
                downstream: "video/x-raw, format=(string){ RGBx, BGRA }"),
            Subject(
                factory: "depthalign", leading: "sink", followed: [], properties: [:], downstream: "ANY",
                fixed: ["max-pixels", "calibration"], depthFormats: ["GRAY16_LE", "GRAY16_BE", "F32LE"],
                depthSizes: [(32, 8), (16, 4), (64, 16)]),
        ]
    }

    private enum Shape {
        case depth(DepthShape), video(VideoShape)

        var size: Int {
            switch self {
            case .depth(let shape):
                let samples = [Int](repeating: 0, count: shape.width * shape.height)
                return shape.isFloat
                    ? shape.bytes(metres: samples.map(Float.init)).count : shape.bytes(counts: samples).count
            case .video(let shape): return shape.size
            }
        }
    }

    init(_ subject: Subject, seed: UInt64, _ gone: Counter, _ buffers: LiveBuffers) {
        self.subject = subject
        random = RepeatableRandomNumberGenerator(seed: seed)
        let kind = Bench.Kind(factory: subject.factory, leading: subject.leading, properties: subject.properties)
        streams = SoakStreams(
            Bench([], downstream: subject.downstream, of: kind), leading: subject.leading, seed: seed, gone, buffers)
        settable = SettableProperty.all(of: streams.bench.element).filter { !subject.fixed.contains($0.name) }
        streams.start(subject.leading, newCaps(subject.leading))
    }

    func run(frames: Int, parts: Int, eachPart: () -> Void) throws {
        for part in 1...parts {
            while streams.counts.frames < frames * part / parts {
                for _ in 0..<Int.random(in: 0...2, using: &random) { happen() }
                try play(min(Int.random(in: 1...40, using: &random), streams.left))
                let (errors, warnings) = streams.bench.bus.takeFaults()
                guard errors.isEmpty else { throw fail("\(errors)") }
                // Each has a cause: a buffer that cannot be read, a range with nothing in it, a snapshot without a file.
                guard warnings.allSatisfy({ SoakHours.isDue($0.text) }) else { throw fail("\(warnings)") }
                streams.counts.warnings += warnings.count
                streams.forget()
            }
            restart(eachPart)
        }
    }

    private static func isDue(_ text: String) -> Bool {
        ["frame", "map", "video", "min ", "snapshot", "nothing is measured"].contains { text.contains($0) }
    }

    private func fail(_ text: String) -> SoakStreams.Failure { streams.failure("\(subject.factory): \(text)") }

    // MARK: Frames

    private func play(_ count: Int) throws {
        guard count > 0 else { return seek() }
        for pad in streams.pads where pad != subject.leading && !ended.contains(pad) { send(pad, count) }
        for number in 0..<count { push(subject.leading, number) }
        for number in 0..<count {
            guard let frame = streams.next() else { throw fail("frame \(number) of \(count) did not leave") }
            let due = BufferRef.Timing(start: streams.start(ofNext: number), duration: frameDuration)
            guard frame.timing == due else { throw fail("\(frame.timing) left for \(due)") }
            guard frame.buffer.bytes.count == size(of: frame.caps) else {
                throw fail("\(frame.caps) have another size")
            }
        }
        for pad in streams.pads { streams.settle(pad) }
        streams.advance(count)
    }

    /// A secondary stream, with some of it lost, up to the last frame's time.
    private func send(_ pad: String, _ count: Int) {
        let way = Int.random(in: 0..<8, using: &random)
        if way < 4 { streams.counts.dropouts += 1 }
        switch way {
        case 0:
            streams.bench[pad].end()
            ended.insert(pad)
        case 1: streams.pushGap(over: 0..<count, on: pad)
        case 2, 3: push(pad, count - 1)
        default: for number in 0..<count { push(pad, number) }
        }
    }

    private func push(_ pad: String, _ number: Int) {
        let isFaulty = Int.random(in: 0..<300, using: &random) == 0 && pad != "sink"
        if isFaulty { streams.counts.faultyBuffers += 1 }
        let size = isFaulty ? 3 : shapes[pad]?.size ?? 0
        var seed = RepeatableRandomNumberGenerator(seed: random.next())
        let bytes = (0..<(size + 7) / 8).flatMap { _ in withUnsafeBytes(of: seed.next()) { Array($0) } }
        streams.push(guardedBuffer(Array(bytes.prefix(size))), on: pad, at: streams.start(ofNext: number))
    }

    /// The bytes of a frame of these caps.
    private func size(of text: String) -> Int {
        guard let caps = gst_caps_from_string(text) else { return -1 }
        defer { gst_caps_unref(caps) }
        var info = GstVideoInfo()
        if text.hasPrefix("video/x-raw") { return gst_video_info_from_caps(&info, caps) != 0 ? Int(info.size) : -1 }
        guard let structure = gst_caps_get_structure(caps, 0) else { return -1 }
        var (width, height): (gint, gint) = (0, 0)
        gst_structure_get_int(structure, "width", &width)
        gst_structure_get_int(structure, "height", &height)
        return Int(width * height) * (text.contains("F16LE") ? 2 : 4)
    }

    // MARK: Events

    private func happen() {
        let event = Int.random(in: 0..<20, using: &random)
        streams.note("event \(event)")
        switch event {
        case 0..<9: changeProperty()
        case 9..<12: seek()
        case 12..<14: changeCaps(subject.leading)
        case 14..<16: if let pad = subject.followed.first(where: { streams.caps[$0] != nil }) { changeCaps(pad) }
        case 16..<18: changePad()
        case 18: gst_pad_push_event(streams.bench.output.pad, gst_event_new_reconfigure())
        default: restart {}
        }
    }

    private func changeProperty() {
        settable.randomElement(using: &random)?.set(on: streams.bench.element, &random)
        streams.counts.propertyChanges += 1
    }

    private func seek() {
        let isFlushing = Bool.random(using: &random) || !ended.isEmpty || !streams.hasPlayed
        let start = time(ofFrame: Int.random(in: 0..<864_000, using: &random))
        ended = []
        streams.seek(flushing: isFlushing, to: start, rate: [1, 2, -1].randomElement(using: &random) ?? 1)
    }

    private func changeCaps(_ pad: String) {
        guard !ended.contains(pad) else { return }
        let (before, caps) = (streams.caps[pad], newCaps(pad))
        if before != caps { streams.setCaps(pad, caps) }
    }

    private func changePad() {
        guard let pad = subject.followed.randomElement(using: &random) else { return }
        ended.remove(pad)
        if streams.caps[pad] != nil { streams.release(pad) } else { streams.request(pad, newCaps(pad)) }
    }

    private func restart(_ whileStopped: () -> Void) {
        streams.stop(Bool.random(using: &random) ? GST_STATE_READY : GST_STATE_NULL)
        whileStopped()
        ended = []
        streams.play()
    }

    private func newCaps(_ pad: String) -> String {
        guard pad != "video" else {
            let format = ["RGB", "NV12", "I420", "BGRA", "GRAY8"].randomElement(using: &random) ?? "RGB"
            let shape = VideoShape(
                format, Int.random(in: 1...64, using: &random), Int.random(in: 1...48, using: &random))
            shapes[pad] = .video(shape)
            return shape.caps
        }
        let format = subject.depthFormats.randomElement(using: &random) ?? "F32LE"
        let (width, height) = subject.depthSizes.randomElement(using: &random) ?? (16, 4)
        let shape = DepthShape(format, width, height)
        shapes[pad] = .depth(shape)
        return subject.factory == "depthalign" ? DepthReader.depthAlign.caps(shape) : shape.caps
    }
}
