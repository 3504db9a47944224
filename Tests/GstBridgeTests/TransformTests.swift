import CGStreamer
import DepthKernels
import Foundation
import GstBridge
import GstTestSupport
import Testing

/// `Transform`, by an element of the tests' own that inverts 16-bit depth.
@Suite struct TransformTests {
    init() { DepthInverter.register() }

    /// Plays frames through the element and beside it.
    ///
    /// - Returns: the samples that came in and those that left.
    private func play(_ properties: String = "", width: Int = 33) throws -> (input: [UInt16], output: [UInt16]) {
        let folder = TemporaryFolder()
        let (input, output) = (folder["input"], folder["output"])
        let pipeline = Pipeline(
            "videotestsrc num-buffers=3 ! video/x-raw,format=GRAY16_LE,width=\(width),height=7 ! tee name=tee "
                + "tee. ! queue ! filesink location=\(input) "
                + "tee. ! queue ! depthmattetestinvert \(properties) ! filesink location=\(output)")
        #expect(pipeline.run() == .ended)
        pipeline.set(GST_STATE_NULL)
        func samples(_ path: String) throws -> [UInt16] {
            let bytes = [UInt8](try Data(contentsOf: URL(filePath: path)))
            // Rows begin at multiples of four bytes; the gaps are nobody's.
            let rowSamples = (width + 1) / 2 * 2
            return (0..<(bytes.count / 2)).filter { $0 % rowSamples < width }
                .map { UInt16(bytes[2 * $0]) | UInt16(bytes[2 * $0 + 1]) << 8 }
        }
        return (try samples(input), try samples(output))
    }

    @Test(arguments: [1, 2, 33, 640])
    func `every frame that comes in is one that leaves`(width: Int) throws {
        let (input, output) = try play(width: width)
        #expect(input.count > 0 && input.count == output.count)
        #expect(zip(input, output).allSatisfy { $1 == 65535 - $0 })
    }

    @Test func `properties are those of the table`() throws {
        let (input, output) = try play("limit=1000")
        #expect(zip(input, output).allSatisfy { $1 == 1000 - min($0, 1000) })
    }

    @Test func `times, flags and metas stay on the frame`() throws {
        let shape = DepthShape("GRAY16_LE", 3, 2)
        let bench = Bench([], of: Bench.Kind(factory: "depthmattetestinvert", leading: "sink"))
        bench.leading.start(shape)
        let buffer = guardedBuffer(shape.bytes(counts: [0, 1, 4999, 5000, 5001, 65535]))
        let pointer = buffer.pointer
        (pointer.pointee.pts, pointer.pointee.duration, pointer.pointee.offset) = (5_000, 3_000, 12)
        pointer.pointee.mini_object.flags |= GST_BUFFER_FLAG_MARKER.rawValue
        gst_buffer_add_video_region_of_interest_meta(pointer, "face", 1, 1, 2, 1)
        bench.leading.push(buffer)

        let frame = try #require(bench.output.next())
        withExtendedLifetime(frame) {
            let output = frame.buffer.pointer
            #expect(output.pointee.pts == 5_000 && output.pointee.duration == 3_000 && output.pointee.offset == 12)
            #expect(frame.buffer.flags.rawValue & GST_BUFFER_FLAG_MARKER.rawValue != 0)
            #expect(gst_buffer_get_meta(output, gst_video_region_of_interest_meta_api_get_type()) != nil)
        }
    }

    @Test func `a gap before the segment is refused`() throws {
        let shape = DepthShape("GRAY16_LE", 3, 2)
        let bench = Bench([], of: Bench.Kind(factory: "depthmattetestinvert", leading: "sink"))
        bench.leading.gap(at: 0)
        #expect(bench.leading.refusedEvents == 1)
        bench.leading.start(shape)
        bench.leading.push(shape.bytes(counts: [0, 1, 2, 3, 4, 5]), at: 0)
        _ = try #require(bench.output.next())
        bench.leading.gap(at: frameDuration)
        #expect(bench.leading.refusedEvents == 1)
    }

