import CGStreamer
import GstBridge
import GstTestSupport
import TestSupport
import Testing

/// A run of `depthmatte`, whose depth shows a person that the test knows.
final class SoakMatte: SoakRun {
    private let files = SoakFiles()
    private(set) var depth = SoakDepth()
    private(set) var marker = SoakMarker(VideoShape("RGB", 64, 48))
    /// True while the settings are such that the person's place in the picture is known.
    private(set) var isCalm = true
    /// The columns of the person in the next maps, by their share of the width.
    private var share = 0.25
    /// `stats` at the end of the last stretch.
    var counted: [String: UInt64] = [:]

    required init(_ subject: Subject, seed: UInt64, _ gone: Counter, _ buffers: LiveBuffers) {
        super.init(subject, seed: seed, gone, buffers)
        due.insert("depth pad is not linked")
        streams.request("depth", newCaps("depth"))
    }

    // MARK: Streams

    override func send(_ pad: String, _ count: Int) {
        if pad == "depth" {
            share = pick([0.25, 0.375, 0.5])
            return super.send(pad, count)
        }
        for number in Set([0, count - 1]).sorted() {
            if Int.random(in: 0..<8, using: &random) == 0 {
                streams.pushGap(over: number..<number + 1, on: pad)
            } else {
                streams.push(picture(pad), on: pad, at: streams.start(ofNext: number))
            }
        }
    }

    /// The shape of the pictures on a pad beside video and depth.
    private static func pictures(_ pad: String) -> VideoShape {
        VideoShape(pad == "segmentation" ? "GRAY8" : "RGB", 24, 20)
    }

    private func picture(_ pad: String) -> BufferRef {
        if Int.random(in: 0..<200, using: &random) == 0 {
            due.formUnion(["background", "segmentation", "face", "frame"])
            streams.counts.faultyBuffers += 1
            return guardedBuffer([1, 2, 3])
        }
        let shape = SoakMatte.pictures(pad)
        let buffer = guardedBuffer(flat(shape, pad == "background" ? [0, 0, 250] : [128, 128, 128]))
        if pad == "face" { buffer.addRegion(1, 1, 6, 6) }
        return buffer
    }

    /// A depth map.
    override func push(_ number: Int, on pad: String, _ loss: Loss) {
        let content: SoakDepth.Content =
            switch loss {
            case .unmeasured: .unmeasured
            case .noise: .noise
            case .faulty: .faulty
            default: .person(share)
            }
        let start = streams.start(ofNext: number)
        let buffer: BufferRef
        if content == .faulty && (depth.shape.width == 1 || Bool.random(using: &random)) {
            buffer = unmappableBuffer(size: depth.map(.unmeasured, &random).count)
        } else {
            buffer = guardedBuffer(depth.map(content, &random))
        }
        if content == .faulty {
            due.insert("depth pad")
            streams.counts.faultyBuffers += 1
        }
        depth.addMap(at: streams.runningTime(of: start), content)
        streams.push(buffer, on: pad, at: start)
    }

    override func sendGap(over frames: Range<Int>, on pad: String) {
        let gap = streams.pushGap(over: frames, on: pad)
        let first = streams.runningTime(of: streams.start(ofNext: frames.lowerBound))
        let last = streams.runningTime(of: streams.start(ofNext: frames.upperBound - 1))
        depth.addGap(at: streams.runningTime(of: gap.start), over: first...last)
    }

    /// A video frame that was sent, and what must become of it.
    struct Sent {
        let start: GstClockTime
        let pairing: SoakDepth.Pairing
        let isFaulty: Bool
        let outcomes: Set<SoakSettings.Outcome>
    }

    override func pass(_ count: Int, while change: (() -> Void)?) throws {
        let settings = SoakSettings(bench.element)
        var sent: [Sent] = []
        for number in 0..<count {
            change?()
            sent.append(sendVideo(number, change == nil ? settings : nil))
        }
        for frame in sent where frame.outcomes != [.dropped] {
            let bytes = try receive(frame, settings)
            if change == nil, let bytes { try checkPicture(bytes, frame, settings) }
        }
        try checkCounts(sent)
    }

    /// - Parameter settings: nil where they are not known.
    private func sendVideo(_ number: Int, _ settings: SoakSettings?) -> Sent {
        let start = streams.start(ofNext: number)
        let isFaulty = Int.random(in: 0..<300, using: &random) == 0
        let buffer: BufferRef
        if isFaulty {
            let isShort = Bool.random(using: &random) && marker.shape.width > 1
            buffer = isShort ? guardedBuffer([1, 2, 3]) : unmappableBuffer(size: marker.bytes.count)
            due.insert("frame")
            streams.counts.faultyBuffers += 1
        } else {
            buffer = guardedBuffer(marker.bytes)
        }
        if number.isMultiple(of: 3) { buffer.addRegion(2, 2, UInt32(marker.shape.width / 4), 12) }
        streams.push(buffer, on: "video", at: start)
        let pairing = depth.pairing(
            at: streams.runningTime(of: start), maxSkew: settings?.maxSkew ?? 0, holdTime: settings?.holdTime ?? 0)
        return Sent(
            start: start, pairing: pairing, isFaulty: isFaulty,
            outcomes: settings?.outcomes(pairing, isVideoFaulty: isFaulty) ?? Set(SoakSettings.Outcome.allCases))
    }

