import GstTestSupport
import Testing

/// An element in a launch line of test pictures, where it has the name "element".
struct ElementLine: Sendable, CustomTestStringConvertible {
    let factory: String
    /// Ends where the sink follows.
    let text: String
    /// The element's pads.
    let pads: [String]

    var testDescription: String { factory }

    static let all =
        Follower.all.map {
            ElementLine(factory: $0.factory, text: $0.pictures, pads: $0.streams.map(\.pad) + ["src"])
        } + [
            ElementLine(
                factory: "depthtestsrc", text: "depthtestsrc name=element ! video/x-raw,width=32,height=24 ! ",
                pads: ["video", "depth", "matte"]),
            ElementLine(
                factory: "depthalign", text: "videotestsrc ! \(ElementLine.registration) ! ",
                pads: ["sink", "src"]),
            ElementLine(
                factory: "depthunpack",
                text: "videotestsrc ! video/x-raw,format=I420,width=64,height=24 ! depthunpack name=element ! ",
                pads: ["sink", "video", "depth"]),
        ]

    /// Elements that register the maps of a source, whose caps say how.
    static let registration: String = {
        let depth = DepthShape("GRAY16_LE", 32, 24)
        let optics = DepthReader.depthAlign.caps(depth).replacing("\\", with: "\\\\").replacing("\"", with: "\\\"")
        return "video/x-raw,format=GRAY16_LE,width=32,height=24 ! capssetter caps=\"\(optics)\" "
            + "! depthalign name=element"
    }()
}