    @Test func `an error of a frame ends the stream with a message`() {
        let pipeline = Pipeline(
            "videotestsrc ! video/x-raw,format=GRAY16_LE ! depthmattetestinvert limit=13 ! fakesink")
        guard case .failed = pipeline.run() else {
            Issue.record("the stream went on")
            return
        }
    }

    @Test func `caps that the element refuses are an error`() {
        let pipeline = Pipeline(
            "videotestsrc ! video/x-raw,format=GRAY16_LE,width=13 ! depthmattetestinvert ! fakesink")
        guard case .failed = pipeline.run() else {
            Issue.record("the stream went on")
            return
        }
    }

    @Test func `seeks and state changes reach it`() {
        let pipeline = Pipeline(
            "videotestsrc num-buffers=20 ! video/x-raw,format=GRAY16_LE,framerate=30/1 ! depthmattetestinvert "
                + "! fakesink")
        for _ in 0..<20 {
            pipeline.set(GST_STATE_PAUSED)
            #expect(pipeline.reached() == GST_STATE_CHANGE_SUCCESS)
            #expect(pipeline.seek(to: 100_000_000))
            #expect(pipeline.reached() == GST_STATE_CHANGE_SUCCESS)
            pipeline.set(GST_STATE_NULL)
        }
        #expect(pipeline.run() == .ended)
    }
}

/// Inverts counts: `limit` − count, and 0 beyond it.
private final class DepthInverter: Transform {
    struct Settings: Sendable {
        var limit: UInt32 = 65535
    }

    private static let rows: [Property<Settings>] = [
        .uint("limit", "The count that becomes 0; 13 is an error", 0...65535, \.limit)
    ]

    private static let isRegistered: Bool = {
        loadElements()
        let caps =
            "video/x-raw, format=GRAY16_LE, width=[1, 2147483647], height=[1, 2147483647], "
            + "framerate=[0/1, 2147483647/1]"
        return ElementDefinition(
            typeName: "DepthMatteTestInvert", factory: "depthmattetestinvert", parent: .transform,
            longName: "Inverter", klass: "Filter/Video", description: "Inverts counts",
            pads: [
                PadTemplate("sink", GST_PAD_SINK, .always, "Pictures", caps: caps),
                PadTemplate("src", GST_PAD_SRC, .always, "Pictures", caps: caps),
            ],
            properties: rows, defaults: Settings(), make: { DepthInverter($0) }
        ).register(in: nil)
    }()

    static func register() { precondition(isRegistered, "the test element is not registered") }

    let instance: UnsafeMutablePointer<GstElement>
    private let table = Properties(rows, initial: Settings())
    private var layout: FrameLayout?

    var properties: any PropertyAccess { table }

    init(_ instance: UnsafeMutablePointer<GstElement>) { self.instance = instance }

    func setCaps(
        _ input: UnsafeMutablePointer<GstCaps>, _ output: UnsafeMutablePointer<GstCaps>
    ) throws(CapsRefusal) {
        let info = try videoInfo(input, maxPixels: 1 << 24)
        guard info.width != 13 else { throw CapsRefusal("13 columns") }
        layout = FrameLayout(info)
    }

    func transform(_ input: BufferPointer, into output: BufferPointer) throws(FlowStop) {
        let limit = table.current.limit
        guard let layout, limit != 13 else {
            throw .failed(ElementError(.stream(GST_STREAM_ERROR_FAILED), "The limit is 13."))
        }
        do throws(FrameFault) {
            try withFrame(reading: input, layout) { source throws(FrameFault) in
                try withFrame(changing: output, layout) { target throws(FrameFault) in
                    let (from, to) = (try source.first(), try target.first())
                    for y in 0..<layout.height {
                        for x in 0..<layout.width {
                            let count = from.row(y).loadUnaligned(fromByteOffset: 2 * x, as: UInt16.self)
                            let inverted = UInt16(truncatingIfNeeded: limit - min(UInt32(count), limit))
                            to.row(y).storeBytes(of: inverted, toByteOffset: 2 * x, as: UInt16.self)
                        }
                    }
                }
            }
        } catch {
            throw .failed(ElementError(error, in: "frame", "the stream cannot go on"))
        }
    }

    func stop() { layout = nil }
}
