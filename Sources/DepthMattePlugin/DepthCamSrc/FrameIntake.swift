import CGStreamer
import DepthCameras
import GstBridge

/// Turns a camera's frames into buffers with a place in time. Used by the session's thread alone.
struct FrameIntake {
    struct Exposure {
        var video: CaptureSession.Frame?
        var depth: CaptureSession.Frame?
    }

    private let isLive: Bool
    private var video: Intake
    private var depth: Intake
    private var clock = CameraClock()
    private var recordingClock = RecordingClock()
    private var longestDelay: Int64 = 0

    init(_ streams: CameraStreams, isLive: Bool) {
        self.isLive = isLive
        video = Intake(mode: streams.video)
        depth = Intake(mode: streams.depth)
    }

    /// Copies the frames out of the library's memory.
    mutating func take(_ frames: CameraFrames) -> Exposure {
        // The video's time, because the elements downstream make a picture of each video frame.
        guard let first = frames.video ?? frames.depth else { return Exposure() }
        // Its own arrival: now is when its partner has come too.
        let mapped = isLive ? clock.map(camera: first.time, arrival: first.arrival) : recordingClock.map(first.time)
        if isLive { longestDelay = max(longestDelay, Int64(g_get_monotonic_time()) &* 1000 &- mapped) }
        return Exposure(video: video.take(frames.video, mapped), depth: depth.take(frames.depth, mapped))
    }

    /// The losses since the last report, and the clock's counts.
    mutating func report() -> CaptureSession.Counts {
        defer { (video.lost, depth.lost) = (0, 0) }
        return CaptureSession.Counts(
            lost: video.lost &+ depth.lost, clockJumps: clock.jumps, drift: clock.drift,
            clockError: isLive ? clock.error : nil, longestDelay: longestDelay)
    }
}

/// The frames of one stream.
private struct Intake {
    let mode: CameraMode?
    private let pool: PicturePool?
    /// Frames lost since the last report.
    var lost: UInt64 = 0
    private var lastNumber: UInt64?
    /// The last frame's times by the camera's clock and by that of the session.
    private var lastTimes: (camera: Int64, mapped: Int64)?
    /// True where frames were lost since the last buffer, and before the first.
    private var isAfterLoss = true

    init(mode: CameraMode?) {
        self.mode = mode
        pool = mode.map { PicturePool(size: $0.stride &* $0.height) }
    }

    mutating func take(_ frame: CameraFrame?, _ time: Int64) -> CaptureSession.Frame? {
        guard let frame, let mode, let pool else { return nil }
        if let number = frame.number {
            // A count that goes back is a recording, or a camera, that started again.
            if let lastNumber, number > lastNumber &+ 1 { lose(number &- lastNumber &- 1) }
            lastNumber = number
        } else if let lastTimes {
            // By the lesser step: a jump of the camera's clock is no loss, nor is the other time that a frame has in a pair.
            let step = min(frame.time &- lastTimes.camera, time &- lastTimes.mapped)
            let frames = (step &+ mode.interval / 2) / mode.interval
            if frames > 1 { lose(UInt64(frames &- 1)) }
        }
        lastTimes = (frame.time, time)
        guard let buffer = copy(of: frame, mode, pool) else {
            lose(1)
            return nil
        }
        defer { isAfterLoss = false }
        return CaptureSession.Frame(buffer: buffer, time: time, isAfterLoss: isAfterLoss)
    }

    private mutating func lose(_ count: UInt64) {
        lost &+= count
        isAfterLoss = true
    }
}

/// A buffer with the rows of a frame, as caps of its format lay them out; nil where the library gave too few bytes, or there is
/// no memory.
private func copy(of frame: CameraFrame, _ mode: CameraMode, _ pool: PicturePool) -> BufferRef? {
    let (rowBytes, stride) = (mode.rowBytes, mode.stride)
    guard mode.width > 0, mode.height > 0, frame.stride >= rowBytes, let source = frame.bytes.baseAddress,
        case let (before, isBeyond) = frame.stride.multipliedReportingOverflow(by: mode.height &- 1), !isBeyond,
        frame.bytes.count >= rowBytes, before <= frame.bytes.count &- rowBytes,
        let buffer = try? BufferRef(pool.buffer())
    else { return nil }
    let made = buffer.pointer
    var map = GstMapInfo()
    guard gst_buffer_map(made, &map, GST_MAP_WRITE) != 0 else { return nil }
    defer { gst_buffer_unmap(made, &map) }
    guard let target = UnsafeMutableRawPointer(map.data) else { return nil }
    for row in 0..<mode.height {
        let start = target + row &* stride
        start.copyMemory(from: source + row &* frame.stride, byteCount: rowBytes)
        if stride > rowBytes {
            (start + rowBytes).initializeMemory(as: UInt8.self, repeating: 0, count: stride &- rowBytes)
        }
    }
    return buffer
}

extension CameraMode {
    fileprivate var rowBytes: Int { width &* format.bytesPerPixel }
    /// GStreamer's, for formats of one plane.
    fileprivate var stride: Int { (rowBytes &+ 3) & ~3 }
}
