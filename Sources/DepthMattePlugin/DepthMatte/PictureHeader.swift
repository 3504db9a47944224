/// What the first bytes of a PNG or JPEG tell before a decoder allocates anything, and whether a JPEG is all there.
///
/// GStreamer's JPEG decoders fill what is missing with grey and say nothing, so a download that broke off would become
/// a background that is half a picture. Of files of other kinds nothing is known here.
struct PictureHeader {
    /// Width times height; 0 where it is not known.
    private(set) var pixels = 0
    /// The file is a JPEG that ends before its picture does.
    private(set) var isTruncated = false

    init(path: String) {
        guard let bytes = FileBytes(path: path) else { return }
        switch (bytes.next(), bytes.next()) {
        case (0xFF, JPEGMarker.startOfImage): readJPEG(bytes)
        case (0x89, UInt8(ascii: "P")): readPNG(bytes)
        default: break
        }
    }

    /// PNG (ISO/IEC 15948, 11.2.2): the size stands 16 bytes from the start, each number in four bytes.
    private mutating func readPNG(_ bytes: FileBytes) {
        guard bytes.skip(14), let width = bytes.number(ofBytes: 4), let height = bytes.number(ofBytes: 4) else {
            return
        }
        let (product, overflow) = width.multipliedReportingOverflow(by: height)
        pixels = overflow ? .max : product
    }

    /// JPEG (ITU-T T.81, annex B): walks the markers as far as the end of the first image; what follows does not
    /// matter.
    private mutating func readJPEG(_ bytes: FileBytes) {
        var marker = nextMarker(bytes)
        while let found = marker {
            if found == JPEGMarker.endOfImage { return }
            guard let length = bytes.number(ofBytes: 2) else { break }
            guard readSegment(found, length: length - 2, bytes) else { break }
            marker = found == JPEGMarker.startOfScan ? markerAfterScan(bytes) : nextMarker(bytes)
        }
        isTruncated = true
    }

    /// Passes over a segment, and notes the size where it is the frame header; false where the file ends in it.
    private mutating func readSegment(_ marker: UInt8, length: Int, _ bytes: FileBytes) -> Bool {
        guard JPEGMarker.isFrameHeader(marker), length >= 5 else { return bytes.skip(length) }
        guard bytes.skip(1), let height = bytes.number(ofBytes: 2), let width = bytes.number(ofBytes: 2) else {
            return false
        }
        pixels = width * height
        return bytes.skip(length - 5)
    }
}

private enum JPEGMarker {
    static let startOfImage: UInt8 = 0xD8
    static let endOfImage: UInt8 = 0xD9
    static let startOfScan: UInt8 = 0xDA
    /// Stand between the stretches of one scan.
    static let restarts: ClosedRange<UInt8> = 0xD0...0xD7

    /// SOF0 to SOF15, among which stand three markers of tables.
    static func isFrameHeader(_ marker: UInt8) -> Bool {
        0xC0...0xCF ~= marker && ![0xC4, 0xC8, 0xCC].contains(marker)
    }
}

/// The code of the marker that stands here: 0xFF, any number of times, and the code.
private func nextMarker(_ bytes: FileBytes) -> UInt8? {
    guard bytes.next() == 0xFF else { return nil }
    var code = bytes.next()
    while code == 0xFF { code = bytes.next() }
    return code
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
