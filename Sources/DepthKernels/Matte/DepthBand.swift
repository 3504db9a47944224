/// Bands along the border of a map that no sample of the depth camera reaches, as every registered map has them: the color camera
/// sees more. Their samples take the depth of what stands at their edge: the room's the less surely the farther in they lie, the
/// person's never surely (`Classes`).
///
/// A band ends at once: where depth ends little by little, as at an outline or where the room is out of range, there is none.
///
/// Source: the project's own method.
struct DepthBand {
    /// The share of a line's samples below which it is no part of the field.
    private static let blank = 0.02
    /// Of the lines of a map: the widest band.
    private static let widest = 0.15
    /// The share that is measured eight lines in: at least, and of that 24 lines in.
    private static let (least, abrupt) = (0.1, 0.7)

    enum Side: Int, CaseIterable {
        case top, right, bottom, left

        var isAcross: Bool { self == .top || self == .bottom }

        /// A sample of a line of a map.
        func place(_ line: Int, _ index: Int, _ width: Int, _ height: Int) -> (x: Int, y: Int) {
            switch self {
            case .top: (index, line)
            case .right: (width &- 1 &- line, index)
            case .bottom: (index, height &- 1 &- line)
            case .left: (line, index)
            }
        }
    }

    /// Lines of each side.
    private var lines = InlineArray<4, Int>(repeating: 0)

    subscript(side: Side) -> Int { lines[side.rawValue] }

    var isEmpty: Bool { Side.allCases.allSatisfy { self[$0] == 0 } }

    /// Continues the depth over the bands of a map.
    ///
    /// - Parameters:
    ///   - metres: rows of whole words of `hole`.
    ///   - hole: loses the samples that get a depth.
    init(continuing metres: UnsafeMutablePointer<Float>, hole: SampleSet) {
        for side in Side.allCases {
            let map = unsafe Map(metres: metres, hole: hole, side: side)
            let most = floorIndex(DepthBand.widest * Double(map.count), in: 0...map.count)
            guard map.count > most + 24, let first = (0...most).first(where: { map.share($0) >= DepthBand.blank }),
                first > 0,
                map.share(first + 8) >= max(DepthBand.least, DepthBand.abrupt * map.share(first + 24))
            else { continue }
            map.continueTo(first)
            lines[side.rawValue] = first
        }
    }

    init() {}

    /// A map whose lines are counted from one of its sides.
    @safe
    private struct Map {
        let metres: UnsafeMutablePointer<Float>
        let hole: SampleSet
        let side: Side

        var count: Int { side.isAcross ? hole.height : hole.width }
        private var length: Int { side.isAcross ? hole.width : hole.height }

        private func place(_ line: Int, _ index: Int) -> (x: Int, y: Int) {
            side.place(line, index, hole.width, hole.height)
        }

        private func isMeasured(_ place: (x: Int, y: Int)) -> Bool { !hole.bits(place.y).contains(place.x) }

        /// The share of the samples of a line that were measured.
        func share(_ line: Int) -> Double {
            Double((0..<length).count { isMeasured(place(line, $0)) }) / Double(length)
        }

        /// Continues what stands at a line to the border. The first line that is measured is the noisiest.
        func continueTo(_ first: Int) {
            let rowLength = hole.stride &* 64
            for index in 0..<length {
                guard let line = [3, 2, 1, 0].first(where: { isMeasured(place(first + $0, index)) }) else { continue }
                let source = place(first + line, index)
                let depth = unsafe metres[source.y &* rowLength &+ source.x]
                for line in 0..<first {
                    let place = place(line, index)
                    unsafe metres[place.y &* rowLength &+ place.x] = depth
                    hole.bits(place.y).remove(place.x..<(place.x &+ 1))
                }
            }
        }
    }

    /// Calls `body` for each line of the bands: with how far in it lies, and how many samples it has. `body` asks for the place of a
    /// sample of the line.
    func forEachLine(
        width: Int, height: Int,
        _ body: (_ into: Int, _ count: Int, _ place: (_ index: Int) -> (x: Int, y: Int)) -> Void
    ) {
        for side in Side.allCases {
            for line in 0..<self[side] {
                body(self[side] &- line, side.isAcross ? width : height) { side.place(line, $0, width, height) }
            }
        }
    }
}
