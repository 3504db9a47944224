import DepthKernels
import TestSupport
import Testing

extension Canvas {
    fileprivate var painter: Painter {
        get throws {
            try #require(Painter(Planes(planes), layout: layout, width: width, height: height))
        }
    }
}

@Suite struct PainterTests {
    private let ink = StoredColor([[11, 12, 13, 14], [21, 22], [31], [41]])

    /// True where byte `x` of row `y` of a plane belongs to a pixel in the box.
    private func belongs(_ planeLayout: PlaneLayout, _ x: Int, _ y: Int, _ box: Rectangle<Int>) -> Bool {
        func touches(_ columns: Range<Int>, _ rows: Range<Int>) -> Bool {
            columns.overlaps(box.left..<box.right) && rows.overlaps(box.top..<box.bottom)
        }
        switch planeLayout {
        case .full(let bytes): return touches(x / bytes..<x / bytes + 1, y..<y + 1)
        case .subsampled(let h, let v, let bytes):
            return touches(x / bytes * h..<(x / bytes + 1) * h, y * v..<(y + 1) * v)
        case .packed422(let lumaFirst):
            let isLuma = x.isMultiple(of: 2) == lumaFirst
            return isLuma ? touches(x / 2..<x / 2 + 1, y..<y + 1) : touches(x / 4 * 2..<x / 4 * 2 + 2, y..<y + 1)
        }
    }

    @Test(arguments: Canvas.layouts)
    func aBoxIsDrawnOnTheSamplesOfItsPixelsAndNowhereElse(layout: PixelLayout) throws {
        let sizes = [(1, 1), (7, 5), (8, 6)]
        let boxes = [(0, 0, 1, 1), (2, 1, 5, 4), (-3, -3, 3, 2), (5, 2, 900, 900), (3, 3, 3, 9), (9, 0, 12, 3)]
        for (width, height) in sizes {
            for (left, top, right, bottom) in boxes {
                let canvas = Canvas(layout, width: width, height: height)
                let box = Rectangle(left: left, top: top, right: right, bottom: bottom)
                try canvas.painter.fill(box, ink)
                let seen = Rectangle(
                    left: max(left, 0), top: max(top, 0), right: max(max(left, 0), min(right, width)),
                    bottom: max(max(top, 0), min(bottom, height)))
                for (index, plane) in canvas.planes.enumerated() {
                    let samples: [[UInt8]] = [[11, 12, 13, 14], [21, 22], [31], [41]]
                    #expect(plane.guardsAreIntact)
                    for y in 0..<plane.rows {
                        for x in 0..<plane.rowBytes {
                            let size =
                                switch layout.planes[index] {
                                case .full(let bytes), .subsampled(_, _, let bytes): bytes
                                case .packed422: 4
                                }
                            // In packed 4:2:2 the second luma byte is the first one again.
                            var place = x % size
                            if case .packed422(let lumaFirst) = layout.planes[index], x.isMultiple(of: 2) == lumaFirst {
                                place = lumaFirst ? 0 : 1
                            }
                            let isInside = belongs(layout.planes[index], x, y, seen)
                            #expect(
                                plane[x, y] == (isInside ? samples[index][place] : 100), "\(width) \(box) \(x) \(y)")
                        }
                    }
                }
            }
        }
    }

    @Test func aFrameIsHollowAndAClipHoldsEverythingIn() throws {
        let canvas = Canvas(PixelLayout(.full(bytesPerSample: 1)), width: 8, height: 7)
        try canvas.painter.frame(Rectangle(left: 1, top: 1, right: 7, bottom: 6), thickness: 2, StoredColor([[1]]))
        for y in 0..<7 {
            for x in 0..<8 {
                let isInside = 1..<7 ~= x && 1..<6 ~= y
                let isHollow = 3..<5 ~= x && 3..<4 ~= y
                #expect(canvas.planes[0][x, y] == (isInside && !isHollow ? 1 : 100))
            }
        }
        let clipped = Canvas(PixelLayout(.full(bytesPerSample: 1)), width: 8, height: 7)
        var painter = try clipped.painter
        painter.clip = Rectangle(left: 2, top: 2, right: 50, bottom: 4)
        painter.fill(Rectangle(left: .min, top: .min, right: .max, bottom: .max), StoredColor([[1]]))
        for y in 0..<7 {
            for x in 0..<8 { #expect(clipped.planes[0][x, y] == (x >= 2 && 2..<4 ~= y ? 1 : 100)) }
        }
    }

    @Test func aPictureThatIsTooSmallHasNoPainter() {
        let canvas = Canvas(PixelLayout(.full(bytesPerSample: 4)), width: 8, height: 7)
        #expect(Painter(Planes(canvas.planes), layout: canvas.layout, width: 9, height: 7) == nil)
        #expect(Painter(Planes(canvas.planes), layout: Canvas.layouts[3], width: 2, height: 2) == nil)
    }

    @Test func inkIsReadOffAPicture() {
        let planes = [
            GuardedPlane(rowBytes: 2, bytes: [9, 0, 0, 0]), GuardedPlane(rowBytes: 2, bytes: [7, 5]),
        ]
        let read = StoredColor(firstPixelOf: Planes(planes).readOnly, layout: Canvas.layouts[4])
        #expect(read == StoredColor([[9], [7, 5]]))
        #expect(StoredColor(firstPixelOf: Planes(planes).readOnly, layout: Canvas.layouts[3]) == nil)
    }
}

