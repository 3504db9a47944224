/// The turn or mirroring that makes a photograph stand upright (Exif 2.3, tag 0x0112). The raw values are the tag's.
enum PictureOrientation: Int {
    case upright = 1
    case mirrored, turned, flipped, transposed, turnedLeft, transversed, turnedRight

    /// The value of `video-direction` of GStreamer's `videoflip` that does it.
    var videoDirection: String {
        switch self {
        case .upright: "identity"
        case .mirrored: "horiz"
        case .turned: "180"
        case .flipped: "vert"
        case .transposed: "ul-lr"
        case .turnedLeft: "90r"
        case .transversed: "ur-ll"
        case .turnedRight: "90l"
        }
    }
}

extension ByteReader {
    /// Reads the orientation out of a JPEG's segment; nil where that is not Exif or does not say it. GStreamer's JPEG
    /// decoders do not look at it.
    ///
    /// - Parameter end: of the segment, in bytes.
    func readExifOrientation(upTo end: Int) -> PictureOrientation? {
        guard number(ofBytes: 6) == 0x4578_6966_0000 else { return nil }  // Exif, 0, 0
        let start = position
        let order = number(ofBytes: 2)
        guard order == 0x4949 || order == 0x4D4D else { return nil }  // II or MM
        func value(_ count: Int) -> Int? { number(ofBytes: count, smallestFirst: order == 0x4949) }
        guard value(2) == 42, let offset = value(4), seek(to: start + offset), let entries = value(2) else {
            return nil
        }
        for _ in 0..<entries {
            guard position + 12 <= end, let tag = value(2), let type = value(2), skip(4), let orientation = value(2),
                skip(2)
            else { return nil }
            if tag == 0x0112 { return type == 3 ? PictureOrientation(rawValue: orientation) : nil }
        }
        return nil
    }
}
