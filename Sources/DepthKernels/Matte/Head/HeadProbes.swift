/// The evidence that a cell is the middle of a head: depths about it, compared with its own.
///
/// The places are metres from the middle, x right and y down, for a head of size 1:
///
///           crown
///       left  rim  right     rim and core lie on the head; crown, left and right are farther away or holes
///             core
///             neck
///      shoulder  shoulder    neck, chest and shoulders are about as far away as the head
///             chest
///
/// A difference of depths between two places that move with 1 / z: Shotton et al., "Real-time human pose recognition in parts
/// from single depth images", CVPR 2011, eq. 1. The weights were fitted by logistic regression to shared and ray-cast maps.
struct HeadProbes {
    /// Metres by which depths of one head differ at most: 0.10 + 0.01 z². The square is the sensor's noise: Khoshelham and
    /// Elberink, "Accuracy and resolution of Kinect depth data", Sensors 2012.
    @inline(__always)
    static func tolerance(_ metres: Float) -> Float { 0.10 + 0.01 * metres * metres }

    /// The sizes of a head that are tried.
    static var sizes: InlineArray<3, Double> { [0.8, 1, 1.25] }
    /// In place of a difference of depths.
    private static var hole: Float { -1e3 }
    private static var outside: Float { 1e3 }
    /// The log odds of any cell.
    private static var prior: Float { -1.2 }
    /// Log odds less for a head whose crown the picture's border cuts off.
    private static var cut: Float { 1.5 }
    /// The places around a head that must lie in the picture.
    private static var leastAround: Float { 6 }
    /// The most that neck, chest and shoulders can add.
    private static var mostOfBody: Float { 4 }

    private let cells: DepthField.Cells
    private let places: ScratchList<Place>.Elements

    /// A place, in units of 2⁻²⁸ m.
    struct Place {
        let x: Int64
        let y: Int64

        init(_ x: Double, _ y: Double) {
            (self.x, self.y) = (Int64((x * 0x1p28).rounded()), Int64((y * 0x1p28).rounded()))
        }

        static func ellipse(_ radiusX: Double, _ radiusY: Double, _ degrees: Double) -> Place {
            Place(radiusX * sine(degrees: degrees), -radiusY * cosine(degrees: degrees))
        }
    }

    /// Lists the places, in the order of the ranges below.
    static func list(_ places: inout ScratchList<Place>) {
        places.removeAll(most: 47)
        for angle in [45.0, 68, 90, 112] { places.append(.ellipse(0.13, 0.16, -angle)) }
        for angle in [45.0, 68, 90, 112] { places.append(.ellipse(0.13, 0.16, angle)) }
        for angle in [-22.0, 0, 22] { places.append(.ellipse(0.13, 0.16, angle)) }
        places.append(Place(0, 0))
        for index in 0..<6 { places.append(.ellipse(0.035, 0.045, Double(index) * 60)) }
        for index in 0..<9 { places.append(.ellipse(0.065, 0.09, Double(index) * 40)) }
        for x in [-0.035, 0.035] { places.append(Place(x, 0.17)) }
        for y in [0.20, 0.28, 0.36] { places.append(Place(0, y)) }
        for side in [-1.0, 1] {
            for (x, y) in [(0.10, 0.28), (0.17, 0.27), (0.12, 0.36)] { places.append(Place(x * side, y)) }
        }
        for x in [-0.14, 0.0, 0.14] {
            for y in [0.21, 0.29, 0.37] { places.append(Place(x, y)) }
        }
    }

    // Computed, since the access to a stored constant of a type is a call.
    private static var left: Range<Int> { 0..<4 }
    private static var right: Range<Int> { 4..<8 }
    private static var crown: Range<Int> { 8..<11 }
    private static var core: Range<Int> { 11..<18 }
    private static var rim: Range<Int> { 18..<27 }
    private static var neck: Range<Int> { 27..<29 }
    private static var chest: Range<Int> { 29..<32 }
    private static var leftShoulder: Range<Int> { 32..<35 }
    private static var rightShoulder: Range<Int> { 35..<38 }
    private static var slope: Int { 38 }
    /// Of `left` and `right`, the places that heads of any size end before.
    private static var besideLeft: Range<Int> { 1..<3 }
    private static var besideRight: Range<Int> { 5..<7 }

