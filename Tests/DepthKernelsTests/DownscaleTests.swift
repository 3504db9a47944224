import DepthKernels
import TestSupport
import Testing

@Suite struct DownscaleTests {
    private static let i420 = PixelLayout(
        .full(bytesPerSample: 1), .subsampled(horizontal: 2, vertical: 2, bytesPerSample: 1),
        .subsampled(horizontal: 2, vertical: 2, bytesPerSample: 1))

    private func planes(_ layout: PixelLayout, _ width: Int, _ height: Int, _ content: (Int, Int) -> UInt8)
        -> [GuardedPlane]
    {
        layout.planes.indices.map { plane in
            GuardedPlane(
                rowBytes: layout.rowBytes(plane: plane, width: width), rows: layout.rows(plane: plane, height: height),
                content: content)
        }
    }

    @Test func aQuarterIsTheMeanOfTwoByTwo() {
        let source = [GuardedPlane(rowBytes: 4, bytes: [10, 20, 1, 2, 30, 41, 3, 5, 0, 0, 8, 8, 0, 255, 8, 8])]
        let target = [GuardedPlane(rowBytes: 4, rows: 4) { _, _ in 77 }]
        let layout = PixelLayout(.full(bytesPerSample: 1))
        #expect(
            downscale(
                Planes(source).readOnly, into: Planes(target), layout: layout, width: 4, height: 4,
                area: Rectangle(left: 2, top: 2, right: 4, bottom: 4)))
        #expect(target[0].bytes == [77, 77, 77, 77, 77, 77, 77, 77, 77, 77, 25, 3, 77, 77, 64, 8])
    }

    @Test(arguments: [
        i420, PixelLayout(.packed422(lumaFirst: true)), PixelLayout(.packed422(lumaFirst: false)),
        PixelLayout(.full(bytesPerSample: 3)),
        PixelLayout(.full(bytesPerSample: 1), .subsampled(horizontal: 2, vertical: 2, bytesPerSample: 2)),
    ])
    func everyLayoutIsFilledInTheAreaAndNowhereElse(layout: PixelLayout) {
        let isPacked = [true, false].contains { layout == PixelLayout(.packed422(lumaFirst: $0)) }
        for (width, height) in [(8, 6), (9, 7), (4, 4), (5, 5)] {
            let (left, top) = (width / 2 & ~1, height / 2 & ~1)
            for area in [
                Rectangle(left: 0, top: 0, right: left, bottom: top),
                Rectangle(left: left, top: 0, right: width, bottom: top),
                Rectangle(left: 0, top: top, right: left, bottom: height),
                Rectangle(left: left, top: top, right: width, bottom: height),
            ] {
                let source = planes(layout, width, height) { _, _ in 5 }
                let target = planes(layout, width, height) { _, _ in 77 }
                #expect(
                    downscale(
                        Planes(source).readOnly, into: Planes(target), layout: layout, width: width, height: height,
                        area: area))
                let isIntact = target.allSatisfy { $0.guardsAreIntact }
                #expect(isIntact)
                let drawn = planes(layout, width, height) { _, _ in 77 }
                let samples = [[UInt8]](repeating: [5, 5, 5, 5], count: layout.planes.count)
                Painter(Planes(drawn), layout: layout, width: width, height: height)?.fill(area, StoredColor(samples))
                for (plane, expected) in zip(target, drawn) {
                    // A last pair of packed samples may hold a pixel that is none.
                    let differing = zip(plane.bytes, expected.bytes).count { $0 != $1 }
                    #expect(differing <= (isPacked ? height : 0))
                }
            }
        }
    }

    @Test func whatCannotBeDrawnIsRefused() {
        let source = planes(DownscaleTests.i420, 8, 8) { _, _ in 5 }
        let box = Rectangle(left: 0, top: 0, right: 4, bottom: 4)
        let small = planes(DownscaleTests.i420, 6, 8) { _, _ in 5 }
        #expect(
            !downscale(
                Planes(source).readOnly, into: Planes(small), layout: DownscaleTests.i420, width: 8, height: 8,
                area: box))
        #expect(
            !downscale(
                Planes(small).readOnly, into: Planes(source), layout: DownscaleTests.i420, width: 8, height: 8,
                area: box))
        let nothing = Rectangle(left: 9, top: 0, right: 20, bottom: 4)
        #expect(
            !downscale(
                Planes(source).readOnly, into: Planes(source), layout: DownscaleTests.i420, width: 8, height: 8,
                area: nothing))
    }
}
