import GstBridge

/// Holds the streaming thread of a live pipeline back until the pipeline plays: before that, and after a pause, live
/// data are nobody's.
///
/// The application's and upstream's threads open it, the streaming thread waits at it.
final class PlayGate: Sendable {
    enum State {
        case paused, playing, stopping
    }

    private struct Value {
        var state = State.paused
        /// Flushes under way: each must be able to stop the streaming thread.
        var flushes = 0
    }

    private let value = Monitor(Value())

    var state: State {
        get { value.withLock { $0.state } }
        set { value.withLock { $0.state = newValue } }
    }

    /// Waits until the pipeline plays, stops or flushes.
    ///
    /// - Returns: true where it plays.
    func waitUntilPlaying() -> Bool {
        value.wait(until: { $0.state != .paused || $0.flushes > 0 }, then: { $0.state == .playing })
    }

    /// Lets nobody wait while `body` runs.
    func withoutWaiting<Result>(_ body: () -> Result) -> Result {
        value.withLock { $0.flushes += 1 }
        defer { value.withLock { $0.flushes -= 1 } }
        return body()
    }
}
