package import GstBridge

/// The buffer of a secondary pad that goes with a frame of the reference pad.
package enum Pairing {
    /// The nearest in time, near enough to have been made for this frame.
    case paired(Choice)
    /// The newest of a slower or interrupted stream, not yet too old.
    case reused(Choice)
    /// None in time. The number is the distance of the nearest in nanoseconds, nil where there is none.
    case missing(nearest: UInt64?)

    /// A buffer that its input keeps until it is advanced again.
    package struct Choice {
        package let buffer: BufferPointer
        /// Nil for a buffer without a timestamp.
        package let time: RunningTime?

        init?(_ entry: borrowing SecondaryInput.Entry?) {
            switch entry {
            case .some(let entry): (buffer, time) = (entry.buffer.pointer, entry.time)
            case .none: return nil
            }
        }
    }

    /// - Parameters:
    ///   - current: the newest buffer at or before the time.
    ///   - next: the oldest after it.
    ///   - time: the reference frame's running time; nil pairs in order.
    ///   - maxSkew: nanoseconds either way within which a buffer counts as made for the frame.
    ///   - holdTime: nanoseconds for which the newest buffer serves later frames.
    init(_ current: Choice?, _ next: Choice?, at time: RunningTime?, maxSkew: RunningTime, holdTime: RunningTime) {
        guard let time, current == nil || current?.time != nil else {
            self = current.map(Pairing.paired) ?? .missing(nearest: nil)
            return
        }
        let nextIsNearer = next.map { distance($0, time) < (current.map { distance($0, time) } ?? .max) } ?? false
        let nearest = nextIsNearer ? next : current
        if let nearest, distance(nearest, time) <= UInt64(clamping: maxSkew) {
            self = .paired(nearest)
        } else if let current, distance(current, time) <= UInt64(clamping: holdTime) {
            self = .reused(current)
        } else {
            self = .missing(nearest: nearest.map { distance($0, time) })
        }
    }

    package var choice: Choice? {
        switch self {
        case .paired(let choice), .reused(let choice): choice
        case .missing: nil
        }
    }
}

/// Nanoseconds between a choice and a time.
private func distance(_ choice: Pairing.Choice, _ time: RunningTime) -> UInt64 {
    choice.time.map { distance($0, time) } ?? 0
}

/// Nanoseconds between two times.
package func distance(_ one: RunningTime, _ other: RunningTime) -> UInt64 {
    one > other ? UInt64(bitPattern: one &- other) : UInt64(bitPattern: other &- one)
}
