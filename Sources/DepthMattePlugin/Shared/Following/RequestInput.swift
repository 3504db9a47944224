import CGStreamer
import GstBridge

/// A pad that comes and goes on request, as the streaming thread follows it, and what its caps said.
///
/// Streaming thread only.
struct RequestInput<Format>: ~Copyable {
    private struct Linked: ~Copyable {
        var followed: FollowedInput
        /// Nil until caps came.
        var format: Format?
    }

    private let name: StaticString
    private let holdsThroughGaps: Bool
    private var linked: Linked?

    /// - Parameters:
    ///   - role: of the pad.
    ///   - holdsThroughGaps: whether a gap leaves the buffer before it in force, as with a picture that just does not
    ///     move.
    init(_ role: some PadRole, holdsThroughGaps: Bool = false) {
        name = role.name
        self.holdsThroughGaps = holdsThroughGaps
    }

    /// Whether the pad was there at the last `refresh`.
    var isThere: Bool { linked != nil }

    /// What the pad's caps say about its buffers; nil until they came.
    var format: Format? {
        switch linked {
        case .some(let linked): linked.format
        case .none: nil
        }
    }

    /// Notes that the pad came or went since the last time.
    mutating func refresh(_ element: any Aggregator) {
        guard let pad = element.sinkPad(name) else {
            linked = nil
            return
        }
        if linked?.followed.pad == pad.pad { return }
        linked = Linked(followed: FollowedInput(pad, holdsThroughGaps: holdsThroughGaps), format: nil)
    }

    /// New caps on the pad: what came before them means something else.
    mutating func setFormat(_ format: Format, _ element: any Aggregator) {
        refresh(element)
        linked?.format = format
        linked?.followed.reset()
    }

    /// Whether the pad has brought nothing yet for a moment. See `FollowedInput.isEmpty`.
    func isEmpty(in element: any Aggregator, at moment: Moment) -> Bool {
        switch linked {
        case .some(let linked): linked.followed.isEmpty(in: element, at: moment)
        case .none: false
        }
    }

    /// Brings the pad up to a moment. See `FollowedInput.advance`.
    mutating func advance(in element: any Aggregator, to moment: Moment, mayWait: Bool) throws(FlowStop) {
        try linked?.followed.advance(in: element, to: moment, mayWait: mayWait)
    }

    /// The buffer that holds now.
    var currentChoice: Pairing.Choice? {
        switch linked {
        case .some(let linked): linked.followed.currentChoice
        case .none: nil
        }
    }

    /// The buffer that goes with the frame of the moment that the pad was last brought to.
    func pairing(at moment: Moment, maxSkew: GstClockTime, holdTime: GstClockTime) -> Pairing {
        switch linked {
        case .some(let linked):
            Pairing(
                linked.followed, at: moment.time, maxSkew: RunningTime(clamping: maxSkew),
                holdTime: RunningTime(clamping: holdTime))
        case .none: .missing
        }
    }

    /// Forgets what was taken: it belongs to a stream that is over.
    mutating func reset() { linked?.followed.reset() }
}

extension RequestInput where Format: Equatable {
    /// Caps on the pad: where they say something new, what came before them means something else.
    mutating func setFormatIfNew(_ format: Format, _ element: any Aggregator) {
        refresh(element)
        if self.format != format { setFormat(format, element) }
    }
}
