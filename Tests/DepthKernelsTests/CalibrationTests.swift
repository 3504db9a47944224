import DepthKernels
import TestSupport
import Testing

/// Calibrations as text: the project's own JSON, librealsense's names, OpenCV's YAML, and texts that are none.
@Suite struct CalibrationTests {
    private static let own = Calibration(
        depth: CameraIntrinsics(
            width: 640, height: 576, fx: 504.6076354980469, fy: 504.7, cx: 332.8, cy: 348.8,
            distortion: LensDistortion([0.5, -0.02, 2e-5, -7e-5, -0.0027, 0.89, 0.086, -0.0139])),
        color: CameraIntrinsics(
            width: 1280, height: 720, fx: 611.8, fy: 611.9, cx: 639.3, cy: 365.9,
            distortion: LensDistortion([0.1, 0.2, 0, 0, 0.3], isInverse: true)),
        depthToColor: CameraPose(
            rotation: [1, 0, 0, 0, 0.8, 0.6, 0, -0.6, 0.8], translation: SIMD3(-0.032, -0.0022, 0.0039)),
        depthUnit: 0.001)

    private func read(_ text: String) throws(CalibrationError) -> Calibration {
        try Calibration(text: Array(text.utf8))
    }

    private func reason(_ text: String) -> String {
        do throws(CalibrationError) {
            _ = try read(text)
            return "no error"
        } catch {
            return error.reason
        }
    }

    @Test func `JSON is read as it was written`() throws {
        #expect(try read(CalibrationTests.own.json) == CalibrationTests.own)
        #expect(!CalibrationTests.own.json.contains("\n"))
        let alone = Calibration(depth: CalibrationTests.own.depth)
        #expect(try read(alone.json) == alone)
    }

    @Test func `librealsense's structures are read, its rotation by columns`() throws {
        let calibration = try read(
            """
            {"depth": {"width": 848, "height": 480, "ppx": 422.5, "ppy": 241.25, "fx": 423, "fy": 424,
                       "model": "distortion.brown_conrady", "coeffs": [0.1, 0.2, 0.3, 0.4, 0.5]},
             "color": {"width": 640, "height": 480, "ppx": 319.9, "ppy": 239, "fx": 613.2, "fy": 613.4,
                       "model": "distortion.inverse_brown_conrady", "coeffs": [1, 0, 0, 0, 0]},
             "extrinsics": {"rotation": [0, 1, 0, -1, 0, 0, 0, 0, 1], "translation": [0.0143, 0.0006, 0.0006]},
             "depth_scale": 0.001}
            """)
        #expect(calibration.depth.cx == 422.5 && calibration.depth.fy == 424 && calibration.depth.width == 848)
        #expect(calibration.depth.distortion == LensDistortion([0.1, 0.2, 0.3, 0.4, 0.5]))
        #expect(calibration.color?.distortion == LensDistortion([1], isInverse: true))
        #expect(calibration.depthToColor.rotation == [0, -1, 0, 1, 0, 0, 0, 0, 1])
        #expect(calibration.depthToColor.translation == SIMD3(0.0143, 0.0006, 0.0006))
        #expect(calibration.depthUnit == 0.001)
    }

    private static let openCV = """
        %YAML:1.0
        ---
        calibration_time: "Thu 01 Jan 2026 12:00:00"
        image_width: 640
        image_height: 480
        features:
           - { x:167, y:49, lbp:[ 1, 0, 0, 1 ] }
        # the infrared camera
        M1: !!opencv-matrix
           rows: 3
           cols: 3
           dt: d
           data: [ 5.8821e+02, 0., 320.5, 0., 5.8756e+02,
               240.25, 0., 0., 1. ]
        D1: !!opencv-matrix
           rows: 1
           cols: 5
           dt: d
           data: [ -0.2, 0.5, 0., .001, 0. ]
        M2: !!opencv-matrix
           rows: 3
           cols: 3
           dt: d
           data: [ 525., 0., 319.5, 0., 525., 239.5, 0., 0., 1. ]
        D2: !!opencv-matrix
           rows: 1
           cols: 14
           dt: d
           data: [ 0.1, 0., 0., 0., 0., 0.2, 0., 0., 0., 0., 0., 0., 0., 0. ]
        %YAML:1.0
        ---
        R: !!opencv-matrix
           rows: 3
           cols: 3
           dt: d
           data: [ 1., 0., 0., 0., 0., -1., 0., 1., 0. ]
        T: !!opencv-matrix
           rows: 3
           cols: 1
           dt: d
           data: [ 2.5e-02, 0., -1.0e-03 ]
        ...

        """

