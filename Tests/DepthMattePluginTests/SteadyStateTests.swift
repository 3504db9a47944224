import AllocationCounter
import CGStreamer
import GstBridge
import GstTestSupport
import TestSupport
import Testing

/// Once it runs, the element works in memory that it has.
@Suite struct SteadyStateTests {
    private static let frames = 240
    private let folder = TemporaryFolder()

    /// The properties of an element, and the video's format.
    struct Work: CustomTestStringConvertible {
        var factory = "depthmatte"
        let properties: String
        var format = "I420"
        /// Elements between the video and the element, and behind that.
        var before = ""
        var behind = ""
        var depth = "video/x-raw,format=GRAY16_LE"
        /// The frame on the background pad, if there is one.
        var background: String?
        /// The frame on the segmentation pad, if there is one.
        var segmentation: String?
        /// True where the depth map comes with the video.
        var isOneChain = false
        /// True where both come from the stand-in of a camera.
        var isCamera = false
        /// Times 320x240.
        var scale = 1
        /// The allocations of GstVideoConverter in each frame: two lists, and their sizes. Of a camera that of gst_sample_new:
        /// the map's list of parents.
        var converterCalls = 0
        /// Objects that hold the picture of the background pad.
        var holders = 0
        var testDescription: String {
            "\(factory) \(properties) \(format) \(depth) \(before)\(behind) \(background ?? "") \(segmentation ?? "") \(scale)"
                + (isCamera ? " of a camera" : "")
        }
    }

    static let works = [
        Work(properties: "anchor=auto"), Work(properties: "anchor=nearest"), Work(properties: "anchor=point"),
        Work(properties: "anchor=fixed cutoff=3 blur-radius=20 feather-far=0.2"),
        Work(properties: "anchor=fixed cutoff=3 background=$STILL"),
        Work(properties: "cutoff=3 method=fusion"), Work(properties: "cutoff=3 method=fusion", format: "RGBA"),
        Work(properties: "cutoff=3 method=fusion room-memory=learn"),
        Work(properties: "cutoff=3 method=fusion max-threads=2", format: "NV12", scale: 3),
        Work(
            properties: "cutoff=3 method=fusion max-threads=2",
            segmentation: "video/x-raw,format=GRAY8,width=97,height=51", scale: 3),
        Work(properties: "cutoff=3 method=fusion light-wrap=0.5 background-mode=blur"),
        Work(properties: "cutoff=3 method=fusion background-mode=transparent", format: "RGBA"),
        Work(properties: "cutoff=3 light-wrap=0.5 max-threads=2", format: "YUY2", scale: 3),
        Work(properties: "background-mode=transparent"), Work(properties: "view=matte"),
        Work(properties: "view=original"), Work(properties: "cutoff=3", format: "RGBA"),
        Work(properties: "cutoff=3 max-threads=2", scale: 3), Work(properties: "cutoff=3", format: "NV12"),
        Work(properties: "cutoff=3", format: "YUY2"),
        Work(properties: "mask=band-pass focus=0.4"), Work(properties: "cutoff=3 thermal=degrade"),
        Work(properties: "cutoff=3 background-mode=blur"),
        Work(properties: "cutoff=3 background-mode=blur", format: "BGRx"),
        Work(properties: "cutoff=3 background-mode=blur background-blur-depth=20"),
        Work(properties: "cutoff=3 background-mode=blur background-blur=3", format: "YUY2"),
        Work(properties: "cutoff=3 background-mode=comic"),
        Work(properties: "cutoff=3 background-mode=comic", format: "UYVY"),
        Work(properties: "cutoff=3 background-mode=comic", format: "RGBA"),
        Work(properties: "cutoff=3", background: "video/x-raw,format=I420,width=320,height=240", holders: 2),
        Work(
            properties: "cutoff=3", background: "video/x-raw,format=RGB,width=400,height=300", converterCalls: 2,
            holders: 2),
        Work(properties: "view=depth", converterCalls: 2),
        Work(properties: "view=quad cutoff=3", converterCalls: 2),
        Work(properties: "view=quad cutoff=3 background-mode=blur", format: "RGBA", converterCalls: 2),
        Work(properties: "cutoff=3", before: "tee name=both  both. ! queue ! fakesink sync=false  both. ! queue !"),
        Work(properties: "", isOneChain: true),
        Work(properties: "background-mode=blur", format: "NV12", isOneChain: true),
        Work(
            properties: "cutoff=3", format: "RGB", before: "queue !", isOneChain: true, isCamera: true,
            converterCalls: 1),
        Work(factory: "depthcolorize", properties: "range=fixed", format: "BGRx", isOneChain: true),
        Work(factory: "depthcloud", properties: "auto-pan=true", format: "BGRx", isOneChain: true),
        Work(factory: "depthcolorize", properties: "range=fixed", format: "BGRx"),
        Work(factory: "depthcolorize", properties: "range=equalize mix=1"),
        Work(
            factory: "depthcolorize", properties: "palette=viridis", behind: "video/x-raw,format=RGB !",
            converterCalls: 2),
        Work(
            factory: "depthcolorize", properties: "mix=0.3", format: "RGB", behind: "video/x-raw,format=RGBA !",
            converterCalls: 2),
        Work(
            factory: "depthcolorize", properties: "depth-kind=disparity", format: "NV12",
            depth: "video/x-raw,format=GRAY8", converterCalls: 2),
        Work(factory: "depthcloud", properties: "auto-pan=true", format: "BGRx"),
        Work(
            factory: "depthcloud", properties: "max-threads=3 yaw=20", format: "BGRx",
            behind: "video/x-raw,format=BGRx,width=640,height=480 !"),
        Work(factory: "depthcloud", properties: "colors=palette point-size=9"),
        Work(
            factory: "depthcloud", properties: "yaw=30 depth-kind=disparity", format: "RGBA",
            behind: "video/x-raw,format=RGBA,width=200,height=99 !", depth: "video/x-raw,format=GRAY8"),
        Work(factory: "depthcloud", properties: "roll=30", format: "NV12", converterCalls: 2),
    ]

