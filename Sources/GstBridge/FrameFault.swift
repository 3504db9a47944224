import CGStreamer
package import DepthKernels

/// Why a frame could not be worked on. It costs that frame, not the stream, where another can be drawn in its place.
package enum FrameFault: Error, Equatable {
    /// The buffer's memory ends before the picture does.
    case tooShort(bytes: Int, layout: FrameLayout)
    /// The buffer's GstVideoMeta contradicts the caps or itself.
    case metaDisagrees
    /// The buffer's memory cannot be read or written by the processor.
    case notMappable
    /// There is no memory for that many bytes.
    case outOfMemory(bytes: Int)
    /// GstVideoConverter has no way from one format to the other.
    case noConversion(from: String, to: String)
    /// An invariant of the element does not hold; in words for the developer.
    case contradiction(String)
}

extension FrameFault: CustomStringConvertible {
    package var description: String {
        switch self {
        case .tooShort(let bytes, let layout) where bytes >= layout.size:
            "its planes do not lie within the \(bytes) bytes that the buffer holds"
        case .tooShort(let bytes, let layout):
            "the buffer holds \(bytes) bytes where its caps need \(layout.size), in rows of "
                + layout.planes.map { "\($0.stride)" }.joined(separator: ", ")
                + (bytes == layout.pictureSize ? " bytes, which are padded to multiples of 4" : " bytes")
        case .metaDisagrees: "the buffer's GstVideoMeta contradicts its caps"
        case .notMappable: "the buffer's memory cannot be mapped"
        case .outOfMemory(let bytes): "there is no memory for \(bytes) bytes"
        case .noConversion(let from, let to): "GstVideoConverter does not convert \(from) to \(to)"
        case .contradiction(let words): words
        }
    }

    fileprivate var code: ElementError.Code {
        switch self {
        case .tooShort, .metaDisagrees: .stream(GST_STREAM_ERROR_FAILED)
        case .notMappable: .resource(GST_RESOURCE_ERROR_READ)
        case .outOfMemory: .resource(GST_RESOURCE_ERROR_NO_SPACE_LEFT)
        case .noConversion: .stream(GST_STREAM_ERROR_FORMAT)
        case .contradiction: .core(GST_CORE_ERROR_FAILED)
        }
    }

    /// The kind of the fault, without the numbers and words that differ from frame to frame.
    package var cause: String {
        switch self {
        case .tooShort: "short"
        case .metaDisagrees: "meta"
        case .notMappable: "map"
        case .outOfMemory: "memory"
        case .noConversion: "conversion"
        case .contradiction: "contradiction"
        }
    }
}

extension ElementError {
    /// Explains a fault to the user, and what can be done about it.
    ///
    /// - Parameters:
    ///   - what: what the fault is in, as a noun with its pad: "frame on the video pad", "background".
    ///   - consequence: what becomes of the picture or the stream, as a clause.
    package init(
        _ fault: FrameFault, in what: String, _ consequence: String, file: StaticString = #fileID,
        function: StaticString = #function, line: Int = #line
    ) {
        let sentence =
            switch fault {
            case .tooShort, .metaDisagrees: "A \(what) is faulty: \(fault); \(consequence)."
            case .notMappable:
                "The memory of a \(what) cannot be mapped; \(consequence). "
                    + "Make the element before this one send ordinary memory."
            case .outOfMemory:
                "There is no memory to work on a \(what); \(consequence). Smaller pictures need less of it."
            case .noConversion(let from, let to):
                "A \(what) in \(from) cannot be converted to \(to); \(consequence). Send it in another format."
            case .contradiction:
                "This element has a defect that shows in a \(what); \(consequence). Report it with the details."
            }
        self.init(fault.code, sentence, details: fault.description, file: file, function: function, line: line)
    }
}

/// Runs `body`, which draws something for which there is no fallback: a fault ends the stream with an error.
///
/// - Parameter what: the picture, as a noun.
package func drawWithoutFallback<Result: ~Copyable>(
    _ what: @autoclosure () -> String, _ body: () throws(FrameFault) -> Result
) throws(FlowStop) -> Result {
    do throws(FrameFault) {
        return try body()
    } catch {
        throw .failed(ElementError(error, in: what(), "the stream cannot go on"))
    }
}

extension Planes {
    /// The first plane, which every format has.
    package func first() throws(FrameFault) -> Element {
        guard let plane = self[0] else { throw .contradiction("a frame has no planes") }
        return plane
    }
}
