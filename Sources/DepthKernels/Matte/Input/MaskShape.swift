/// The shape of the threshold: which distances are foreground.
package enum MaskShape: Int, Sendable, CaseIterable {
    /// All up to the cutoff.
    case cutoff
    /// What is nearer than a focus.
    case highPass
    /// What is about as near as a focus.
    case bandPass

    /// The meaning of the choice, for users.
    package var blurb: String {
        switch self {
        case .cutoff: "Everything from near to the cutoff"
        case .highPass: "Everything nearer than focus, over a slope"
        case .bandPass: "Everything about as near as focus, over two slopes"
        }
    }
}
