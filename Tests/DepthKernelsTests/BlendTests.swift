import DepthKernels
import DepthLoops
import TestSupport
import Testing

@Suite struct BlendTests {
    static let half = PlaneLayout.subsampled(horizontal: 2, vertical: 2, bytesPerSample: 1)
    static let layouts: [PixelLayout] = [
        PixelLayout(.full(bytesPerSample: 1)),
        PixelLayout(.full(bytesPerSample: 3)),
        PixelLayout(.full(bytesPerSample: 4)),
        PixelLayout(.full(bytesPerSample: 1), half, half),
        PixelLayout(.full(bytesPerSample: 1), half, half, .full(bytesPerSample: 1)),
        PixelLayout(.full(bytesPerSample: 1), .subsampled(horizontal: 2, vertical: 2, bytesPerSample: 2)),
        PixelLayout(.full(bytesPerSample: 1), .subsampled(horizontal: 2, vertical: 1, bytesPerSample: 1)),
        PixelLayout(.full(bytesPerSample: 1), .subsampled(horizontal: 4, vertical: 4, bytesPerSample: 1)),
        PixelLayout(.packed422(lumaFirst: true)),
        PixelLayout(.packed422(lumaFirst: false)),
    ]

    @Test func everyTripleOfBytesIsRoundedToNearest() {
        var wrong = 0
        for alpha in 0...255 {
            for video in 0...255 {
                for background in 0...255 {
                    let sum = video * alpha + background * (255 - alpha)
                    let exact = (2 * sum + 255) / 510
                    let byte = blendedByte(
                        video: UInt8(video), background: UInt8(background), alpha: UInt8(alpha))
                    if Int(byte) != exact { wrong += 1 }
                }
            }
        }
        #expect(wrong == 0)
        #expect(blendedByte(video: 10, background: 200, alpha: 128) == 105)
    }

    @Test func theTranscriptionRoundsAlike() {
        for alpha in stride(from: 0, through: 255, by: 3) {
            for video in 0...255 {
                for background in stride(from: 0, through: 255, by: 7) {
                    let (v, b, a) = (UInt8(video), UInt8(background), UInt8(alpha))
                    if ReferenceMatte.blend(video: v, background: b, alpha: a)
                        != blendedByte(video: v, background: b, alpha: a)
                    {
                        Issue.record("\(v) \(b) \(a)")
                    }
                }
            }
        }
    }

    @Test func everyProductOfTwoBytesIsRoundedToNearest() {
        for a in 0...255 {
            for b in 0...255 where Int(scaledByte(UInt8(a), UInt8(b))) != (2 * a * b + 255) / 510 {
                Issue.record("\(a) \(b)")
            }
        }
    }

    /// The alpha of one byte, found from its place alone.
    private func alpha(_ picture: GuardedPlane, planeLayout: PlaneLayout, byte: Int, row: Int, width: Int, height: Int)
        -> UInt8
    {
        func mean(_ x: Int, _ y: Int, _ across: Int, _ down: Int) -> UInt8 {
            let (columns, rows) = (x..<min(x + across, width), y..<min(y + down, height))
            let sum = rows.reduce(0) { sum, row in columns.reduce(sum) { $0 + Int(picture[$1, row]) } }
            return UInt8((sum + columns.count * rows.count / 2) / (columns.count * rows.count))
        }
        switch planeLayout {
        case .full(let bytes): return picture[byte / bytes, row]
        case .subsampled(let horizontal, let vertical, let bytes):
            return mean(byte / bytes * horizontal, row * vertical, horizontal, vertical)
        case .packed422(let lumaFirst):
            let pair = byte / 4 * 2
            let isLuma = (byte % 2 == 0) == lumaFirst
            return isLuma ? picture[min(pair + byte % 4 / 2, width - 1), row] : mean(pair, row, 2, 1)
        }
    }

