/// The anchor, which the cutoff follows.
package struct AnchorSettings: Equatable, Sendable {
    package var mode = AnchorMode.auto
    /// The point of the mode `point`, in fractions 0…1 of the frame's width and height.
    package var x = 0.5
    package var y = 0.5
    package var faceSelect = FaceSelect.largest
    /// Labels that detectors give to faces, separated by commas.
    package var faceTypes: String? = "face"
    /// Labels that detectors give to whole people, separated by commas.
    package var personTypes: String? = "person"
    /// Metres from the anchor to the cutoff; of relative depth, parts of the anchor's distance.
    package var margin = 0.25
    /// Time constant of the low-pass in seconds; 0 = none.
    package var smoothing = 0.15

    package init() {}

    /// True where a head in the depth map may set the anchor.
    var searchesHeads: Bool { mode == .auto || mode == .head }
    /// True where no detector found a person, so that the heads count.
    func usesHeads(of frame: MatteFrame) -> Bool { mode == .head || frame.anchors.isEmpty }
    /// True where the anchor is a person.
    var followsPerson: Bool { searchesHeads || mode == .face }
    /// True where the anchor is a thing.
    var followsThing: Bool { mode == .nearest || mode == .point }
}

package enum AnchorMode: Int, Sendable, CaseIterable {
    case auto, face, nearest, point, fixed, head

    /// The meaning of the choice, for users.
    package var blurb: String {
        switch self {
        case .auto:
            "The face, else the head in the depth map; until one was seen the property cutoff, or of relative depth the nearest thing"
        case .face: "The face that a detector found; everything is background until one was seen"
        case .nearest: "The nearest large object in the depth map, with all that it hangs on"
        case .point: "The thing at (anchor-x, anchor-y), with all that it hangs on"
        case .fixed: "None: the property cutoff is used as it is"
        case .head: "The head in the depth map; everything is background until one was seen"
        }
    }
}

/// The face that sets the cutoff, where there are several.
package enum FaceSelect: Int, Sendable, CaseIterable {
    case largest, nearest, first, all

    /// The meaning of the choice, for users.
    package var blurb: String {
        switch self {
        case .largest: "The face with the largest box"
        case .nearest: "The face nearest to the camera"
        case .first: "The face that the detector listed first"
        case .all: "All faces: the farthest one sets the cutoff"
        }
    }
}
