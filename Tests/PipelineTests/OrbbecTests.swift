import Foundation
import Testing

/// OrbbecSDK itself, which the Python package `pyorbbecsdk2` carries, where no camera is.
@Suite struct OrbbecLibraryTests {
    private static let environment = PythonEnvironment(
        "orbbec", "rosbags",
        ["--no-deps", "pyorbbecsdk2==2.1.2", "rosbags==0.11.9", "lz4", "ruamel.yaml", "typing_extensions", "zstandard"])

    private static let library = environment?.file("libOrbbecSDK.so.2", beside: "/../pyorbbecsdk")

    @Test(
        .enabled(if: library != nil, "pyorbbecsdk2 cannot be installed"),
        arguments: [
            ("", "No Orbbec camera is plugged in"), ("serial=CP1", "serial number CP1; found: none"),
            ("location=/nowhere.bag", "The recording /nowhere.bag cannot be read"),
            ("location=\(#filePath)", "cannot be read"),
        ])
    func `what is not there is told, and the library says nothing`(properties: String, words: String) throws {
        let folder = try Places.makeFolder()
        let library = try #require(OrbbecLibraryTests.library)
        let result = Command.launch(
            "depthcamsrc driver=orbbec library=\(library) timeout=20000000000 \(properties) ! fakesink", in: folder
        ).run()
        #expect(result.status != 0 && result.output.contains(words), "\(result.output)")
        #expect(!result.output.contains("[error]") && !result.output.contains("[warning]"), "\(result.output)")
        // By itself the library opens a log file in the current folder.
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).isEmpty)
    }

    @Test(.enabled(if: library != nil, "pyorbbecsdk2 cannot be installed"))
    func `the log shows what the library says`() throws {
        let library = try #require(OrbbecLibraryTests.library)
        var command = Command.launch("depthcamsrc driver=orbbec library=\(library) ! fakesink", in: Places.scratch)
        command.environment["GST_DEBUG"] = "depthcamsrc:4"
        #expect(command.run().output.contains("DeviceManager"))
    }

    /// Depth is written `late` frames behind the video of its time, at the end of the file at the latest.
    @Test(.enabled(if: library != nil, "pyorbbecsdk2 cannot be installed"), arguments: [0, 3])
    func `each frame of a recording plays, with the depth of its moment`(late: Int) throws {
        let folder = try Places.makeFolder()
        let (library, python) = (
            try #require(OrbbecLibraryTests.library), try #require(OrbbecLibraryTests.environment?.python)
        )
        let script = Places.root.appending(path: "Tests/cameras/record_orbbec.py").path
        let recorded = Command(python, [script, "x.bag", "\(late)"], in: folder).run()
        try #require(recorded.status == 0, "\(recorded.output)")
        let result = Command.launch(
            "depthcamsrc driver=orbbec library=\(library) location=x.bag align=none calibration-location=lens.json name=camera "
                + "camera.video ! video/x-raw,format=RGB ! filesink location=video "
                + "camera.depth ! video/x-raw,format=GRAY16_LE ! filesink location=depth", in: folder
        ).run()
        try #require(result.status == 0, "\(result.output)")
        let video = [UInt8](try Data(contentsOf: folder.appending(path: "video")))
        let numbers = stride(from: 0, to: video.count, by: 640 * 480 * 3).map { Int(video[$0]) }
        #expect(numbers == Array(1...20))
        let depth = try samples(in: folder.appending(path: "depth"), 20 * 640 * 400)
        // A count is a quarter of a millimetre; maps come in millimetres.
        let distances = stride(from: 0, to: depth.count, by: 640 * 400).map { depth[$0] }
        #expect(distances == Array(251...270))
        let lens = try String(contentsOf: folder.appending(path: "lens.json"), encoding: .utf8)
        #expect(lens.contains("600") && lens.contains("-0.025"), "\(lens)")
    }
}
