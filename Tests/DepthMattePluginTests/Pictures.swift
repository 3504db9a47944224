import DepthKernels
import GstTestSupport
import TestSupport

/// A frame of random bytes, padding included.
func noise(_ shape: VideoShape, seed: UInt64) -> [UInt8] {
    var random = RepeatableRandomNumberGenerator(seed: seed)
    return random.bytes(shape.size)
}

/// A frame in which every pixel has the same bytes, for packed formats.
func flat(_ shape: VideoShape, _ pixel: [UInt8]) -> [UInt8] {
    var result = [UInt8](repeating: 0, count: shape.size)
    for (component, value) in zip(shape.components, pixel) {
        Reference.forEachSample(of: component) { result[component.index($0, $1)] = value }
    }
    return result
}

/// How many pixels of a frame differ from one pixel value.
func pixels(_ frame: [UInt8], otherThan pixel: [UInt8], _ shape: VideoShape) -> Int {
    let expected = flat(shape, pixel)
    guard frame.count >= expected.count else { return shape.width * shape.height }
    let components = shape.components
    var count = 0
    Reference.forEachSample(of: components[0]) { column, row in
        let differs = components.contains { component in
            let index = component.index(
                column / component.columnsPerSample, row / component.rowsPerSample)
            return frame[index] != expected[index]
        }
        if differs { count += 1 }
    }
    return count
}

/// A depth map in counts of a millimetre: a person-like blob before a sloping wall, with specks and holes.
func sceneCounts(_ width: Int, _ height: Int, seed: UInt64 = 1, largest: Int = 4000) -> [Int] {
    var random = RepeatableRandomNumberGenerator(seed: seed)
    return (0..<width * height).map { index in
        let x = (Double(index % width) + 0.5) / Double(width) - 0.45
        let y = (Double(index / width) + 0.5) / Double(height) - 0.55
        let isPerson = x * x * 6 + y * y * 3 < 0.25
        let metres = isPerson ? 0.18 + 0.02 * x : 0.5 + 0.3 * (x + 0.45)
        switch Int.random(in: 0..<100, using: &random) {
        case 0..<3: return 0
        case 3..<5: return Int.random(in: 1...largest, using: &random)
        default: return max(1, Int(metres * Double(largest)) + Int.random(in: -3...3, using: &random))
        }
    }
}

extension DepthScale {
    /// The distances of counts; 0 where not measured.
    func metres(_ counts: [Int], fullScale: Int = 65_535) -> [Double] {
        counts.map { count in
            let isUsual = invalidCount == -2
            let isLargest = kind == .metric && unit > 0 && count == 65_535 && invalidCount != -1
            let isNearest = kind == .relativeInverted || kind == .disparity && unit < 0
            guard count != invalidCount, !isLargest, !(isUsual && count == 0) || isNearest else { return 0 }
            let value = Double(count) * unit + bias
            switch kind {
            case .metric: return value
            case .disparity: return value > 0 ? 1 / value : 0
            case .relative: return count > 0 ? Double(fullScale) / Double(count) : 0
            case .relativeInverted: return count < fullScale ? Double(fullScale) / Double(fullScale - count) : 0
            }
        }
    }
}

/// Settings under which the element and the reference see the same cutoff in the first frame.
let unsmoothed = ["anchor-smoothing": "0"]

extension [String: String] {
    /// These settings, with others added or replaced.
    func with(_ others: [String: String]) -> [String: String] { merging(others) { $1 } }
}

extension Bench {
    /// One frame through the element: depth and video (and background, if given) begin together at 0.
    func process(
        video: [UInt8], _ shape: VideoShape, depth: [UInt8], _ depthShape: DepthShape, background: [UInt8]? = nil,
        face: (x: UInt32, y: UInt32, width: UInt32, height: UInt32)? = nil
    ) -> [UInt8]? {
        if let background {
            self.background.start(shape)
            self.background.push(background, at: 0)
        }
        self.depth.start(depthShape)
        self.depth.push(depth, at: 0)
        self.video.start(shape)
        let buffer = guardedBuffer(video)
        if let face { buffer.addRegion(face.x, face.y, face.width, face.height) }
        self.video.push(buffer, at: 0)
        return output.next()?.bytes
    }
}
