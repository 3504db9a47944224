/// A head in a depth map.
package struct Head: Equatable, Sendable {
    /// The face, as face detectors draw it: a square, in depth pixels.
    package var box: Rectangle<Double>
    /// Metres; the median of the head's samples.
    package var distance: Double
    /// The log odds that it is a head.
    package var logOdds: Double
    /// Metres.
    package var width: Double
    /// Frames in which it was seen without a break.
    package var age = 1
    /// Frames since it was seen last.
    package var missed = 0

    package init(box: Rectangle<Double>, distance: Double, logOdds: Double, width: Double) {
        self.box = box
        self.distance = distance
        self.logOdds = logOdds
        self.width = width
    }

    /// The probability that it is a head, 0…1.
    package var confidence: Double { 1 / (1 + exponential(-logOdds)) }

    /// True where it is a person beyond doubt, so that it may be kept beside the followed one.
    var isSure: Bool { confidence > 0.8 }

    /// True where another one is less than a box and 0.3 m away.
    func isAt(_ other: Head) -> Bool { isAt(other.box, distance: other.distance) }

    func isAt(_ other: Rectangle<Double>, distance: Double) -> Bool {
        abs(box.x + box.width / 2 - other.x - other.width / 2) < box.width
            && abs(box.y + box.height / 2 - other.y - other.height / 2) < box.height
            && abs(self.distance - distance) < 0.3
    }
}
