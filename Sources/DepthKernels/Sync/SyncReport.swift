/// By how much depth is late, and how far beside the video it lies, as `SyncEstimate` measured it.
package struct SyncReport: Equatable, Sendable {
    /// Reports so far.
    package var number = 0
    /// Nanoseconds, and their standard error: above 0 the depth map shows what the video showed before.
    package var lag: Int64 = 0
    package var lagError: Int64 = 0
    package var isLagKnown = false
    /// True where the lag is known and large enough to show.
    package var isLate = false
    package var x = Shift()
    package var y = Shift()
    /// The share of edges, 0…1, that the outline lies on.
    package var match = 0.0

    package init(number: Int = 0) { self.number = number }

    /// An offset along an axis, to be added to the place of the depth map.
    package struct Shift: Equatable, Sendable {
        /// Video pixels.
        package var pixels = 0.0
        /// Video pixels of a cell, twice the finest step of `pixels`.
        package var cell = 1.0
        package var isKnown = false
        /// True where it is known and more than the fusion mends.
        package var isBeside = false
        /// True where it is known and worth a correction: more than the error of real maps.
        package var isMoved: Bool { isKnown && abs(pixels) > cell }
    }
}
