package import CGStreamer
import CGStreamerShims

/// An error message for the bus: a sentence for the user, then values for the developer.
package struct ElementError: Error, Equatable {
    package enum Code: Equatable, Sendable {
        case resource(GstResourceError)
        case stream(GstStreamError)
        case core(GstCoreError)

        package static var settings: Code { .resource(GST_RESOURCE_ERROR_SETTINGS) }

        var numbers: (domain: GQuark, code: CInt) {
            switch self {
            case .resource(let code): (gst_resource_error_quark(), CInt(bitPattern: code.rawValue))
            case .stream(let code): (gst_stream_error_quark(), CInt(bitPattern: code.rawValue))
            case .core(let code): (gst_core_error_quark(), CInt(bitPattern: code.rawValue))
            }
        }
    }

    package let code: Code
    package let message: String
    package let details: String
    /// Where in the source the error was found, as messages show it.
    private let origin: (file: StaticString, function: StaticString, line: CInt)

    package init(
        _ code: Code, _ message: String, details: String = "", file: StaticString = #fileID,
        function: StaticString = #function, line: Int = #line
    ) {
        self.code = code
        self.message = message
        self.details = details
        origin = (file, function, CInt(clamping: line))
    }

    /// Equal errors say the same, wherever they were found.
    package static func == (one: ElementError, two: ElementError) -> Bool {
        one.code == two.code && one.message == two.message && one.details == two.details
    }

    fileprivate func post(on element: ElementPointer, as type: GstMessageType) {
        gst_element_message_full(
            element, type, code.numbers.domain, code.numbers.code, g_strdup(message),
            details.isEmpty ? nil : g_strdup(details), origin.file.characters, origin.function.characters, origin.line)
    }
}

/// Why a streaming function did not produce its buffer.
package enum FlowStop: Error {
    /// Not a fault: come back when the pads hold more.
    case needData
    case endOfStream
    /// Caps that cannot be worked with; the reason goes to the bus.
    case notNegotiated(ElementError)
    /// A push or a pool answered with something other than OK: whoever answered has said why.
    case refused(GstFlowReturn)
    /// Our own fault, not on the bus yet.
    case failed(ElementError)
}

extension MessageSource {
    /// Puts an error on the bus; the pipeline is expected to stop.
    package func post(_ error: ElementError) { error.post(on: instance, as: GST_MESSAGE_ERROR) }

    /// Puts a message on the bus, and takes ownership of it.
    package func post(_ message: UnsafeMutablePointer<GstMessage>?, seqnum: guint32? = nil) {
        guard let message else { return }
        if let seqnum { gst_message_set_seqnum(message, seqnum) }
        gst_element_post_message(instance, message)
    }

    /// Puts a warning on the bus; the stream goes on.
    package func warn(_ warning: ElementError) { warning.post(on: instance, as: GST_MESSAGE_WARNING) }
}

extension Element {
    /// Puts what `body` throws on the bus, and returns false.
    package func succeeds(_ body: () throws(ElementError) -> Void) -> Bool {
        do throws(ElementError) {
            try body()
            return true
        } catch {
            post(error)
            return false
        }
    }

    /// The one place where a Swift error of a streaming function becomes a flow return.
    package func flow(_ body: () throws(FlowStop) -> Void) -> GstFlowReturn {
        do throws(FlowStop) {
            try body()
            return GST_FLOW_OK
        } catch {
            switch error {
            case .needData: return GSTSHIMS_AGGREGATOR_FLOW_NEED_DATA
            case .endOfStream: return GST_FLOW_EOS
            case .notNegotiated(let reason):
                post(reason)
                return GST_FLOW_NOT_NEGOTIATED
            case .refused(let reason): return reason
            case .failed(let failure):
                post(failure)
                return GST_FLOW_ERROR
            }
        }
    }
}
