/// The picture of a video camera in a fifth of the light.
///
/// Shot noise has a variance in proportion to the light. In codes with a gamma of 2 its deviation is the same for all
/// of them; read noise, the same in all light, is larger in dark codes. Both deviations are chosen such that
/// the noise is never below 3 of 255 and about 5 where it is darkest.
struct VideoNoise {
    let hash: FrameHash

    /// Keeps the noise apart from that of the depth.
    private static let salt: UInt32 = 0x2c1b_3c6d
    /// √(1/5), as codes have a gamma of 2.
    private static let dimming: Float = 0.447
    private static let shot: Float = 3.2
    /// Deviation times code; codes below `darkest` have that of `darkest`.
    private static let (read, darkest): (Float, Float) = (50, 12)

    init(seed: UInt32, frame: UInt64) { hash = FrameHash(seed: seed ^ VideoNoise.salt, frame: frame) }

    func apply(to pixels: inout [Color], row: Int) {
        let bits = hash.row(row)
        for column in pixels.indices {
            var color = pixels[column] * VideoNoise.dimming
            for channel in 0..<3 {
                let read = VideoNoise.read / max(color[channel], VideoNoise.darkest)
                let deviation = (VideoNoise.shot * VideoNoise.shot + read * read).squareRoot()
                color[channel] += deviation * bits.normal(column &* 3 &+ channel)
            }
            pixels[column] = color
        }
    }
}
