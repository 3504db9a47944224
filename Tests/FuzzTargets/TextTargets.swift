import DepthCameras
import DepthKernels
import DepthMattePlugin
import GstBridge

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// Calibrations: what is read can be written, and is then read as the same; a registration made of it holds its promises.
func fuzzCalibration(_ input: inout FuzzInput) {
    let (width, height) = (input.number(1...24), input.number(1...24))
    guard let calibration = try? Calibration(text: input.rest()) else { return }
    let again = try? Calibration(text: Array(calibration.json.utf8))
    promise(again == calibration, "\(calibration.json) is read as another calibration")
    let registration = DepthRegistration(calibration, width: width, height: height, outputWidth: 20, outputHeight: 15)
    guard let registration else { return }
    let counts = Block((0..<width * height * 2).map { UInt8(truncatingIfNeeded: $0 &* 37) })
    let output = Block(count: 20 * 15 * 2)
    guard let plane = counts.plane(rowBytes: width * 2, rows: height),
        let target = output.plane(rowBytes: 40, rows: 15),
        let depth = DepthImage(plane: plane.readOnly, width: width, height: height, encoding: .gray16LE)
    else { broken("the planes fit their memory") }
    _ = registration.align(depth, scale: DepthScale(), into: target)
}

/// What a stream says of the depth in it, and Record3D: what is read can be written, and optics are numbers.
func fuzzTag(_ input: inout FuzzInput) {
    let (width, height) = (input.number(1...64), input.number(1...64))
    let bytes = input.rest()
    if let tag = try? DepthVideoTag(comment: String(decoding: bytes, as: UTF8.self)) {
        let again = try? DepthVideoTag(comment: tag.text)
        promise(again == tag, "\(tag.text) is read as another tag")
        promise(tag.span.near < tag.span.far)
    }
    if let metadata = try? Record3DMetadata(Record3DMetadata.text(in: bytes)) {
        let camera = metadata.camera(width: width, height: height)
        promise(camera.fx > 0 && camera.fy > 0 && camera.cx.isFinite && camera.cy.isFinite)
    }
}

/// Headers of pictures and coded frames: a size is found or not, in bounded time.
func fuzzHeader(_ input: inout FuzzInput) {
    let coding = input.choice([CodedPicture.still, .gif, .vp8, .theora, .mpegVideo, .proRes])
    let bytes = input.rest()
    bytes.withUnsafeBytes { bytes in
        if let header = PictureHeader(ByteReader(bytes)) {
            promise(header.length >= 0 && header.length <= bytes.count, "a picture longer than its file")
            promise(header.pixels ?? 1 > 0)
        }
        promise(coding.pixels(ByteReader(bytes)) ?? 1 > 0)
        let gif = ByteReader(bytes)
        guard gif.seek(to: 6) else { return }
        for image in gif.readGIFImages() {
            promise(image.bytes.lowerBound >= 0 && image.bytes.upperBound <= bytes.count)
        }
    }
}

/// The index of a recording of a Kinect, beside one whole frame.
func fuzzRecording(_ input: inout FuzzInput) {
    let folder = recordingFolder
    write(input.rest(), to: "\(folder)/INDEX.txt")
    guard let recording = try? FreenectRecording(folder: folder) else { return }
    promise(!recording.info.depthModes.isEmpty || !recording.info.videoModes.isEmpty)
    for entry in recording.entries {
        promise(entry.time >= 0 && !entry.name.contains("/"))
        var frame = [UInt8](repeating: 0, count: 640 * 480 * 2)
        _ = frame.withUnsafeMutableBytes { recording.read(entry, into: $0) }
    }
}

private let recordingFolder: String = {
    let folder = temporaryFolder
    write(Array("P5 640 480 65535\n".utf8) + [UInt8](repeating: 7, count: 640 * 480 * 2), to: "\(folder)/d-1.0-5.pgm")
    return folder
}()

/// A folder of this process.
let temporaryFolder: String = {
    var template = Array("\(getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp")/depthmatte-fuzz-XXXXXX".utf8CString)
    guard mkdtemp(&template) != nil else { broken("no temporary folder") }
    return String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
}()

func write(_ bytes: [UInt8], to path: String) {
    guard let file = fopen(path, "wb") else { broken("\(path) cannot be written") }
    fwrite(bytes, 1, bytes.count, file)
    fclose(file)
}
