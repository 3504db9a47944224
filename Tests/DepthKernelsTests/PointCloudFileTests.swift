import DepthKernels
import TestSupport
import Testing

@Suite struct PointCloudFileTests {
    /// A reader of its own, by the text of the PLY specification.
    struct Ply {
        var properties: [(type: String, name: String)] = []
        var vertices: [[String: Double]] = []

        init(_ bytes: [UInt8]) throws {
            var rest = bytes[...]
            func line() throws -> [String] {
                let end = try #require(rest.firstIndex(of: 10))
                defer { rest = rest[(end + 1)...] }
                let text = String(decoding: rest[..<end], as: UTF8.self)
                return text.split(separator: " ").map { String($0) }
            }
            #expect(try line() == ["ply"])
            #expect(try line() == ["format", "binary_little_endian", "1.0"])
            var count = 0
            header: while true {
                let words = try line()
                switch words.first {
                case "comment": continue
                case "element":
                    #expect(words.count == 3 && words[1] == "vertex")
                    count = try #require(Int(words[2]))
                case "property": properties.append((words[1], words[2]))
                default:
                    #expect(words == ["end_header"])
                    break header
                }
            }
            for _ in 0..<count {
                var vertex: [String: Double] = [:]
                for (type, name) in properties {
                    let size = try #require(["float": 4, "uchar": 1][type])
                    let field = Array(rest.prefix(size))
                    try #require(field.count == size)
                    rest = rest.dropFirst(size)
                    let number = field.reversed().reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
                    vertex[name] = type == "uchar" ? Double(number) : Double(Float(bitPattern: number))
                }
                vertices.append(vertex)
            }
            #expect(rest.isEmpty, "bytes behind the last vertex")
        }
    }

    @Test func `every measured sample is a vertex, in metres, with its color`() throws {
        let (width, height) = (5, 4)
        let metres = (0..<width * height).map { index -> Float in
            [7: .nan, 8: 0, 9: -1, 10: .infinity, 11: 0.0005][index] ?? 0.5 + Float(index) / 10
        }
        let scene = try CloudFixture(
            metres: metres, colors: (0..<20).map { SIMD4(UInt8($0), UInt8(100 + $0), UInt8(200 + $0), 77) }, width: 5)
        let sensor = CloudSensor(width: 5, height: 4, fieldOfView: 70, fx: 10, fy: 20, cx: 1.5, cy: 2.5)
        for (order, names) in [
            (PixelOrder.rgba, ["red", "green", "blue"]), (.bgra, ["blue", "green", "red"]),
            (.argb, ["", "red", "green", "blue"]),
        ] {
            let file = PointCloudFile(
                scene.depth.image, scale: DepthScale(), colors: scene.picture, order: order, sensor: sensor)
            let ply = try Ply(file.bytes)
            #expect(ply.properties.map(\.name) == ["x", "y", "z", "red", "green", "blue"])
            #expect(ply.properties.map(\.type) == ["float", "float", "float", "uchar", "uchar", "uchar"])
            #expect(ply.vertices.count == 15 && file.points == 15)
            let samples = metres.indices.filter { !(7...11).contains($0) }
            for (vertex, sample) in zip(ply.vertices, samples) {
                let z = Double(metres[sample])
                #expect(vertex["z"] == z)
                #expect(abs(try #require(vertex["x"]) - z * (Double(sample % 5) - 1.5) / 10) < 1e-6)
                #expect(abs(try #require(vertex["y"]) - z * (Double(sample / 5) - 2.5) / 20) < 1e-6)
                for (place, name) in names.enumerated() where name != "" {
                    #expect(vertex[name] == Double([sample, 100 + sample, 200 + sample, 77][place]))
                }
            }
        }
    }

    @Test func `a map without a sample is a file without a vertex`() throws {
        let scene = try CloudFixture(metres: [.nan], colors: [pixel(0)], width: 1)
        let sensor = CloudSensor(width: 1, height: 1, fieldOfView: .nan)
        let file = PointCloudFile(
            scene.depth.image, scale: DepthScale(), colors: scene.picture, order: .rgba, sensor: sensor)
        #expect(try Ply(file.bytes).vertices.isEmpty && file.points == 0)
    }

    @Test func `the points do not depend on the encoding`() throws {
        let counts = (0..<20).map { $0 * 130 }
        let colors = (0..<20).map { pixel($0) }
        let sensor = CloudSensor(width: 5, height: 4, fieldOfView: 60)
        let files = try [DepthEncoding.gray16LE, .gray16BE].map { encoding in
            let scene = try CloudFixture(DepthMap(counts: counts, width: 5, encoding: encoding), colors)
            return PointCloudFile(
                scene.depth.image, scale: DepthScale(), colors: scene.picture, order: .rgba, sensor: sensor
            ).bytes
        }
        #expect(files[0] == files[1])
        #expect(
            try Ply(files[0]).vertices.map { try #require($0["z"]) * 1000 }.map { $0.rounded() }
                == counts.dropFirst().map { Double($0) })
    }

    @Test(arguments: ThresholdTests.scales)
    func `a count is a vertex exactly if it stands for a distance`(scale: DepthScale) throws {
        let scene = try CloudFixture(
            DepthMap(counts: ThresholdTests.allCounts, width: 256), ThresholdTests.allCounts.map { pixel($0) })
        // Singly precise, those within a millionth of a limit may fall on its other side.
        let metres = scene.depth.metres(scale)
        let (most, least) = (
            metres.count { $0 > 0.9999 * CloudSensor.nearest },
            metres.count { $0 > 1.0001 * CloudSensor.nearest && $0 < 1e30 }
        )
        let sensor = CloudSensor(width: 256, height: 256, fieldOfView: 60)
        let file = PointCloudFile(
            scene.depth.image, scale: scale, colors: scene.picture, order: .rgba, sensor: sensor)
        #expect(least <= file.points && file.points <= most, "\(file.points), \(least) to \(most)")
    }
}