    /// - Parameter places: from `list`; they must outlive the probes.
    init(_ cells: DepthField.Cells, places: ScratchList<Place>.Elements) { (self.cells, self.places) = (cells, places) }

    /// One cell, and the size of a head that is tried there.
    private struct Center {
        /// In units of 2⁻⁴⁴ cells, half a cell farther, so that a shift rounds to the nearest cell.
        let x: Int64
        let y: Int64
        let metres: Float
        let tolerance: Float
        /// Cells for each metre, in units of 2⁻¹⁶.
        let scale: Int64
    }

    private func center(_ x: Int, _ y: Int, _ metres: Float, size: Double) -> Center {
        // The focal length is at most 2¹⁴ cells and the depth at least 0.15 m, so that no product overflows.
        let scale = Float(cells.focal * size) / metres
        return Center(
            x: Int64(x) << 44 &+ 1 << 43, y: Int64(y) << 44 &+ 1 << 43, metres: metres,
            tolerance: HeadProbes.tolerance(metres),
            scale: Int64(floorIndex(Double(scale) * 0x1p16, in: 0...(1 << 34))))
    }

    /// The depth at a place less that of the center.
    @inline(__always)
    private func difference(_ place: Int, _ center: Center) -> Float {
        let place = places[place]
        let x = (center.x &+ place.x &* center.scale) >> 44
        let y = (center.y &+ place.y &* center.scale) >> 44
        guard UInt64(bitPattern: x) < UInt64(cells.width), UInt64(bitPattern: y) < UInt64(cells.height) else {
            return HeadProbes.outside
        }
        let metres = cells[Int(x), Int(y)]
        return metres > 0 ? metres - center.metres : HeadProbes.hole
    }

    /// True where something ends beside and above the cell, as it does for heads of any size: a step, a hole or the border.
    func isEdged(_ x: Int, _ y: Int, _ metres: Float) -> Bool {
        let center = center(x, y, metres, size: HeadProbes.sizes[2])
        return ends(HeadProbes.crown, center) && ends(HeadProbes.besideRight, center)
            && ends(HeadProbes.besideLeft, center)
    }

    @inline(__always)
    private func ends(_ places: Range<Int>, _ center: Center) -> Bool {
        for place in places where abs(difference(place, center)) > center.tolerance { return true }
        return false
    }

    /// The log odds of a head at a cell.
    ///
    /// - Parameter least: the probes end as soon as the log odds cannot be above it.
    /// - Returns: −∞ where the probes ended early.
    func logOdds(_ x: Int, _ y: Int, _ metres: Float, size: Double, least: Float) -> Float {
        let center = center(x, y, metres, size: size)
        let tolerance = center.tolerance
        func around(_ places: Range<Int>) -> (share: Float, count: Float) {
            share(places, center, low: -tolerance, high: tolerance, HeadProbes.weightsAround)
        }
        func head(_ places: Range<Int>, hole: Float, outside: Float) -> Float {
            share(places, center, low: -tolerance, high: tolerance, Weights(hole: hole, outside: outside)).share
        }
        let most = HeadProbes.prior + HeadProbes.mostOfBody
        // In the order of their weights, each as if all that follows fitted.
        let left = around(HeadProbes.left)
        guard most + HeadProbes.oddsAround(left.share, 1, 1) > least else { return -.infinity }
        let right = around(HeadProbes.right)
        guard most + HeadProbes.oddsAround(left.share, right.share, 1) > least else { return -.infinity }
        let crown = around(HeadProbes.crown)
        guard left.count + right.count + crown.count >= HeadProbes.leastAround else { return -.infinity }
        var sum =
            HeadProbes.prior + HeadProbes.oddsAround(left.share, right.share, crown.count > 0 ? crown.share : nil)
        guard sum + HeadProbes.mostOfBody > least else { return -.infinity }
        sum += 16 * (head(HeadProbes.core, hole: 0.7, outside: 0) - 1)
        guard sum + HeadProbes.mostOfBody > least else { return -.infinity }
        sum += 10 * (head(HeadProbes.rim, hole: 0.6, outside: 0.5) - 1)
        guard sum + HeadProbes.mostOfBody > least else { return -.infinity }
        // A wall behind the head is no shoulder.
        let farthest = min(0.15 + tolerance, 0.6 * room(behind: center))
        func body(_ places: Range<Int>) -> Float {
            share(places, center, low: -0.20, high: farthest, HeadProbes.weightsOfBody).share
        }
        sum += 3 * (body(HeadProbes.neck) - 0.6)
        sum += 2 * (body(HeadProbes.chest) - 0.6)
        let (one, other) = (body(HeadProbes.leftShoulder), body(HeadProbes.rightShoulder))
        sum += 3 * (max(one, other) - 0.5) + (min(one, other) - 0.5)
        // A floor or a desk comes nearer downwards, step by step.
        let slope = min(
            min(steepness(HeadProbes.slope, center), steepness(HeadProbes.slope &+ 3, center)),
            steepness(HeadProbes.slope &+ 6, center))
        return sum + 120 * min(max(slope / Float(size) + 0.03 + 0.006 * metres * metres, -0.06), 0)
    }

