import CGStreamer
import GstBridge
import GstTestSupport
import TestSupport
import Testing

/// What each frame of `depthmatte` is held to.
extension SoakMatte {
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
    func receive(_ sent: Sent, _ settings: SoakSettings) throws -> [UInt8]? {
        let frame = try receive(at: sent.start)
        let output = output(settings)
        if sent.isFaulty && sent.outcomes.contains(.passed) { return nil }
        let bytes = frame.bytes
        guard bytes.count == output.size, frame.caps.contains("format=(string)\(output.format),"),
            frame.caps.contains("width=(int)\(output.width),"), frame.caps.contains("height=(int)\(output.height),")
        else { throw fail("\(bytes.count) bytes of \(frame.caps) left for \(output)") }
        return bytes
    }

    /// No pixel of the room where none may be, and the person where they are.
    func checkPicture(_ bytes: [UInt8], _ sent: Sent, _ settings: SoakSettings) throws {
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

    /// `stats` has counted each frame once, as what it became.
    func checkCounts(_ sent: [Sent]) throws {
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
                throw fail("\(count) frames \(outcome), not \(least)...\(most): \(sent.map(\.pairing))")
            }
        }
        for field in ["coverage", "invalid-share"] {
            guard let value = stats.real(field), (0...1).contains(value) else { throw fail("\(field) is no share") }
        }
        guard let cutoff = stats.real("cutoff"), let anchor = stats.real("anchor-depth"), cutoff >= 0, anchor >= 0,
            cutoff.isFinite, anchor.isFinite
        else { throw fail("the cutoff or the anchor is no distance") }
    }
}
