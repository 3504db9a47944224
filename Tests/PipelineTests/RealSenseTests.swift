import Foundation
import Testing

private let environment = PythonEnvironment("realsense", "pyrealsense2", ["pyrealsense2==2.59.1.11053", "numpy"])

/// The package's module, for the property `library`; nil where it cannot be had.
private let library = environment.flatMap { $0.file("pyrealsense2.cpython", ".so") }

/// Recordings of RealSense cameras through librealsense itself, which the Python package `pyrealsense2` carries.
///
/// The package is installed once, under the build folder. Where it cannot be had, the tests are skipped.
@Suite(.enabled(if: library != nil, "pyrealsense2 cannot be installed")) struct RealSenseRecordingTests {
    /// A recording of a D435, with one frame of color between two of depth.
    private let recording = "\(RecordingPlayer.recordings ?? "")/realsense_d435_640x480.bag"

    private let player: RecordingPlayer
    private let python: String

    init() throws {
        player = try RecordingPlayer("realsense", library: try #require(library))
        python = try #require(environment).python
    }

    @Test func `a recording of 300 frames with jitter and losses plays whole`() throws {
        let recorded = try player.record(python, "record_realsense.py", "a.db3")
        let frames = recorded.compactMap { line -> (number: Int, time: Double)? in
            let fields = line.split(separator: " ")
            guard fields.count == 2, let number = Int(fields[0]), let time = Double(fields[1]) else { return nil }
            return (number, time)
        }
        try #require(frames.count > 200)

        let sink = "fakesink sync=false silent=false"
        let result = try player.play(
            "location=a.db3 align=none camera.video ! tee name=v v. ! queue ! filesink location=video v. ! queue ! "
                + "identity name=stamps silent=false ! \(sink) camera.depth ! filesink location=depth", options: ["-v"])
        #expect(try player.firstSamples("depth", size: 64 * 48 * 2) == frames.map { 1000 + $0.number })
        #expect(try player.firstSamples("video", size: 64 * 48 * 3).map { $0 & 255 } == frames.map { $0.number % 250 })
        let stamps = result.lines.compactMap { line -> Double? in
            guard line.contains("stamps: last-message = chain"),
                let match = line.firstMatch(of: /pts: (\d+):(\d+):([\d.]+)/), let hours = Double(match.1),
                let minutes = Double(match.2), let seconds = Double(match.3)
            else { return nil }
            return hours * 3600 + minutes * 60 + seconds
        }
        // gst-launch-1.0 does not show the message of every buffer.
        #expect(stamps.count > 20)
        let times = frames.map { ($0.time - frames[0].time) / 1000 }
        for stamp in stamps { #expect(times.contains { abs($0 - stamp) < 1e-5 }, "\(stamp)") }

        guard Command("/usr/bin/python3", ["-c", "import gi"]).run().status == 0 else { return }
        let replay = Places.root.appending(path: "Tests/cameras/replay.py").path
        let replayed = Command("/usr/bin/python3", [replay, player.library, "a.db3"], in: player.folder).run()
        let expected = [String](repeating: "eos \(frames.count) \(frames.count)", count: 3)
        #expect(replayed.lines.suffix(3).map(String.init) == expected, "\(replayed.output)")
    }

    /// librealsense starts the sensors one after the other, and reads the recording as soon as one runs.
    @Test(
        .enabled(if: RecordingPlayer.hasRecordings, "DEPTHMATTE_REAL_RECORDINGS is not set"),
        arguments: ["none", "video"])
    func `no frame is lost where a recording starts`(align: String) throws {
        try player.play(
            "location=\(recording) align=\(align) camera.video ! video/x-raw,format=RGB ! filesink location=video "
                + "camera.depth ! video/x-raw,format=GRAY16_LE ! filesink location=depth")
        let sizes = try ["video", "depth"].map { try player.bytes($0).count }
        #expect(sizes == [640 * 480 * 3, 2 * 640 * 480 * 2])
    }

    @Test(.enabled(if: RecordingPlayer.hasRecordings, "DEPTHMATTE_REAL_RECORDINGS is not set"))
    func `a recording of a D435 is matted, in one line`() throws {
        try player.play(
            "driver=auto location=\(recording) loop=true num-buffers=4 "
                + "camera.video ! videoconvert ! depthmatte name=matte anchor=nearest background-color=0xff00ff00 "
                + "! videoconvert ! video/x-raw,format=RGB ! filesink location=matted camera.depth ! matte.depth")
        let bytes = try player.bytes("matted")
        let size = 640 * 480 * 3
        #expect(bytes.count == 4 * size)
        let last = bytes.suffix(size)
        let green = stride(from: last.startIndex, to: last.endIndex, by: 3).count {
            last[$0] == 0 && last[$0 + 1] == 255 && last[$0 + 2] == 0
        }
        // The wall beside the camera stays, the room behind it goes.
        #expect(green > 640 * 480 / 2 && green < 640 * 480 * 9 / 10, "\(green)")
    }

    /// Of the samples that librealsense registers, the share that a sample of depthalign no farther than a pixel agrees with,
    /// within 1 % or 2 mm.
    @Test(.enabled(if: RecordingPlayer.hasRecordings, "DEPTHMATTE_REAL_RECORDINGS is not set"))
    func `depthalign registers as librealsense does`() throws {
        func counts(_ align: String, _ registration: String) throws -> [Int] {
            try player.play(
                "location=\(recording) align=\(align) camera.video ! fakesink "
                    + "camera.depth ! video/x-raw,format=GRAY16_LE \(registration) ! filesink location=\(align)")
            return try samples(in: player.folder.appending(path: align), 640 * 480)
        }
        let (theirs, ours) = (try counts("video", ""), try counts("none", "! depthalign"))
        try #require(theirs.count == 640 * 480 && ours.count == theirs.count)
        let share = agreement(of: ours, with: theirs, width: 640)
        print("depthalign beside librealsense: \(String(format: "%.3f", 100 * share)) % of the samples agree")
        #expect(share >= 0.99)
    }

    @Test func `a truncated recording is an error that names the file`() throws {
        try Data("#ROSBAG V2.0\nnothing".utf8).write(to: player.folder.appending(path: "broken.bag"))
        let result = player.run("location=broken.bag ! fakesink")
        #expect(
            result.status != 0 && result.output.contains("The recording broken.bag cannot be read."), "\(result.output)"
        )
    }
}
