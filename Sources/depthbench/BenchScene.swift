/// A synthetic scene in front of the depth camera.
enum BenchScene: Equatable, CustomStringConvertible {
    /// Head and shoulders over about a quarter of the frame, without noise.
    case person
    /// The same, with sensor noise, and 2 % of the samples not measured.
    case noisy
    /// Person and wall by turns from sample to sample: the softened matte is nowhere clear or opaque.
    case checkerboard
    /// An ellipse of the frame's aspect that covers this many per cent of it.
    case share(Int)
    /// A wall from 0.6 m at the left to 3.6 m at the right, with noise and holes.
    case slope

    var description: String {
        if case .share(let percent) = self {
            "\(percent)%"
        } else {
            BenchScene.names.first { $0.value == self }?.key ?? ""
        }
    }

    /// - Returns: nil for anything but a scene's name; the per cent sign may be left out.
    init?(_ text: String) {
        if let named = BenchScene.names[text] {
            self = named
        } else if let percent = Int(text.last == "%" ? text.dropLast() : text[...]), 0...100 ~= percent {
            self = .share(percent)
        } else {
            return nil
        }
    }

    private static let names = [
        "person": BenchScene.person, "noisy": .noisy, "checkerboard": .checkerboard, "slope": .slope,
    ]
}

// MARK: - The depth map

extension BenchScene {
    /// Metres; between the person and the wall.
    static let cutoff = 0.95

    var hasNoise: Bool { self == .noisy || self == .slope }

    /// The samples of one map in metres, row by row; 0 where nothing is measured.
    ///
    /// - Parameter number: another number gives other noise.
    func metres(_ size: Size, number: Int) -> [Double] {
        let distances =
            self == .slope
            ? (0..<size.pixels).map { 0.6 + 3 * Double($0 % size.width) / Double(size.width) }
            : mask(size).map { $0 ? 0.7 : 2 }
        guard hasNoise else { return distances }
        var random = SplitMix(seed: UInt64(number) &+ 1)
        return distances.map { distance in
            if random.next() % 50 == 0 { return 0 }
            // The standard deviation of a structured-light camera: 2 mm at 1 m, growing with the square.
            return distance + random.nextNormal() * 0.002 * distance * distance
        }
    }

    /// Where the person is.
    private func mask(_ size: Size) -> [Bool] {
        if case .share(let percent) = self { return ellipse(size, percent: percent) }
        return (0..<size.pixels).map { index in
            let (x, y) = (index % size.width, index / size.width)
            if self == .checkerboard { return (x + y).isMultiple(of: 2) }
            let u = (Double(x) - Double(size.width) / 2) / Double(size.width)
            let v = Double(y) / Double(size.height)
            let isHead = (u / 0.11) * (u / 0.11) + ((v - 0.38) / 0.20) * ((v - 0.38) / 0.20) < 1
            return isHead || (v > 0.58 && abs(u) < 0.26)
        }
    }

    /// The samples nearest to the center, so many that the share is exact to a sample (and those that lie as far).
    private func ellipse(_ size: Size, percent: Int) -> [Bool] {
        let distances = (0..<size.pixels).map { index in
            let u = (Double(index % size.width) + 0.5) / Double(size.width) - 0.5
            let v = (Double(index / size.width) + 0.5) / Double(size.height) - 0.5
            return u * u + v * v
        }
        let count = size.pixels * percent / 100
        guard count > 0 else { return distances.map { _ in false } }
        let farthest = distances.sorted()[count - 1]
        return distances.map { $0 <= farthest }
    }
}

/// SplitMix64 (Steele, Lea, Flood: "Fast splittable pseudorandom number generators", OOPSLA 2014).
struct SplitMix: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var z = state
        z = (z ^ (z >> 30)) &* 0xbf58_476d_1ce4_e5b9
        z = (z ^ (z >> 27)) &* 0x94d0_49bb_1331_11eb
        return z ^ (z >> 31)
    }

    /// Nearly normal, with standard deviation 1: the sum of twelve uniform numbers.
    mutating func nextNormal() -> Double {
        (0..<12).reduce(-6) { sum, _ in sum + Double(next() >> 11) * 0x1p-53 }
    }
}
