/// The shape of the threshold: the range of distances that is foreground.
package enum MaskShape: Int, Sendable, CaseIterable {
    case cutoff, highPass, bandPass

    /// The meaning of the choice, for users.
    package var blurb: String {
        switch self {
        case .cutoff: "Everything between near and the cutoff"
        case .highPass: "Everything nearer than focus, with a soft edge of slope"
        case .bandPass: "Everything within width of focus, with soft edges of slope"
        }
    }
}
