/// The input of a matte: one depth map and the video frame that it belongs to.
package struct MatteFrame {
    package let depth: DepthImage
    /// The frame's own pixels, for stages that use color; nil where they are not available.
    package let video: VideoPicture?
    /// The size of the video in pixels, clamped to 1…`VideoPicture.largestSide`.
    package let width: Int
    package let height: Int
    /// Faces, in video pixels.
    package let faces: [Rectangle<Double>]
    /// The upper bodies of people whom a detector found (`Rectangle.upperBody`), in video pixels.
    package let people: [Rectangle<Double>]
    /// The output of a segmentation network, a byte for each pixel: 0 = room, 255 = person. It covers the whole frame, at a size of its
    /// own. Nil for none.
    package let segmentation: Plane?
    /// A picture of the room without anybody, in the video's format, which takes the place of what is remembered; nil for none.
    package let room: VideoPicture?
    /// Running time in nanoseconds; nil where the frame has none.
    package let time: Int64?
    /// The same of its depth map; nil where the two are not to be compared.
    package let depthTime: Int64?
    /// The heads that the depth map shows, or what hides them, in video pixels, the followed one first; none where they are not
    /// searched. Set by `Matte`.
    var shownHeads: [Head] = []
    /// True where a detector's face chose the followed head: then the others are other people. Set by `Matte`.
    var isHeadChosen = false
    /// Seconds since the frame before, negative where time went back; nil where unknown. Set by `Matte`.
    var elapsed: Double?

    package init(
        depth: DepthImage, video: VideoPicture? = nil, width: Int, height: Int, faces: [Rectangle<Double>] = [],
        people: [Rectangle<Double>] = [], segmentation: Plane? = nil, room: VideoPicture? = nil,
        time: Int64? = nil, depthTime: Int64? = nil
    ) {
        self.depth = depth
        self.video = video
        self.width = min(max(width, 1), VideoPicture.largestSide)
        self.height = min(max(height, 1), VideoPicture.largestSide)
        self.faces = faces
        self.people = people
        self.segmentation = segmentation
        self.room = room
        self.time = time
        self.depthTime = depthTime
    }

    /// The boxes that may set the anchor: a face is a better sign of a person than a body.
    var anchors: [Rectangle<Double>] { faces.isEmpty ? people : faces }

    /// The heads that count as people.
    var heads: some BidirectionalCollection<Head> { shownHeads.lazy.filter { $0.isPresent && $0.isKnown } }

    /// A box of `anchors` as the depth map has it: the head at the place of a face; else the box with the distance in it.
    ///
    /// - Returns: nil where nothing in the box was measured.
    func face(_ box: Rectangle<Double>, in field: DepthField) -> Anchor.Face? {
        if !faces.isEmpty, let head = head(at: box) {
            return Anchor.Face(box: head.box, distance: head.distance, detected: box)
        }
        return faceDepth(
            in: field.image, scale: field.scale, placement: field.placement, box: box, among: anchors.count
        ).map { Anchor.Face(box: box, distance: $0) }
    }

    /// The head at the place of a detected face, whose box may be a quarter of its side off and hold an arm before the chin.
    func head(at box: Rectangle<Double>) -> Head? {
        let size = (box.width + box.height) / 2
        var best: (head: Head, offset: Double)?
        for head in shownHeads
        where head.isPresent && head.logOdds > 0 && size < 2 * head.box.width && head.box.width < 2 * size {
            let offset = max(abs(head.box.centerX - box.centerX), abs(head.box.centerY - box.centerY))
            let reach = MatteFrame.reach * (size + head.box.width) / 2
            if offset < min(reach, best?.offset ?? .infinity) { best = (head, offset) }
        }
        return best?.head
    }

    /// Of the mean side of a face and a head at the same place, the distance of their middles at most.
    private static let reach = 0.6
}

extension Rectangle<Double> {
    var centerX: Double { x + width / 2 }
    var centerY: Double { y + height / 2 }

    /// True where the center of another box is less than a share of this one's sides off.
    func isAt(_ other: Rectangle<Double>, within share: Double) -> Bool {
        abs(other.centerX - centerX) < share * width && abs(other.centerY - centerY) < share * height
    }

    /// The head and chest in the box of a person: the middle half of its width and the upper half of its height, where a
    /// person is seen whether they stand, sit or hold out their arms.
    ///
    /// - Returns: nil where nothing of the box is in the frame.
    package func upperBody(frameWidth: Int, frameHeight: Int) -> Rectangle<Double>? {
        // Detectors draw boxes of people beyond the frame.
        let (left, right) = (max(x, 0), min(x + width, Double(frameWidth)))
        let (top, bottom) = (max(y, 0), min(y + height, Double(frameHeight)))
        guard left < right, top < bottom else { return nil }
        return Rectangle(
            x: left + (right - left) / 4, y: top, width: (right - left) / 2, height: (bottom - top) / 2)
    }
}
