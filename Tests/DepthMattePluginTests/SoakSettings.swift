import CGStreamer
import GstBridge
import GstTestSupport
import TestSupport

/// The settings of a `depthmatte` that say what a frame may show, as the element itself gives them.
struct SoakSettings {
    let view: String
    let mode: String
    let onMissingDepth: String
    let maxSkew: Int64
    let holdTime: Int64
    let invalidCount: Int
    let reusesMattes: Bool

    init(_ element: UnsafeMutablePointer<GstElement>) {
        view = propertyText("view", of: element)
        mode = propertyText("background-mode", of: element)
        onMissingDepth = propertyText("on-missing-depth", of: element)
        maxSkew = Int64(integer("max-skew", of: element))
        holdTime = Int64(integer("hold-time", of: element))
        invalidCount = integer("depth-invalid", of: element)
        reusesMattes = propertyText("thermal", of: element) == "degrade"
    }

    enum Outcome: String, CaseIterable {
        case paired, reused, covered, passed, dropped
    }

    /// What may become of a frame, as `stats` counts it.
    func outcomes(_ pairing: SoakDepth.Pairing, isVideoFaulty: Bool) -> Set<Outcome> {
        if view == "original" { return isVideoFaulty ? [.passed, .covered] : [.passed] }
        var matted: Outcome
        switch pairing {
        case .missing:
            switch onMissingDepth {
            case "pass": return isVideoFaulty ? [.passed, .covered] : [.passed]
            case "drop": return [.dropped]
            default: return [.covered]
            }
        case .paired(.faulty), .reused(.faulty): return reusesMattes ? [.covered, .reused] : [.covered]
        case .paired: matted = .paired
        case .reused: matted = .reused
        }
        if isVideoFaulty { return reusesMattes ? [.covered, .reused] : [.covered] }
        // Without an anchor everything is background.
        return reusesMattes ? [matted, .reused, .covered] : [matted, .covered]
    }

    /// True where some of the room may be seen in a frame.
    func mayShowRoom(_ pairing: SoakDepth.Pairing, isVideoFaulty: Bool, isDepthFloat: Bool) -> Bool {
        if isVideoFaulty { return false }
        if view == "original" { return true }
        switch pairing {
        case .paired(.faulty), .reused(.faulty): return reusesMattes
        case .missing where onMissingDepth == "pass": return true
        case .missing: break
        case .paired(.unmeasured), .reused(.unmeasured):
            if !isDepthFloat && ![0, -2].contains(invalidCount) { return true }
        case .paired, .reused: return true
        }
        return view == "quad" || view == "composite" && (mode == "blur" || mode == "comic")
    }

    // MARK: Changes

    /// Settings under which a map's near columns are the person, to the pixel, and nothing else is.
    static let calm = [
        "method": "threshold", "anchor": "fixed", "cutoff": "1", "near": "0", "mask": "cutoff", "blur-radius": "0",
        "gamma": "1", "feather-near": "0", "feather-far": "0", "invert": "false", "depth-kind": "metric",
        "depth-unit": "0", "depth-bias": "0", "depth-invalid": "-2", "depth-fit": "stretch", "depth-offset-x": "0",
        "depth-offset-y": "0", "depth-scale": "1", "view": "composite", "light-wrap": "0", "settle": "0",
        "segmentation-weight": "0", "background-mode": "auto", "on-missing-depth": "cover", "max-skew": "50000000",
        "hold-time": "500000000", "navigation": "probe", "thermal": "ignore", "decontaminate": "0",
        "room-memory": "off", "depth-fov": "0",
    ]

    /// Properties that leave calm settings calm.
    private static let harmless: Set<String> = [
        "method", "background-color", "background-fit", "background-blur", "background-blur-depth", "detail",
        "max-threads", "upscale", "stats-interval", "attach-matte", "face-select", "face-types", "person-types",
        "margin",
        "anchor-x", "anchor-y", "anchor-smoothing", "max-skew", "hold-time", "on-missing-depth", "max-pixels", "slope",
        "width", "focus", "subject", "background",
    ]

    static func isHarmless(_ name: String) -> Bool { harmless.contains(name) }
}
