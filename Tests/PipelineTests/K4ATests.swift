import Foundation
import Testing

private let environment = PythonEnvironment("k4a", "pyk4a", ["--no-deps", "pyk4a-bundle==1.5.0"])

/// The folder of the libraries, where they also have the names that the SDK gives them; nil where they cannot be had.
private let libraries: String? = {
    var folder: String?
    for name in ["libk4a", "libk4arecord"] {
        guard let file = environment?.file("\(name)-", beside: "_bundle.libs") else { return nil }
        let link = URL(filePath: file).deletingLastPathComponent().appending(path: "\(name).so.1.4")
        try? FileManager.default.createSymbolicLink(at: link, withDestinationURL: URL(filePath: file))
        folder = link.deletingLastPathComponent().path
    }
    return folder
}()

/// Recordings of Azure Kinects through the SDK's own libraries, which the Python package `pyk4a-bundle` carries.
@Suite(.enabled(if: libraries != nil, "pyk4a-bundle cannot be installed")) struct K4ARecordingTests {
    private let player: RecordingPlayer

    init() throws {
        let folder = try #require(libraries)
        player = try RecordingPlayer("k4a", library: "\(folder)/libk4a.so.1.4", libraryFolder: folder)
    }

    /// A picture or a map that was recorded.
    private struct Exposure {
        let number: Int
        /// Microseconds.
        let time: Int
    }

    @discardableResult
    private func record(_ format: String, skew: Int = 0) throws -> (video: [Exposure], depth: [Exposure]) {
        let recorded = try player.record("python3", "record_k4a.py", libraries ?? "", "a.mkv", format, "\(skew)")
        let captures = recorded.map { $0.split(separator: " ").map { Int($0) } }.filter { $0.count == 3 }
        func exposures(_ field: Int) -> [Exposure] {
            captures.compactMap { capture in
                guard let number = capture[0], let time = capture[field] else { return nil }
                return Exposure(number: number, time: time)
            }
        }
        return (exposures(1), exposures(2))
    }

    @Test(arguments: [("MJPG", 0), ("NV12", 0), ("YUY2", 0), ("BGRA", 0), ("BGRA", 20_000), ("BGRA", 40_000)])
    func `each frame of a recording plays, in order`(format: String, skew: Int) throws {
        let recorded = try record(format, skew: skew)
        try player.play(
            "location=a.mkv align=none camera.video ! filesink location=video camera.depth ! filesink location=depth")
        let depth = try player.firstSamples("depth", size: 320 * 288 * 2)
        #expect(depth == recorded.depth.map { 1000 + $0.number })
        let grays = try player.firstSamples("video", size: 1280 * 720 * 4).map { $0 & 255 }
        try #require(grays.count == recorded.video.count)
        // The luma of NV12 and YUY2 is of the narrow range, and jpegenc makes that of its input wide.
        for (gray, exposure) in zip(grays, recorded.video) where format != "MJPG" {
            let luma = Double(16 * exposure.number + 20)
            let expected = format == "BGRA" ? luma : (luma - 16) * 255 / 219
            #expect(abs(Double(gray) - expected) < 2, "\(grays)")
        }
        #expect(zip(grays, grays.dropFirst()).allSatisfy { $0 + 10 < $1 }, "\(grays)")
    }

    @Test(arguments: [("video", 0), ("depth", 0), ("depth", 10_000), ("depth", 40_000)])
    func `frames carry the times of their exposures`(pad: String, skew: Int) throws {
        let recorded = try record("BGRA", skew: skew)
        try player.play("location=a.mkv camera.\(pad) ! gdppay ! filesink location=frames")
        // A header of the GStreamer data protocol has 62 bytes: the type at 4, the length at 6, the timestamp at 10, big endian.
        let bytes = try player.bytes("frames")
        func number(_ start: Int, _ count: Int) -> Int {
            bytes[start..<start + count].reduce(0) { $0 << 8 | Int($1) }
        }
        var (times, place): ([Int], Int) = ([], 0)
        while place + 62 <= bytes.count {
            if number(place + 4, 2) == 1 { times.append(number(place + 10, 8) / 1000) }
            place += 62 + number(place + 6, 4)
        }
        // A map has the time of the picture that is no more than half a frame away.
        let exposures = (pad == "video" ? recorded.video : recorded.depth).map { exposure in
            recorded.video.first { abs($0.time - exposure.time) < 16_667 }?.time ?? exposure.time
        }
        #expect(times == exposures.map { $0 - recorded.video[0].time })
    }

    @Test func `depth is registered as the calibration says`() throws {
        try record("BGRA")
        try player.play(
            "location=a.mkv camera.video ! fakesink "
                + "camera.depth ! video/x-raw,format=GRAY16_LE ! filesink location=ours")
        try player.record("python3", "record_k4a.py", "--register", "theirs")
        let maps = try ["theirs", "ours"].map { try samples(in: player.folder.appending(path: $0), 1280 * 720) }
        let (theirs, ours) = (maps[0], maps[1])
        try #require(theirs.count == 1280 * 720 && ours.count == theirs.count && theirs.count { $0 > 0 } > 70_000)
        #expect(agreement(of: ours, with: theirs, width: 1280) > 0.999)
    }

    @Test(.enabled(if: RecordingPlayer.hasRecordings, "DEPTHMATTE_REAL_RECORDINGS is not set"))
    func `a recording of an Azure Kinect is matted, in one line`() throws {
        try player.play(
            "location=\(RecordingPlayer.recordings ?? "")/azure_kinect_one_frame.mkv ! depthmatte anchor=nearest "
                + "background-color=0xff00ff00 ! videoconvert ! video/x-raw,format=RGB ! filesink location=matted")
        let bytes = try player.bytes("matted")
        try #require(bytes.count == 1280 * 720 * 3)
        func isGreen(_ x: Int, _ y: Int) -> Bool {
            Array(bytes[(y * 1280 + x) * 3..<(y * 1280 + x) * 3 + 3]) == [0, 255, 0]
        }
        // The cup in front stays, the window goes.
        #expect(!isGreen(380, 520) && isGreen(860, 200))
    }

    @Test func `what is cut off, and what another program wrote, is an error that names the file`() throws {
        try record("none")
        let folder = player.folder
        try Data(player.bytes("a.mkv").prefix(1 << 20)).write(to: folder.appending(path: "cut.mkv"))
        let other = "videotestsrc num-buffers=3 ! jpegenc ! matroskamux ! filesink location=other.mkv"
        try #require(Command.launch(other, in: folder).run().status == 0)
        for name in ["cut.mkv", "other.mkv"] {
            let result = player.run("location=\(name) ! fakesink")
            let sentence = "The recording \(name) cannot be read."
            // The SDK's own words, on the standard output, have the level in brackets.
            let isSilent = !result.output.contains("[error]")
            #expect(result.status != 0 && result.output.contains(sentence) && isSilent, "\(result.output)")
        }
    }
}
