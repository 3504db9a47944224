import Foundation
import Testing

/// `subject=anchored` on recorded people with floor, neighbours and furniture at their range. The environment variable
/// DEPTHMATTE_REAL_DATA names the folder of the recordings.
@Suite struct SubjectRealDataTests {
    private static let names = [
        "kinect_person_far", "kinect_hair_holes", "kinect_hall_person", "structure_person_shirt",
    ]
    static let takes = RealDataTests.takes.filter { take in names.contains { take.name.hasPrefix($0) } }

    /// Pixels of 640; that of the recorded cameras is 525 to 575.
    private static let focalLength = 525.0

    @Test(.enabled(if: RealDataTests.folder != nil, "DEPTHMATTE_REAL_DATA is not set"), arguments: takes)
    func `nothing beyond 0.3 m from the person is kept, and all of the person`(_ take: Take) throws {
        let face = try #require(take.face)
        let (all, anchored) = try (fused(take, face, "subject=all"), fused(take, face))
        let person = try PersonMask(of: take, width: all.width, height: all.height)
        let reach = 0.3 * SubjectRealDataTests.focalLength / (try #require(take.faceDistance))
        let distances = person.distances()
        var (beyond, beyondOfAll, kept, keptOfAll) = (0, 0, 0, 0)
        for pixel in 0..<(all.width * all.height) {
            let (inAll, inAnchored) = (all.bytes[pixel * 4] > 127, anchored.bytes[pixel * 4] > 127)
            if distances[pixel] > reach {
                if inAll { beyondOfAll += 1 }
                if inAnchored { beyond += 1 }
            }
            if person.surely[pixel] && inAll {
                keptOfAll += 1
                if inAnchored { kept += 1 }
            }
        }
        print("\(take.name): beyond 0.3 m \(beyond) of \(beyondOfAll), kept \(kept) of \(keptOfAll)")
        #expect(beyond == 0 && beyondOfAll > 1000)
        #expect(Double(kept) >= 0.97 * Double(keptOfAll) && keptOfAll > 10000)
    }

    /// Detectors' boxes differ.
    @Test(
        .enabled(if: RealDataTests.folder != nil, "DEPTHMATTE_REAL_DATA is not set"),
        arguments: RealDataTests.takes.filter { $0.face != nil })
    func `a box that is off the face keeps the same person`(_ take: Take) throws {
        let face = try #require(take.face)
        let given = try fused(take, face)
        for (right, down, scale) in [
            (0.25, 0, 1), (-0.25, 0, 1), (0, 0.25, 1), (0, -0.25, 1), (0, 0, 0.7), (0, 0, 1.4),
        ] {
            var box = face
            box.x += Int((right + (1 - scale) / 2) * Double(face.width))
            box.y += Int((down + (1 - scale) / 2) * Double(face.height))
            box.width = Int(scale * Double(face.width))
            box.height = Int(scale * Double(face.height))
            let other = try fused(take, box)
            let change = zip(given.bytes, other.bytes).reduce(0) { $0 + abs(Int($1.0) - Int($1.1)) }
            let difference = Double(change) / 3 / 255 / 1000 / max(1, Double(given.width * given.height) / 307_200)
            print("\(take.name), box \(box): \(difference)")
            #expect(difference <= 0.3, "\(box)")
        }
    }

    private func fused(_ take: Take, _ face: Box, _ settings: String = "") throws -> Picture {
        let file = Places.scratch.appending(path: "\(take.name).png")
        try take.run(.given(face), view: "matte", settings: "method=fusion \(settings)", into: file)
        return try Picture(of: "filesrc location=\"\(file.path)\" ! pngdec", in: Places.scratch)
    }
}

/// The pixels of a person, and those that nobody judges.
private struct PersonMask {
    let width: Int
    let height: Int
    let surely: [Bool]
    let perhaps: [Bool]

    init(of take: Take, width: Int, height: Int) throws {
        (self.width, self.height) = (width, height)
        guard let mask = take.mask else {
            surely = PersonMask.shirt.alpha(width: width, height: height).values.map { $0 > 0 }
            perhaps = surely
            return
        }
        let picture = try Picture(of: "filesrc location=\"\(mask.path)\" ! pngdec", in: Places.scratch)
        try #require(picture.width == width && picture.height == height)
        surely = (0..<(width * height)).map { picture.bytes[$0 * 4] == 255 }
        perhaps = (0..<(width * height)).map { picture.bytes[$0 * 4] > 0 }
    }

    /// The man of `structure_person_shirt` and the shirt in his hands, drawn by hand to some five pixels.
    private static let shirt = HandOutline(
        window: [],
        outline: [
            [288, 60], [313, 56], [339, 72], [341, 100], [336, 115], [325, 133], [360, 142], [393, 176], [420, 182],
            [434, 250], [408, 266], [394, 244], [386, 384], [352, 390], [354, 440], [362, 474], [322, 474], [318, 398],
            [287, 396], [277, 474], [240, 474], [253, 400], [258, 330], [252, 285], [250, 262], [246, 218], [224, 212],
            [226, 186], [245, 160], [262, 145], [300, 132], [288, 108],
        ], unsure: [])

    /// Pixels from each pixel to the nearest of the person, by steps along axes and diagonals.
    func distances() -> [Double] {
        var distances = perhaps.map { $0 ? 0 : Double.infinity }
        func relax(_ x: Int, _ y: Int, _ side: Int) {
            for (dx, dy) in [(-1, 0), (-1, -1), (0, -1), (1, -1)] {
                let (otherX, otherY) = (x + side * dx, y + side * dy)
                guard otherX >= 0, otherX < width, otherY >= 0, otherY < height else { continue }
                let step = dx != 0 && dy != 0 ? 2.0.squareRoot() : 1
                distances[y * width + x] = min(distances[y * width + x], distances[otherY * width + otherX] + step)
            }
        }
        for y in 0..<height { for x in 0..<width { relax(x, y, 1) } }
        for y in (0..<height).reversed() { for x in (0..<width).reversed() { relax(x, y, -1) } }
        return distances
    }
}
