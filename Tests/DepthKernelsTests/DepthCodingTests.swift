import DepthKernels
import TestSupport
import Testing

/// The codings of depth in video against `Tests/quality/rgbd_video.py`, whose pictures `Golden/regenerate_video.py` wrote.
@Suite struct DepthCodingTests {
    private let depth: PortableAnymap
    private let bt601 = LumaMatrix(red: 0.299, blue: 0.114, isLimited: true)

    init() throws { depth = try Golden.picture("video.depth.pgm") }

    /// Planes of a picture in 4:2:0, and the area in it that holds the codes.
    private struct Packed {
        let planes: [GuardedPlane]
        let area: Rectangle<Int>
        let colors: VideoColors
        private let step: Int

        /// - Parameter content: the byte of a component of the area.
        init(_ area: Rectangle<Int>, isSemiPlanar: Bool, content: (_ component: Int, _ x: Int, _ y: Int) -> UInt8)
            throws
        {
            self.area = area
            let (width, height) = (area.x + area.width + 2, area.y + area.height + 4)
            func component(_ number: Int, _ x: Int, _ y: Int) -> UInt8 {
                let shift = number == 0 ? 0 : 1
                let (left, top) = (area.x >> shift, area.y >> shift)
                let isInside =
                    (left..<(left + area.width >> shift)).contains(x)
                    && (top..<(top + area.height >> shift)).contains(y)
                return isInside ? content(number, x - left, y - top) : 77
            }
            let luma = GuardedPlane(rowBytes: width, rows: height) { component(0, $0, $1) }
            let step = isSemiPlanar ? 2 : 1
            self.step = step
            let chroma = (0..<(isSemiPlanar ? 1 : 2)).map { plane in
                GuardedPlane(rowBytes: width / 2 * step, rows: height / 2) { x, y in
                    component(1 + plane + x % step, x / step, y)
                }
            }
            planes = [luma] + chroma
            colors = try #require(
                VideoColors(
                    .yuv(isLimited: true),
                    (0..<3).map { number in
                        VideoColors.Component(
                            plane: isSemiPlanar ? min(number, 1) : number,
                            offset: isSemiPlanar ? max(number - 1, 0) : 0,
                            step: number == 0 ? 1 : step, shiftX: min(number, 1), shiftY: min(number, 1))
                    }))
        }

        /// The bytes of a component of the area.
        func bytes(_ number: Int) -> [UInt8] {
            let (shift, step) = number == 0 ? (0, 1) : (1, step)
            let offset = number == 2 && step == 2 ? 1 : 0
            return (0..<(area.height >> shift)).flatMap { y in
                (0..<(area.width >> shift)).map { x in
                    planes[number == 0 ? 0 : min(number, planes.count - 1)][
                        offset + (x + area.x >> shift) * step, y + area.y >> shift]
                }
            }
        }

