/// Whether the file is a JPEG that ends before its picture does.
///
/// GStreamer's JPEG decoders fill what is missing with grey and say nothing, so a download that broke off would become
/// a background that is half a picture. This walks the markers (ITU-T T.81, annex B) as far as the end of the first
/// image; what other data follows does not matter. A file of another kind is not a truncated JPEG.
func isTruncatedJPEG(path: String) -> Bool {
    guard let bytes = FileBytes(path: path), bytes.next() == 0xFF, bytes.next() == JPEGMarker.startOfImage else {
        return false
    }
    var marker = nextMarker(bytes)
    while let found = marker {
        if found == JPEGMarker.endOfImage { return false }
        guard skipSegment(bytes) else { return true }
        marker = found == JPEGMarker.startOfScan ? markerAfterScan(bytes) : nextMarker(bytes)
    }
    return true
}

private enum JPEGMarker {
    static let startOfImage: UInt8 = 0xD8
    static let endOfImage: UInt8 = 0xD9
    static let startOfScan: UInt8 = 0xDA
    /// Stand between the stretches of one scan.
    static let restarts: ClosedRange<UInt8> = 0xD0...0xD7
}

/// The code of the marker that stands here: 0xFF, any number of times, and the code.
private func nextMarker(_ bytes: FileBytes) -> UInt8? {
    guard bytes.next() == 0xFF else { return nil }
    var code = bytes.next()
    while code == 0xFF { code = bytes.next() }
    return code
}

/// Passes over a segment, whose first two bytes are its length with themselves counted.
private func skipSegment(_ bytes: FileBytes) -> Bool {
    guard let high = bytes.next(), let low = bytes.next() else { return false }
    return bytes.skip((Int(high) << 8 | Int(low)) - 2)
}

/// Passes over compressed data, in which 0xFF stands only before 0 or a restart, to the marker that ends it.
private func markerAfterScan(_ bytes: FileBytes) -> UInt8? {
    var previous: UInt8 = 0
    while let byte = bytes.next() {
        if previous == 0xFF, byte != 0, byte != 0xFF, !JPEGMarker.restarts.contains(byte) { return byte }
        previous = byte
    }
    return nil
}