    @Test func `OpenCV's stereo calibration is read, of both files in one`() throws {
        let calibration = try read(CalibrationTests.openCV)
        #expect(calibration.depth.width == 640 && calibration.depth.height == 480)
        #expect(calibration.depth.fx == 588.21 && calibration.depth.fy == 587.56)
        #expect(calibration.depth.cx == 320.5 && calibration.depth.cy == 240.25)
        #expect(calibration.depth.distortion == LensDistortion([-0.2, 0.5, 0, 0.001]))
        #expect(calibration.color?.fx == 525)
        #expect(calibration.color?.distortion == LensDistortion([0.1, 0, 0, 0, 0, 0.2]))
        #expect(calibration.depthToColor.rotation == [1, 0, 0, 0, 0, -1, 0, 1, 0])
        #expect(calibration.depthToColor.translation == SIMD3(0.025, 0, -0.001))
        #expect(calibration.depthUnit == nil)
    }

    @Test func `YAML by hand is read`() throws {
        let calibration = try read(
            """
            depth:
              width: 640   # pixels
              height: 480
              fx: 500
              fy: 500
              cx: 320
              cy: 240
              distortion:
              - 0.1
              - -0.2
            depth-unit: 0.00025
            """)
        #expect(calibration.depth.distortion == LensDistortion([0.1, -0.2]))
        #expect(calibration.color == nil && calibration.depthUnit == 0.00025)
    }

    @Test(arguments: [
        ("", "no depth camera was found"),
        ("<?xml version=\"1.0\"?>\n<opencv_storage>", "it is XML; have OpenCV's FileStorage write it"),
        ("\u{feff}<opencv_storage>", "it is XML"),
        ("PK\u{3}\u{4}", "NumPy's .npz"),
        ("MATLAB 5.0 MAT-file", "a file of MATLAB"),
        ("{", "} is missing"),
        ("{\"depth\": 3}", "depth is no table"),
        ("{\"depth\": {\"width\": 640}}", "depth has no height"),
        ("depth:\n  width: 0", "line 2: width is 0.0; it must be from 1.0 to 32768.0"),
        ("depth:\n  width: 1e9", "line 2: width is 1000000000.0; it must be"),
        ("depth:\n  width: .Nan", "line 2: width is no number"),
        ("depth:\n  width: 1e999", "line 2: 1e999 is too large"),
        ("depth:\n  width: wide", "line 2: width is no number"),
        ("depth:\n  width: 3\n    height: 3", "line 3: a line is indented too far"),
        ("depth: \"no end", "line 1: a quotation mark is missing"),
        ("no colon", "line 1: a name and a colon were expected"),
        (
            "M1: [1, 0, 0, 0, 1, 0, 0, 0, 1]",
            "line 1: M1 needs the picture's size beside it: imageSize1: [width, height]"
        ),
        ("size: [3, 3]\nM1: [1, 0, 0, 0, 1, 0, 0, 0]", "line 2: M1 has 8 numbers; it must have 9"),
        ("size: [3, 3]\nM1: [1, 0, 0, 0, 1, 0, 0, 0, 2]", "line 2: M1 is no camera matrix"),
        (String(repeating: "[", count: 100_000), "the text has more than"),
        ("depth: " + String(repeating: "[", count: 60_000), "more than 16 levels"),
        ("depth: " + String(repeating: "{a:", count: 20_000), "more than 16 levels"),
    ])
    func `a faulty text is an error that names the line`(text: String, expected: String) {
        #expect(reason(text).contains(expected), "\(reason(text))")
    }

