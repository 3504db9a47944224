import Foundation
import Testing

private let environment = PythonEnvironment(
    "orbbec", "rosbags",
    ["--no-deps", "pyorbbecsdk2==2.1.2", "rosbags==0.11.9", "lz4", "ruamel.yaml", "typing_extensions", "zstandard"])
private let library = environment?.file("libOrbbecSDK.so.2", beside: "/../pyorbbecsdk")

/// OrbbecSDK itself, which the Python package `pyorbbecsdk2` carries, where no camera is.
@Suite(.enabled(if: library != nil, "pyorbbecsdk2 cannot be installed")) struct OrbbecLibraryTests {
    private let player: RecordingPlayer

    init() throws { player = try RecordingPlayer("orbbec", library: try #require(library)) }

    @Test(
        arguments: [
            ("", "No Orbbec camera is plugged in"), ("serial=CP1", "serial number CP1; found: none"),
            ("location=/nowhere.bag", "The recording /nowhere.bag cannot be read"),
            ("location=\(#filePath)", "cannot be read"),
        ])
    func `what is not there is told, and the library says nothing`(properties: String, words: String) throws {
        let result = player.run("timeout=20000000000 \(properties) ! fakesink")
        #expect(result.status != 0 && result.output.contains(words), "\(result.output)")
        #expect(!result.output.contains("[error]") && !result.output.contains("[warning]"), "\(result.output)")
        // By itself the library opens a log file in the current folder.
        #expect(try FileManager.default.contentsOfDirectory(atPath: player.folder.path).isEmpty)
    }

    @Test func `the log shows what the library says`() {
        #expect(player.run("! fakesink", log: "depthcamsrc:4").output.contains("DeviceManager"))
    }

    /// Depth is written `late` frames behind the video of its time, at the end of the file at the latest.
    @Test(arguments: [0, 3])
    func `each frame of a recording plays, with the depth of its moment`(late: Int) throws {
        let python = try #require(environment?.python)
        try player.record(python, "record_orbbec.py", "x.bag", "\(late)")
        try player.play(
            "location=x.bag align=none calibration-location=lens.json "
                + "camera.video ! video/x-raw,format=RGB ! filesink location=video "
                + "camera.depth ! video/x-raw,format=GRAY16_LE ! filesink location=depth")
        #expect(try player.firstSamples("video", size: 640 * 480 * 3).map { $0 & 255 } == Array(1...20))
        // A count is a quarter of a millimetre; maps come in millimetres.
        #expect(try player.firstSamples("depth", size: 640 * 400 * 2) == Array(251...270))
        let lens = try String(contentsOf: player.folder.appending(path: "lens.json"), encoding: .utf8)
        #expect(lens.contains("600") && lens.contains("-0.025"), "\(lens)")
    }
}
