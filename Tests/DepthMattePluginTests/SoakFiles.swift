import GstTestSupport

/// Backgrounds of a soak run: stills, an animation, one that is not there, and none. None has a color near the marker's.
final class SoakFiles {
    private let folder = TemporaryFolder()
    let all: [String?]
    /// The path of the file that is not there.
    let missing: String
    let videoFormats = templateFormats(ofPad: "video", of: "depthmatte")

    init() {
        missing = folder["missing.png"]
        all = [
            folder.write("green.png", png(width: 24, height: 20) { _, _ in [0, 200, 0] }),
            folder.write("large.png", png(width: 90, height: 70) { x, _ in [0, 0, UInt8(x)] }),
            folder.write("loop.y4m", y4m(width: 16, height: 12, [60, 90, 120])), missing, nil,
        ]
    }
}
