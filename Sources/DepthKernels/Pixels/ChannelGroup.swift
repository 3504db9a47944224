/// Bytes of a plane that are subsampled alike.
struct ChannelGroup {
    /// Where the first sample's byte is in a row.
    let start: Int
    /// Bytes from one channel's byte to the next's.
    let gap: Int
    /// How many channels there are.
    let offsets: Int
    /// Bytes from one sample to the next.
    let step: Int
    /// Pixels that share a sample.
    let horizontal: Int
    let vertical: Int
    /// Samples in a row.
    let count: Int

    func offset(_ channel: Int) -> Int { start &+ channel &* gap }

    static func forEach(of spread: PlaneLayout, width: Int, _ body: (ChannelGroup) -> Void) {
        let samples = groups(of: spread.columnsPerSample, in: width)
        switch spread {
        case .full, .subsampled:
            body(
                ChannelGroup(
                    start: 0, gap: 1, offsets: spread.bytesPerSample, step: spread.bytesPerSample,
                    horizontal: spread.columnsPerSample, vertical: spread.rowsPerSample, count: samples))
        case .packed422(let lumaFirst):
            let luma = lumaFirst ? 0 : 1
            body(
                ChannelGroup(
                    start: luma, gap: 2, offsets: 1, step: 2, horizontal: 1, vertical: 1, count: samples * 2))
            body(
                ChannelGroup(
                    start: 1 - luma, gap: 2, offsets: 2, step: 4, horizontal: 2, vertical: 1, count: samples))
        }
    }
}
