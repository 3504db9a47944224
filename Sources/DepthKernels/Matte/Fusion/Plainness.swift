/// The samples of the grid about which nothing is left to draw: all within some samples of them is certainly the person, or
/// certainly the room.
///
/// Source: stage 5 of the method (`Fusion`).
struct Plainness: ~Copyable {
    private static let probablyPerson: Float = 0.98
    private static let probablyRoom: Float = 0.02

    private var source = Scratch<UInt8>()
    private var eroded = Scratch<UInt8>()
    private var result = Scratch<UInt8>()
    private var values = Scratch<Float>()

    private static let person: UInt8 = 1
    private static let room: UInt8 = 2

    /// - Parameters:
    ///   - matte: P of every sample.
    ///   - radius: of the disc, in samples.
    /// - Returns: 1 for plain person, −1 for plain room, 0 for the rest; valid until the next call.
    mutating func find(in matte: UnsafePointer<Float>, radius: Int, on grid: WorkGrid) -> UnsafePointer<Float> {
        let (width, height, count) = (grid.width, grid.height, grid.count)
        let source = unsafe source.reserve(count, filler: 0)
        for index in 0..<count {
            let p = unsafe matte[index]
            unsafe source[index] =
                p > Plainness.probablyPerson ? Plainness.person : p < Plainness.probablyRoom ? Plainness.room : 0
        }
        // The disc is cut into rows. Each pass narrows all rows by one more sample at both ends, then those rows of the disc
        // that are so wide are taken.
        let eroded = unsafe eroded.reserve(count, filler: 0)
        let result = unsafe result.reserve(count, filler: 0)
        unsafe eroded.update(from: source, count: count)
        unsafe result.update(repeating: 3, count: count)
        for reach in 0...radius {
            if reach > 0 {
                for y in 0..<height {
                    let (row, target) = unsafe (source + y &* width, eroded + y &* width)
                    if reach < width {
                        for x in reach..<width { unsafe target[x] &= row[x &- reach] }
                        for x in 0..<(width &- reach) { unsafe target[x] &= row[x &+ reach] }
                    }
                }
            }
            for offset in -radius...radius where Plainness.halfWidth(offset, radius) == reach {
                for y in max(0, -offset)..<max(min(height, height - offset), max(0, -offset)) {
                    let (row, target) = unsafe (eroded + (y &+ offset) &* width, result + y &* width)
                    for x in 0..<width { unsafe target[x] &= row[x] }
                }
            }
        }
        let values = unsafe values.reserve(count, filler: 0)
        for index in 0..<count {
            unsafe values[index] = result[index] == Plainness.person ? 1 : result[index] == Plainness.room ? -1 : 0
        }
        return unsafe UnsafePointer(values)
    }

    /// Half the width of the disc's row, as `cv2.getStructuringElement(cv2.MORPH_ELLIPSE)` has it.
    private static func halfWidth(_ row: Int, _ radius: Int) -> Int {
        nearestIndex(Double(radius * radius - row * row).squareRoot(), in: 0...radius)
    }
}
