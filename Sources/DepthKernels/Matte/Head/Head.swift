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
    /// Frames in which it was seen.
    package var age = 1
    /// Frames since it was seen last, those aside in which something hides it.
    package var missed = 0
    /// Frames for which it is waited for behind what is at its place; those count three times in which nothing nearer is.
    var hidden = 0
    /// False where nothing nearer hides it, so that what is at its place may be a chair that it left.
    var isPresent = true
    /// True for the one that sets the anchor where no face does.
    var isFollowed = false
    /// True where it was a person beyond doubt in some frame, so that it may be kept beside the followed one.
    var isSure: Bool

    package init(box: Rectangle<Double>, distance: Double, logOdds: Double, width: Double) {
        self.box = box
        self.distance = distance
        self.logOdds = logOdds
        self.width = width
        isSure = logOdds > Head.sure
    }

    /// The log odds of a person beyond doubt.
    static let sure = 1.4

    /// True where less evidence suffices, and where it counts as a person.
    package var isKnown: Bool { isFollowed || age >= HeadTracker.leastAge }

    /// The probability that it is a head, 0…1.
    package var confidence: Double { 1 / (1 + exponential(-logOdds)) }

    /// True where another one is less than a box and 0.3 m away.
    func isAt(_ other: Rectangle<Double>, distance: Double) -> Bool {
        box.isAt(other, within: 1) && abs(self.distance - distance) < 0.3
    }

    /// True where another one is within some 0.4 m, so that both may be of one body.
    func isNear(_ other: Head) -> Bool {
        let (x, y) = (box.centerX - other.box.centerX, box.centerY - other.box.centerY)
        return (x * x + y * y).squareRoot() < 2.4 * other.box.width && abs(distance - other.distance) < 0.4
    }

    /// True where another one has its neck and chest.
    func isBelow(_ other: Head) -> Bool {
        let (x, y) = (box.centerX - other.box.centerX, box.centerY - other.box.centerY)
        return abs(x) < 1.5 * other.box.width && y > 0 && y < 3 * other.box.width
            && abs(distance - other.distance) < 0.3
    }
}
