/// The share of a depth map that was not measured, 0…1, from every fourth row: a figure to watch a camera by.
package func unmeasuredShare(of image: DepthImage, scale: DepthScale) -> Double {
    var unmeasured = 0
    var looked = 0
    let measured = image.encoding.fullScale.map { CountRange(measuredBy: scale, fullScale: $0) }
    for y in stride(from: 0, to: image.height, by: 4) {
        looked &+= image.width
        if let measured {
            for x in 0..<image.width where !measured.contains(image.count(x: x, y: y)) { unmeasured &+= 1 }
        } else {
            for x in 0..<image.width where image.metres(x: x, y: y, scale: scale) == nil { unmeasured &+= 1 }
        }
    }
    return looked == 0 ? 0 : Double(unmeasured) / Double(looked)
}