    /// The log odds by the shares of the places around a head that are farther away; at most those with a crown of 1.
    ///
    /// - Parameter crown: nil where the picture's border cuts it off.
    @inline(__always)
    private static func oddsAround(_ left: Float, _ right: Float, _ crown: Float?) -> Float {
        let ring = crown.map { 16 * ((left + right + $0) / 3 - 1) } ?? 16 * ((left + right) / 2 - 1) - cut
        return ring + 12 * min(min(left, right) - 0.6, 0) + 6 * min((crown ?? 1) - 0.7, 0)
    }

    /// The weight of a place, by the depth there.
    private struct Weights {
        var same: Float = 1
        var nearer: Float = 0
        var farther: Float = 0
        let hole: Float
        /// Beyond the picture; nil where such a place does not count.
        let outside: Float?
    }

    private static var weightsAround: Weights { Weights(same: 0, nearer: -0.3, farther: 1, hole: 0.92, outside: nil) }
    /// Nearer is a hand or a desk in front.
    private static var weightsOfBody: Weights { Weights(nearer: 0.5, hole: 0.45, outside: 0.6) }

    /// The mean weight of places, 0.5 where none counts, and how many count.
    ///
    /// - Parameters:
    ///   - low, high: the differences of depth between which places are as far away as the center.
    @inline(__always)
    private func share(
        _ places: Range<Int>, _ center: Center, low: Float, high: Float, _ weights: Weights
    ) -> (share: Float, count: Float) {
        var (sum, count): (Float, Float) = (0, 0)
        for place in places {
            let difference = difference(place, center)
            if difference == HeadProbes.outside {
                guard let weight = weights.outside else { continue }
                sum += weight
            } else if difference == HeadProbes.hole {
                sum += weights.hole
            } else {
                sum += difference < low ? weights.nearer : difference > high ? weights.farther : weights.same
            }
            count += 1
        }
        return (count > 0 ? sum / count : 0.5, count)
    }

    /// The smallest distance from the center back to a place around it; `outside` where none is farther.
    @inline(__always)
    private func room(behind center: Center) -> Float {
        var room = HeadProbes.outside
        for place in HeadProbes.left.lowerBound..<HeadProbes.crown.upperBound {
            let difference = difference(place, center)
            if difference > center.tolerance { room = min(room, difference) }
        }
        return room
    }

    /// The smaller descent of a column of three places, in metres: below 0 where it comes nearer twice.
    @inline(__always)
    private func steepness(_ first: Int, _ center: Center) -> Float {
        let (upper, middle, lower) = (
            difference(first, center), difference(first &+ 1, center), difference(first &+ 2, center)
        )
        guard abs(upper) < 0.7, abs(middle) < 0.7, abs(lower) < 0.7 else { return 0 }
        return max(middle - upper, lower - middle)
    }
}
