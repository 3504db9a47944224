package import CGStreamer
import GstBridge

/// A bus of the test's own, and what was put on it.
package final class Bus {
    package let pointer: UnsafeMutablePointer<GstBus>

    package init() {
        loadElements()
        guard let bus = gst_bus_new() else { preconditionFailure("no memory for a bus") }
        pointer = bus
    }

    /// Shares a pipeline's bus.
    init(of element: UnsafeMutablePointer<GstElement>) {
        guard let bus = gst_element_get_bus(element) else { preconditionFailure("a pipeline has a bus") }
        pointer = bus
    }

    deinit { gst_object_unref(pointer) }

    /// An error or a warning.
    package struct Report: Equatable, CustomStringConvertible {
        package let text: String
        package let details: String
        /// "gst-stream-error-quark" and the like.
        package let domain: String
        package let code: Int

        package var description: String { "\(text) (\(domain) \(code): \(details))" }
    }

    /// Errors that are there already.
    package func errors() -> [Report] { take(GST_MESSAGE_ERROR) }

    /// Warnings that are there already.
    package func warnings() -> [Report] { take(GST_MESSAGE_WARNING) }

    /// Element messages of that name that are there already, as GStreamer prints their structures.
    package func structures(_ name: String) -> [String] {
        take(GST_MESSAGE_ELEMENT).map(\.text).filter { $0.hasPrefix("\(name),") || $0 == "\(name);" }
    }

    /// Waits for an element message, for a bounded while; as GStreamer prints its structure.
    package func nextStructure() -> String? { wait(for: GST_MESSAGE_ELEMENT)?.text }

    /// How many messages of a type are there already.
    package func count(of type: GstMessageType) -> Int { take(type).count }

    /// Forgets every message that is there, so that a long test does not pile them up; returns how many were errors.
    package func discardAll() -> Int {
        var errors = 0
        while let message = gst_bus_pop(pointer) {
            if message.pointee.type == GST_MESSAGE_ERROR { errors += 1 }
            release(message)
        }
        return errors
    }

    /// Errors and warnings that are there already; every other message is forgotten.
    package func takeFaults() -> (errors: [Report], warnings: [Report]) {
        let faults = (take(GST_MESSAGE_ERROR), take(GST_MESSAGE_WARNING))
        kept.removeAll()
        return faults
    }

    /// Waits for an error, for a bounded while.
    package func nextError() -> Report? { wait(for: GST_MESSAGE_ERROR) }

    /// Waits for a warning, for a bounded while.
    package func nextWarning() -> Report? { wait(for: GST_MESSAGE_WARNING) }

    /// Waits for the end of the stream; returns the error that came in its place, if one did. Warnings are kept.
    package func waitForEnd(seconds: Int = 20) -> Outcome {
        let end = g_get_monotonic_time() + gint64(seconds) * 1_000_000
        while let message = gst_bus_timed_pop(pointer, GstClockTime(max(end - g_get_monotonic_time(), 0)) * 1000) {
            defer { release(message) }
            switch message.pointee.type {
            case GST_MESSAGE_EOS: return .ended
            case GST_MESSAGE_ERROR: return .failed(Bus.report(message))
            case GST_MESSAGE_WARNING, GST_MESSAGE_ELEMENT: kept.append((message.pointee.type, Bus.report(message)))
            default: break
            }
        }
        return .stuck
    }

    package enum Outcome: Equatable {
        case ended, stuck
        case failed(Report)

        package var error: Report? { if case .failed(let report) = self { report } else { nil } }
    }

    /// Waits until all of a pipeline's state change is done, for a bounded while.
    package func waitForAsyncDone() -> Bool { discardNext(GST_MESSAGE_ASYNC_DONE) }

    package func discardNext(_ type: GstMessageType) -> Bool {
        guard let message = gst_bus_timed_pop_filtered(pointer, patience * 1000, type) else { return false }
        release(message)
        return true
    }

    /// The format and position of a SEGMENT_DONE message.
    package struct SegmentDone: Equatable {
        package let seqnum: guint32
        /// Nanoseconds of stream time.
        package let position: gint64

        package init(seqnum: guint32, position: gint64) {
            self.seqnum = seqnum
            self.position = position
        }
    }

    /// Waits for the end of a segment, for a bounded while.
    package func nextSegmentDone() -> SegmentDone? {
        guard let message = gst_bus_timed_pop_filtered(pointer, patience * 1000, GST_MESSAGE_SEGMENT_DONE)
        else { return nil }
        defer { release(message) }
        var position: gint64 = -1
        gst_message_parse_segment_done(message, nil, &position)
        return SegmentDone(seqnum: gst_message_get_seqnum(message), position: position)
    }

    private func wait(for type: GstMessageType) -> Report? {
        guard let message = gst_bus_timed_pop_filtered(pointer, patience * 1000, type) else { return nil }
        defer { release(message) }
        return Bus.report(message)
    }

    private func take(_ type: GstMessageType) -> [Report] {
        var reports: [Report] = []
        // Filtered popping drops what does not match, so both kinds are kept apart here.
        while let message = gst_bus_pop(pointer) {
            kept.append((message.pointee.type, Bus.report(message)))
            release(message)
        }
        reports = kept.filter { $0.0 == type }.map(\.1)
        kept.removeAll { $0.0 == type }
        return reports
    }

    private var kept: [(GstMessageType, Report)] = []

    private func release(_ message: UnsafeMutablePointer<GstMessage>) {
        gst_mini_object_unref(UnsafeMutableRawPointer(message).assumingMemoryBound(to: GstMiniObject.self))
    }

    private static func report(_ message: UnsafeMutablePointer<GstMessage>) -> Report {
        var error: UnsafeMutablePointer<GError>?
        var details: UnsafeMutablePointer<CChar>?
        switch message.pointee.type {
        case GST_MESSAGE_ERROR: gst_message_parse_error(message, &error, &details)
        case GST_MESSAGE_WARNING: gst_message_parse_warning(message, &error, &details)
        case GST_MESSAGE_ELEMENT:
            let text = gst_message_get_structure(message).flatMap { takeString(gst_structure_to_string($0)) } ?? ""
            return Report(text: text, details: "", domain: "", code: 0)
        default: break
        }
        defer { if let error { g_error_free(error) } }
        return Report(
            text: error.map { String(cString: $0.pointee.message) } ?? "", details: takeString(details) ?? "",
            domain: error.map { String(cString: g_quark_to_string($0.pointee.domain)) } ?? "",
            code: error.map { Int($0.pointee.code) } ?? 0)
    }
}
