import CGStreamer
import DepthKernels
import GstBridge
import GstTestSupport
import Testing

/// What kernels keep is never more than was asked for before they ran.
@Suite(.serialized) struct MemoryBoundTests {
    /// The sizes of video and depth.
    struct Sizes: CustomTestStringConvertible {
        let video: (width: Int, height: Int)
        let depth: (width: Int, height: Int)
        var testDescription: String { "\(video.width)x\(video.height), depth \(depth.width)x\(depth.height)" }
    }

    static let sizes = [
        Sizes(video: (1, 1), depth: (1, 1)), Sizes(video: (64, 48), depth: (640, 480)),
        Sizes(video: (1280, 720), depth: (640, 480)), Sizes(video: (1280, 720), depth: (1280, 720)),
        Sizes(video: (2000, 2), depth: (3, 1000)), Sizes(video: (640, 480), depth: (16, 12)),
        Sizes(video: (64, 48), depth: (2000, 3)),
    ]

    private func pipeline(_ work: String, _ sizes: Sizes) -> Pipeline {
        let size = { (size: (width: Int, height: Int)) in "width=\(size.width),height=\(size.height)" }
        return Pipeline(
            "videotestsrc num-buffers=3 pattern=ball ! video/x-raw,\(size(sizes.video)) ! element.video "
                + "videotestsrc num-buffers=3 pattern=ball ! video/x-raw,format=GRAY16_LE,\(size(sizes.depth)) "
                + "! element.depth \(work) name=element depth-unit=0.0001 ! fakesink sync=false")
    }

    /// Bytes that the kernels of a pipeline keep in the end.
    private func kept(_ work: String, _ sizes: Sizes) throws -> Int {
        let before = scratchBytes
        let pipeline = pipeline(work, sizes)
        #expect(pipeline.run(patience: 60) == .ended)
        defer { pipeline.set(GST_STATE_NULL) }
        return scratchBytes - before
    }

    static let mattes = [
        "method=threshold cutoff=3", "method=threshold cutoff=3 blur-radius=50 light-wrap=1", "cutoff=3 max-threads=4",
        "cutoff=3 light-wrap=1 decontaminate=1 background-mode=blur background-blur=100 background-blur-depth=50",
        "cutoff=3 background-mode=comic method=threshold light-wrap=1", "cutoff=3 view=quad background-mode=blur",
        "cutoff=3 background-mode=transparent attach-matte=true light-wrap=1", "view=depth",
        "anchor=nearest subject=anchored", "cutoff=3 detail=half invert=true", "cutoff=3 room-memory=learn",
    ]

    @Test(arguments: sizes, mattes) func `a matte`(sizes: Sizes, work: String) throws {
        let kept = try kept("depthmatte \(work)", sizes)
        let threads = work.contains("max-threads=4") ? 4 : 2
        let bound = KernelMemory.matte(
            depth: size(sizes.depth), video: size(sizes.video), threads: threads,
            remembersRoom: work.contains("room-memory"))
        #expect(1...bound ~= kept, "\(kept) of \(bound) bytes")
    }

    @Test func `a room that was captured and is in use`() throws {
        let before = scratchBytes
        let (video, depth) = (VideoShape("RGB", 1280, 720), DepthShape("GRAY16_LE", 640, 480))
        let bench = Bench(
            ["depth"],
            ["cutoff": "1.5", "anchor": "fixed", "method": "fusion", "room-memory": "learn", "max-threads": "1"])
        bench.depth.start(depth)
        bench.video.start(video)
        let picture = noise(video, seed: 1)
        let wall = depth.bytes(counts: [Int](repeating: 3000, count: 640 * 480))
        bench.emit("capture-room")
        for frame in 0..<16 { _ = try #require(bench.pair(frame, depth: wall, video: picture)) }
        let map = depth.bytes(counts: sceneCounts(640, 480))
        for frame in 16..<26 { _ = try #require(bench.pair(frame, depth: map, video: picture)) }
        #expect(try #require(Stats(of: bench).real("room-known")) > 0)
        let kept = scratchBytes - before
        let sizes = (KernelMemory.Size(width: 640, height: 480), KernelMemory.Size(width: 1280, height: 720))
        let bound = KernelMemory.matte(depth: sizes.0, video: sizes.1, threads: 1, remembersRoom: true)
        #expect(1...bound ~= kept, "\(kept) of \(bound) bytes")
    }

    @Test(arguments: ["background-mode=transparent", "attach-matte=true", "view=matte"])
    func `a fused matte is kept once`(look: String) throws {
        let sizes = Sizes(video: (1280, 720), depth: (64, 48))
        let composite = try kept("depthmatte method=fusion cutoff=3", sizes)
        let kept = try kept("depthmatte method=fusion cutoff=3 \(look)", sizes)
        #expect(kept < composite + 1280 * 720 / 2, "\(kept) and \(composite) bytes")
    }

    @Test func `a matte that was in every mode`() throws {
        let before = scratchBytes
        let (video, depth) = (VideoShape("I420", 640, 480), DepthShape("GRAY16_LE", 640, 480))
        let bench = Bench(["depth"], ["cutoff": "0.8", "anchor": "fixed"])
        bench.depth.start(depth)
        bench.video.start(video)
        let (picture, map) = (noise(video, seed: 1), depth.bytes(counts: sceneCounts(640, 480)))
        var frame = 0
        for method in ["threshold", "fusion"] {
            for look in ["color", "blur", "comic", "transparent"] {
                for view in ["composite", "depth", "quad"] {
                    for (name, value) in [
                        "method": method, "background-mode": look, "view": view, "light-wrap": "0.5",
                        "background-blur-depth": "20",
                    ] { bench.set(name, value) }
                    _ = try #require(bench.pair(frame, depth: map, video: picture))
                    frame += 1
                }
            }
        }
        let size = KernelMemory.Size(width: 640, height: 480)
        #expect(scratchBytes - before <= KernelMemory.matte(depth: size, video: size, threads: 1))
    }

    @Test(arguments: sizes, ["range=equalize", "range=fixed mix=0.3 depth-kind=disparity", "palette=hue mix=1"])
    func `colors`(sizes: Sizes, work: String) throws {
        let kept = try kept("depthcolorize \(work)", sizes)
        let canvas = size(sizes.video)
        let bound = KernelMemory.colors(depth: size(sizes.depth), canvas: canvas)
        #expect(1...bound ~= kept, "\(kept) of \(bound) bytes")
    }

    @Test(arguments: sizes, ["point-size=64 max-threads=4", "colors=palette range=equalize max-threads=1", "roll=30"])
    func `a cloud`(sizes: Sizes, work: String) throws {
        let kept = try kept("depthcloud \(work)", sizes)
        let threads = work.contains("max-threads=4") ? 4 : work.contains("max-threads=1") ? 1 : 2
        let bound = KernelMemory.cloud(depth: size(sizes.depth), canvas: size(sizes.depth), threads: threads)
        #expect(1...bound ~= kept, "\(kept) of \(bound) bytes")
    }

    private func size(_ size: (width: Int, height: Int)) -> KernelMemory.Size {
        KernelMemory.Size(width: size.width, height: size.height)
    }
}
