import CGStreamer
import GstBridge
import Testing

/// The error messages of faults.
@Suite struct FrameFaultTests {
    /// Two rows of three bytes, padded to four.
    private static func tooShort(_ bytes: Int) -> FrameFault {
        .tooShort(bytes: bytes, layout: FrameLayout(width: 3, height: 2, bytesPerSample: 1, rowAlignment: 4))
    }

    private static let faults: [FrameFault] = [
        tooShort(1), .metaDisagrees, .notMappable, .outOfMemory(bytes: 77),
        .noConversion(from: "ENCODED", to: "I420"), .contradiction("no planes"),
    ]

    private func error(_ fault: FrameFault) -> ElementError { ElementError(fault, in: "frame", "it is left out") }

    @Test(arguments: faults)
    func `a fault says what it is in and what becomes of it`(fault: FrameFault) {
        #expect(error(fault).message.contains("frame") && error(fault).message.contains("it is left out."))
        #expect(error(fault).details == fault.description)
    }

    @Test func `a short buffer is told with the bytes of it and of its rows, and what a lack of padding is`() {
        let short = "the buffer holds 5 bytes where its caps need 8, in rows of 4 bytes"
        #expect(error(FrameFaultTests.tooShort(5)).message == "A frame is faulty: \(short); it is left out.")
        let tight = error(FrameFaultTests.tooShort(6)).message
        #expect(
            tight.contains("holds 6 bytes") && tight.contains("rows of 4 bytes, which are padded to multiples of 4"),
            "\(tight)")
        // A meta that puts the planes elsewhere.
        let moved = error(FrameFaultTests.tooShort(8)).message
        #expect(moved.contains("do not lie within the 8 bytes") && !moved.contains("caps need"), "\(moved)")
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
