package import CGStreamer
import CGStreamerShims

/// What goes to the bus when a stream cannot go on: a sentence for the user, then values for the developer.
package struct ElementError: Error, Equatable {
    package enum Code: Equatable, Sendable {
        case resource(GstResourceError)
        case stream(GstStreamError)
        case core(GstCoreError)

        var domain: GQuark {
            switch self {
            case .resource: gst_resource_error_quark()
            case .stream: gst_stream_error_quark()
            case .core: gst_core_error_quark()
            }
        }

        var number: CInt {
            switch self {
            case .resource(let code): CInt(bitPattern: code.rawValue)
            case .stream(let code): CInt(bitPattern: code.rawValue)
            case .core(let code): CInt(bitPattern: code.rawValue)
            }
        }
    }

    package let code: Code
    package let message: String
    package let details: String

    package init(_ code: Code, _ message: String, details: String = "") {
        self.code = code
        self.message = message
        self.details = details
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

extension Element {
    /// Puts an error on the bus; the pipeline is expected to stop.
    package func post(_ error: ElementError) { post(error, as: GST_MESSAGE_ERROR) }

    /// Puts a warning on the bus; the stream goes on.
    package func warn(_ warning: ElementError) { post(warning, as: GST_MESSAGE_WARNING) }

    private func post(_ error: ElementError, as type: GstMessageType) {
        gst_element_message_full(
            instance, type, error.code.domain, error.code.number, g_strdup(error.message),
            error.details.isEmpty ? nil : g_strdup(error.details), "", "", 0)
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
