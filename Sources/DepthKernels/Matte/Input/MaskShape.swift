/// The shape of the threshold: the range of distances that is foreground.
package enum MaskShape: Int, Sendable, CaseIterable {
    /// Everything from the near limit to the cutoff.
    case cutoff
    /// Everything nearer than a focus.
    case highPass
    /// Everything about as near as a focus.
    case bandPass

    /// The meaning of the choice, for users.
    package var blurb: String {
        switch self {
        case .cutoff: "Everything between near and the cutoff"
        case .highPass: "Everything nearer than focus, with a soft edge of slope"
        case .bandPass: "Everything within width of focus, with soft edges of slope"
        }
    }
}
