import CCameras
import Synchronization

/// Takes a device's frames from libfreenect's callbacks, or a recording's.
///
/// The library fills a buffer of ours; the callback keeps it and gives the library another, so that no frame is copied.
/// Callbacks are accepted on any thread, and ignored while the camera is stopped and after it is closed.
final class FreenectReceiver: Sendable {
    /// Nil for a recording.
    private let library: FreenectLibrary?
    private let state: Mutex<State>

    /// The receivers of open devices by the address of the device: a callback that comes late finds none.
    private static let receivers = Mutex<[UInt: FreenectReceiver]>([:])

    private struct State {
        var isRunning = false
        var clock = FreenectClock()
        var pairing = FramePairing<CameraFrame>(isPaired: false, interval: 0)
        var video: Buffers?
        var depth: Buffers?
        /// True where the depth arrives as raw counts.
        var isDepthRaw = false
    }

    private struct Buffers {
        let pool: FramePool
        /// In the library's hands.
        var current: FrameBuffer
        let stride: Int
    }

    init(library: FreenectLibrary? = nil) {
        self.library = library
        state = Mutex(State())
    }

    deinit {
        state.withLock { state in
            for case let buffers? in [state.video, state.depth] { buffers.pool.giveBack(buffers.current) }
        }
    }

    /// Has the device's frames come here.
    func connect(_ device: FreenectLibrary.Handle) {
        Self.receivers.withLock { $0[UInt(bitPattern: device)] = self }
        library?.video.setCallback(device, { FreenectReceiver.receive($0, $1, ticks: $2, isDepth: false) })
        library?.depth.setCallback(device, { FreenectReceiver.receive($0, $1, ticks: $2, isDepth: true) })
    }

    func disconnect(_ device: FreenectLibrary.Handle) {
        Self.receivers.withLock { $0[UInt(bitPattern: device)] = nil }
        library?.video.setCallback(device, nil)
        library?.depth.setCallback(device, nil)
    }

    /// Gives the library buffers for a stopped device and accepts its frames.
    ///
    /// - Parameter device: nil for a recording.
    /// - Returns: false where the library refuses a buffer.
    func start(
        _ device: FreenectLibrary.Handle? = nil, video: CameraMode?, depth: CameraMode?, isDepthRaw: Bool
    ) -> Bool {
        state.withLock { state in
            guard Self.prepare(&state.video, for: video), Self.prepare(&state.depth, for: depth) else { return false }
            if let buffers = state.video, !lend(buffers.current, to: device, isDepth: false) { return false }
            if let buffers = state.depth, !lend(buffers.current, to: device, isDepth: true) { return false }
            state.pairing = FramePairing(video: video, depth: depth)
            state.clock = FreenectClock()
            state.isDepthRaw = isDepthRaw
            state.isRunning = true
            return true
        }
    }

    func stop() {
        state.withLock { state in
            state.isRunning = false
            _ = state.pairing.removeAll()
        }
    }

    /// Takes a recording's frame.
    ///
    /// - Parameters:
    ///   - time: when it was received, in nanoseconds.
    ///   - read: fills the memory with the frame; false where the frame cannot be read.
    /// - Returns: false where it cannot, or nobody wants the stream.
    func play(isDepth: Bool, ticks: UInt32, time: Int64, read: (UnsafeMutableRawBufferPointer) -> Bool) -> Bool {
        guard let buffers = state.withLock({ isDepth ? $0.depth : $0.video }),
            read(UnsafeMutableRawBufferPointer(start: buffers.current.address, count: buffers.pool.size))
        else { return false }
        receive(nil, buffers.current.address, ticks: ticks, isDepth: isDepth, host: time)
        return true
    }

    private func lend(_ buffer: FrameBuffer, to device: FreenectLibrary.Handle?, isDepth: Bool) -> Bool {
        guard let library, let device else { return true }
        return (isDepth ? library.depth : library.video).setBuffer(device, buffer.address) >= 0
    }

    /// The next frames that wait.
    ///
    /// - Parameter isLast: true if no more come.
    func next(isLast: Bool) -> CameraFrames? {
        state.withLock { $0.pairing.nextFrames(isLast: isLast) }
    }

    /// Prepares a stream's buffers for a mode, or frees them. Returns false where there is no memory.
    private static func prepare(_ buffers: inout Buffers?, for mode: CameraMode?) -> Bool {
        let size = mode.map { $0.width * $0.height * $0.format.bytesPerPixel }
        if let buffers, buffers.pool.size == size { return true }
        if let old = buffers { old.pool.giveBack(old.current) }
        buffers = nil
        guard let mode, let size else { return true }
        let pool = FramePool(size: size)
        guard let current = pool.take() else { return false }
        buffers = Buffers(pool: pool, current: current, stride: mode.width * mode.format.bytesPerPixel)
        return true
    }

    private static func receive(
        _ device: FreenectLibrary.Handle?, _ address: UnsafeMutableRawPointer?, ticks: UInt32, isDepth: Bool
    ) {
        guard let device, let receiver = receivers.withLock({ $0[UInt(bitPattern: device)] }) else { return }
        receiver.receive(device, address, ticks: ticks, isDepth: isDepth, host: monotonicTime())
    }

    private func receive(
        _ device: FreenectLibrary.Handle?, _ address: UnsafeMutableRawPointer?, ticks: UInt32, isDepth: Bool,
        host: Int64
    ) {
        state.withLock { state in
            guard state.isRunning, let buffers = isDepth ? state.depth : state.video else { return }
            let (pool, filled) = (buffers.pool, buffers.current)
            guard filled.address == address else { return }
            let time = state.clock.nanoseconds(ticks, host: host)
            // Where the consumer keeps too many frames, the library fills the same buffer again and this frame is lost.
            guard let fresh = pool.take() else { return }
            guard lend(fresh, to: device, isDepth: isDepth) else { return pool.giveBack(fresh) }
            let frame = CameraFrame(
                bytes: UnsafeRawBufferPointer(start: filled.address, count: pool.size), stride: buffers.stride,
                time: time, number: nil, release: { pool.giveBack(filled) })
            if isDepth {
                state.depth?.current = fresh
                if state.isDepthRaw { Self.convertRawCounts(filled, size: pool.size) }
                _ = state.pairing.addDepth(frame, time: time)
            } else {
                state.video?.current = fresh
                _ = state.pairing.addVideo(frame, time: time)
            }
        }
    }

    private static func convertRawCounts(_ buffer: FrameBuffer, size: Int) {
        let samples = UnsafeMutableRawBufferPointer(start: buffer.address, count: size).bindMemory(to: UInt16.self)
        KinectOptics.millimetresOfRawCounts.withUnsafeBufferPointer { millimetres in
            for index in samples.indices {
                let count = Int(UInt16(littleEndian: samples[index]))
                samples[index] = (count < millimetres.count ? millimetres[count] : 0).littleEndian
            }
        }
    }
}
