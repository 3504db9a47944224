import CGStreamer
import GstTestSupport
import Testing

/// An element that is led by one stream and follows others along it, and small streams by which its output tells what
/// it was made from.
///
/// The rules for every such element are tested with each of `all`: an element joins by an entry there.
struct Follower: Sendable, CustomTestStringConvertible {
    /// A stream that one of the element's pads takes.
    struct Stream: Sendable {
        let pad: String
        let caps: String
        /// Other caps that the pad takes.
        let otherCaps: String
        let frame: [UInt8]
    }

    let factory: String
    /// Settings under which the output tells what it was made from.
    let properties: [String: String]
    /// The properties that make it use all of its streams at once.
    var busy: [String: String] = [:]
    /// Those under which it sends no events of its own.
    var silent: [String: String] = [:]
    /// The caps that downstream of the element takes.
    var downstream = "ANY"
    let leading: Stream
    /// The streams of the request pads.
    let followed: [Stream]
    /// The followed pad of which each frame that leaves shows a buffer.
    let partner: String
    /// A buffer of the partner's that shows as a number from 1 to 9.
    let numbered: @Sendable (Int) -> [UInt8]
    /// The number that a frame shows; 0 where it was made without the partner.
    let number: @Sendable (Recorder.Frame) -> Int
    /// Caps that the element can neither send nor make.
    let foreignCaps: [String]
    /// How many properties it has at least.
    let leastProperties: Int

    var testDescription: String { factory }

    static let all: [Follower] = [.depthMatte, .depthColorize, .depthCloud, .depthPack]

    static let factories = all.map(\.factory)

    var streams: [Stream] { [leading] + followed }

    /// The value of `depth-ts-offset` that adds milliseconds to the partner's times.
    func offset(shiftingPartner milliseconds: Int) -> String {
        "\((partner == "depth" ? milliseconds : -milliseconds) * Int(millisecond))"
    }

    func stream(_ pad: String) -> Stream {
        guard let stream = streams.first(where: { $0.pad == pad }) else { preconditionFailure("no \(pad) pad") }
        return stream
    }

    // MARK: As a part of a launch line

    /// A synthetic camera, and the element with the name "element".
    var camera: String {
        "depthtestsrc name=camera camera.video ! video/x-raw,width=32,height=24 ! element.video "
            + "camera.depth ! video/x-raw,width=16,height=12 ! element.depth \(factory) name=element ! "
    }

    /// Test pictures on every pad, by sources with the pads' names, and the element with the name "element".
    var pictures: String {
        streams.map { "videotestsrc name=\($0.pad) ! \($0.caps) ! element.\($0.pad) " }.joined()
            + "\(factory) name=element ! "
    }
}

/// One pad of one element.
struct FollowerPad: Sendable, CustomTestStringConvertible {
    let follower: Follower
    let pad: String

    var stream: Follower.Stream { follower.stream(pad) }

    var testDescription: String { "\(follower.factory).\(pad)" }

    static let all = Follower.all.flatMap { follower in
        follower.streams.map { FollowerPad(follower: follower, pad: $0.pad) }
    }

    /// All but the leading ones.
    static let followed = all.filter { $0.pad != $0.follower.leading.pad }
}

extension Follower {
    static let depthMatte: Follower = {
        let (video, depth) = (Numbered.video, Numbered.depth)
        let other = VideoShape("GRAY8", 32, 5)
        return Follower(
            factory: "depthmatte", properties: Numbered.properties, busy: ["view": "composite"],
            leading: Stream(pad: "video", caps: video.caps, otherCaps: other.caps, frame: Numbered.picture),
            followed: [
                Stream(
                    pad: "depth", caps: depth.caps, otherCaps: DepthShape("F32LE", 8, 4).caps, frame: Numbered.map(9)),
                Stream(pad: "face", caps: video.caps, otherCaps: other.caps, frame: Numbered.picture),
                Stream(pad: "background", caps: other.caps, otherCaps: video.caps, frame: Numbered.picture),
                // It knows nothing, and so changes no number.
                Stream(
                    pad: "segmentation", caps: other.caps, otherCaps: video.caps,
                    frame: [UInt8](repeating: 128, count: other.size)),
            ],
            partner: "depth", numbered: Numbered.map, number: Numbered.number, foreignCaps: ["I420", "P010_10LE"],
            leastProperties: 25)
    }()
}

