import CGStreamer
import GstBridge
import GstTestSupport
import TestSupport
import Testing

/// What an application, a user and the cameras do between two frames of a soak day.
extension SoakDay {
    enum Event: CaseIterable {
        case property, properties, storm, calm, background, seek, seekWithoutFlush, videoCaps, depthCaps, pad, stop,
            pause,
            click, reconfigure, refusedCaps

        /// How often it happens, beside the others.
        var weight: Int {
            switch self {
            case .property: 30
            case .properties, .storm: 5
            case .calm, .seek, .videoCaps, .depthCaps: 10
            case .seekWithoutFlush, .pad: 8
            case .click, .reconfigure, .pause: 3
            case .background, .stop: 2
            case .refusedCaps: 1
            }
        }
    }

    private static let events = Event.allCases.flatMap { [Event](repeating: $0, count: $0.weight) }

    func happen() throws { try happen(pick(SoakDay.events)) }

    func happen(_ event: Event) throws {
        note("\(event)")
        switch event {
        case .property: changeProperty()
        case .properties: for _ in 0..<10 { changeProperty() }
        case .storm: try storm()
        case .calm: calmDown()
        case .background: changeBackground()
        case .seek: seek(flushing: true)
        case .seekWithoutFlush: seek(flushing: false)
        case .videoCaps: changeVideo()
        case .depthCaps: changeDepth()
        case .pad: changePad()
        case .stop: try restart()
        case .pause: pause()
        case .click: click()
        case .reconfigure: gst_pad_push_event(bench.output.pad, gst_event_new_reconfigure())
        case .refusedCaps: try refuseCaps()
        }
    }

    // MARK: Settings

    private func changeProperty() {
        let property = pick(settable)
        // Most of the day the settings stay such that the person's place is known.
        if isCalm && !SoakSettings.isHarmless(property.name) {
            guard Int.random(in: 0..<20, using: &random) == 0 else { return }
            isCalm = false
        }
        set(property)
    }

    private func set(_ property: SettableProperty) {
        streams.counts.propertyChanges += 1
        switch property.name {
        case "background": changeBackground()
        case "background-color":
            bench.set(property.name, "\(pick(SoakMarker.backgroundColors))")
        case "max-pixels":  // caps that are refused have an event of their own
            bench.set(property.name, "\(pick([65_536, 1 << 20, UInt32.max]))")
        default: property.set(on: bench.element, &random)
        }
        noteDueWarnings()
    }

