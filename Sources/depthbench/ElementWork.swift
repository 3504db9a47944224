import CDepthMatte
import CGStreamer
import DepthMattePlugin
import GstBridge

/// Makes GStreamer and the elements of this package ready, without any plugin file of ours.
func loadElements() throws {
    gst_init(nil, nil)
    let isLoaded = gst_plugin_register_static(
        gint(GST_VERSION_MAJOR), gint(GST_VERSION_MINOR), "depthmatte", "The elements that are timed",
        { plugin in plugin.map { depthmatte_register_elements($0) } ?? 0 },
        DEPTHMATTE_VERSION, "LGPL", "gst-depthmatte", "gst-depthmatte", "https://example.org")
    if isLoaded == 0 { throw Failure.cannot("the elements cannot be registered") }
}

/// `depthmatte`, in place or not.
final class ElementWork: Workload {
    private let rig: ElementRig
    /// Only a frame that gains an alpha channel may leave in other memory than it came in.
    private let mustWorkInPlace: Bool

    /// - Parameters:
    ///   - inPlace: the element may draw on the frames.
    ///   - still: the background picture's file.
    init(_ wanted: Case, inPlace: Bool, ring: Int, still: String) throws {
        mustWorkInPlace = inPlace && wanted.background != .transparent
        var properties = [
            "anchor": "fixed", "cutoff": "\(BenchScene.cutoff)", "blur-radius": "\(wanted.sigma)",
            "gamma": "\(wanted.gamma)", "upscale": "\(wanted.upscale)", "method": "\(wanted.method)",
            "detail": "\(wanted.detail)", "max-threads": "\(wanted.threads)",
            "background-mode": wanted.background.rawValue, "background-color": "0xff204060",
        ]
        if wanted.background == .image { properties["background"] = still }
        rig = try ElementRig("depthmatte", properties)
        let (video, depth) = (try VideoShape(wanted), DepthShape(wanted))
        let size = video.layout.size
        try rig.feed(
            "video", video.caps, try FrameRing(count: ring, size: size, isWritable: inPlace, fill: fillWithNoise))
        try rig.feed(
            "depth", depth.caps, try FrameRing(count: ring, size: depth.layout.size, fill: depth.fill(wanted.scene)))
        if wanted.background == .stream {
            try rig.feed(
                "background", video.caps,
                try FrameRing(count: ring, size: size) { fillWithNoise(seed: -1 - $0, $1) })
        }
        try rig.play(orElse: "is \(still) readable by the GStreamer that is installed?")
    }

    var leastFrames: Int { rig.leastFrames }

    func run(frames: Int) throws -> Timing {
        let before = statistics()
        var timing = try rig.run(frames: frames)
        if mustWorkInPlace && rig.copies > 0 { throw Failure.cannot("depthmatte did not work in place") }
        let after = statistics()
        if after.unpaired > 0 { throw Failure.cannot("depthmatte showed frames without their depth") }
        timing.own = (after.work - before.work) / max(after.frames - before.frames, 1)
        return timing
    }

    /// Frames so far, those of them without depth of their own, and nanoseconds of work on all.
    private func statistics() -> (frames: Double, unpaired: Double, work: Double) {
        var value = GValue()
        g_value_init(&value, gst_structure_get_type())
        defer { g_value_unset(&value) }
        g_object_get_property(rig.object, "stats", &value)
        guard let structure = gst_value_get_structure(&value) else { return (0, 0, 0) }
        func count(_ field: String) -> Double {
            var number: guint64 = 0
            gst_structure_get_uint64(structure, field, &number)
            return Double(number)
        }
        let frames = count("frames")
        return (frames, frames - count("paired"), frames * count("time-per-frame"))
    }
}