extension Follower {
    /// It leaves the video's picture as it is, so that the gray of that is the number.
    static let depthColorize: Follower = {
        let depth = DepthShape("GRAY16_LE", 8, 4)
        let video = VideoShape("RGB", 8, 4)
        return Follower(
            factory: "depthcolorize", properties: ["mix": "0"], busy: ["mix": "0.5"],
            downstream: "video/x-raw, format=(string){ RGB, BGRA }",
            leading: Stream(
                pad: "depth", caps: depth.caps, otherCaps: DepthShape("F32LE", 5, 3).caps,
                // Nothing is measured, so without a video all is black.
                frame: depth.bytes(counts: [Int](repeating: 0, count: 8 * 4))),
            followed: [
                Stream(
                    pad: "video", caps: video.caps, otherCaps: VideoShape("NV12", 16, 10).caps,
                    frame: flat(video, [9, 9, 9]))
            ],
            partner: "video", numbered: { flat(video, [UInt8($0), UInt8($0), UInt8($0)]) },
            number: { Int($0.bytes.first ?? 0) }, foreignCaps: ["I420"], leastProperties: 15)
    }()
}

extension Follower {
    /// With points of one pixel it shows the video's picture, of which the gray is the number; without a video, the
    /// farthest gray of the palette.
    static let depthCloud: Follower = {
        let depth = DepthShape("GRAY16_LE", 8, 4)
        let video = VideoShape("RGBx", 8, 4)
        return Follower(
            factory: "depthcloud",
            properties: ["point-size": "1", "palette": "gray", "range": "fixed", "min": "0.1", "max": "0.5"],
            busy: ["point-size": "5", "auto-pan": "true"],
            downstream: "video/x-raw, format=(string){ RGBx, BGRA }",
            leading: Stream(
                pad: "depth", caps: depth.caps, otherCaps: DepthShape("F32LE", 5, 3).caps,
                frame: depth.bytes(counts: [Int](repeating: 1000, count: 8 * 4))),
            followed: [
                Stream(
                    pad: "video", caps: video.caps, otherCaps: VideoShape("NV12", 16, 10).caps,
                    frame: flat(video, [9, 9, 9, 9]))
            ],
            partner: "video", numbered: { flat(video, [UInt8](repeating: UInt8($0), count: 4)) },
            number: { Int($0.bytes.first ?? 0) }, foreignCaps: ["I420"], leastProperties: 30)
    }()
}

extension Follower {
    /// Number n has its first n columns measured; the others are black in the depth half, right of the video.
    static let depthPack: Follower = {
        let (video, depth) = (VideoShape("I420", 32, 4), DepthShape("GRAY16_LE", 32, 4))
        return Follower(
            factory: "depthpack", properties: ["coding": "black"], silent: ["send-tag": "false"],
            downstream: "video/x-raw, format=(string){ I420, NV12 }",
            leading: Stream(
                pad: "video", caps: video.caps, otherCaps: VideoShape("RGB", 16, 10).caps,
                frame: [UInt8](repeating: 99, count: video.size)),
            followed: [
                Stream(
                    pad: "depth", caps: depth.caps, otherCaps: DepthShape("F32LE", 8, 4).caps,
                    frame: depth.bytes(counts: [Int](repeating: 700, count: 32 * 4)))
            ],
            partner: "depth",
            numbered: { number in depth.bytes(counts: (0..<32 * 4).map { $0 % 32 < number ? 700 : 0 }) },
            number: { $0.bytes[32..<64].count { $0 > 40 } }, foreignCaps: ["BGRA"], leastProperties: 14)
    }()
}

extension Bench {
    /// An element with the pads that are named, of which none has begun.
    convenience init(
        _ follower: Follower, _ inputs: [String], _ properties: [String: String] = [:],
        clock: UnsafeMutablePointer<GstClock>? = nil
    ) {
        self.init(
            inputs, follower.properties.with(properties), downstream: follower.downstream, clock: clock,
            of: Kind(factory: follower.factory, leading: follower.leading.pad))
    }

    /// An element with its leading stream and that stream's partner; both have begun.
    static func numbered(_ follower: Follower, _ properties: [String: String] = [:]) -> Bench {
        let bench = Bench(follower, [follower.partner], properties)
        bench[follower.partner].start(follower.stream(follower.partner).caps)
        bench.leading.start(follower.leading.caps)
        return bench
    }

    /// Queues leading frames, and the end.
    func pushLeading(_ count: Int, of follower: Follower) {
        for frame in 0..<count { leading.push(follower.leading.frame, at: time(ofFrame: frame)) }
        leading.end()
    }

    /// The content of all frames to come.
    func numbers(_ follower: Follower) -> [Int] { output.rest().map(follower.number) }
}
