import CGStreamer
import DepthKernels
import GstBridge
import GstTestSupport
import TestSupport
import Testing

/// An element at work for hours of stream time: anything that an application, a user and the cameras do, in an order that
/// a seed gives, and every frame held to the rules that hold for any. `SoakMatte` knows more of its element.
class SoakRun {
    let streams: SoakStreams
    let settable: [SettableProperty]
    var random: RepeatableRandomNumberGenerator
    /// Warnings that may come, by a part of their text.
    var due: Set<String>
    /// Pads whose stream has ended.
    private(set) var ended: Set<String> = []
    private let subject: Subject
    private let events: [Event]
    /// Bytes of a frame of each pad.
    private var sizes: [String: Int] = [:]

    var bench: Bench { streams.bench }

    /// - Parameters:
    ///   - gone: counts the element and its pads.
    ///   - buffers: counts what goes in and what comes out.
    required init(_ subject: Subject, seed: UInt64, _ gone: Counter, _ buffers: LiveBuffers) {
        self.subject = subject
        let kind = Bench.Kind(factory: subject.factory, leading: subject.leading, properties: subject.properties)
        streams = SoakStreams(
            Bench([], downstream: subject.downstream, of: kind), leading: subject.leading, seed: seed, gone, buffers)
        settable = SettableProperty.all(of: streams.bench.element).filter { !subject.fixed.contains($0.name) }
        random = RepeatableRandomNumberGenerator(seed: seed)
        due = subject.due
        events = Event.allCases.filter { $0.isGeneral || subject.hasOwnEvents }
            .flatMap { [Event](repeating: $0, count: $0.weight) }
        streams.start(subject.leading, newCaps(subject.leading))
    }

    func pick<Choice>(_ choices: [Choice]) -> Choice { choices[Int.random(in: choices.indices, using: &random)] }

    func fail(_ text: String) -> SoakStreams.Failure { streams.failure("\(subject.factory): \(text)") }

    // MARK: The day

    /// - Parameter eachPart: called between stretches of the run, while the element is stopped.
    func run(_ length: Length, eachPart: () -> Void) throws {
        for part in 1...length.parts {
            while streams.counts.frames < length.frames * part / length.parts {
                for _ in 0..<Int.random(in: 0...2, using: &random) {
                    let event = pick(events)
                    streams.note("\(event)")
                    try happen(event)
                }
                try play(Int.random(in: 1...40, using: &random))
                try checkMessages()
                streams.forget()
            }
            try restart(eachPart)
        }
    }

    /// No error, and no warning that was not due.
    private func checkMessages() throws {
        let (errors, warnings) = bench.bus.takeFaults()
        guard errors.isEmpty else { throw fail("\(errors)") }
        for warning in warnings where !due.contains(where: { warning.text.contains($0) }) {
            throw fail("a warning that was not due: \(warning)")
        }
        streams.counts.warnings += warnings.count
    }

    // MARK: Frames

    /// - Parameter change: changes settings while frames are on their way; nil where they stay as they are.
    private func play(_ wanted: Int, while change: (() -> Void)? = nil) throws {
        let count = min(wanted, streams.left)
        guard count > 0 else { return seek(flushing: true) }
        for pad in streams.pads where pad != subject.leading && !ended.contains(pad) { send(pad, count) }
        try pass(count, while: change)
        for pad in streams.pads { streams.settle(pad) }
        streams.advance(count)
    }

    /// Sends frames of the leading stream, and takes and checks those that leave.
    func pass(_ count: Int, while change: (() -> Void)?) throws {
        for number in 0..<count {
            change?()
            push(number, on: subject.leading, .none)
        }
        for number in 0..<count {
            let frame = try receive(at: streams.start(ofNext: number))
            guard frame.buffer.bytes.count == size(of: frame.caps) else {
                throw fail("\(frame.caps) have another size")
            }
        }
    }

    /// Takes the frame that leaves for the one at this time.
    func receive(at start: GstClockTime) throws -> Recorder.Frame {
        guard let frame = streams.next() else { throw fail("the frame at \(start) did not leave") }
        guard frame.timing == BufferRef.Timing(start: start, duration: frameDuration) else {
            throw fail("\(frame.timing) left for \(start)")
        }
        return frame
    }

    /// What is wrong with a stream during a stretch of frames.
    enum Loss: CaseIterable {
        case none, gap, missing, unmeasured, noise, faulty, twice, half, end
    }

