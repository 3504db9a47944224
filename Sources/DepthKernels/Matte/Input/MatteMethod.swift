/// The method that computes a matte.
package enum MatteMethod: Int, Sendable, CaseIterable {
    case threshold, fusion

    /// The meaning of the choice, for users.
    package var blurb: String {
        switch self {
        case .threshold: "Depth alone: a blurred threshold, as in Apple's sample"
        case .fusion: "Depth and color: depth finds the person, the video's colors find the edge"
        }
    }
}

/// The resolution of the grid that a fused matte is computed on.
package enum MatteDetail: Int, Sendable, CaseIterable {
    /// The caller chooses `full` or `half` for each frame; here `auto` counts as `full`.
    case auto, full, half

    /// The largest number of samples along the longer side.
    var longest: Int {
        switch self {
        case .auto, .full: 768
        case .half: 320
        }
    }

    /// The meaning of the choice, for users.
    package var blurb: String {
        switch self {
        case .auto: "full; half in a live pipeline while frames take too long (see detail in the property stats)"
        case .full: "The depth map's own resolution, up to 768 samples wide"
        case .half: "At most 320 samples wide: faster, softer detail"
        }
    }
}

/// The objects in front of the cutoff that are kept.
package enum SubjectChoice: Int, Sendable, CaseIterable {
    /// With `anchor=nearest` and `point` the anchored thing is kept, else the anchored person.
    case all, anchored

    /// The meaning of the choice, for users.
    package var blurb: String {
        switch self {
        case .all: "Everything nearer than the cutoff"
        case .anchored: "The object connected in depth to the anchored face, without the floor and other people"
        }
    }
}
