import CGStreamer
import GstBridge
import GstTestSupport
import TestSupport
import Testing

/// A `depthmatte` at work for hours of stream time: anything that an application and its cameras do, in an order that a
/// seed gives, and every frame held to what is promised of it.
final class SoakDay {
    let streams: SoakStreams
    var random: RepeatableRandomNumberGenerator
    let files: SoakFiles
    var depth = SoakDepth()
    var marker = SoakMarker(VideoShape("RGB", 64, 48))
    /// True while the settings are such that the person's place in the picture is known.
    var isCalm = true
    /// True while the depth stream has ended.
    var hasDepthEnded = false
    /// Warnings that may come, by a part of their text.
    var due: Set<String> = []
    let settable: [SettableProperty]
    private let total: Int
    private var counted: [String: UInt64] = [:]

    var bench: Bench { streams.bench }

    /// - Parameters:
    ///   - frames: how many frames are played in all.
    init(seed: UInt64, frames: Int, _ gone: Counter, _ buffers: LiveBuffers) {
        total = frames
        random = RepeatableRandomNumberGenerator(seed: seed)
        files = SoakFiles()
        streams = SoakStreams(Bench([], SoakSettings.calm), leading: "video", seed: seed, gone, buffers)
        // Frames would wait for maps that have not been sent yet.
        settable = SettableProperty.all(of: streams.bench.element).filter { $0.name != "depth-ts-offset" }
        streams.start("video", marker.shape.caps)
        due.insert("depth pad is not linked")
    }

    func pick<Choice>(_ choices: [Choice]) -> Choice { choices[Int.random(in: choices.indices, using: &random)] }

    func note(_ event: String) { streams.note(event) }

    func fail(_ text: String) -> SoakStreams.Failure { streams.failure(text) }

    // MARK: The day

    /// - Parameter eachPart: called between stretches of the day with the part of it that is over, while the element is
    ///   stopped.
    func run(parts: Int, eachPart: (Int) -> Void) throws {
        streams.request("depth", depth.caps)
        for part in 1...parts {
            while streams.counts.frames < total * part / parts {
                for _ in 0..<Int.random(in: 0...2, using: &random) { try happen() }
                try play(Int.random(in: 1...40, using: &random))
                try checkMessages()
                streams.forget()
            }
            try restart { eachPart(part) }
        }
    }

    // MARK: Frames

    /// A video frame that was sent, and what must become of it.
    private struct Sent {
        let start: GstClockTime
        let pairing: SoakDepth.Pairing
        let isFaulty: Bool
        let outcomes: Set<SoakSettings.Outcome>
    }

    /// - Parameter change: changes settings while frames are on their way; nil where they stay as they are.
    func play(_ wanted: Int, while change: (() -> Void)? = nil) throws {
        let count = min(wanted, streams.left)
        guard count > 0 else { return try happen(.seek) }
        let settings = SoakSettings(bench.element)
        let contents = sendDepth(count)
        sendPictures(count)
        var sent: [Sent] = []
        for number in 0..<count {
            change?()
            sent.append(sendVideo(number, change == nil ? settings : nil))
        }
        for frame in sent where frame.outcomes != [.dropped] {
            let bytes = try receive(frame, settings)
            if change == nil, let bytes { try checkPicture(bytes, frame, settings) }
        }
        for pad in streams.pads { streams.settle(pad) }
        streams.advance(count)
        try checkCounts(sent, contents: contents)
    }

    /// - Parameter settings: nil where they are not known.
    private func sendVideo(_ number: Int, _ settings: SoakSettings?) -> Sent {
        let start = streams.start(ofNext: number)
        let isFaulty = Int.random(in: 0..<300, using: &random) == 0
        let buffer: BufferRef
        if isFaulty {
            let isShort = Bool.random(using: &random) && marker.shape.width > 1
            buffer = isShort ? guardedBuffer([1, 2, 3]) : unmappableBuffer(size: marker.bytes.count)
            due.insert("frame")
            streams.counts.faultyBuffers += 1
        } else {
            buffer = guardedBuffer(marker.bytes)
        }
        if number.isMultiple(of: 3) { buffer.addRegion(2, 2, UInt32(marker.shape.width / 4), 12) }
        streams.push(buffer, on: "video", at: start)
        let pairing = depth.pairing(
            at: streams.runningTime(of: start), maxSkew: settings?.maxSkew ?? 0, holdTime: settings?.holdTime ?? 0)
        return Sent(
            start: start, pairing: pairing, isFaulty: isFaulty,
            outcomes: settings?.outcomes(pairing, isVideoFaulty: isFaulty) ?? Set(SoakSettings.Outcome.allCases))
    }

    /// The caps of the output.
    private func output(_ settings: SoakSettings) -> VideoShape {
        let format = marker.shape.format
        return VideoShape(
            settings.mode == "transparent" ? SoakMarker.withAlpha(format) : format, marker.shape.width,
            marker.shape.height)
    }