    /// Queues a followed stream, some of it lost, up to the last frame's time, so that no frame waits for more.
    func send(_ pad: String, _ count: Int) {
        var loss = Loss.none
        if Int.random(in: 0..<3, using: &random) == 0 { loss = pick(Loss.allCases) }
        if loss == .end && Bool.random(using: &random) { loss = .missing }
        let first = Int.random(in: 0..<count, using: &random)
        let lost = first..<(loss == .end ? count : Int.random(in: first + 1...count, using: &random))
        if loss != .none {
            streams.counts.dropouts += 1
            streams.note("\(pad) \(loss) \(lost) of \(count)")
        }
        var reached = 0
        for number in 0..<count {
            switch lost.contains(number) ? loss : .none {
            case .gap:
                if number == lost.lowerBound { sendGap(over: lost, on: pad) }
                reached = lost.upperBound
                continue
            case .missing: continue
            case .half where !number.isMultiple(of: 2): continue
            case .end:
                bench[pad].end()
                ended.insert(pad)
                return
            case .twice:
                push(number, on: pad, .unmeasured)
                push(number, on: pad, .none)
            case .half: push(number, on: pad, .none)
            case let content: push(number, on: pad, content)
            }
            reached = number + 1
        }
        if reached < count { sendGap(over: count - 1..<count, on: pad) }
    }

    func sendGap(over frames: Range<Int>, on pad: String) { streams.pushGap(over: frames, on: pad) }

    /// - Parameter content: none, unmeasured, noise or faulty.
    func push(_ number: Int, on pad: String, _ content: Loss) {
        let isFaulty = (content == .faulty || Int.random(in: 0..<300, using: &random) == 0) && pad != "sink"
        if isFaulty { streams.counts.faultyBuffers += 1 }
        let size = isFaulty ? 3 : sizes[pad] ?? 0
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

    /// What an application, a user and the cameras do between two frames.
    enum Event: CaseIterable {
        case property, properties, storm, seek, seekWithoutFlush, leadingCaps, followedCaps, pad, stop, pause, click,
            reconfigure
        /// An element's own.
        case calm, background, refusedCaps

        var isGeneral: Bool { ![.calm, .background, .refusedCaps].contains(self) }

        /// How often it happens, beside the others.
        var weight: Int {
            switch self {
            case .property: 30
            case .properties, .storm: 5
            case .calm, .seek, .leadingCaps, .followedCaps: 10
            case .seekWithoutFlush, .pad: 8
            case .click, .reconfigure, .pause, .stop: 3
            case .background: 2
            case .refusedCaps: 1
            }
        }
    }

    func happen(_ event: Event) throws {
        switch event {
        case .property: changeProperty()
        case .properties: for _ in 0..<10 { changeProperty() }
        case .storm: try storm()
        case .seek: seek(flushing: true)
        case .seekWithoutFlush: seek(flushing: false)
        case .leadingCaps: changeCaps(subject.leading)
        case .followedCaps: if let pad = subject.followed.first { changeCaps(pad) }
        case .pad: changePad()
        case .stop: try restart {}
        case .pause:
            #expect(gst_element_set_state(bench.element, GST_STATE_PAUSED) == GST_STATE_CHANGE_SUCCESS)
            #expect(gst_element_set_state(bench.element, GST_STATE_PLAYING) == GST_STATE_CHANGE_SUCCESS)
        case .click: click()
        case .reconfigure: gst_pad_push_event(bench.output.pad, gst_event_new_reconfigure())
        case .calm, .background, .refusedCaps: break
        }
    }

    func changeProperty() { if !settable.isEmpty { set(pick(settable)) } }

    func set(_ property: SettableProperty) {
        property.set(on: bench.element, &random)
        streams.counts.propertyChanges += 1
    }

    /// Changes settings while frames are on their way.
    func storm() throws {
        let storm = settable.filter { $0.keepsEveryFrame && !["background", "background-mode"].contains($0.name) }
        guard streams.left > 0, !storm.isEmpty else { return }
        try play(20) { self.set(self.pick(storm)) }
    }

    private func seek(flushing isWanted: Bool) {
        // No stream goes on after its end, and without a frame between them two seeks are one.
        let isFlushing = isWanted || !ended.isEmpty || !streams.hasPlayed
        let starts: [GstClockTime] = [
            0, time(ofFrame: Int.random(in: 0..<864_000, using: &random)),
            // Past what 32 bits hold of milliseconds, of frames, and of anything in nanoseconds.
            4_294_967_296 * millisecond - 1000 * millisecond, time(ofFrame: 2_147_483_648 - 100), 4_000_000_000,
        ]
        let (start, rate) = (pick(starts), pick([1, 1, 1, 0.5, 2, -1]))
        streams.note("to \(start) at \(rate)")
        if isFlushing { forget(streams.pads) }
        streams.seek(flushing: isFlushing, to: start, rate: rate)
    }

    private func changeCaps(_ pad: String) {
        guard streams.caps[pad] != nil, !ended.contains(pad) else { return }
        let caps = newCaps(pad)
        streams.note(caps)
        streams.setCaps(pad, caps)
    }

    /// Random caps for a pad, which the next frames are to have.
    func newCaps(_ pad: String) -> String {
        let caps: String
        if pad == "video" {
            let (width, height) = (Int.random(in: 1...64, using: &random), Int.random(in: 1...48, using: &random))
            caps = VideoShape(pick(["RGB", "NV12", "I420", "BGRA", "GRAY8"]), width, height).caps
        } else {
            let (width, height) = pick(subject.depthSizes)
            let shape = DepthShape(pick(subject.depthFormats), width, height)
            caps = subject.factory == "depthalign" ? DepthReader.depthAlign.caps(shape) : shape.caps
        }
        sizes[pad] = size(of: caps)
        return caps
    }

    private func changePad() {
        guard !subject.followed.isEmpty else { return }
        let pad = pick(subject.followed)
        streams.note(pad)
        forget([pad])
        if streams.caps[pad] != nil { release(pad) } else { streams.request(pad, newCaps(pad)) }
    }

    func release(_ pad: String) { streams.release(pad) }

    func restart(_ whileStopped: () throws -> Void) throws {
        try checkMessages()
        streams.stop(pick([GST_STATE_READY, GST_STATE_NULL]))
        try whileStopped()
        forget(streams.pads)
        streams.play()
    }

    /// After a flush, a stop, or with another pad: what was sent is void.
    func forget(_ pads: [String]) { ended.subtract(pads) }

    func click() {
        for make in [gst_navigation_event_new_mouse_button_press, gst_navigation_event_new_mouse_button_release] {
            let (x, y) = (Double.random(in: -9...200, using: &random), Double.random(in: -9...200, using: &random))
            gst_pad_push_event(bench.output.pad, make(1, x, y, GST_NAVIGATION_MODIFIER_NONE))
        }
        gst_pad_push_event(bench.output.pad, gst_navigation_event_new_key_press("4", GST_NAVIGATION_MODIFIER_NONE))
    }
}

extension SoakRun {
    /// How long a run is, and what it may leave behind.
    struct Length {
        let frames: Int
        let parts: Int
        /// Parts after which memory must not grow: decoders and their libraries come with the first background of a kind.
        var warmParts = 1
        /// By how much it may have grown at the end, in kB.
        let growth: Int
    }

