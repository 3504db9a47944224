/// Histogram of the distances in a depth map, in bars of equal width.
package struct DepthBars: Sendable {
    package static let count = 64
    /// The distance at which the last bar ends, in metres.
    package let limit: Double
    private var bars = InlineArray<64, Int>(repeating: 0)

    /// Counts 32 Ki samples at most, in a regular grid over the whole map.
    ///
    /// The bars reach to the first of 1, 2, 4, … 1024 m that is at least 1.25 · `distance` and has nine tenths of the
    /// measured samples below it.
    ///
    /// - Parameter distance: metres; lies within the bars if below 800 m.
    package init(of image: DepthImage, scale: DepthScale, showing distance: Double) {
        var step = 1
        while groups(of: step, in: image.width) &* groups(of: step, in: image.height) > 1 << 15 { step &+= 1 }
        var octaves = InlineArray<12, Int>(repeating: 0)
        var total = 0
        DepthBars.forEach(of: image, scale, step) { metres in
            let octave = (0..<11).first { metres < Double(1 << $0) } ?? 11
            octaves[octave] &+= 1
            total &+= 1
        }
        var nearer = 0
        var octave = 0
        for index in 0..<11 {
            nearer &+= octaves[index]
            octave = index
            if Double(nearer) >= 0.9 * Double(total), Double(1 << index) >= distance * 1.25 { break }
        }
        limit = Double(1 << octave)
        let barsPerMetre = Double(DepthBars.count) / limit
        var counted = bars
        DepthBars.forEach(of: image, scale, step) { metres in
            let bar = metres * barsPerMetre
            if bar < Double(DepthBars.count) { counted[floorIndex(bar, in: 0...(DepthBars.count - 1))] &+= 1 }
        }
        bars = counted
    }

    /// The height of bar `index` relative to the highest bar, 0…1; 0 where nothing was measured.
    package func height(_ index: Int) -> Double {
        var highest = 0
        for bar in 0..<DepthBars.count { highest = max(highest, bars[bar]) }
        guard highest > 0, index >= 0, index < DepthBars.count else { return 0 }
        return Double(bars[index]) / Double(highest)
    }

    private static func forEach(of image: DepthImage, _ scale: DepthScale, _ step: Int, _ body: (Double) -> Void) {
        for y in stride(from: 0, to: image.height, by: step) {
            for x in stride(from: 0, to: image.width, by: step) {
                if let metres = image.metres(x: x, y: y, scale: scale) { body(metres) }
            }
        }
    }
}
