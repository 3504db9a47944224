import CGStreamer
import GstBridge
import Synchronization

/// Each sink pad's upstream latency, from its last LATENCY query. Any thread.
final class InputLatencies: Sendable {
    struct Latency {
        let isLive: Bool
        /// Minimum and maximum latency in nanoseconds; a maximum of NONE is unlimited.
        let least: GstClockTime
        let most: GstClockTime
    }

    private let known = Mutex<[UInt: Latency]>([:])

    typealias Pad = UnsafeMutablePointer<GstAggregatorPad>

    subscript(pad: Pad) -> Latency? {
        get { known.withLock { $0[UInt(bitPattern: pad)] } }
        set { known.withLock { $0[UInt(bitPattern: pad)] = newValue } }
    }

    func forget() { known.withLock { $0 = [:] } }
}
