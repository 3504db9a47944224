import GstBridge

/// Which depth buffer a video frame is matted with.
enum Pairing {
    /// The nearest in time, near enough to have been made for this frame.
    case paired(FollowedInput.Entry)
    /// The newest of a slower or interrupted stream, not yet too old.
    case reused(FollowedInput.Entry)
    case missing

    /// - Parameters:
    ///   - time: the video frame's running time; nil pairs in order.
    ///   - maxSkew: nanoseconds either way within which a map counts as made for the frame.
    ///   - holdTime: nanoseconds for which the newest map serves later frames.
    init(_ input: FollowedInput, at time: RunningTime?, maxSkew: RunningTime, holdTime: RunningTime) {
        guard let time, input.current == nil || input.current?.time != nil else {
            self = input.current.map(Pairing.paired) ?? .missing
            return
        }
        let candidates = [input.current, input.next].compactMap { $0 }
        let nearest = candidates.min { distance($0, time) < distance($1, time) }
        if let nearest, distance(nearest, time) <= UInt64(clamping: maxSkew) {
            self = .paired(nearest)
        } else if let current = input.current, distance(current, time) <= UInt64(clamping: holdTime) {
            self = .reused(current)
        } else {
            self = .missing
        }
    }

    var entry: FollowedInput.Entry? {
        switch self {
        case .paired(let entry), .reused(let entry): entry
        case .missing: nil
        }
    }
}

extension Pairing {
    /// How the books name it, for a frame at `time`.
    func outcome(at time: RunningTime?) -> Statistics.Outcome {
        switch self {
        case .paired(let entry): .paired(skew: skew(entry, time))
        case .reused(let entry): .reused(skew: skew(entry, time))
        case .missing: .covered
        }
    }

    /// Nanoseconds by which the depth is later; 0 where either has no time.
    private func skew(_ entry: FollowedInput.Entry, _ time: RunningTime?) -> RunningTime {
        guard let entryTime = entry.time, let time else { return 0 }
        return entryTime &- time
    }
}

/// Nanoseconds between an entry and a time.
private func distance(_ entry: FollowedInput.Entry, _ time: RunningTime) -> UInt64 {
    guard let entryTime = entry.time else { return 0 }
    return entryTime > time
        ? UInt64(bitPattern: entryTime &- time) : UInt64(bitPattern: time &- entryTime)
}
