/// The interpolation from the depth map's size to the video's.
package enum Upscale: Int, Sendable, CaseIterable {
    /// Keys' cubic with B = 0, C = 0.75: four taps along each axis.
    case bicubic
    /// Two taps along each axis.
    case bilinear

    /// The meaning of the choice, for users.
    package var blurb: String {
        switch self {
        case .bicubic: "Cubic convolution with B = 0, C = 0.75"
        case .bilinear: "Bilinear interpolation"
        }
    }
}
