import CGStreamer
import GstTestSupport
import TestSupport

/// The depth stream of a soak run: its maps, and which of them belongs to a frame by the rules of pairing.
struct SoakDepth {
    /// What a map shows, where the test knows it.
    enum Content: Equatable {
        /// Near in the first columns, by their share of the width; far in all others.
        case person(Double)
        case unmeasured
        case noise
        /// A buffer that cannot be read.
        case faulty
    }

    enum Pairing: Equatable {
        case paired(Content), reused(Content), missing
    }

    private enum Item {
        case map(time: Int64, Content)
        /// Over the frames with times in the range.
        case gap(time: Int64, ClosedRange<Int64>)
    }

    private(set) var shape = DepthShape("GRAY16_LE", 32, 24)
    private var coming: [Item] = []
    private var current: (time: Int64, content: Content)?
    private var next: (time: Int64, content: Content)?

    static let shapes = [(32, 24), (16, 12), (40, 30), (24, 32), (64, 48), (1, 1)].flatMap { width, height in
        ["GRAY16_LE", "GRAY16_BE", "GRAY8", "F32LE", "F16LE"].map { DepthShape($0, width, height) }
    }

    /// With 255 counts, a room needs counts of more than a millimetre.
    var caps: String { shape.caps + (shape.format == "GRAY8" ? ", depth-unit=(double)0.02" : "") }

    // MARK: Maps

    func map(_ content: Content, _ random: inout RepeatableRandomNumberGenerator) -> [UInt8] {
        let columns =
            switch content {
            case .person(let share): Int((share * Double(shape.width)).rounded())
            default: 0
            }
        let metres = (0..<shape.width * shape.height).map { $0 % shape.width < columns ? 0.7 : 3.0 }
        switch content {
        case .faulty: return [1, 2, 3]
        case .noise:
            return (0..<map(.unmeasured, &random).count).map { _ in UInt8.random(in: 0...255, using: &random) }
        case .unmeasured where shape.isFloat: return shape.bytes(metres: metres.map { _ in Float.nan })
        case .unmeasured: return shape.bytes(counts: metres.map { _ in 0 })
        case .person where shape.isFloat: return shape.bytes(metres: metres.map(Float.init))
        case .person:
            let unit = shape.format == "GRAY8" ? 0.02 : 0.001
            return shape.bytes(counts: metres.map { Int(($0 / unit).rounded()) })
        }
    }

    // MARK: What was sent

    /// New caps make the maps before them void; the same caps again do not.
    mutating func change(to shape: DepthShape) {
        if shape.description == self.shape.description { return }
        self.shape = shape
        (current, next) = (nil, nil)
    }

    mutating func addMap(at time: Int64, _ content: Content) { coming.append(.map(time: time, content)) }

    mutating func addGap(at time: Int64, over frames: ClosedRange<Int64>) {
        coming.append(.gap(time: time, frames))
    }

    /// After a flush, a stop, or a new pad.
    mutating func reset() {
        coming = []
        (current, next) = (nil, nil)
    }

    // MARK: What is paired

    /// The map that a frame gets, where frames ask in the order of their times. Times are running times in
    /// nanoseconds, `maxSkew` and `holdTime` the properties.
    mutating func pairing(at time: Int64, maxSkew: Int64, holdTime: Int64) -> Pairing {
        advance(to: time)
        let nextIsNearer = next.map { abs($0.time - time) < (current.map { abs($0.time - time) } ?? .max) } ?? false
        if let nearest = nextIsNearer ? next : current, abs(nearest.time - time) <= maxSkew {
            return .paired(nearest.content)
        }
        if let current, abs(current.time - time) <= holdTime { return .reused(current.content) }
        return .missing
    }

    private mutating func advance(to time: Int64) {
        next = nil
        while let item = coming.first {
            switch item {
            case .gap(_, let frames) where frames.contains(time):
                current = nil
                return
            case .gap(let start, _):
                if start > time { return }
                current = nil
            case .map(let start, let content):
                if start > time {
                    next = (start, content)
                    return
                }
                // Of several maps with one timestamp the first counts.
                if current?.time != start { current = (start, content) }
            }
            coming.removeFirst()
        }
    }
}
