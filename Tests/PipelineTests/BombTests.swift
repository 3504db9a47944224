import Foundation
import GstTestSupport
import Testing

/// Backgrounds that are made to end the program that shows them, or to keep it from ending.
@Suite struct BombTests {
    private let folder = TemporaryFolder()

    /// Plays that background in a process that may take one and a half gigabytes of addresses.
    private func play(_ background: String) -> Command.Result {
        let line =
            "depthtestsrc num-buffers=30 name=camera camera.video ! video/x-raw,width=64,height=48 ! matte.video "
            + "depthmatte name=matte background=\(background) ! fakesink"
        let limited = ["-c", "ulimit -v 1500000; exec \"$@\"", "sh", "gst-launch-1.0", "--no-fault", "-q"]
        return Command("sh", limited + line.split(separator: " ").map(String.init)).run()
    }

    @Test(arguments: Claim.allCases) func `a small file takes no memory for the huge picture that it claims to be`(
        claim: Claim
    ) {
        let side = claim.rawValue.hasSuffix("WebP") ? 16_000 : 30_000
        let result = play(folder.write("bomb.\(claim)", claim.bytes(width: side, height: side)))
        #expect(result.status == 255 && result.output.contains("\(side * side) pixels"), "\(result)")
    }

    @Test func `so much memory is enough for a background`() {
        #expect(
            play(folder.write("a.gif", gif(width: 64, height: 48, [([1, 2, 3], 10), ([4, 5, 6], 10)]))).status == 0)
    }

    @Test func `a video whose frames last no time comes to its end`() {
        let video = y4m(width: 64, height: 48, [50, 90, 130, 170], rate: "2000000000:1")
        #expect(play(folder.write("quick.y4m", video)).status == 0)
    }
}