    @Test(arguments: layouts, [false, true])
    func everyByteOfEveryWidthIsTheFormulaAndNothingElseIsTouched(layout: PixelLayout, copiesPastCache: Bool) throws {
        for (width, loops) in (1...130).flatMap({ width in usableLoops.map { (width, $0) } }) {
            let height = width % 5 + 1
            let alpha = GuardedPlane(
                rowBytes: width, bytes: alphaLikePicture(width: width, height: height, seed: UInt64(width)))
            func picture(seed: UInt64, padding: Int) -> [GuardedPlane] {
                layout.planes.indices.map { index in
                    let rowBytes = layout.rowBytes(plane: index, width: width)
                    let rows = layout.rows(plane: index, height: height)
                    return GuardedPlane(
                        rowBytes: rowBytes, bytes: randomBytes(rowBytes * rows, seed: seed + UInt64(index)),
                        padding: padding)
                }
            }
            let (video, before) = (picture(seed: 1, padding: width % 7), picture(seed: 1, padding: 0))
            let background = picture(seed: 50, padding: width % 5 + 3)
            let blender = Blender(
                layout: layout, width: width, height: height, copiesPastCache: copiesPastCache, loops: loops)
            #expect(
                blender.blend(
                    video: Planes(video), background: Planes(background).readOnly, alpha: alpha.plane.readOnly))
            for (index, planeLayout) in layout.planes.enumerated() {
                var expected: [UInt8] = []
                for y in 0..<video[index].rows {
                    for x in 0..<video[index].rowBytes {
                        expected.append(
                            blendedByte(
                                video: before[index][x, y], background: background[index][x, y],
                                alpha: self.alpha(
                                    alpha, planeLayout: planeLayout, byte: x, row: y, width: width, height: height))
                        )
                    }
                }
                #expect(video[index].bytes == expected, "width \(width), plane \(index), \(loops)")
                #expect(video[index].guardsAreIntact && background[index].guardsAreIntact)
            }
            #expect(alpha.guardsAreIntact)
        }
    }

    @Test func aSharedSampleTakesTheMeanOfThePixelsThatThereAre() {
        let alpha = GuardedPlane(rowBytes: 3, bytes: [0, 255, 9, 0, 0, 10, 255, 254, 255])
        let video = [GuardedPlane(rowBytes: 2, rows: 2) { _, _ in 255 }]
        let background = [GuardedPlane(rowBytes: 2, rows: 2) { _, _ in 0 }]
        _ = Blender(layout: PixelLayout(BlendTests.half), width: 3, height: 3)
            .blend(video: Planes(video), background: Planes(background).readOnly, alpha: alpha.plane.readOnly)
        #expect(video[0].bytes == [64, 10, 255, 255])
    }

    @Test func smallerPlanesThanTheLayoutAsksForAreRefusedUntouched() {
        let alpha = GuardedPlane(rowBytes: 8, rows: 4) { _, _ in 0 }
        let large = [
            GuardedPlane(rowBytes: 8, rows: 4) { _, _ in 1 }, GuardedPlane(rowBytes: 4, rows: 2) { _, _ in 1 },
        ]
        let blender = Blender(layout: PixelLayout(.full(bytesPerSample: 1), BlendTests.half), width: 8, height: 4)
        let narrow = [large[0], GuardedPlane(rowBytes: 3, rows: 2) { _, _ in 2 }]
        let low = [large[0], GuardedPlane(rowBytes: 4, rows: 1) { _, _ in 2 }]
        for wrong in [narrow, low, [large[0]], []] {
            #expect(
                !blender.blend(video: Planes(large), background: Planes(wrong).readOnly, alpha: alpha.plane.readOnly))
            #expect(
                !blender.blend(video: Planes(wrong), background: Planes(large).readOnly, alpha: alpha.plane.readOnly))
        }
        let lowAlpha = GuardedPlane(rowBytes: 8, rows: 3) { _, _ in 0 }
        #expect(
            !blender.blend(video: Planes(large), background: Planes(large).readOnly, alpha: lowAlpha.plane.readOnly))
        #expect(large.allSatisfy { $0.bytes.allSatisfy { $0 == 1 } })
    }

    @Test func chromaSizesAreRoundedUp() {
        let layout = PixelLayout(.full(bytesPerSample: 1), BlendTests.half, .packed422(lumaFirst: true))
        #expect(layout.rowBytes(plane: 0, width: 5) == 5 && layout.rows(plane: 0, height: 3) == 3)
        #expect(layout.rowBytes(plane: 1, width: 5) == 3 && layout.rows(plane: 1, height: 3) == 2)
        #expect(layout.rowBytes(plane: 2, width: 5) == 12 && layout.rows(plane: 2, height: 3) == 3)
        #expect(layout.rowBytes(plane: 3, width: 5) == 0 && layout.rowBytes(plane: -1, width: 5) == 0)
        #expect(layout.rowBytes(plane: 2, width: .max) == .max)
        #expect(layout.rowBytes(plane: 0, width: -5) == 0 && layout.rows(plane: 0, height: 0) == 0)
    }
}