    override func newCaps(_ pad: String) -> String {
        switch pad {
        case "video":
            let sizes = [(64, 48), (64, 48), (48, 64), (33, 17), (64, 36), (1, 1), (160, 120)]
            let (width, height) = pick(sizes)
            marker = SoakMarker(VideoShape(pick(files.videoFormats), width, height))
            noteDueWarnings()
            return marker.shape.caps
        case "depth":
            depth.change(to: pick(SoakDepth.shapes))
            return depth.caps
        default: return SoakMatte.pictures(pad).caps
        }
    }

    override func release(_ pad: String) {
        super.release(pad)
        due.formUnion(["background", "depth pad is not linked"])
    }

    override func forget(_ pads: [String]) {
        super.forget(pads)
        if pads.contains("depth") { depth.reset() }
    }

    // MARK: Events

    override func happen(_ event: Event) throws {
        switch event {
        case .calm: calmDown()
        case .background: changeFile("background")
        case .refusedCaps: try refuseCaps()
        default: try super.happen(event)
        }
    }

    override func changeProperty() {
        let property = pick(settable)
        // Most of the day the settings stay such that the person's place is known.
        if isCalm && !SoakSettings.isHarmless(property.name) {
            guard Int.random(in: 0..<20, using: &random) == 0 else { return }
            isCalm = false
        }
        set(property)
    }

    override func set(_ property: SettableProperty) {
        switch property.name {
        case "background": changeFile("background")
        case "background-color":
            bench.set(property.name, "\(pick(SoakMarker.backgroundColors))")
        case "max-pixels":  // caps that are refused have an event of their own
            bench.set(property.name, "\(pick([65_536, 1 << 20, UInt32.max]))")
        case "room-picture": changeFile(property.name)
        default: super.set(property)
        }
        noteDueWarnings()
    }

    private func noteDueWarnings() {
        due.insert("room-picture")
        if propertyText("background-mode", of: bench.element) == "transparent" { due.insert("alpha channel") }
        if ["image", "stream"].contains(propertyText("background-mode", of: bench.element)) {
            due.insert("background")
        }
        if !isCalm {
            due.formUnion([
                "is not below the cutoff", "No count of the depth map", "within max-skew", "nothing is measured",
                "has no unit", "Relative depth",
            ])
        }
        if integer("max-skew", of: bench.element) < 50_000_000 { due.insert("within max-skew") }
    }

    private func calmDown() {
        isCalm = true
        for (name, value) in SoakSettings.calm { bench.set(name, value) }
        streams.counts.propertyChanges += SoakSettings.calm.count
        bench.set("method", pick(["threshold", "fusion"]))
        bench.set("background-mode", pick(["auto", "color", "image", "stream", "blur", "comic", "transparent"]))
        noteDueWarnings()
    }

    override func storm() throws {
        guard streams.left > 0, propertyText("on-missing-depth", of: bench.element) == "cover" else { return }
        isCalm = false
        due.insert("within max-skew")
        try super.storm()
    }

    private func changeFile(_ property: String) {
        let file = pick(files.all)
        if file == files.missing { due.insert("missing.png") }
        streams.note("\(property) \(file ?? "none")")
        SettableProperty.setString(bench.element, property, file)
        streams.counts.propertyChanges += 1
    }

    override func restart(_ whileStopped: () throws -> Void) throws {
        try super.restart {
            try whileStopped()
            try refuseMissingBackground()
            counted = [:]
        }
        due = ["missing.png"]
        if streams.caps["depth"] == nil { due.insert("depth pad is not linked") }
        noteDueWarnings()
    }

    /// It does not play without a background that is set, and says so.
    private func refuseMissingBackground() throws {
        guard propertyText("background", of: bench.element).contains(files.missing) else { return }
        guard gst_element_set_state(bench.element, GST_STATE_PLAYING) == GST_STATE_CHANGE_FAILURE else {
            throw fail("it plays without its background")
        }
        guard bench.bus.errors().contains(where: { $0.text.contains("missing.png") }) else {
            throw fail("no error names the background")
        }
        streams.counts.refusals += 1
        SettableProperty.setString(bench.element, "background", nil)
    }

    /// Caps that the element does not take are refused, those of depth with one error that says why; after that the streams
    /// are begun anew.
    private func refuseCaps() throws {
        let pad = pick(streams.pads)
        guard !ended.contains(pad) else { return }
        streams.note(pad)
        bench[pad].setCaps(
            "video/x-raw, format=(string)P010_10LE, width=(int)8, height=(int)8, framerate=(fraction)30/1")
        streams.push(guardedBuffer([1]), on: pad, at: streams.start(ofNext: 0))
        guard bench[pad].takeFlow() == GST_FLOW_NOT_NEGOTIATED else { throw fail("\(pad) takes any caps") }
        let errors = bench.bus.errors()
        guard errors.count == (pad == "depth" ? 1 : 0), errors.allSatisfy({ $0.text.contains("depth pad") }) else {
            throw fail("\(errors) for refused caps of \(pad)")
        }
        streams.counts.refusals += 1
        try restart {}
    }

    override func click() {
        super.click()
        // With navigation=steer it changes settings.
        if propertyText("navigation", of: bench.element) == "steer" { isCalm = false }
    }
}