        var isIntact: Bool { planes.allSatisfy(\.guardsAreIntact) }
    }

    /// The codes of the clean map and of the smeared one, as components.
    private func cells(_ coding: DepthCoding) throws -> [[[UInt8]]] {
        let picture = try Golden.picture("\(coding).cell.pgm")
        let (width, height) = (depth.width, depth.height)
        return (0..<2).map { number in
            let start = number * width * height * 3 / 2
            func part(_ x: Int, _ y: Int, _ width: Int, _ height: Int) -> [UInt8] {
                (0..<height).flatMap { row in
                    (0..<width).map { UInt8(picture.samples[start + (y + row) * picture.width + x + $0]) }
                }
            }
            let (w, h) = (width / 2, height / 2)
            return [part(0, 0, width, height), part(0, height, w, h), part(w, height, w, h)]
        }
    }

    private func write(_ depth: [Int], _ width: Int, _ height: Int, _ coding: DepthCoding, into packed: Packed) throws {
        let counts = GuardedPlane(
            rowBytes: 2 * width, bytes: depth.flatMap { [UInt8(truncatingIfNeeded: $0), UInt8($0 >> 8)] })
        let map = try #require(
            DepthImage(plane: counts.plane.readOnly, width: width, height: height, encoding: .gray16LE))
        var writer = CodedDepthWriter()
        let placement = DepthPlacement(
            depthWidth: width, depthHeight: height, videoWidth: packed.area.width, videoHeight: packed.area.height)
        let isWritten = writer.write(
            (map, DepthScale(), placement), coding, coding.usualRange, bt601, into: Planes(packed.planes), packed.area,
            packed.colors)
        #expect(isWritten)
    }

    private func read(_ packed: Packed, _ coding: DepthCoding, _ edges: CodedEdges) throws -> [Int] {
        let counts = GuardedPlane(rowBytes: 2 * packed.area.width, rows: packed.area.height) { _, _ in 9 }
        var reader = CodedDepthReader()
        let isRead = reader.read(
            Planes(packed.planes).readOnly, packed.area, packed.colors, coding, coding.usualRange, bt601, edges,
            into: counts.plane)
        #expect(isRead && counts.guardsAreIntact)
        let bytes = counts.bytes
        return stride(from: 0, to: bytes.count, by: 2).map { Int(bytes[$0]) | Int(bytes[$0 + 1]) << 8 }
    }

    private func area(_ width: Int, _ height: Int) -> Rectangle<Int> {
        Rectangle(x: 6, y: 4, width: width, height: height)
    }

    @Test(arguments: DepthCoding.allCases, [false, true])
    func `a map is written as the reference writes it`(coding: DepthCoding, isSemiPlanar: Bool) throws {
        let packed = try Packed(area(depth.width, depth.height), isSemiPlanar: isSemiPlanar) { _, _, _ in 200 }
        try write(depth.samples, depth.width, depth.height, coding, into: packed)
        let cell = try cells(coding)[0]
        for component in 0..<3 { #expect(packed.bytes(component) == cell[component], "component \(component)") }
        #expect(packed.isIntact && packed.planes[0][0, 0] == 77)
    }

    @Test(arguments: DepthCoding.allCases, CodedEdges.allCases)
    func `codes are read as the reference reads them`(coding: DepthCoding, edges: CodedEdges) throws {
        let (width, size) = (depth.width, depth.width * depth.height)
        let golden = try Golden.picture("\(coding).\(edges).pgm").samples
        for (number, cell) in try cells(coding).enumerated() {
            let packed = try Packed(area(width, depth.height), isSemiPlanar: number == 1) { component, x, y in
                cell[component][y * (component == 0 ? width : width / 2) + x]
            }
            let distances = try read(packed, coding, edges)
            let expected = golden[(number * size)..<((number + 1) * size)]
            let wrong = zip(distances, expected).count { abs($0 - $1) > 1 || ($0 == 0) != ($1 == 0) }
            #expect(wrong == 0, "\(wrong) of \(size) in picture \(number)")
        }
    }

    @Test func `a person at one metre is code 76, and is read back at 0.996 m`() throws {
        let packed = try Packed(area(4, 4), isSemiPlanar: false) { _, _, _ in 0 }
        try write([Int](repeating: 1000, count: 16), 4, 4, .gray, into: packed)
        #expect(Set(packed.bytes(0)) == [76] && Set(packed.bytes(1)) == [128] && Set(packed.bytes(2)) == [128])
        #expect(try Set(read(packed, .gray, .keep)) == [996])
    }

    @Test(arguments: 0...4)
    func `three holes of four make a hole`(holes: Int) throws {
        let packed = try Packed(area(2, 2), isSemiPlanar: true) { _, _, _ in 0 }
        try write((0..<4).map { $0 < holes ? 0 : 1000 }, 2, 2, .gray, into: packed)
        #expect(packed.bytes(1) == [UInt8(128 + 16 * holes)])
        #expect(try read(packed, .gray, .keep).allSatisfy { ($0 == 0) == (holes >= 3) })
    }

    @Test(arguments: DepthCoding.allCases)
    func `without a map all is hole`(coding: DepthCoding) throws {
        let packed = try Packed(area(8, 6), isSemiPlanar: false) { _, _, _ in 100 }
        var writer = CodedDepthWriter()
        let isWritten = writer.write(
            nil, coding, coding.usualRange, bt601, into: Planes(packed.planes), packed.area, packed.colors)
        #expect(isWritten)
        #expect(try read(packed, coding, coding.usualEdges).allSatisfy { $0 == 0 })
    }

    @Test func `a map of another size takes the nearest sample`() throws {
        let packed = try Packed(area(8, 4), isSemiPlanar: false) { _, _, _ in 0 }
        try write([500, 1000, 2000, 4000], 4, 1, .black, into: packed)
        let distances = try read(packed, .black, .keep)
        for (x, millimetres) in [500, 500, 1000, 1000, 2000, 2000, 4000, 4000].enumerated() {
            #expect(abs(distances[x] - millimetres) < millimetres / 10 && distances[24 + x] == distances[x])
        }
    }

    @Test func `areas beyond the planes are refused`() throws {
        let packed = try Packed(area(8, 4), isSemiPlanar: false) { _, _, _ in 0 }
        for (x, y, width, height) in [
            (8, 4, 10, 4), (6, 4, 8, 12), (5, 4, 8, 4), (6, 4, 7, 4), (0, 0, 0, 4), (-2, 0, 4, 4),
        ] {
            var writer = CodedDepthWriter()
            let area = Rectangle(x: x, y: y, width: width, height: height)
            let isWritten = writer.write(
                nil, .gray, DepthCoding.gray.usualRange, bt601, into: Planes(packed.planes), area, packed.colors)
            #expect(!isWritten)
        }
        #expect(packed.isIntact)
    }

    @Test func `ranges and sizes that mean nothing are refused`() {
        for (near, far) in [(0, 8), (1, 1), (2, 1), (.nan, 8), (0.3, .nan), (0.3, .infinity), (-1, 8)]
            as [(Double, Double)]
        {
            #expect(DepthSpan(near: near, far: far, for: .gray) == nil)
        }
        #expect(DepthSpan(near: 0, far: 3, for: .record3d) != nil && DepthSpan(near: 0.3, far: 8, for: .gray) != nil)
        for layout in PackedLayout.allCases {
            let (width, height) = layout.packed(64, 48)
            let halves = layout.halves(width, height)
            #expect(halves?.color.width == 64 && halves?.depth.height == 48 && halves?.color != halves?.depth)
            #expect(layout.halves(66, 48) == nil || layout.halves(64, 50) == nil)
            #expect(layout.halves(0, 0) == nil)
        }
        #expect(PackedLayout.sideBySide.halves(8, 4)?.depth == Rectangle(x: 4, y: 0, width: 4, height: 4))
        #expect(PackedLayout.topBottomSwapped.halves(8, 4)?.color == Rectangle(x: 0, y: 2, width: 8, height: 2))
    }
}

