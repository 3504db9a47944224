import Foundation
import TestSupport
import Testing

/// The launch lines of `depthcamsrc` with a camera: Debian's fakenect takes the place of libfreenect and plays a dump at the
/// camera's own rate.
@Suite struct CameraLineTests {
    /// The folder of fakenect, which must come before libfreenect's.
    private static let fakenect: String? = {
        let folders = try? FileManager.default.contentsOfDirectory(atPath: "/usr/lib")
        return folders?.map { "/usr/lib/\($0)/fakenect" }.first { FileManager.default.fileExists(atPath: $0) }
    }()

    @Test(.enabled(if: fakenect != nil, "libfreenect0.5 with fakenect is not installed"))
    func `the lines of a camera show what a Kinect sends`() throws {
        let (folder, dump) = (try Places.makeFolder(), try FreenectDump())
        try dump.addPairs(200, interval: 1.0 / 30)
        try dump.writeIndex()
        for (line, variables) in [
            ("camera", ["FRAMES=10", "SINK=filesink location=shown.rgb"]),
            ("composite", ["FRAMES=10", "OUTPUT=me.mkv"]), ("steps", ["FRAMES=10", "OUTPUT=me.png"]),
            ("record-rgbd", ["FRAMES=10"]),
        ] {
            let file = Places.pipelines.appending(path: "depthcamsrc/\(line).launch").path
            var command = Command(Places.pipelines.appending(path: "run.sh").path, [file] + variables, in: folder)
            command.watchStreams()
            command.environment["LD_LIBRARY_PATH"] = CameraLineTests.fakenect
            command.environment["FAKENECT_PATH"] = dump.folder.path
            let result = command.run()
            #expect(result.status == 0, "\(line): \(result.output.suffix(2000))")
        }
        let shown = try FileManager.default.attributesOfItem(atPath: folder.appending(path: "shown.rgb").path)
        #expect(shown[.size] as? Int == 10 * 640 * 480 * 3)
        let recorded = try Frames(of: "filesrc location=me.mkv ! matroskademux ! vp8dec", in: folder)
        #expect(recorded.checksums.count == 10)
        let played = Command(
            Places.pipelines.appending(path: "run.sh").path,
            [
                Places.pipelines.appending(path: "depthalign/play-rgbd.launch").path,
                "SINK=filesink location=played.rgb",
            ],
            in: folder
        ).run()
        #expect(played.status == 0, "\(played.output.suffix(2000))")
        let calibration = try String(contentsOf: folder.appending(path: "camera.json"), encoding: .utf8)
        #expect(calibration.contains("\"depth_unit\": 0.001") && calibration.contains("\"fx\""), "\(calibration)")
        let steps = try Picture(of: "filesrc location=me.png ! pngdec", in: folder)
        // The wall in the matte is black, whether or not the machine was fast enough for the person.
        #expect(steps[10, 250].prefix(3).allSatisfy { $0 <= 2 }, "\(steps[10, 250])")
    }
}
