import CGStreamer
import GstTestSupport
import TestSupport

/// The frame that the element should make, worked out slowly from the format's description alone.
enum Reference {
    /// The video over the background, which lies over opaque black: each component's samples mixed by the mean alpha of the
    /// pixels that share them. The alpha is the matte, times the video's own where it has any.
    static func composite(video: [UInt8], background: [UInt8], alpha: [UInt8], _ shape: VideoShape) -> [UInt8] {
        guard shape.hasAlpha else { return mix(video, background, alpha, shape) }
        let black = flat(shape, shape.isYUV ? [16, 128, 128, 255] : [0, 0, 0, 255])
        let floor = opaque(mix(background, black, ownAlpha(background, shape), shape), shape)
        let shown = zip(alpha, ownAlpha(video, shape)).map { UInt8((Int($0) * Int($1) + 127) / 255) }
        return opaque(mix(video, floor, shown, shape), shape)
    }

    private static func ownAlpha(_ picture: [UInt8], _ shape: VideoShape) -> [UInt8] {
        let component = shape.components[3]
        return (0..<(shape.width * shape.height)).map { picture[component.index($0 % shape.width, $0 / shape.width)] }
    }

    /// The picture without transparency.
    static func opaque(_ picture: [UInt8], _ shape: VideoShape) -> [UInt8] {
        guard shape.hasAlpha else { return picture }
        var result = picture
        let component = shape.components[3]
        forEachSample(of: component) { result[component.index($0, $1)] = 255 }
        return result
    }

    private static func mix(
        _ video: [UInt8], _ background: [UInt8], _ alpha: [UInt8], _ shape: VideoShape
    ) -> [UInt8] {
        var result = video
        for component in shape.components {
            forEachSample(of: component) { column, row in
                let index = component.index(column, row)
                result[index] = ReferenceMatte.blend(
                    video: video[index], background: background[index],
                    alpha: meanAlpha(alpha, shape, component, column, row))
            }
        }
        return result
    }

    /// The matte as a gray picture: no color, and opaque.
    static func matteView(alpha: [UInt8], _ shape: VideoShape, fullRange: Bool = false) -> [UInt8] {
        var result = [UInt8](repeating: 0, count: shape.size)
        let isYUV = shape.isYUV
        for (index, component) in shape.components.enumerated() {
            forEachSample(of: component) { column, row in
                let value = alpha[row * component.rowsPerSample * shape.width + column * component.columnsPerSample]
                let gray = isYUV && !fullRange ? UInt8((16 + Double(value) * 219 / 255).rounded()) : value
                let isColor = isYUV && (index == 1 || index == 2)
                result[component.index(column, row)] = index == 3 ? 255 : isColor ? 128 : gray
            }
        }
        return result
    }

    /// The mean alpha of the pixels that share a sample, halves up.
    static func meanAlpha(
        _ alpha: [UInt8], _ shape: VideoShape, _ component: VideoShape.Component, _ column: Int, _ row: Int
    ) -> UInt8 {
        let columns =
            (column * component.columnsPerSample)..<min((column + 1) * component.columnsPerSample, shape.width)
        let rows = (row * component.rowsPerSample)..<min((row + 1) * component.rowsPerSample, shape.height)
        var sum = 0
        for y in rows {
            for x in columns { sum += Int(alpha[y * shape.width + x]) }
        }
        let count = columns.count * rows.count
        return UInt8((sum + count / 2) / count)
    }

    static func forEachSample(of component: VideoShape.Component, _ body: (_ column: Int, _ row: Int) -> Void) {
        for row in 0..<component.rows {
            for column in 0..<component.columns { body(column, row) }
        }
    }
}

/// How far two frames lie apart, over the bytes that hold samples.
struct Difference: CustomStringConvertible {
    private(set) var largest = 0
    private(set) var mean = 0.0
    /// Where the largest difference lies.
    private(set) var place = ""

    init(_ frame: [UInt8], _ expected: [UInt8], _ shape: VideoShape) {
        guard frame.count >= shape.size, expected.count >= shape.size else {
            largest = 255
            place = "\(frame.count) bytes where \(shape.size) were expected"
            return
        }
        var sum = 0
        var samples = 0
        for (index, component) in shape.components.enumerated() {
            Reference.forEachSample(of: component) { column, row in
                let byte = component.index(column, row)
                let difference = abs(Int(frame[byte]) - Int(expected[byte]))
                sum += difference
                samples += 1
                if difference > largest {
                    largest = difference
                    place = "component \(index) at (\(column), \(row)): \(frame[byte]), expected \(expected[byte])"
                }
            }
        }
        mean = Double(sum) / Double(max(samples, 1))
    }

    /// The tolerance that the element promises: 2/255 at every sample and 0.25/255 on average.
    var isWithinPromise: Bool { largest <= 2 && mean <= 0.25 }

    var isNone: Bool { largest == 0 }

    var description: String { "largest \(largest) (\(place)), mean \(mean)" }
}
