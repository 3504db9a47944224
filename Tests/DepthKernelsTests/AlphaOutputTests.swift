import DepthKernels
import DepthLoops
import TestSupport
import Testing

@Suite struct StraightAlphaTests {
    @Test(arguments: [0, 1, 2, 3])
    func packedPixelsBecomeSeeThroughAndHiddenOnesLoseTheirColor(alphaByte: Int) {
        let hidden = SIMD4<UInt8>(9, 8, 7, 6)
        for width in 1...70 {
            let before = randomBytes(width * 4 * 3, seed: UInt64(width))
            let pixels = GuardedPlane(rowBytes: width * 4, bytes: before)
            let alpha = GuardedPlane(rowBytes: width, bytes: alphaLikePicture(width: width, height: 3, seed: 4))
            #expect(
                writeStraightAlpha(
                    pixels: pixels.plane, width: width, height: 3, alpha: alpha.plane.readOnly,
                    alphaByteIndex: alphaByte, hidden: hidden))
            var expected: [UInt8] = []
            for (index, opacity) in alpha.bytes.enumerated() {
                let pixel = Array(before[(index * 4)..<(index * 4 + 4)])
                let result = scaledByte(pixel[alphaByte], opacity)
                for byte in 0..<4 {
                    expected.append(byte == alphaByte ? result : result == 0 ? hidden[byte] : pixel[byte])
                }
            }
            #expect(pixels.bytes == expected && pixels.guardsAreIntact)
        }
    }

    @Test func planarPicturesHideLumaAndWhollyHiddenChroma() {
        let luma = GuardedPlane(rowBytes: 3, bytes: [1, 2, 3, 4, 5, 6, 7, 8, 9])
        let u = GuardedPlane(rowBytes: 2, bytes: [10, 11, 12, 13])
        let v = GuardedPlane(rowBytes: 2, bytes: [20, 21, 22, 23])
        let own = GuardedPlane(rowBytes: 3, bytes: [255, 255, 0, 255, 255, 0, 255, 100, 255])
        let alpha = GuardedPlane(rowBytes: 3, bytes: [0, 0, 255, 0, 0, 255, 1, 128, 0])
        #expect(
            writeStraightAlpha(
                a420: Planes([luma, u, v, own]), width: 3, height: 3, alpha: alpha.plane.readOnly, hidden: (90, 91, 92))
        )
        #expect(own.bytes == [0, 0, 0, 0, 0, 0, 1, 50, 0])
        #expect(luma.bytes == [90, 90, 90, 90, 90, 90, 7, 8, 90])
        #expect(u.bytes == [91, 91, 12, 91])
        #expect(v.bytes == [92, 92, 22, 92])
        #expect([luma, u, v, own].allSatisfy { $0.guardsAreIntact })
    }

    @Test(arguments: 0..<4)
    func `a chroma sample stays where any of its pixels shows`(shown: Int) {
        let (luma, own) = (
            GuardedPlane(rowBytes: 2, bytes: [1, 2, 3, 4]), GuardedPlane(rowBytes: 2, bytes: [255, 255, 255, 255])
        )
        let (u, v) = (GuardedPlane(rowBytes: 1, bytes: [10]), GuardedPlane(rowBytes: 1, bytes: [20]))
        let alpha = GuardedPlane(rowBytes: 2, rows: 2) { x, y in y * 2 + x == shown ? 1 : 0 }
        #expect(
            writeStraightAlpha(
                a420: Planes([luma, u, v, own]), width: 2, height: 2, alpha: alpha.plane.readOnly, hidden: (90, 91, 92))
        )
        #expect(u.bytes == [10] && v.bytes == [20])
    }

    @Test func wrongPlanesAreRefused() {
        let pixels = GuardedPlane(rowBytes: 16, rows: 2) { _, _ in 5 }
        let alpha = GuardedPlane(rowBytes: 4, rows: 2) { _, _ in 0 }
        for (width, height, index) in [(5, 2, 0), (4, 3, 0), (4, 2, 4), (4, 2, -1), (0, 2, 0), (4, -1, 0)] {
            #expect(
                !writeStraightAlpha(
                    pixels: pixels.plane, width: width, height: height, alpha: alpha.plane.readOnly,
                    alphaByteIndex: index, hidden: .zero))
        }
        #expect(
            !writeStraightAlpha(
                a420: Planes([alpha, alpha, alpha]), width: 4, height: 2, alpha: alpha.plane.readOnly, hidden: (0, 0, 0)
            ))
        #expect(pixels.bytes.allSatisfy { $0 == 5 })
    }
}

@Suite struct MatteViewTests {
    private func draw(
        _ layout: PixelLayout, _ bytes: [[ByteRole]], _ grays: GrayTable, width: Int, height: Int, alpha: [UInt8]
    ) -> [[UInt8]] {
        let matte = GuardedPlane(rowBytes: width, bytes: alpha)
        let planes = layout.planes.indices.map { index in
            GuardedPlane(
                rowBytes: layout.rowBytes(plane: index, width: width), rows: layout.rows(plane: index, height: height)
            ) { _, _ in 1 }
        }
        #expect(
            drawMatte(
                alpha: matte.plane.readOnly, into: Planes(planes), width: width, height: height, layout: layout,
                bytes: bytes, grays: grays))
        #expect(planes.allSatisfy { $0.guardsAreIntact })
        return planes.map(\.bytes)
    }

    @Test func packedColorIsGrayWithItsOwnAlphaOpaque() {
        let rgba = draw(
            PixelLayout(.full(bytesPerSample: 4)), [[.gray, .gray, .gray, .opaque]], .fullRange, width: 2, height: 1,
            alpha: [7, 200])
        #expect(rgba == [[7, 7, 7, 255, 200, 200, 200, 255]])
        let xrgb = draw(
            PixelLayout(.full(bytesPerSample: 4)), [[.unused, .gray, .gray, .gray]], .fullRange, width: 1, height: 1,
            alpha: [7])
        #expect(xrgb == [[255, 7, 7, 7]])
        let ayuv = draw(
            PixelLayout(.full(bytesPerSample: 4)), [[.opaque, .gray]], .videoRange, width: 2, height: 1,
            alpha: [0, 255])
        #expect(ayuv == [[255, 16, 128, 128, 255, 235, 128, 128]])
    }

    @Test func planarAndPackedLumaIsGrayAndChromaNeutral() {
        let half = PlaneLayout.subsampled(horizontal: 2, vertical: 2, bytesPerSample: 2)
        let nv12 = draw(
            PixelLayout(.full(bytesPerSample: 1), half), [[.gray]], .videoRange, width: 3, height: 1,
            alpha: [0, 128, 255])
        #expect(nv12 == [[16, 126, 235], [128, 128, 128, 128]])
        let yuy2 = draw(
            PixelLayout(.packed422(lumaFirst: true)), [], .fullRange, width: 3, height: 1, alpha: [1, 2, 3])
        #expect(yuy2 == [[1, 128, 2, 128, 3, 128, 3, 128]])
        let uyvy = draw(
            PixelLayout(.packed422(lumaFirst: false)), [], .fullRange, width: 1, height: 1, alpha: [1])
        #expect(uyvy == [[128, 1, 128, 1]])
    }

    @Test func theVideoRangeTableIsRoundedToNearest() {
        for alpha in UInt8.min...UInt8.max {
            let plane = draw(
                PixelLayout(.full(bytesPerSample: 1)), [[.gray]], .videoRange, width: 1, height: 1, alpha: [alpha])
            #expect(Double(plane[0][0]) == (16 + Double(alpha) * 219 / 255).rounded())
        }
    }
}
