import CGStreamer
import DepthKernels
import DepthMattePlugin
import GstBridge
import GstTestSupport

/// Measures a case, with a memcpy of the same frame in turn.
func measure(_ wanted: Case, _ options: Options, _ report: Report, still: String) throws {
    let shape = wanted.video
    let ring = options.ring(frameBytes: shape.size)
    let work =
        switch wanted["work"] {
        case "in-place", "copied": try element(wanted, shape, ring, still: still)
        case "memcpy": copying(shape, ring, threads: wanted.threads, named: "ms")
        default: try kernels(wanted, shape, ring)
        }
    let labels = Axis.all.map { ($0.name, wanted[$0.name]) }
    try report.measure(labels, ring: ring, onlyOne: wanted.threads == 1, [work, copying(shape, ring)])
}

/// Copies frames from one ring to another, each in as many parts as there are threads.
func copying(_ shape: VideoShape, _ ring: Int, threads: Int = 1, named name: String = "memcpy_ms") -> Timed {
    struct Job {
        let source: UnsafeMutableRawBufferPointer
        let target: UnsafeMutableRawBufferPointer
        let parts: Int
    }
    let (sources, targets) = (FrameRing(shape, ring), FrameRing(shape, ring))
    let pool = threads > 1 ? ThreadPool(size: threads) : nil
    return Timed(name, ring: ring) { index in
        guard let pool else { return targets.bytes(index).copyMemory(from: .init(sources.bytes(index))) }
        var job = Job(source: sources.bytes(index), target: targets.bytes(index), parts: threads)
        pool.share(threads, of: &job) { job, part, _ in
            let job = job.assumingMemoryBound(to: Job.self).pointee
            /// Parts begin with a line of the cache.
            func start(_ part: Int) -> Int {
                part == job.parts ? job.source.count : job.source.count * part / job.parts & ~63
            }
            let bytes = start(part)..<start(part + 1)
            UnsafeMutableRawBufferPointer(rebasing: job.target[bytes]).copyMemory(
                from: UnsafeRawBufferPointer(rebasing: job.source[bytes]))
        }
    }
}

/// Makes mattes, blends by one matte, or both for each frame.
private func kernels(_ wanted: Case, _ shape: VideoShape, _ ring: Int) throws -> Timed {
    let maps = FrameRing(wanted.depth, ring, scene: wanted["scene"])
    let (matte, settings) = (Matte(), wanted.settings)
    func render(_ index: Int) throws {
        let frame = MatteFrame(depth: try maps.map(index), width: shape.width, height: shape.height)
        matte.render(frame, settings)
    }
    if wanted["work"] == "render" {
        return Timed("ms", ring: ring) { index in
            try render(index)
            _ = matte.finished.alpha
        }
    }
    guard let layout = VideoFormat.all.first(where: { $0.name == shape.format })?.layout else {
        throw Failure(text: "\(shape.format) is not blended")
    }
    let blender = Blender(layout: layout, width: shape.width, height: shape.height)
    let frames = FrameRing(shape, ring)
    let backgrounds = FrameRing(shape, wanted["background"] == "stream" ? ring : 1, seed: 1000)
    let rendersEach = wanted["work"] == "kernels"
    try render(0)
    return Timed("ms", ring: ring) { index in
        if rendersEach { try render(index) }
        let background = backgrounds.planes(index % backgrounds.count).readOnly
        guard blender.blend(video: frames.planes(index), background: background, matte: matte.finished) else {
            throw Failure(text: "the planes are not those of the format")
        }
    }
}

/// `depthmatte`. Where it works in place, only a frame that gains an alpha channel may leave in other memory.
private func element(_ wanted: Case, _ shape: VideoShape, _ ring: Int, still: String) throws -> Timed {
    let (isInPlace, pattern) = (wanted["work"] == "in-place", filmedScenes[wanted["scene"]])
    var properties = [
        "anchor": pattern == nil ? "fixed" : "auto", "cutoff": "\(Case.cutoff)", "blur-radius": wanted["sigma"],
        "gamma": wanted["gamma"], "upscale": wanted["upscale"], "method": wanted["method"], "detail": wanted["detail"],
        "depth-sync": wanted["depth-sync"], "max-threads": wanted["threads"], "background-mode": wanted["background"],
        "background-color": "0xff204060",
    ]
    if wanted["background"] == "image" { properties["background"] = still }
    let (video, depth) =
        try pattern.map {
            try FrameRing.filmed($0, shape, wanted.depth, ring, isWritable: isInPlace)
        } ?? (FrameRing(shape, ring, isWritable: isInPlace), FrameRing(wanted.depth, ring, scene: wanted["scene"]))
    var inputs: [ElementRig.Input] = [("video", shape.caps, video), ("depth", wanted.depth.caps, depth)]
    if wanted["background"] == "stream" {
        inputs.append(("background", shape.caps, FrameRing(shape, ring, seed: 1000)))
    }
    let rig = ElementRig("depthmatte", properties, inputs)
    let mustWorkInPlace = isInPlace && wanted["background"] != "transparent"
    /// Frames so far, those of them with depth of their own, and milliseconds of work on all.
    func totals() -> (frames: Double, paired: Double, work: Double) {
        let stats = Stats(of: rig.bench)
        let values = ["frames", "paired", "time-per-frame"].map { Double(stats[$0] ?? 0) }
        return (values[0], values[1], values[0] * values[2] / 1e6)
    }
    return Timed(leastFrames: rig.leastFrames) { frames in
        let (framesBefore, _, workBefore) = totals()
        let time = try rig.run(frames)
        let (framesAfter, paired, work) = totals()
        if mustWorkInPlace && rig.copies > 0 { throw Failure(text: "depthmatte did not work in place") }
        if framesAfter > paired { throw Failure(text: "depthmatte showed frames without their depth") }
        return ["ms": time, "own_ms": (work - workBefore) / max(framesAfter - framesBefore, 1)]
    }
}

