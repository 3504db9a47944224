import CGStreamer
import DepthKernels
import GstBridge
import Synchronization

/// Reads the depth under the pointer: on the sink's thread at a click, and for each frame while the button is held.
///
/// Any thread. The last depth map is kept, so that a click on a paused picture is answered.
final class DepthProbe: Sendable {
    /// The depth at a position in the video.
    struct Answer: Equatable {
        /// Video pixels.
        let x: Double
        let y: Double
        /// The same as shares of the video's width and height.
        let shareX: Double
        let shareY: Double
        /// The median of the measured samples around the position; nil if there are none.
        let metres: Double?

        var isInside: Bool { 0...1 ~= shareX && 0...1 ~= shareY }
    }

    private struct State {
        /// The position where the button is held, in output pixels.
        var held: Gesture.Place?
        /// Owns a reference.
        var depth: DepthFrame?
        /// The video's size; 0 before the first frame.
        var width = 0
        var height = 0
    }

    private let state = Mutex(State())

    deinit { forget() }

    // MARK: The pointer

    func hold(_ place: Gesture.Place) { state.withLock { $0.held = place } }

    /// - Returns: true if the button was held.
    func move(to place: Gesture.Place) -> Bool {
        state.withLock { state in
            guard state.held != nil else { return false }
            state.held = place
            return true
        }
    }

    /// - Returns: true if the button was held.
    @discardableResult
    func letGo() -> Bool {
        state.withLock { state in
            defer { state.held = nil }
            return state.held != nil
        }
    }

    var held: Gesture.Place? { state.withLock { $0.held } }

    // MARK: The depth

    /// Sets the frame that is shown now: its depth, if it has any, and the video's size.
    func show(_ depth: DepthFrame?, width: Int, height: Int) {
        if let depth { ref(depth.buffer) }
        let old = state.withLock { state in
            defer { (state.depth, state.width, state.height) = (depth, width, height) }
            return state.depth
        }
        if let old { unref(old.buffer) }
    }

    /// Keeps a copy of the map, so that the camera gets its buffer back. Streaming thread.
    func copyDepth(by copies: DepthCopies) {
        // Only this thread takes the reference away.
        let (depth, width, height) = state.withLock { ($0.depth, $0.width, $0.height) }
        if let depth { show(copies.copy(of: depth), width: width, height: height) }
    }

    /// Forgets the last frame, after a flush or stop.
    func forget() { show(nil, width: 0, height: 0) }

    /// Returns the depth at a position.
    ///
    /// - Parameter videoPlace: converts a position in the output to one in the video of a given size.
    /// - Returns: nil before the first frame.
    func answer(
        at place: Gesture.Place, videoPlace: (Gesture.Place, _ width: Int, _ height: Int) -> Gesture.Place
    ) -> Answer? {
        let (depth, width, height) = state.withLock { state in
            if let depth = state.depth { ref(depth.buffer) }
            return (state.depth, state.width, state.height)
        }
        defer { if let depth { unref(depth.buffer) } }
        guard width > 0, height > 0 else { return nil }
        let place = videoPlace(place, width, height)
        let (shareX, shareY) = (place.x / Double(width), place.y / Double(height))
        let metres = try? depth?.withImage { image in
            depth.flatMap {
                pointDepth(
                    in: image, scale: $0.reading.scale, placement: $0.placement(videoWidth: width, videoHeight: height),
                    x: shareX, y: shareY)
            }
        }
        return Answer(x: place.x, y: place.y, shareX: shareX, shareY: shareY, metres: metres ?? nil)
    }
}

extension Element {
    /// Tells the application what was read at a click: the element message `depth-probe`, with the place, whether
    /// anything was measured there, and the distance in metres, or 0.
    func post(_ answer: DepthProbe.Answer) {
        guard let structure = gst_structure_new_empty("depth-probe") else { return }
        structure.set("x", to: answer.x)
        structure.set("y", to: answer.y)
        structure.set("measured", to: answer.metres != nil)
        structure.set("metres", to: answer.metres ?? 0)
        post(gst_message_new_element(object, structure))
    }
}
