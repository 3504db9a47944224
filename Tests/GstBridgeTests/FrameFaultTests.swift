import CGStreamer
import GstBridge
import Testing

/// The error messages of faults.
@Suite struct FrameFaultTests {
    private static let faults: [FrameFault] = [
        .tooShort(bytes: 1, expected: 2), .metaDisagrees, .notMappable, .outOfMemory(bytes: 77),
        .noConversion(from: "ENCODED", to: "I420"), .contradiction("no planes"),
    ]

    private func error(_ fault: FrameFault) -> ElementError { ElementError(fault, in: "frame", "it is left out") }

    @Test(arguments: faults)
    func `a fault says what it is in and what becomes of it`(fault: FrameFault) {
        #expect(error(fault).message.contains("frame") && error(fault).message.contains("it is left out."))
        #expect(error(fault).details == fault.description)
    }

    @Test func `what has another remedy has another sentence and another code`() {
        let (unmappable, short, conversion, defect) = (
            error(.notMappable), error(.outOfMemory(bytes: 77)), error(.noConversion(from: "ENCODED", to: "I420")),
            error(.contradiction("no planes"))
        )
        #expect(unmappable.code == .resource(GST_RESOURCE_ERROR_READ) && unmappable.message.contains("mapped"))
        #expect(short.code == .resource(GST_RESOURCE_ERROR_NO_SPACE_LEFT) && short.message.contains("no memory"))
        #expect(short.details.contains("77 bytes"))
        #expect(conversion.code == .stream(GST_STREAM_ERROR_FORMAT) && conversion.message.contains("ENCODED"))
        #expect(defect.code == .core(GST_CORE_ERROR_FAILED) && defect.message.contains("Report"))
        #expect(error(.metaDisagrees).code == .stream(GST_STREAM_ERROR_FAILED))
        #expect(Set(FrameFaultTests.faults.map(\.cause)).count == FrameFaultTests.faults.count)
    }
}
