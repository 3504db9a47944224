/// The channels of a plane that have the same subsampling: a loop over the groups of each plane treats every format alike.
/// `ByteRole` tells what a byte means, where that matters.
struct ChannelGroup {
    /// Byte offset of the first channel's first sample in a row.
    let start: Int
    /// Bytes from one channel to the next.
    let gap: Int
    let channelCount: Int
    /// Bytes from one sample to the next.
    let step: Int
    /// Pixels that share a sample, along a row and along a column.
    let horizontal: Int
    let vertical: Int
    /// Samples in a row. Packed 4:2:2 of odd width has one sample of luma more than pixels.
    let count: Int

    func offset(_ channel: Int) -> Int { start &+ channel &* gap }

    static func forEach(of planeLayout: PlaneLayout, width: Int, _ body: (ChannelGroup) -> Void) {
        let samples = groups(of: planeLayout.columnsPerSample, in: width)
        switch planeLayout {
        case .full, .subsampled:
            body(
                ChannelGroup(
                    start: 0, gap: 1, channelCount: planeLayout.bytesPerSample, step: planeLayout.bytesPerSample,
                    horizontal: planeLayout.columnsPerSample, vertical: planeLayout.rowsPerSample, count: samples))
        case .packed422(let lumaFirst):
            let luma = lumaFirst ? 0 : 1
            body(
                ChannelGroup(
                    start: luma, gap: 2, channelCount: 1, step: 2, horizontal: 1, vertical: 1, count: samples * 2))
            body(
                ChannelGroup(
                    start: 1 - luma, gap: 2, channelCount: 2, step: 4, horizontal: 2, vertical: 1, count: samples))
        }
    }
}
