import CGStreamer
import GstBridge
import Synchronization

/// The latencies of the sink pads' inputs, as they last answered. Any thread.
final class InputLatencies: Sendable {
    struct Latency {
        let isLive: Bool
        /// Nanoseconds for which the input's buffers are at least, and at most, on their way; NONE = no limit.
        let least: GstClockTime
        let most: GstClockTime
    }

    private let known = Mutex<[UInt: Latency]>([:])

    typealias Pad = UnsafeMutablePointer<GstAggregatorPad>

    subscript(pad: Pad) -> Latency? {
        get { known.withLock { $0[UInt(bitPattern: pad)] } }
        set { known.withLock { $0[UInt(bitPattern: pad)] = newValue } }
    }

    var isAnyLive: Bool { known.withLock { $0.values.contains(where: \.isLive) } }

    func forget() { known.withLock { $0 = [:] } }
}