    @Test(.enabled(if: allocations_of_this_thread() >= 0), arguments: works)
    func `a frame in the steady state takes no memory`(_ work: Work) throws {
        let still = folder.write("still.png", png(width: 64, height: 48) { x, y in [UInt8(x), UInt8(y), 99] })
        let properties = work.properties.split(separator: "$STILL", omittingEmptySubsequences: false).joined(
            separator: still)
        let source = "videotestsrc num-buffers=\(SteadyStateTests.frames)"
        let background = work.background.map { "\(source) pattern=snow ! \($0),framerate=30/1 ! element.background" }
        let segmentation = work.segmentation.map {
            "\(source) pattern=snow ! \($0),framerate=15/1 ! element.segmentation"
        }
        let camera = try FakeRealSense()
        camera.set("interval", 5)
        let size = work.isCamera ? (128, 96) : (320 * work.scale, 240 * work.scale)
        let (video, depth) =
            work.isCamera
            ? ("depthcamsrc driver=realsense library=\(camera.path) num-buffers=\(SteadyStateTests.frames)", "")
            : work.isOneChain
                ? ("depthtestsrc num-buffers=\(SteadyStateTests.frames)", "")
                : (source, "\(source) pattern=ball ! \(work.depth),width=160,height=120 ! element.depth")
        let pipeline = Pipeline(
            """
            \(background ?? "")
            \(segmentation ?? "")
            \(video) ! video/x-raw,format=\(work.format),width=\(size.0),height=\(size.1)
                ! identity name=video ! \(work.before) element.video
            \(depth)
            \(work.factory) name=element depth-unit=0.0001 \(properties) ! \(work.behind) fakesink name=sink sync=false
            """)
        // The thread of the source ends at the queue.
        let counts = AllocationCounts(pipeline[work.isCamera ? "video" : "sink"], frames: SteadyStateTests.frames)
        let faces = PadProbe(staticPad("src", of: pipeline["video"]), GST_PAD_PROBE_TYPE_BUFFER) { _, info in
            gst_buffer_add_video_region_of_interest_meta(gst_pad_probe_info_get_buffer(info), "face", 80, 60, 100, 100)
        }
        #expect(pipeline.run() == .ended)
        withExtendedLifetime(faces) {}
        #expect(counts.beforeFirstFrame > 0, "the counter does not count")
        let perFrame = counts.perFrame.suffix(SteadyStateTests.frames / 2)
        try #require(perFrame.count == SteadyStateTests.frames / 2)
        // GLib takes memory for its own lists of free blocks now and then: up to nine times with two threads.
        let ofGLib = perFrame.count / 10
        let total = perFrame.reduce(0, +) - (work.converterCalls + work.holders) * perFrame.count
        #expect(total <= ofGLib, "\(total) allocations in \(perFrame.count) frames")
        if work.holders > 0 { #expect(total >= -ofGLib, "\(total) allocations: not every picture is another one") }
    }
}

/// How often the streaming thread had asked for memory when each frame came by.
private final class AllocationCounts {
    private let counts: Monitor<(seen: Int, values: [Int])>
    private let probe: PadProbe

    init(_ element: UnsafeMutablePointer<GstElement>, frames: Int) {
        let counts = Monitor((seen: 0, values: [Int](repeating: 0, count: frames)))
        self.counts = counts
        probe = PadProbe(staticPad("sink", of: element), GST_PAD_PROBE_TYPE_BUFFER) { _, _ in
            counts.withLock { counts in
                guard counts.seen < counts.values.count else { return }
                counts.values[counts.seen] = allocations_of_this_thread()
                counts.seen += 1
            }
        }
    }

    /// To be read when the stream has ended, as is `perFrame`.
    var beforeFirstFrame: Int { counts.withLock { $0.values.first ?? 0 } }

    /// Allocations between each frame and the next.
    var perFrame: [Int] {
        let values = counts.withLock { $0.values.prefix($0.seen) }
        return zip(values.dropFirst(), values).map { $0 - $1 }
    }
}
