/// What the depth camera sees.
enum Scene: Equatable, CustomStringConvertible {
    /// Head and shoulders over about a quarter of the frame, without noise.
    case person
    /// The same, with sensor noise, and 2 % of the samples not measured.
    case noisy
    /// Person and wall by turns from sample to sample: the softened matte is nowhere clear or opaque.
    case checkerboard
    /// An ellipse of the frame's aspect that covers this many per cent of it.
    case share(Int)

    var description: String {
        switch self {
        case .person: "person"
        case .noisy: "noisy"
        case .checkerboard: "checkerboard"
        case .share(let percent): "\(percent)%"
        }
    }

    /// - Returns: nil for anything but the names above; the per cent sign may be left out.
    init?(_ text: String) {
        switch text {
        case "person": self = .person
        case "noisy": self = .noisy
        case "checkerboard": self = .checkerboard
        default:
            guard let percent = Int(text.last == "%" ? String(text.dropLast()) : text), 0...100 ~= percent else {
                return nil
            }
            self = .share(percent)
        }
    }
}

// MARK: - The depth map

extension Scene {
    /// Metres; between the person and the wall.
    static let cutoff = 0.95
    /// Millimetres.
    private static let (near, far): (UInt16, UInt16) = (700, 2000)

    /// The samples of one map in millimetres, row by row, without padding.
    ///
    /// - Parameter number: another number gives other noise.
    func depthMap(_ size: Size, number: Int) -> [UInt16] {
        let isPerson = mask(size)
        guard self == .noisy else { return isPerson.map { $0 ? Scene.near : Scene.far } }
        var random = SplitMix(seed: UInt64(number) &+ 1)
        return isPerson.map { isPerson in
            if random.next() % 50 == 0 { return 0 }
            // The standard deviation of a structured-light camera: 2 mm at 1 m, growing with the square.
            let distance = Double(isPerson ? Scene.near : Scene.far)
            let noise = random.nextNormal() * 2 * (distance / 1000) * (distance / 1000)
            return UInt16(clamping: Int((distance + noise).rounded()))
        }
    }

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

    /// The samples nearest to the centre, so many that the share is exact to a sample (and those that lie as far).
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