    func noteDueWarnings() {
        if propertyText("background-mode", of: bench.element) == "transparent" { due.insert("alpha channel") }
        if ["image", "stream"].contains(propertyText("background-mode", of: bench.element)) {
            due.insert("background")
        }
        if !isCalm {
            due.formUnion(["is not below the cutoff", "within max-skew", "nothing is measured", "has no unit"])
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

    /// Changes settings while frames are on their way.
    private func storm() throws {
        let count = min(20, streams.left)
        guard count > 0, propertyText("on-missing-depth", of: bench.element) == "cover" else { return }
        isCalm = false
        let storm = settable.filter { $0.keepsEveryFrame && !["background", "background-mode"].contains($0.name) }
        due.insert("within max-skew")
        try play(count) { [self] in set(pick(storm)) }
    }

    private func changeBackground() {
        let file = pick(files.all)
        if file == files.missing { due.insert("missing.png") }
        note("background \(file ?? "none")")
        SettableProperty.setString(bench.element, "background", file)
        streams.counts.propertyChanges += 1
    }

    // MARK: Streams

    private func seek(flushing isFlushing: Bool) {
        let starts: [GstClockTime] = [
            0, time(ofFrame: Int.random(in: 0..<864_000, using: &random)),
            // Past what 32 bits hold of milliseconds, of frames, and of anything in nanoseconds.
            4_294_967_296 * millisecond - 1000 * millisecond, time(ofFrame: 2_147_483_648 - 100), 4_000_000_000,
        ]
        let (start, rate) = (pick(starts), pick([1, 1, 1, 0.5, 2, -1]))
        note("to \(start) at \(rate)")
        if isFlushing {
            depth.reset()
            hasDepthEnded = false
        } else if hasDepthEnded || !streams.hasPlayed {
            return  // no stream goes on after its end, and without a frame between them two seeks are one
        }
        streams.seek(flushing: isFlushing, to: start, rate: rate)
    }

    private func changeVideo() {
        let sizes = [(64, 48), (64, 48), (48, 64), (33, 17), (64, 36), (1, 1), (160, 120)]
        let (width, height) = pick(sizes)
        let format = pick(files.videoFormats)
        let shape = VideoShape(format, width, height)
        note("\(shape)")
        if shape.description == marker.shape.description { return }
        marker = SoakMarker(shape)
        streams.setCaps("video", shape.caps)
        noteDueWarnings()
    }

    private func changeDepth() {
        guard streams.caps["depth"] != nil, !hasDepthEnded else { return }
        let shape = pick(SoakDepth.shapes)
        note("\(shape)")
        depth.change(to: shape)
        streams.setCaps("depth", depth.caps)
    }

    private func changePad() {
        let pad = pick(["depth", "face", "background", "segmentation"])
        note(pad)
        if streams.caps[pad] != nil {
            streams.release(pad)
            due.formUnion(["background", "depth pad is not linked"])
        } else {
            streams.request(pad, pad == "depth" ? depth.caps : SoakDay.pictures(pad).caps)
        }
        if pad == "depth" {
            depth.reset()
            hasDepthEnded = false
        }
    }

    // MARK: States

    func restart(_ whileStopped: () -> Void = {}) throws {
        try checkMessages()
        streams.stop(pick([GST_STATE_READY, GST_STATE_NULL]))
        whileStopped()
        if propertyText("background", of: bench.element).contains(files.missing) {
            guard gst_element_set_state(bench.element, GST_STATE_PLAYING) == GST_STATE_CHANGE_FAILURE else {
                throw fail("it plays without its background")
            }
            guard bench.bus.errors().contains(where: { $0.text.contains("missing.png") }) else {
                throw fail("no error names the background")
            }
            streams.counts.refusals += 1
            SettableProperty.setString(bench.element, "background", nil)
        }
        depth.reset()
        hasDepthEnded = false
        forgetCounts()
        streams.play()
        due = ["missing.png"]
        if streams.caps["depth"] == nil { due.insert("depth pad is not linked") }
        noteDueWarnings()
    }

    private func pause() {
        #expect(gst_element_set_state(bench.element, GST_STATE_PAUSED) == GST_STATE_CHANGE_SUCCESS)
        #expect(gst_element_set_state(bench.element, GST_STATE_PLAYING) == GST_STATE_CHANGE_SUCCESS)
    }

    /// Caps that the element does not take are refused, those of depth with one error that says why; after that the streams
    /// are begun anew.
    private func refuseCaps() throws {
        let pad = pick(streams.pads)
        guard pad != "depth" || !hasDepthEnded else { return }
        note(pad)
        bench[pad].setCaps(
            "video/x-raw, format=(string)P010_10LE, width=(int)8, height=(int)8, framerate=(fraction)30/1")
        streams.push(guardedBuffer([1]), on: pad, at: streams.start(ofNext: 0))
        guard bench[pad].takeFlow() == GST_FLOW_NOT_NEGOTIATED else { throw fail("\(pad) takes any caps") }
        let errors = bench.bus.errors()
        guard errors.count == (pad == "depth" ? 1 : 0), errors.allSatisfy({ $0.text.contains("depth pad") }) else {
            throw fail("\(errors) for refused caps of \(pad)")
        }
        streams.counts.refusals += 1
        try restart()
    }

    // MARK: Users

    private func click() {
        for make in [gst_navigation_event_new_mouse_button_press, gst_navigation_event_new_mouse_button_release] {
            let (x, y) = (Double.random(in: -9...200, using: &random), Double.random(in: -9...200, using: &random))
            gst_pad_push_event(bench.output.pad, make(1, x, y, GST_NAVIGATION_MODIFIER_NONE))
        }
        gst_pad_push_event(bench.output.pad, gst_navigation_event_new_key_press("4", GST_NAVIGATION_MODIFIER_NONE))
        // With navigation=steer both change settings.
        if propertyText("navigation", of: bench.element) == "steer" { isCalm = false }
    }
}
