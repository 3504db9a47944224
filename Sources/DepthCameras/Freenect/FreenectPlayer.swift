/// Plays a recording of a Kinect v1 at the rate at which it was recorded.
///
/// libfreenect's second build, fakenect, is not asked: a process has one recording, which a variable of the environment names, and
/// which the library ends the process for where anything of it is missing.
final class FreenectPlayer: Camera {
    var info: CameraInfo { recording.info }
    private let recording: FreenectRecording
    private let isLooped: Bool
    private let receiver = FreenectReceiver()
    private var isStarted = false
    private var position = 0
    /// Frames played since the recording was last at its beginning.
    private var playedCount = 0
    /// Host time minus recording time, in nanoseconds; nil until the first frame.
    private var hostOffset: Int64?
    /// Added to the ticks and the times of the recording, so that they go on when it starts again.
    private var offset: (ticks: UInt32, time: Int64) = (0, 0)

    /// In nanoseconds. A frame that is later than this is played at once, and later frames keep its delay; a smaller lag is
    /// caught up.
    private static let maxLag: Int64 = 500_000_000
    /// One frame at 30 frames a second, in nanoseconds and in ticks of the 60 MHz counter.
    private static let interval: (time: Int64, ticks: UInt32) = (33_333_333, 2_000_000)

    init(_ recording: FreenectRecording, isLooped: Bool) {
        self.recording = recording
        self.isLooped = isLooped
    }

    func start(_ settings: CameraSettings) throws(CameraError) -> CameraStreams {
        stop()
        let (video, depth) = (settings.video, settings.depth)
        guard video.map(info.videoModes.contains) ?? (depth != nil), depth.map(info.depthModes.contains) ?? true else {
            throw .failed("The recording has no such stream.")
        }
        (position, playedCount, hostOffset, offset) = (0, 0, nil, (0, 0))
        guard receiver.start(video: video, depth: depth, isDepthRaw: !recording.isRegistered) else {
            throw .failed("Out of memory for a frame.")
        }
        isStarted = true
        let isRegistered = recording.isRegistered && depth != nil
        return CameraStreams(
            video: video, depth: depth,
            calibration: depth == nil ? nil : KinectOptics().calibration(isRegistered: isRegistered, video: video),
            isAligned: isRegistered, depthUnit: 0.001)
    }

    func next(timeout milliseconds: Int) throws(CameraError) -> CameraFrames? {
        guard isStarted else { throw .failed("The recording was not started.") }
        let deadline = deadline(milliseconds: milliseconds)
        var isOver = false
        while true {
            if let frames = receiver.next(isLast: isOver) { return frames }
            if isOver { throw .ended }
            isOver = !playNext(until: deadline)
            if !isOver, monotonicTime() >= deadline { return receiver.next(isLast: false) }
        }
    }

    func stop() {
        receiver.stop()
        isStarted = false
    }

    /// Waits until the next frame is due, and plays it. Stops waiting at the deadline.
    ///
    /// - Returns: false at the end of the recording.
    private func playNext(until deadline: Int64) -> Bool {
        if position == recording.entries.count {
            // A recording whose files have been removed ends.
            guard isLooped, playedCount > 0, let first = recording.entries.first, let last = recording.entries.last
            else { return false }
            position = 0
            playedCount = 0
            offset.ticks = offset.ticks &+ (last.ticks &- first.ticks) &+ Self.interval.ticks
            offset.time = offset.time &+ max(last.time - first.time, 0) &+ Self.interval.time
        }
        let entry = recording.entries[position]
        let time = entry.time &+ offset.time
        guard wait(for: time, deadline: deadline) else { return true }
        position += 1
        let isPlayed = receiver.play(isDepth: entry.isDepth, ticks: entry.ticks &+ offset.ticks, time: time) {
            recording.read(entry, into: $0)
        }
        if isPlayed { playedCount += 1 }
        return true
    }

    /// - Returns: false if the deadline came first.
    private func wait(for time: Int64, deadline: Int64) -> Bool {
        let now = monotonicTime()
        var due = time &+ (hostOffset ?? now &- time)
        if hostOffset == nil || due < now - Self.maxLag { due = now }
        hostOffset = due &- time
        let left = max(min(due, deadline) - now, 0)
        if left > 0 { sleep(nanoseconds: left) }
        return due <= deadline
    }
}