@Suite struct DepthVideoTagTests {
    @Test(arguments: DepthCoding.allCases, PackedLayout.allCases)
    func `a comment is read as it was written`(coding: DepthCoding, layout: PackedLayout) throws {
        let camera = CameraIntrinsics(width: 640, height: 480, fx: 500.25, fy: 501, cx: 319.5, cy: 239.5)
        for calibration in [nil, Calibration(depth: camera)] {
            let tag = DepthVideoTag(coding: coding, layout: layout, span: coding.usualRange, calibration: calibration)
            #expect(try DepthVideoTag(comment: tag.text) == tag)
        }
    }

    @Test func `what is not said is the coding's own`() throws {
        let tag = try #require(try DepthVideoTag(comment: "{ \"depth-video\": {\"coding\": \"record3d\"}}"))
        #expect(
            tag.layout == .sideBySideSwapped && tag.span == DepthCoding.record3d.usualRange && tag.calibration == nil)
    }

    @Test(arguments: ["", "a holiday", "{}", "{\"intrinsicMatrix\": [1]}", "[\"depth-video\"]"])
    func `a comment about something else is nobody's fault`(text: String) throws {
        #expect(try DepthVideoTag(comment: text) == nil)
    }

    @Test(arguments: [
        "{\"depth-video\"", "{\"depth-video\": 3}", "{\"depth-video\": {}}",
        "{\"depth-video\": {\"coding\": \"blue\"}}",
        "{\"depth-video\": {\"coding\": \"gray\", \"layout\": \"around\"}}",
        "{\"depth-video\": {\"coding\": \"gray\", \"near\": 8, \"far\": 0.3}}",
        "{\"depth-video\": {\"coding\": \"gray\", \"near\": 1e999}}",
        "{\"depth-video\": {\"coding\": \"gray\", \"calibration\": {\"depth\": 1}}}",
    ])
    func `a broken comment is said to be broken`(text: String) {
        #expect(throws: StructuredTextError.self) { try DepthVideoTag(comment: text) }
    }
}
