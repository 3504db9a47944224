import Synchronization

/// Plays a recording through fakenect, at the rate at which it was recorded.
final class FreenectPlayer {
    var isRegistered: Bool { recording.isRegistered }
    private let recording: FreenectRecording
    private let isLooped: Bool
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

    /// - Throws: `CameraError.busy` where fakenect plays already.
    init(_ recording: FreenectRecording, library: FreenectLibrary, isLooped: Bool) throws(CameraError) {
        self.recording = recording
        self.isLooped = isLooped
        try FakenectFeed.shared.acquire(library)
    }

    deinit { FakenectFeed.shared.release() }

    func rewind() {
        position = 0
        playedCount = 0
        hostOffset = nil
        offset = (0, 0)
    }

    /// Waits until the next frame is due, and plays it. Stops waiting at the deadline.
    ///
    /// - Returns: false at the end of the recording.
    func playNext(_ context: FreenectContext, to receiver: FreenectReceiver, deadline: Int64) throws(CameraError)
        -> Bool
    {
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
        guard let file = recording.file(entry) else { return true }
        receiver.setRecordedTime(time)
        try FakenectFeed.shared.play(file, isDepth: entry.isDepth, ticks: entry.ticks &+ offset.ticks, context)
        playedCount += 1
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

/// Feeds fakenect the frames to play.
///
/// fakenect reads the index in the folder that FAKENECT_PATH names, once for the whole program, from the beginning to the end, and
/// ends the program when something is missing. So it gets a folder of ours, whose index is a pipe: each frame is put there
/// just before fakenect asks for it, and nothing is read that is not there. One camera at a time can do that.
final class FakenectFeed: Sendable {
    static let shared = FakenectFeed()

    /// The recording that the user's FAKENECT_PATH names.
    static let chosenFolder: String? = environment("FAKENECT_PATH")

    private let state = Mutex(State())

    private struct State {
        var isTaken = false
        var folder = ""
        /// The index; nil before it is made.
        var pipe: NamedPipe?
        /// The fakenect that has opened the index, and keeps it open.
        var reader: UInt?
    }

    private init() {}

    /// - Throws: `CameraError.busy` where it is taken, `.failed` where there is no place for the folder.
    func acquire(_ library: FreenectLibrary) throws(CameraError) {
        // The name is read before it is replaced.
        _ = Self.chosenFolder
        let identity = library.identity
        try state.withLock { state throws(CameraError) in
            guard !state.isTaken, state.reader == nil || state.reader == identity else {
                throw .busy("fakenect plays one recording at a time.")
            }
            do throws(SystemFault) {
                if state.folder.isEmpty {
                    state.folder = try makeTemporaryFolder("depthmatte-fakenect-")
                    // The only change of the environment; fakenect has no other way to be told.
                    setEnvironment("FAKENECT_PATH", state.folder)
                } else {
                    try makeFolder(state.folder)
                }
                if state.reader == nil {
                    do throws(SystemFault) {
                        state.pipe = try NamedPipe("\(state.folder)/INDEX.txt")
                    } catch {
                        removeFolder(state.folder)
                        throw error
                    }
                }
            } catch {
                throw Self.fault(error)
            }
            state.isTaken = true
        }
    }

    func release() {
        state.withLock { state in
            state.isTaken = false
            removeFile("\(state.folder)/INDEX.txt")
            removeFolder(state.folder)
            if state.reader == nil { state.pipe = nil }
        }
    }

    /// Has fakenect call back with a frame.
    ///
    /// - Parameter file: a whole frame.
    func play(_ file: String, isDepth: Bool, ticks: UInt32, _ context: FreenectContext) throws(CameraError) {
        // fakenect does not wait for a frame whose time is 0.
        let name = "\(isDepth ? "d" : "r")-0-\(ticks)-"
        let (folder, pipe) = state.withLock { ($0.folder, $0.pipe) }
        guard let pipe else { return }
        let link = "\(folder)/\(name)"
        defer { removeFile(link) }
        do throws(SystemFault) {
            guard try makeLink(link, to: file) else { return }  // was just removed
            try pipe.write(Array("\(name)\n".utf8))
        } catch {
            throw Self.fault(error)
        }
        state.withLock { $0.reader = context.library.identity }
        // An error is a file that became shorter meanwhile.
        _ = withTimeval(nanoseconds: 0) { context.library.processEvents(context.handle, $0) }
    }

    private static func fault(_ fault: SystemFault) -> CameraError {
        .failed("fakenect cannot be fed: \(fault.reason).")
    }
}
