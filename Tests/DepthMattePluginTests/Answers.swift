import CGStreamer
import GstBridge
import GstTestSupport
import Synchronization

/// A pad may be asked while it is given its answer, and GstPad has no lock for that.
private let answering = Mutex(())

/// Lets a test answer the queries that reach a pad; nil leaves the answer to the pad.
func answerQueries(
    on pad: UnsafeMutablePointer<GstPad>, _ answer: @escaping (UnsafeMutablePointer<GstQuery>) -> Bool?
) {
    let made = Unmanaged.passRetained(Answer(answer)).toOpaque()
    answering.withLock { _ in }  // what was made is seen by whoever takes the lock after this
    gst_pad_set_query_function_full(
        pad,
        { pad, parent, query in
            answering.withLock { _ in }
            guard let query, let data = pad?.pointee.querydata else { return 0 }
            let answer = Unmanaged<Answer>.fromOpaque(data).takeUnretainedValue().answer
            return answer(query).map { $0 ? 1 : 0 } ?? gst_pad_query_default(pad, parent, query)
        }, made,
        { data in if let data { Unmanaged<Answer>.fromOpaque(data).release() } })
}

private final class Answer {
    let answer: (UnsafeMutablePointer<GstQuery>) -> Bool?

    init(_ answer: @escaping (UnsafeMutablePointer<GstQuery>) -> Bool?) { self.answer = answer }
}

/// The answer to a LATENCY query.
struct Latency: Equatable {
    var isLive = true
    var least: GstClockTime
    var most: GstClockTime = noClockTime

    static let still = Latency(isLive: false, least: 0)
}

extension Latency {
    /// Milliseconds of a live input; nil for no upper limit.
    init(_ least: GstClockTime, _ most: GstClockTime? = nil) {
        self.init(least: least * millisecond, most: most.map { $0 * millisecond } ?? noClockTime)
    }
}

extension Feed {
    /// Makes this the latency of what is upstream.
    func answerLatency(_ latency: Latency) {
        answerQueries(on: pad) { query in
            guard query.pointee.type == GST_QUERY_LATENCY else { return nil }
            gst_query_set_latency(query, latency.isLive ? 1 : 0, latency.least, latency.most)
            return true
        }
    }

    /// Asks the pad for buffers; nil where it does not answer.
    func proposal(for caps: String?) -> Proposal? {
        let caps = caps.flatMap { gst_caps_from_string($0) }
        defer { if let caps { gst_caps_unref(caps) } }
        guard let query = gst_query_new_allocation(caps, 1) else { return nil }
        defer { gst_query_unref(query) }
        guard gst_pad_peer_query(pad, query) != 0 else { return nil }
        return Proposal(
            takesVideoMeta: gst_query_find_allocation_meta(query, gst_video_meta_api_get_type(), nil) != 0,
            pools: Int(gst_query_get_n_allocation_pools(query)))
    }

    struct Proposal: Equatable {
        let takesVideoMeta: Bool
        let pools: Int
    }
}

extension Bench {
    /// The latency that downstream is told; nil where the query fails.
    func latency() -> Latency? {
        guard let query = gst_query_new_latency() else { return nil }
        defer { gst_query_unref(query) }
        guard gst_pad_peer_query(output.pad, query) != 0 else { return nil }
        var (isLive, least, most): (gboolean, GstClockTime, GstClockTime) = (0, 0, 0)
        gst_query_parse_latency(query, &isLive, &least, &most)
        return Latency(isLive: isLive != 0, least: least, most: most)
    }
}

/// Every event that reaches a pad, with its seqnum; and how many buffers did.
final class PassingEvents {
    private let probe: PadProbe
    private let record: Monitor<Record>

    struct Record {
        var events: [(type: GstEventType, seqnum: UInt32)] = []
        var buffers = 0
    }

    init(_ pad: UnsafeMutablePointer<GstPad>) {
        let record = Monitor(Record())
        self.record = record
        probe = PadProbe(
            pad, GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM, GST_PAD_PROBE_TYPE_EVENT_UPSTREAM, GST_PAD_PROBE_TYPE_EVENT_FLUSH,
            GST_PAD_PROBE_TYPE_BUFFER
        ) { _, info in
            if info.isOfBuffer {
                record.withLock { $0.buffers += 1 }
            } else if let event = gst_pad_probe_info_get_event(info) {
                let (type, seqnum) = (event.pointee.type, event.pointee.seqnum)
                record.withLock { $0.events.append((type, seqnum)) }
            }
        }
    }

    var buffers: Int { record.withLock { $0.buffers } }
    var types: [GstEventType] { record.withLock { $0.events.map(\.type) } }

    func seqnums(of type: GstEventType) -> [UInt32] {
        record.withLock { $0.events.filter { $0.type == type }.map(\.seqnum) }
    }
}

extension Feed {
    /// Takes no event from downstream from now on, as a source that knows nothing of any.
    func refuseUpstreamEvents() {
        gst_pad_set_event_function_full(
            pad,
            { _, _, event in
                if let event { gst_event_unref(event) }
                return 0
            }, nil, nil)
    }
}
