/// A short text of digits, drawn as light strokes with a dark outline, legible on any picture.
///
/// The glyphs are the digits, `.`, `-`, `c`, `m`, `s`, `x`, `y` and the space, five by seven cells each; other letters are drawn as
/// spaces. A cell is a square of `scale` pixels. The outline is one cell wide, so the text is two cells larger than its
/// letters along each axis.
package struct DigitText: Equatable, Sendable {
    private let text: String
    private let scale: Int

    /// - Parameter scale: pixels along each side of a cell, clamped to 1…64.
    package init(_ text: String, scale: Int) {
        self.text = text
        self.scale = min(max(scale, 1), 64)
    }

    /// The scale at which letters have about a twenty-fifth of the picture's height.
    package static func scale(forHeight height: Int) -> Int { max(1, height / 180) }

    /// Pixels, the outline included; only the first 64 letters are drawn.
    package var width: Int { (letters * DigitText.advance + 1) * scale }
    package var height: Int { (DigitText.rows + 2) * scale }

    private var letters: Int { min(text.utf8.count, 64) }

    /// Draws the text with its upper left corner at (`x`, `y`), in pixels.
    package func draw(on painter: Painter, x: Int, y: Int, light: StoredColor, dark: StoredColor) {
        // Text farther away is out of every picture, and its coordinates might overflow.
        let reach = -(1 << 32)...(1 << 32)
        guard reach.contains(x), reach.contains(y) else { return }
        forEachCell { column, row in painter.fill(cells(column - 1, row - 1, 3, x, y), dark) }
        forEachCell { column, row in painter.fill(cells(column, row, 1, x, y), light) }
    }

    /// Draws the text beside a point of the picture: to its upper right where there is room, else on the other side,
    /// moved inside the clip rectangle as far as it fits.
    package func draw(on painter: Painter, besideX x: Int, y: Int, light: StoredColor, dark: StoredColor) {
        let gap = 2 * scale
        let (left, top, right, bottom) = (painter.clip.left, painter.clip.top, painter.clip.right, painter.clip.bottom)
        let x = min(max(x, left), right)
        let y = min(max(y, top), bottom)
        let beside = x + gap + width <= right ? x + gap : x - gap - width
        let above = y - gap - height >= top ? y - gap - height : y + gap
        draw(
            on: painter, x: max(min(beside, right - width), left), y: max(min(above, bottom - height), top),
            light: light, dark: dark)
    }

    /// A square of `size` cells, in pixels; the letters begin one cell inside of the text's rectangle.
    private func cells(_ column: Int, _ row: Int, _ size: Int, _ x: Int, _ y: Int) -> Rectangle<Int> {
        let left = x + (column + 1) * scale
        let top = y + (row + 1) * scale
        return Rectangle(left: left, top: top, right: left + size * scale, bottom: top + size * scale)
    }

    /// Every cell that is part of a stroke.
    private func forEachCell(_ body: (_ column: Int, _ row: Int) -> Void) {
        for (index, letter) in text.utf8.prefix(64).enumerated() {
            let glyph = DigitText.glyph(letter)
            for row in 0..<DigitText.rows {
                for column in 0..<DigitText.columns {
                    let bit = (DigitText.rows - 1 - row) * DigitText.columns + DigitText.columns - 1 - column
                    if glyph >> UInt64(bit) & 1 == 1 { body(index * DigitText.advance + column, row) }
                }
            }
        }
    }

    private static let columns = 5
    private static let rows = 7
    /// Cells from one letter to the next.
    private static let advance = 6

    /// Five bits for each row, the upper left cell highest. Drawn for this project.
    private static func glyph(_ letter: UInt8) -> UInt64 {
        switch letter {
        case UInt8(ascii: "0"): 0b01110_10001_10001_10001_10001_10001_01110
        case UInt8(ascii: "1"): 0b00100_01100_00100_00100_00100_00100_01110
        case UInt8(ascii: "2"): 0b01110_10001_00001_00110_01000_10000_11111
        case UInt8(ascii: "3"): 0b01110_10001_00001_00110_00001_10001_01110
        case UInt8(ascii: "4"): 0b00010_00110_01010_10010_11111_00010_00010
        case UInt8(ascii: "5"): 0b11111_10000_11110_00001_00001_10001_01110
        case UInt8(ascii: "6"): 0b00110_01000_10000_11110_10001_10001_01110
        case UInt8(ascii: "7"): 0b11111_00001_00010_00100_00100_01000_01000
        case UInt8(ascii: "8"): 0b01110_10001_10001_01110_10001_10001_01110
        case UInt8(ascii: "9"): 0b01110_10001_10001_01111_00001_00010_01100
        case UInt8(ascii: "."): 0b00000_00000_00000_00000_00000_00110_00110
        case UInt8(ascii: "-"): 0b00000_00000_00000_11111_00000_00000_00000
        case UInt8(ascii: "c"): 0b00000_00000_01110_10000_10000_10001_01110
        case UInt8(ascii: "m"): 0b00000_00000_11010_10101_10101_10101_10101
        case UInt8(ascii: "s"): 0b00000_00000_01111_10000_01110_00001_11110
        case UInt8(ascii: "x"): 0b00000_00000_10001_01010_00100_01010_10001
        case UInt8(ascii: "y"): 0b00000_00000_10001_10001_01111_00001_01110
        default: 0
        }
    }
}

extension DigitText {
    /// The reading of a depth probe: whole centimetres, or `--` where nothing was measured.
    package init(centimetresOf metres: Double?, scale: Int) {
        guard let metres, metres.isFinite else {
            self.init("-- cm", scale: scale)
            return
        }
        self.init("\(nearestIndex(metres * 100, in: 0...9_999_999)) cm", scale: scale)
    }
}
