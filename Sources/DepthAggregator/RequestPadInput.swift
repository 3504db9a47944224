package import CGStreamer
package import GstBridge

/// A request pad as a secondary input, with the format that its caps stated.
///
/// Where the pad does not exist, or leads, its buffers come with those of the leading pad (`takeAttached`).
///
/// Streaming thread only.
package struct RequestPadInput<Format>: ~Copyable {
    /// The raw value of its role.
    private let role: Int
    private let holdsThroughGaps: Bool
    /// Nil where the pad does not exist.
    private var linked: SecondaryInput?
    /// The format of the pad's caps; nil before any.
    private var linkedFormat: Format?
    /// The caps and format of what was attached last; nil before anything was.
    private var attached: (caps: CapsRef, format: Format)?
    /// What is attached to the current frame. (Not in an optional of its own: Swift 6.3 then leaks what it replaces.)
    private var attachedEntry: SecondaryInput.Entry?

    /// - Parameters:
    ///   - role: of the pad.
    ///   - holdsThroughGaps: true where a gap leaves the buffer before it valid, as with a picture that does not move.
    package init(_ role: some PadRole, holdsThroughGaps: Bool = false) {
        self.role = role.rawValue
        self.holdsThroughGaps = holdsThroughGaps
    }

    /// True where the pad existed at the last `refresh`.
    package var exists: Bool { linked != nil }

    /// The format of its buffers; nil before caps.
    package var format: Format? { exists ? linkedFormat : attached?.format }

    /// What `body` reads of the pad; nil where there is none.
    private func ifLinked<Result>(_ body: (borrowing SecondaryInput) -> Result?) -> Result? {
        switch linked {
        case .some(let linked): body(linked)
        case .none: nil
        }
    }

    /// Notes that the pad came or went since the last time.
    package mutating func refresh(_ element: some ReferencePadAggregator) {
        guard let pad = element.streams.pads[number: role] else {
            linked = nil
            return
        }
        if linked?.pad == pad.pad { return }
        attached = nil
        attachedEntry = nil
        linked = SecondaryInput(pad, holdsThroughGaps: holdsThroughGaps)
        linkedFormat = nil
    }

    /// Sets the format and drops the buffers taken so far, because they have the old one.
    package mutating func setFormat(_ format: Format, _ element: some ReferencePadAggregator) {
        refresh(element)
        linkedFormat = format
        linked?.reset()
    }

    /// True while the pad has brought nothing for a frame. See `SecondaryInput.isEmpty`.
    package func isEmpty(in element: some ReferencePadAggregator, at moment: Moment) -> Bool {
        ifLinked { $0.isEmpty(in: element, at: moment) } ?? false
    }

    /// Takes the buffers that are older than a moment from the pad. See `SecondaryInput.approach`.
    package mutating func approach(_ moment: Moment, in element: some ReferencePadAggregator) throws(FlowStop) {
        try linked?.approach(moment, in: element)
    }

    /// Brings the pad up to a moment. See `SecondaryInput.advance`.
    package mutating func advance(in element: some ReferencePadAggregator, to moment: Moment, mayWait: Bool)
        throws(FlowStop)
    {
        try linked?.advance(in: element, to: moment, mayWait: mayWait)
    }

    /// Takes the buffer that comes with a frame of the leading pad, for that frame alone. A frame that comes without one gets
    /// no older one: the field of view may have changed.
    ///
    /// - Parameters:
    ///   - content: nil for a frame that comes without a buffer.
    ///   - read: the meaning of the caps; asked where they are others than the last.
    /// - Returns: true where the format is another than the last; false where the pad leads, as its caps set the format.
    package mutating func takeAttached(
        _ content: SampleMeta.Content?, at moment: Moment,
        _ read: (CapsPointer) throws(CapsRefusal) -> Format
    ) throws(CapsRefusal) -> Bool {
        attachedEntry = nil
        guard let content else { return false }
        let hasOtherFormat =
            !exists && (attached.map { gst_caps_is_equal($0.caps.pointer, content.caps) == 0 } ?? true)
        if hasOtherFormat { attached = (CapsRef(sharing: content.caps), try read(content.caps)) }
        let time = moment.time.flatMap { time in content.skew.map { time &+ $0 } }
        if !content.buffer.isGap {
            attachedEntry = SecondaryInput.Entry(buffer: OwnedBuffer(sharing: content.buffer), time: time)
        }
        return hasOtherFormat
    }

    package mutating func dropAttached() { attachedEntry = nil }

    /// The buffer that holds now.
    package var currentChoice: Pairing.Choice? {
        Pairing.Choice(attachedEntry) ?? ifLinked { $0.currentChoice }
    }

    /// The buffer that goes with the frame of the moment that the pad was last brought to.
    package func pairing(at moment: Moment, maxSkew: GstClockTime, holdTime: GstClockTime) -> Pairing {
        var (current, next) = (currentChoice, ifLinked { $0.nextChoice })
        // What is attached may be of a later time.
        if !exists, let stamp = current?.time, let time = moment.time, stamp > time { (current, next) = (nil, current) }
        return Pairing(
            current, next, at: moment.time, maxSkew: RunningTime(clamping: maxSkew),
            holdTime: RunningTime(clamping: holdTime))
    }

    /// Forgets what was taken: it belongs to a stream that is over.
    package mutating func reset() {
        linked?.reset()
        attachedEntry = nil
    }
}

extension RequestPadInput where Format: Equatable {
    /// The same, but only where the format differs.
    package mutating func setFormatIfNew(_ format: Format, _ element: some ReferencePadAggregator) {
        refresh(element)
        if self.format != format { setFormat(format, element) }
    }
}
