import CGStreamer
import GstBridge

/// The messages that GStreamer's library logs through GLib while this lives, of one level.
final class GStreamerLog {
    private let handler: guint
    private let record: Record

    private final class Record: Sendable {
        let texts = Monitor([String]())
        let matches: @Sendable (String) -> Bool

        init(_ matches: @escaping @Sendable (String) -> Bool) { self.matches = matches }
    }

    /// - Parameter matches: selects the messages that count.
    init(_ level: GLogLevelFlags, where matches: @escaping @Sendable (String) -> Bool = { _ in true }) {
        record = Record(matches)
        handler = g_log_set_handler(
            "GStreamer", level,
            { _, _, text, data in
                guard let data, let text = text.map({ String(cString: $0) }) else { return }
                let record = Unmanaged<Record>.fromOpaque(data).takeUnretainedValue()
                if record.matches(text) { record.texts.withLock { $0.append(text) } }
            }, Unmanaged.passUnretained(record).toOpaque())
    }

    deinit { g_log_remove_handler("GStreamer", handler) }

    var texts: [String] { record.texts.withLock { $0 } }

    /// The warnings of a misordered source pad of a follower. The tests' feeds misorder on purpose.
    static func ofMisorderedSources() -> GStreamerLog {
        GStreamerLog(G_LOG_LEVEL_WARNING) { text in
            text.contains("probe") || (text.contains(":src>") && Follower.factories.contains { text.contains($0) })
        }
    }
}