    /// An element, and what is known of it.
    struct Subject: Sendable, CustomTestStringConvertible {
        let factory: String
        var run: SoakRun.Type = SoakRun.self
        let leading: String
        /// The request pads, the first of which changes its caps.
        var followed: [String] = []
        var properties: [String: String] = [:]
        var downstream = "ANY"
        /// Properties that are left alone. With depth-ts-offset frames would wait for maps that have not been sent yet.
        var fixed: Set<String> = ["max-pixels", "depth-ts-offset"]
        /// Warnings of a buffer that cannot be read, a range with nothing in it, and a snapshot without a file.
        var due: Set<String> = ["frame", "map", "video", "min ", "snapshot", "nothing is measured"]
        var hasOwnEvents = false
        var depthFormats = ["GRAY16_LE", "GRAY16_BE", "F32LE", "F16LE"]
        var depthSizes = [(32, 24), (16, 12), (40, 30), (1, 1)]
        var length =
            Soak.isFull
            ? Length(frames: 3600 * 30, parts: 4, growth: 1024) : Length(frames: 40 * 30, parts: 4, growth: 8192)

        var testDescription: String { factory }

        static let all = [
            Subject(
                factory: "depthmatte", run: SoakMatte.self, leading: "video",
                followed: ["depth", "face", "background", "segmentation"], properties: SoakSettings.calm,
                fixed: ["depth-ts-offset"],
                due: [], hasOwnEvents: true,
                length: Soak.isFull
                    ? Length(frames: 8 * 3600 * 30, parts: 16, warmParts: 4, growth: 2048)
                    : Length(frames: 2 * 60 * 30, parts: 4, warmParts: 2, growth: 16_384)),
            Subject(
                factory: "depthcolorize", leading: "depth", followed: ["video"],
                downstream: "video/x-raw, format=(string){ RGB, BGRA }"),
            Subject(
                factory: "depthcloud", leading: "depth", followed: ["video"],
                downstream: "video/x-raw, format=(string){ RGBx, BGRA }"),
            Subject(
                factory: "depthalign", leading: "sink", fixed: ["max-pixels", "calibration"],
                depthFormats: ["GRAY16_LE", "GRAY16_BE", "F32LE"], depthSizes: [(32, 8), (16, 4), (64, 16)]),
        ]
    }
}