    /// Takes a frame that left, and holds it to the rules of the stream.
    ///
    /// - Returns: its bytes; nil where it may be a buffer that cannot be read, which has come through as it was.
    private func receive(_ sent: Sent, _ settings: SoakSettings) throws -> [UInt8]? {
        guard let frame = streams.next() else { throw fail("the frame at \(sent.start) did not leave") }
        let output = output(settings)
        guard frame.timing == BufferRef.Timing(start: sent.start, duration: frameDuration) else {
            throw fail("\(frame.timing) left for \(sent.start)")
        }
        if sent.isFaulty && sent.outcomes.contains(.passed) { return nil }
        let bytes = frame.bytes
        guard bytes.count == output.size, frame.caps.contains("format=(string)\(output.format),"),
            frame.caps.contains("width=(int)\(output.width),"), frame.caps.contains("height=(int)\(output.height),")
        else { throw fail("\(bytes.count) bytes of \(frame.caps) left for \(output)") }
        return bytes
    }

    /// No pixel of the room where none may be, and the person where they are.
    private func checkPicture(_ bytes: [UInt8], _ sent: Sent, _ settings: SoakSettings) throws {
        let output = output(settings)
        let isFloat = depth.shape.isFloat
        if !settings.mayShowRoom(sent.pairing, isVideoFaulty: sent.isFaulty, isDepthFloat: isFloat) {
            let leaked = marker.count(in: bytes, of: output, columns: 0..<output.width)
            guard leaked == 0 else { throw fail("\(leaked) pixels of the room in \(sent), \(settings)") }
        }
        if isCalm { try checkPerson(bytes, output, sent, settings) }
    }

    /// The person's columns show the video, and those of the room do not.
    private func checkPerson(_ bytes: [UInt8], _ output: VideoShape, _ sent: Sent, _ settings: SoakSettings) throws {
        let share: Double
        switch sent.pairing {
        case .paired(.person(let near)), .reused(.person(let near)): share = near
        default: return
        }
        guard !sent.isFaulty, depth.shape.width >= 16, output.width >= 32 else { return }
        let width = Double(output.width)
        let edge = 3 / Double(depth.shape.width)
        let person = 0..<Int((share - edge) * width)
        let room = Int(((share + edge) * width).rounded(.up))..<output.width
        let shown = marker.count(in: bytes, of: output, columns: person)
        guard shown == person.count * output.height else {
            throw fail("\(shown) of \(person.count * output.height) pixels of the person in \(sent)")
        }
        if settings.mode != "blur" && settings.mode != "comic" {
            let leaked = marker.count(in: bytes, of: output, columns: room)
            guard leaked == 0 else { throw fail("\(leaked) pixels of the room beside the person in \(sent)") }
        }
        if settings.mode == "transparent" {
            let clear = SoakMarker.alpha(in: bytes, of: output, columns: room)
            let opaque = SoakMarker.alpha(in: bytes, of: output, columns: person)
            guard clear.map({ $0 == 0...0 }) ?? true, opaque.map({ $0 == 255...255 }) ?? true else {
                throw fail("alpha \(String(describing: opaque)) and \(String(describing: clear)) in \(sent)")
            }
        }
    }

    // MARK: Counts and messages

    func forgetCounts() { counted = [:] }

    /// `stats` has counted each frame once, as what it became.
    private func checkCounts(_ sent: [Sent], contents: [SoakDepth.Content]) throws {
        let expected = (counted["frames"] ?? 0) + UInt64(sent.count)
        // Of frames that are dropped none comes out to be waited for.
        guard eventually({ Stats(of: bench)["frames"] ?? 0 >= expected }) else { throw fail("a frame was not counted") }
        let stats = Stats(of: bench)
        var now: [String: UInt64] = ["frames": stats["frames"] ?? 0]
        for outcome in SoakSettings.Outcome.allCases { now[outcome.rawValue] = stats[outcome.rawValue] ?? 0 }
        defer { counted = now }
        let sum = SoakSettings.Outcome.allCases.reduce(0) { $0 + (now[$1.rawValue] ?? 0) }
        guard now["frames"] == expected, sum == expected else { throw fail("\(now) of \(expected) frames") }
        for outcome in SoakSettings.Outcome.allCases {
            let count = Int((now[outcome.rawValue] ?? 0) - (counted[outcome.rawValue] ?? 0))
            let least = sent.count { $0.outcomes == [outcome] }
            let most = sent.count { $0.outcomes.contains(outcome) }
            guard (least...most).contains(count) else {
                throw fail(
                    "\(count) frames \(outcome), not \(least)...\(most): \(sent.map(\.pairing)), sent \(contents)")
            }
        }
        for field in ["coverage", "invalid-share"] {
            guard let value = stats.real(field), (0...1).contains(value) else { throw fail("\(field) is no share") }
        }
        guard let cutoff = stats.real("cutoff"), let anchor = stats.real("anchor-depth"), cutoff >= 0, anchor >= 0,
            cutoff.isFinite, anchor.isFinite
        else { throw fail("the cutoff or the anchor is no distance") }
    }

    /// No error, and no warning that was not due.
    func checkMessages() throws {
        let (errors, warnings) = bench.bus.takeFaults()
        guard errors.isEmpty else { throw fail("\(errors)") }
        for warning in warnings where !due.contains(where: { warning.text.contains($0) }) {
            throw fail("a warning that was not due: \(warning)")
        }
        streams.counts.warnings += warnings.count
    }
}
