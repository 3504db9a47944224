package import CGStreamer
package import GstBridge
import Synchronization

/// A sink pad, kept alive for as long as somebody uses it.
///
/// The state of its stream is forgotten with it, and by `forgetStream`.
package final class SinkPad: @unchecked Sendable {  // guard: the pad is only counted, which is atomic; each field's own
    package let pad: UnsafeMutablePointer<GstAggregatorPad>
    /// Its last caps; nil before any. Streaming thread, or while that is stopped.
    package var caps: CapsRef?
    /// The seqnum of its segment. Streaming thread, or while that is stopped.
    var segment = noSeqnum
    /// Nanoseconds that are added to the times of its buffers. Streaming thread.
    var shift: Int64 = 0
    /// The latency of what is upstream of it, from its last LATENCY query. Any thread.
    let latency = Mutex<Latency?>(nil)

    struct Latency {
        let isLive: Bool
        /// Minimum and maximum latency in nanoseconds; a maximum of NONE is unlimited.
        let least: GstClockTime
        let most: GstClockTime
    }

    /// - Parameter pad: a floating one is left floating, for the element that takes it.
    init(_ pad: UnsafeMutablePointer<GstAggregatorPad>) {
        self.pad = pad
        g_object_ref(pad)
    }

    deinit { g_object_unref(pad) }

    /// Any thread. The pad's last reference may be this object's, which Swift may drop before the call returns.
    package var isLinked: Bool { withExtendedLifetime(self) { gst_pad_is_linked(pad.pad) != 0 } }

    func forgetStream() {
        caps = nil
        segment = noSeqnum
        latency.withLock { $0 = nil }
    }
}

/// The sink pads that an element has now, by role. Any thread.
///
/// A pad is added when it is made and removed when it is released, so that nobody looks it up by name.
package final class SinkPads: Sendable {
    /// By the raw value of their roles.
    private let pads = Mutex<[SinkPad?]>([])

    package subscript(role: some PadRole) -> SinkPad? { self[number: role.rawValue] }

    subscript(number number: Int) -> SinkPad? { pads.withLock { $0.indices.contains(number) ? $0[number] : nil } }

    /// Adds a pad, unless its role has one already.
    ///
    /// - Returns: false where it has.
    func add(_ pad: UnsafeMutablePointer<GstAggregatorPad>, as role: some PadRole) -> Bool {
        let added = SinkPad(pad)
        return pads.withLock { pads in
            while pads.count <= role.rawValue { pads.append(nil) }
            guard pads[role.rawValue] == nil else { return false }
            pads[role.rawValue] = added
            return true
        }
    }

    func forgetStreams() {
        for number in 0..<pads.withLock(\.count) { pads.withLock { $0[number] }?.forgetStream() }  // it never shrinks
    }

    func remove(_ pad: UnsafeMutablePointer<GstAggregatorPad>) {
        let removed = pads.withLock { pads -> SinkPad? in
            guard let number = pads.firstIndex(where: { $0?.pad == pad }) else { return nil }
            defer { pads[number] = nil }
            return pads[number]
        }
        withExtendedLifetime(removed) {}  // the last reference may end the pad, which the lock must not cover
    }
}
