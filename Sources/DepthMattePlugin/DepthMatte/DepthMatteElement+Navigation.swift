import CGStreamer
import DepthAggregator
import DepthKernels
import GstBridge

/// Navigation events from the video sink, as far as the property `navigation` allows: a click posts the depth at that point
/// and, with `anchor=point`, moves the anchor; the wheel changes `margin`, or `focus` with a mask about a focus; the keys 1
/// to 5 choose the view.
extension DepthMatteElement {
    func navigationEvent(_ event: EventPointer) -> Bool {
        let isUsed = use(event)
        // Positions in the output are positions in the video. Those in the quad mean nothing upstream, but are forwarded
        // unchanged.
        return pushUpstream(event, on: .video) || isUsed
    }

    private func use(_ event: EventPointer) -> Bool {
        let settings = table.current
        guard settings.navigation != .none else {
            pointer.letGo()
            probe.letGo()
            return false
        }
        guard let gesture = pointer.gesture(event) else { return false }
        return probeDepth(gesture, settings) || (settings.navigation == .steer && steer(gesture, settings))
    }

    // MARK: Probe

    /// Handles a gesture of the depth probe: button 1 posts the depth at the pointer.
    ///
    /// - Returns: true if the probe used the gesture.
    private func probeDepth(_ gesture: Gesture, _ settings: DepthMatteSettings) -> Bool {
        switch gesture {
        case .press(button: 1, let place, _):
            probe.hold(place)
            click(place, settings)
            return true
        case .move(let place, _): return probe.move(to: place)
        case .release(button: 1, _, _): return probe.letGo()
        case .press, .release, .scroll, .keyPress, .keyRelease: return false
        }
    }

    private func click(_ place: Gesture.Place, _ settings: DepthMatteSettings) {
        guard let answer = answer(at: place, settings) else { return }
        post(answer)
        guard settings.navigation == .steer, settings.matte.anchor.mode == .point, answer.isInside else { return }
        table.update {
            $0.matte.anchor.x = answer.shareX
            $0.matte.anchor.y = answer.shareY
        }
        notify("anchor-x")
        notify("anchor-y")
    }

    /// Returns the depth at a position in the output; nil before the first picture.
    func answer(at place: Gesture.Place, _ settings: DepthMatteSettings) -> DepthProbe.Answer? {
        probe.answer(at: place) { place, width, height in
            settings.view == .quad ? QuadView.videoPlace(place, width: width, height: height) : place
        }
    }

    // MARK: Steering

    private func steer(_ gesture: Gesture, _ settings: DepthMatteSettings) -> Bool {
        switch gesture {
        case .scroll(_, let up, _): return turnWheel(by: up, movesFocus: settings.matte.mask != .cutoff)
        case .keyPress(let key, _): return pressKey(key)
        case .press, .release, .move, .keyRelease: return false
        }
    }

    private func turnWheel(by steps: Int, movesFocus: Bool) -> Bool {
        guard steps != 0 else { return false }
        table.update { settings in
            if movesFocus {
                settings.matte.focus = min(max(settings.matte.focus + Double(steps) * 0.02, 0), 1)
            } else {
                settings.matte.anchor.margin = min(max(settings.matte.anchor.margin + Double(steps) * 0.05, 0), 10)
            }
        }
        notify(movesFocus ? "focus" : "margin")
        return true
    }

    private func pressKey(_ key: String) -> Bool {
        guard let view = MatteView.allCases.first(where: { key == "\($0.rawValue + 1)" }) else { return false }
        table.update { $0.view = view }
        notify("view")
        return true
    }
}
