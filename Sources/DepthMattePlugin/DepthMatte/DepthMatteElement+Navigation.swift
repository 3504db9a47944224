import CGStreamer
import DepthKernels
import GstBridge

/// What a user does on the picture: a click asks for the depth there and, with anchor=point, moves the anchor; the wheel
/// moves the margin, or the focus of a mask that has one; the keys 1 to 5 choose the view.
extension DepthMatteElement {
    func navigate(_ event: UnsafeMutablePointer<GstEvent>) -> Bool {
        if let gesture = pointer.gesture(event) { obey(gesture) }
        // The picture lies where the video's does, so a place in it is a place in the video. The quad is a picture of its
        // own: its places mean nothing upstream, and go on as they are.
        return pushUpstream(event, on: .video)
    }

    private func obey(_ gesture: Gesture) {
        switch gesture {
        case .press(button: 1, let place, _):
            probe.hold(place)
            click(place)
        case .move(let place, _): probe.move(to: place)
        case .release(button: 1, _, _): probe.letGo()
        case .scroll(_, let up, _): turnWheel(by: up)
        case .keyPress(let key, _): pressKey(key)
        case .press, .release, .keyRelease: break
        }
    }

    private func click(_ place: Gesture.Place) {
        let settings = table.current
        guard let answer = answer(at: place, settings) else { return }
        post(answer)
        guard settings.anchor == .point, answer.isInside else { return }
        table.update {
            $0.anchorX = answer.shareX
            $0.anchorY = answer.shareY
        }
        notify("anchor-x")
        notify("anchor-y")
    }

    /// The depth at a place of the picture that leaves; nil while none has left.
    func answer(at place: Gesture.Place, _ settings: DepthMatteSettings) -> DepthProbe.Answer? {
        probe.answer(at: place) { place, width, height in
            settings.view == .quad ? QuadView.videoPlace(place, width: width, height: height) : place
        }
    }

    private func turnWheel(by steps: Int) {
        guard steps != 0 else { return }
        let movesFocus = table.current.matte.mask != .cutoff
        table.update { settings in
            if movesFocus {
                settings.matte.focus = min(max(settings.matte.focus + Double(steps) * 0.02, 0), 1)
            } else {
                settings.margin = min(max(settings.margin + Double(steps) * 0.05, 0), 10)
            }
        }
        notify(movesFocus ? "focus" : "margin")
    }

    private func pressKey(_ key: String) {
        guard let view = MatteView.allCases.first(where: { key == "\($0.rawValue + 1)" }) else { return }
        table.update { $0.view = view }
        notify("view")
    }
}
