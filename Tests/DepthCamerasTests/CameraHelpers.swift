import DepthCameras
import Testing

/// The error that something ends in; nil where there is none.
func error(_ body: () throws -> Void) -> CameraError? {
    do { try body() } catch { return error as? CameraError }
    return nil
}

/// Expects an error of this case, whose words hold all of these parts.
func expectError(
    _ kind: (String) -> CameraError, _ parts: String..., sourceLocation: SourceLocation = #_sourceLocation,
    by body: () throws -> Void
) {
    let error = error(body)
    let words = error.flatMap { Mirror(reflecting: $0).children.first?.value as? String } ?? ""
    #expect(
        error == kind(words) && parts.allSatisfy { words.contains($0) }, "\(String(describing: error))",
        sourceLocation: sourceLocation)
}

extension CameraChoice {
    init(serial: String = "", recording: String = "", isLooped: Bool = false) {
        self.init()
        (self.serial, self.recording, self.isLooped) = (serial, recording, isLooped)
    }
}

extension CameraDriver {
    /// Opens the camera with a serial number; the first where that is empty.
    func open(serial: String = "") throws(CameraError) -> any Camera { try open(CameraChoice(serial: serial)) }
}

extension Camera {
    /// Starts the first modes.
    ///
    /// - Parameter change: of the settings.
    @discardableResult
    func start(
        isAligned: Bool = false, _ change: (inout CameraSettings) -> Void = { _ in }
    ) throws(CameraError) -> CameraStreams {
        var settings = CameraSettings()
        (settings.video, settings.depth) = (info.videoModes.first, info.depthModes.first)
        settings.isAligned = isAligned
        change(&settings)
        return try start(settings)
    }

    /// The next frames, of which there must be some.
    func frames(sourceLocation: SourceLocation = #_sourceLocation) throws -> CameraFrames {
        try #require(try next(timeout: 2000), sourceLocation: sourceLocation)
    }

    /// The next picture and its map, which must be there.
    func pair(
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws -> (video: CameraFrame, depth: CameraFrame) {
        let frames = try frames(sourceLocation: sourceLocation)
        return (
            try #require(frames.video, sourceLocation: sourceLocation),
            try #require(frames.depth, sourceLocation: sourceLocation)
        )
    }

    /// Takes frames until there is an error.
    ///
    /// - Parameter each: may end that.
    /// - Returns: the error.
    func play(timeout: Int = 100, _ each: (CameraFrames) throws -> Void = { _ in }) throws -> CameraError {
        while true {
            do {
                if let frames = try next(timeout: timeout) { try each(frames) }
            } catch let error as CameraError {
                return error
            }
        }
    }
}

/// The first sample of the second row of a depth frame.
func sample(_ frame: CameraFrame?) -> Int? {
    frame.map { Int($0.bytes.loadUnaligned(fromByteOffset: $0.stride, as: UInt16.self)) }
}