    @Test(arguments: [
        ("\"rotation\": [2, 0, 0, 0, 1, 0, 0, 0, 1], \"translation\": [0, 0, 0]", "rotation is 2.0"),
        ("\"rotation\": [1, 0, 0, 0, 1, 0, 0, 0, 0], \"translation\": [0, 0, 0]", "rotation is no rotation"),
        ("\"rotation\": [1, 0, 0, 0, 1, 0, 0, 0, -1], \"translation\": [0, 0, 0]", "rotation is no rotation"),
        ("\"rotation\": [1, 0, 0, 0, 1, 0, 0, 0, 1], \"translation\": [25, 0, 0]", "it is given in metres"),
        ("\"rotation\": [1, 0, 0, 0, 1, 0, 0, 0, 1]", "no rotation and translation"),
        ("\"model\": 3", "no rotation and translation"),
    ])
    func `a pose that is none is refused`(fields: String, expected: String) {
        let camera = "{\"width\": 4, \"height\": 4, \"fx\": 1, \"fy\": 1, \"cx\": 1, \"cy\": 1}"
        let text = "{\"depth\": \(camera), \"color\": \(camera), \(fields)}"
        #expect(reason(text).contains(expected), "\(reason(text))")
    }

    @Test func `a byte order mark, and fields of others, are passed over`() throws {
        let camera = "  width: 4\n  height: 4\n  fx: 1\n  fy: 1\n  cx: 1\n  cy: 1"
        for text in ["\u{feff}depth:\n\(camera)", "\u{feff}%YAML:1.0\n---\ndepth:\n\(camera)"] {
            #expect(try read(text).depth.width == 4)
        }
        // A lens's coefficients at the top are no camera matrices.
        #expect(try read("name: -foo\nk1: 0.5\nk2: .Nan\ndepth:\n\(camera)").color == nil)
    }

    @Test func `the modified Brown-Conrady lens is refused where it differs`() throws {
        func camera(_ p1: Double, model: String = "Modified Brown Conrady") -> String {
            "{depth: {width: 4, height: 4, fx: 1, fy: 1, cx: 1, cy: 1, model: \(model), coeffs: [0.1, 0.2, \(p1), 0, 0]}}"
        }
        #expect(try read(camera(0)).depth.distortion == LensDistortion([0.1, 0.2]))
        #expect(reason(camera(0.01)).contains("is not supported"))
        #expect(reason(camera(0.01, model: "4")).contains("is no name of a lens model"))
        let numbered = "{depth: {width: 4, height: 4, fx: 1, fy: 1, cx: 1, cy: 1, model: 4, coeffs: [0, 0, 0, 0, 0]}}"
        #expect(try read(numbered).depth.distortion == .none)
    }

    @Test func `a lens model that is not supported is refused`() {
        let camera = "{width: 4, height: 4, fx: 1, fy: 1, cx: 1, cy: 1, model: Kannala Brandt4, coeffs: [1, 0, 0, 0]}"
        #expect(reason("{depth: \(camera)}").contains("model is Kannala Brandt4, which is not supported"))
    }

    /// Neither a trap nor a long wait: every beginning of the texts, and texts with bytes changed.
    @Test func `hostile texts end in a value or an error`() {
        var random = RepeatableRandomNumberGenerator(seed: 7)
        let texts = [CalibrationTests.openCV, CalibrationTests.own.json].map { Array($0.utf8) }
        var errors = 0
        for text in texts {
            for end in text.indices where (try? Calibration(text: Array(text[..<end]))) == nil { errors += 1 }
            for _ in 0..<3000 {
                var changed = text
                for _ in 0..<Int.random(in: 1...4, using: &random) {
                    let index = changed.indices.randomElement(using: &random) ?? 0
                    switch Int.random(in: 0..<3, using: &random) {
                    case 0: changed[index] = UInt8.random(in: 0...255, using: &random)
                    case 1: changed.insert("{}[]:,-#\n\"'%. 0e".utf8.randomElement(using: &random) ?? 0, at: index)
                    default: changed.remove(at: index)
                    }
                }
                if (try? Calibration(text: changed)) == nil { errors += 1 }
            }
        }
        #expect(errors > 1000)
    }
}
