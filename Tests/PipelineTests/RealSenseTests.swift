import Foundation
import Testing

/// Recordings of RealSense cameras through librealsense itself, which the Python package `pyrealsense2` carries.
///
/// The package is installed once, under the build folder. Where it cannot be had, the tests are skipped.
@Suite struct RealSenseRecordingTests {
    private static let environment = PythonEnvironment(
        "realsense", "pyrealsense2", ["pyrealsense2==2.59.1.11053", "numpy"])

    /// The package's module, for the property `library`; nil where it cannot be had.
    private static let library = environment.flatMap { $0.file("pyrealsense2.cpython", ".so") }

    /// A recording of a D435, with one frame of color between two of depth. The environment variable
    /// DEPTHMATTE_REAL_RECORDINGS names its folder.
    private static let recording = ProcessInfo.processInfo.environment["DEPTHMATTE_REAL_RECORDINGS"].map {
        "\($0)/realsense_d435_640x480.bag"
    }

    private func launch(_ line: String, in folder: URL) -> Command.Result {
        Command.launch(line, in: folder).run()
    }

    @Test(.enabled(if: library != nil, "pyrealsense2 cannot be installed"))
    func `a recording of 300 frames with jitter and losses plays whole`() throws {
        let folder = try Places.makeFolder()
        let library = try #require(RealSenseRecordingTests.library)
        let python = try #require(RealSenseRecordingTests.environment).python
        let script = Places.root.appending(path: "Tests/cameras/record_realsense.py").path
        let recorded = Command(python, [script, "a.db3"], in: folder).run()
        try #require(recorded.status == 0, "\(recorded.output)")
        let frames = recorded.lines.compactMap { line -> (number: Int, time: Double)? in
            let fields = line.split(separator: " ")
            guard fields.count == 2, let number = Int(fields[0]), let time = Double(fields[1]) else { return nil }
            return (number, time)
        }
        try #require(frames.count > 200)

        let sink = "fakesink sync=false silent=false"
        let result = Command.launch(
            "depthcamsrc driver=realsense library=\(library) location=a.db3 align=none name=camera "
                + "camera.video ! tee name=v v. ! queue ! filesink location=video v. ! queue ! "
                + "identity name=stamps silent=false ! \(sink) "
                + "camera.depth ! filesink location=depth", options: ["-v"], in: folder
        ).run()
        try #require(result.status == 0, "\(result.output)")
        let depth = [UInt8](try Data(contentsOf: folder.appending(path: "depth")))
        let video = [UInt8](try Data(contentsOf: folder.appending(path: "video")))
        let (depthSize, videoSize) = (64 * 48 * 2, 64 * 48 * 3)
        #expect(depth.count == frames.count * depthSize && video.count == frames.count * videoSize)
        for (index, frame) in frames.enumerated() where (index + 1) * videoSize <= video.count {
            let start = index * depthSize
            #expect(Int(depth[start]) | Int(depth[start + 1]) << 8 == 1000 + frame.number)
            #expect(Int(video[index * videoSize]) == frame.number % 250)
        }
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
        let replayed = Command("/usr/bin/python3", [replay, library, "a.db3"], in: folder).run()
        let expected = [String](repeating: "eos \(frames.count) \(frames.count)", count: 3)
        #expect(replayed.lines.suffix(3).map(String.init) == expected, "\(replayed.output)")
    }

    /// librealsense starts the sensors one after the other, and reads the recording as soon as one runs.
    @Test(
        .enabled(if: library != nil, "pyrealsense2 cannot be installed"),
        .enabled(if: recording != nil, "DEPTHMATTE_REAL_RECORDINGS is not set"),
        arguments: ["none", "video"])
    func `no frame is lost where a recording starts`(align: String) throws {
        let folder = try Places.makeFolder()
        let library = try #require(RealSenseRecordingTests.library)
        let recording = try #require(RealSenseRecordingTests.recording)
        let result = launch(
            "depthcamsrc driver=realsense library=\(library) location=\(recording) align=\(align) name=camera "
                + "camera.video ! video/x-raw,format=RGB ! filesink location=video "
                + "camera.depth ! video/x-raw,format=GRAY16_LE ! filesink location=depth", in: folder)
        try #require(result.status == 0, "\(result.output)")
        let sizes = try ["video", "depth"].map { try Data(contentsOf: folder.appending(path: $0)).count }
        #expect(sizes == [640 * 480 * 3, 2 * 640 * 480 * 2])
    }

    @Test(
        .enabled(if: library != nil, "pyrealsense2 cannot be installed"),
        .enabled(if: recording != nil, "DEPTHMATTE_REAL_RECORDINGS is not set"))
    func `a recording of a D435 is matted, in one line`() throws {
        let folder = try Places.makeFolder()
        let library = try #require(RealSenseRecordingTests.library)
        let recording = try #require(RealSenseRecordingTests.recording)
        let result = launch(
            "depthcamsrc library=\(library) location=\(recording) loop=true num-buffers=4 name=camera "
                + "camera.video ! videoconvert ! depthmatte name=matte anchor=nearest background-color=0xff00ff00 "
                + "! videoconvert ! video/x-raw,format=RGB ! filesink location=matted camera.depth ! matte.depth",
            in: folder)
        try #require(result.status == 0, "\(result.output)")
        let bytes = [UInt8](try Data(contentsOf: folder.appending(path: "matted")))
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
    @Test(
        .enabled(if: library != nil, "pyrealsense2 cannot be installed"),
        .enabled(if: recording != nil, "DEPTHMATTE_REAL_RECORDINGS is not set"))
    func `depthalign registers as librealsense does`() throws {
        let folder = try Places.makeFolder()
        let library = try #require(RealSenseRecordingTests.library)
        let recording = try #require(RealSenseRecordingTests.recording)
        func counts(_ align: String, _ registration: String) throws -> [Int] {
            let result = launch(
                "depthcamsrc driver=realsense library=\(library) location=\(recording) align=\(align) name=camera "
                    + "camera.video ! fakesink camera.depth ! video/x-raw,format=GRAY16_LE \(registration) "
                    + "! filesink location=\(align)", in: folder)
            try #require(result.status == 0, "\(result.output)")
            return try samples(in: folder.appending(path: align), 640 * 480)
        }
        let (theirs, ours) = (try counts("video", ""), try counts("none", "! depthalign"))
        try #require(theirs.count == 640 * 480 && ours.count == theirs.count)
        let share = agreement(of: ours, with: theirs, width: 640)
        print("depthalign beside librealsense: \(String(format: "%.3f", 100 * share)) % of the samples agree")
        #expect(share >= 0.99)
    }

    @Test(.enabled(if: library != nil, "pyrealsense2 cannot be installed"))
    func `a truncated recording is an error that names the file`() throws {
        let folder = try Places.makeFolder()
        let library = try #require(RealSenseRecordingTests.library)
        try Data("#ROSBAG V2.0\nnothing".utf8).write(to: folder.appending(path: "broken.bag"))
        let result = launch(
            "depthcamsrc driver=realsense library=\(library) location=broken.bag ! fakesink", in: folder)
        #expect(
            result.status != 0 && result.output.contains("The recording broken.bag cannot be read."), "\(result.output)"
        )
    }
}