@Suite struct DigitTests {
    /// The text on a gray picture of single bytes, as lines of `#` (light), `.` (dark) and spaces.
    private func picture(_ text: DigitText, width: Int, height: Int, x: Int = 0, y: Int = 0) throws -> [String] {
        let canvas = Canvas(PixelLayout(.full(bytesPerSample: 1)), width: width, height: height)
        try text.draw(on: canvas.painter, x: x, y: y, light: StoredColor([[255]]), dark: StoredColor([[0]]))
        #expect(canvas.planes[0].guardsAreIntact)
        return (0..<height).map { row in
            String(
                (0..<width).map { canvas.planes[0][$0, row] == 255 ? "#" : canvas.planes[0][$0, row] == 0 ? "." : " " })
        }
    }

    @Test func aDigitIsItsStrokesWithAnEdgeAroundThem() throws {
        let seven = DigitText("7", scale: 1)
        #expect((seven.width, seven.height) == (7, 9))
        #expect(
            try picture(seven, width: 7, height: 9) == [
                ".......",
                ".#####.",
                ".....#.",
                "  ..#..",
                "  .#.. ",
                " ..#.  ",
                " .#..  ",
                " .#.   ",
                " ...   ",
            ])
    }

    @Test func aLargerScaleRepeatsEveryCell() throws {
        let small = try picture(DigitText("12.5-cm", scale: 1), width: 43, height: 9)
        let large = try picture(DigitText("12.5-cm", scale: 3), width: 129, height: 27)
        #expect(DigitText("12.5-cm", scale: 3).width == 129)
        for (index, line) in large.enumerated() {
            #expect(line == String(small[index / 3].flatMap { [$0, $0, $0] }))
        }
    }

    @Test func everyLetterLooksDifferentAndTheUnknownAreSpaces() throws {
        let letters = ["0", "1", "2", "3", "4", "5", "6", "7", "8", "9", ".", "-", "c", "m", "s", "x", "y", " "]
        let pictures = try letters.map { try picture(DigitText($0, scale: 1), width: 7, height: 9) }
        #expect(Set(pictures).count == letters.count)
        #expect(try picture(DigitText("z", scale: 1), width: 7, height: 9) == pictures.last)
    }

    @Test func whatLiesOutsideIsCutOff() throws {
        let whole = try picture(DigitText("80", scale: 2), width: 60, height: 40, x: 20, y: 12)
        for (dx, dy) in [(-25, -14), (25, 20), (-40, 0), (0, 35)] {
            let moved = try picture(DigitText("80", scale: 2), width: 60, height: 40, x: 20 + dx, y: 12 + dy)
            for y in 0..<40 {
                for x in 0..<60 {
                    let isKnown = 0..<60 ~= x - dx && 0..<40 ~= y - dy
                    let expected: Character = isKnown ? Array(whole[y - dy])[x - dx] : " "
                    #expect(Array(moved[y])[x] == expected)
                }
            }
        }
        for (x, y) in [(Int.max, 0), (Int.min, Int.min), (0, Int.max)] {
            #expect(try picture(DigitText("8", scale: .max), width: 3, height: 3, x: x, y: y) == ["   ", "   ", "   "])
        }
    }

    @Test func besideAPointTheTextIsWholeWhereverThereIsRoom() throws {
        let text = DigitText("123 cm", scale: 1)
        let free = try picture(text, width: 60, height: 30, x: 0, y: 0).joined().filter { $0 != " " }.count
        for (x, y) in [(0, 0), (30, 15), (59, 29), (59, 0), (0, 29), (-500, 700), (Int.max, Int.min)] {
            let canvas = Canvas(PixelLayout(.full(bytesPerSample: 1)), width: 60, height: 30)
            try text.draw(on: canvas.painter, besideX: x, y: y, light: StoredColor([[255]]), dark: StoredColor([[0]]))
            #expect(canvas.planes[0].bytes.filter { $0 != 100 }.count == free)
        }
        let tiny = Canvas(PixelLayout(.full(bytesPerSample: 1)), width: 5, height: 4)
        try text.draw(on: tiny.painter, besideX: 2, y: 2, light: StoredColor([[255]]), dark: StoredColor([[0]]))
        #expect(tiny.planes[0].guardsAreIntact)
    }

    @Test func aDistanceIsSaidInWholeCentimetres() {
        #expect(DigitText(centimetresOf: 1.236, scale: 1) == DigitText("124 cm", scale: 1))
        #expect(DigitText(centimetresOf: 0, scale: 1) == DigitText("0 cm", scale: 1))
        for nothing in [nil, Double.nan, .infinity] {
            #expect(DigitText(centimetresOf: nothing, scale: 1) == DigitText("-- cm", scale: 1))
        }
        #expect(DigitText(centimetresOf: 1e300, scale: 1) == DigitText("9999999 cm", scale: 1))
        #expect(DigitText.scale(forHeight: 1080) == 6 && DigitText.scale(forHeight: 3) == 1)
    }
}