/// An element between the tests' feeds and a probe that counts what leaves.
///
/// Some frames are kept ahead of what has left, so that nobody need be woken for every frame: to wake a sleeping
/// processor can take as long as a twentieth of the element's work.
final class ElementRig {
    typealias Input = (pad: String, caps: String, frames: FrameRing)

    let bench: Bench
    let leastFrames: Int
    private let inputs: [(feed: Feed, frames: FrameRing)]
    private let progress: Monitor<Progress>
    private let probe: PadProbe
    private var pushed = 0
    /// Frames that may be under way.
    private let lead: Int

    private struct Progress {
        /// When each frame of the round arrived behind the element, in milliseconds.
        var arrivals: [Double] = []
        /// Frames of all rounds that arrived, how many of them in other memory than they came in, and how many are waited for.
        var (total, copies, wanted) = (0, 0, 0)
    }

    /// - Parameters:
    ///   - properties: in their launch-line form; those that the element lacks are left out.
    ///   - inputs: first the pad that is always there.
    init(
        _ factory: String, _ properties: [String: String], downstream: String = "ANY", output: String = "src",
        _ inputs: [Input]
    ) {
        // GstAggregator lets as many frames wait on a pad as are due in its latency; that of a pipeline that is not live is
        // nobody's delay.
        let all = properties.merging(["latency": "1000000000"]) { $1 }
        let bench = Bench(
            inputs.dropFirst().map(\.pad), all, downstream: downstream,
            of: Bench.Kind(factory: factory, leading: inputs[0].pad, output: output))
        self.bench = bench
        self.inputs = inputs.map { (bench[$0.pad], $0.frames) }
        for input in inputs { bench[input.pad].start(input.caps) }
        let progress = Monitor(Progress())
        self.progress = progress
        let drawnOn = inputs[0].frames.addresses
        probe = PadProbe(bench.output.pad, GST_PAD_PROBE_TYPE_BUFFER) { _, info in
            let time = milliseconds()
            let memory = gst_pad_probe_info_get_buffer(info).map { gst_buffer_peek_memory($0, 0) }
            let isCopy = !drawnOn.contains(UInt(bitPattern: memory ?? nil))
            info.refuse(GST_FLOW_OK)
            progress.change(wakingIf: {
                $0.arrivals.append(time)
                $0.total += 1
                $0.copies += isCopy ? 1 : 0
                return $0.total == $0.wanted
            })
        }
        lead = max(min(inputs[0].frames.count - 1, 8), 1)
        leastFrames = max(inputs[0].frames.count, 8) + 8
    }

    /// Frames so far that left in other memory than they came in.
    var copies: Int { progress.withLock { $0.copies } }

    /// Pushes so many frames into each pad, and waits for as many; returns milliseconds for a frame.
    func run(_ frames: Int) throws -> Double {
        progress.withLock {
            $0.arrivals.removeAll(keepingCapacity: true)
            $0.arrivals.reserveCapacity(frames)
        }
        let end = pushed + frames
        let batch = max(lead / 2, 1)
        while pushed < end {
            let next = min(batch, end - pushed)
            try wait(for: pushed + next - lead)
            for _ in 0..<next {
                for (feed, ring) in inputs { feed.push(ring.buffer(pushed), at: time(ofFrame: pushed)) }
                pushed += 1
            }
        }
        try wait(for: end)
        for (feed, _) in inputs { feed.settle() }
        // Up to 8 frames (`lead`) were pushed before the first arrived, so no interval holds the time of pushing them.
        let timed = progress.withLock { $0.arrivals }.dropFirst(8)
        guard let first = timed.first, let last = timed.last else { return 0 }
        return (last - first) / Double(max(timed.count - 1, 1))
    }

    private func wait(for total: Int) throws {
        progress.withLock { $0.wanted = total }
        guard progress.wait(microseconds: 20_000_000, until: { $0.total >= total }) else {
            let flows = inputs.map { String(cString: gst_flow_get_name($0.feed.settle())) }
            throw Failure(text: "the element stopped: \(flows.joined(separator: ", "))")
        }
    }
}
