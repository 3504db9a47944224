import DepthKernels
import Foundation
import TestSupport
import Testing

/// People who come, move about, leave and come back, in rooms that are drawn by a seed. What is shown is the person, or nothing.
@Suite struct LeavingTests {
    @Test(arguments: 0..<12)
    func `nobody's place is shown`(seed: UInt64) throws {
        let story = Story(seed: seed)
        let matte = Matte()
        var kept: [Double] = []
        for number in 0..<Story.length {
            let scene = story.scene(number)
            let shown = try scene.shares(of: matte, number)
            let isThere = scene.things.contains { $0.isPerson }
            let most = isThere ? (story.isApart ? 0.01 : 1) : 0.0005
            #expect(shown.room < most, "frame \(number), \(story.leaving): \(shown.room)")
            if Story.seated.contains(number), matte.report.isPresent || !kept.isEmpty { kept.append(shown.person) }
            if number == Story.absent.upperBound - 1 { #expect(!matte.report.isPresent) }
        }
        let worst = try #require(kept.min())
        #expect(worst > 0.7, "of \(kept)")
        #expect(matte.report.isPresent)
    }

    /// A chair that no step parts from the person may be taken for part of them, but not for good.
    @Test func `what stays without a head goes after ten seconds`() throws {
        var scene = RoomScene(wall: 2.5)
        scene.addPerson(x: 0, z: 1)
        let matte = Matte()
        for number in 0..<3 { #expect(try scene.shares(of: matte, number).person > 0.9) }
        scene.things.removeAll { $0.isHead }
        var last = 0.0
        for number in stride(from: 3, to: 333, by: 10) {
            last = try scene.shares(of: matte, number).person
            if number < 290 { #expect(last > 0.9, "frame \(number)") }
        }
        #expect(last == 0)
    }
}

/// Frames of a person in a room with a chair behind their back.
private struct Story {
    enum Leaving: CaseIterable { case aside, down, up }

    static let length = 100
    /// Frames in which the person sits, turns, leans aside and holds their hands before the face; in which they leave; in which
    /// nobody is there.
    static let (seated, leave, absent) = (12..<52, 52..<74, 74..<86)

    let leaving: Leaving
    /// False where the chair is so near behind the person that a part of it beside them may be taken for a strip of their shoulder.
    let isApart: Bool
    private var room: RoomScene
    private let (distance, side): (Double, Double)

    init(seed: UInt64) {
        var random = RepeatableRandomNumberGenerator(seed: seed)
        leaving = Leaving.allCases[Int(seed % 3)]
        distance = .random(in: 0.8...1.2, using: &random)
        side = Bool.random(using: &random) ? 1 : -1
        room = RoomScene(wall: .random(in: 2...3.5, using: &random))
        let chair = Place(.random(in: 0.16...0.3, using: &random), 0.6, 0.03)
        isApart = seed % 2 == 1
        let behind = Double.random(in: isApart ? 0.25...0.4 : 0.12...0.22, using: &random)
        room.things.append(
            Thing(center: Place(0, 0.5, distance + behind + 0.03), half: chair, isBox: true))
        for _ in 0..<3 {
            let half = Place(.random(in: 0.3...0.5, using: &random), .random(in: 0.3...0.6, using: &random), 0.1)
            let far = Double.random(in: (distance + 0.5)...(distance + 0.7), using: &random)
            room.things.append(
                Thing(center: Place(.random(in: -0.9...0.9, using: &random), 0.6, far), half: half, isBox: true))
        }
    }

    func scene(_ number: Int) -> RoomScene {
        var scene = room
        /// 0…1 over some frames, and to 1 and back.
        func share(_ frames: Range<Int>) -> Double {
            min(max(Double(number + 1 - frames.lowerBound) / Double(frames.count), 0), 1)
        }
        func wave(_ frames: Range<Int>) -> Double { sin(Double.pi * share(frames)) }
        guard !Story.absent.contains(number) else { return scene }
        let away = Story.absent.contains(number) ? 1 : number < Story.absent.lowerBound ? share(Story.leave) : 0
        let coming =
            number < Story.leave.lowerBound ? 1 - share(0..<12) : number < Story.length - 14 ? 0 : 1 - share(86..<98)
        var (x, lift) = (side * 1.5 * distance * coming, 0.0)
        switch leaving {
        case .aside: x += side * 1.5 * distance * away
        case .down: lift = -1.4 * distance * away
        case .up: lift = 1.4 * distance * away
        }
        scene.addPerson(
            x: x, z: distance, lift: lift, turn: wave(18..<30), lean: side * 0.6 * wave(28..<40), cover: wave(40..<52))
        return scene
    }
}

/// Metres: to the right, up, and away from the camera, which is 1.2 m above the floor.
private struct Place {
    var (x, y, z): (Double, Double, Double)

    init(_ x: Double, _ y: Double, _ z: Double) { (self.x, self.y, self.z) = (x, y, z) }
}

/// An ellipsoid or a box.
private struct Thing {
    var center: Place
    let half: Place
    var isBox = false
    var isPerson = false
    var isHead = false
    var shade = 110.0

    /// The distance along the optical axis at which a ray from the camera meets it; nil where it does not.
    func hit(_ x: Double, _ y: Double) -> Double? {
        let origin = Place(-center.x / half.x, (1.2 - center.y) / half.y, -center.z / half.z)
        let ray = Place(x / half.x, y / half.y, 1 / half.z)
        guard !isBox else {
            var (enter, leave) = (0.05, Double.infinity)
            for (o, d) in [(origin.x, ray.x), (origin.y, ray.y), (origin.z, ray.z)] {
                let (one, other) = ((-1 - o) / d, (1 - o) / d)
                (enter, leave) = (max(enter, min(one, other)), min(leave, max(one, other)))
            }
            return enter < leave ? enter : nil
        }
        let a = ray.x * ray.x + ray.y * ray.y + ray.z * ray.z
        let b = ray.x * origin.x + ray.y * origin.y + ray.z * origin.z
        let c = origin.x * origin.x + origin.y * origin.y + origin.z * origin.z - 1
        let root = b * b - a * c
        guard root > 0 else { return nil }
        let distance = (-b - root.squareRoot()) / a
        return distance > 0.05 ? distance : nil
    }
}

/// A room as a camera of 60 degrees sees it.
private struct RoomScene {
    static let (width, height) = (240, 180)
    /// Metres.
    let wall: Double
    var things: [Thing] = []

    init(wall: Double) { self.wall = wall }

    /// - Parameters:
    ///   - lift: metres above the seat.
    ///   - turn: radians about the upright axis.
    ///   - lean: radians to the right.
    ///   - cover: 0…1; with 1 both hands are before the face.
    mutating func addPerson(
        x: Double, z: Double, lift: Double = 0, turn: Double = 0, lean: Double = 0, cover: Double = 0
    ) {
        func add(
            _ across: Double, _ up: Double, _ deep: Double, _ half: Place, isHead: Bool = false, shade: Double = 70
        ) {
            // Turned, then leaned about the hip.
            let (right, back) = (cos(turn) * across + sin(turn) * deep, cos(turn) * deep - sin(turn) * across)
            let center = Place(
                x + cos(lean) * right + sin(lean) * up, 0.62 + lift + cos(lean) * up - sin(lean) * right, z + back)
            things.append(Thing(center: center, half: half, isPerson: true, isHead: isHead, shade: shade))
        }
        add(0, 0.70, 0, Place(0.085, 0.125, 0.1), isHead: true, shade: 200)
        add(0, 0.745, 0.02, Place(0.092, 0.1, 0.105), isHead: true, shade: 40)
        add(0, 0.56, 0, Place(0.06, 0.09, 0.06), isHead: true, shade: 190)
        add(0, 0.32, 0, Place(0.21, 0.27, 0.13))
        add(0, 0, 0, Place(0.18, 0.16, 0.14))
        for side in [-1.0, 1] {
            for step in 0..<5 {
                let (part, raised) = (Double(step) / 4, 0.6 * cover)
                add(side * 0.25, 0.47 - 0.25 * part, -0.1 * part, Place(0.05, 0.08, 0.05))
                add(
                    side * (0.25 - 0.2 * part), 0.22 + (raised - 0.14) * part, -0.1 - 0.12 * part,
                    Place(0.045, 0.06, 0.045))
            }
            add(side * 0.05, 0.08 + 0.6 * cover, -0.22, Place(0.06, 0.08, 0.03), shade: 190)
        }
    }

    /// The shares of the person that are kept, and of the picture that are room and shown.
    func shares(of matte: Matte, _ number: Int) throws -> (person: Double, room: Double) {
        let (width, height) = (RoomScene.width, RoomScene.height)
        let focal = Double(width) / 2 / 0.5774
        var random = RepeatableRandomNumberGenerator(seed: UInt64(number))
        let noises = random.bytes(3 * width * height)
        var depth: [Float] = []
        var colors: [UInt8] = []
        var isPerson: [Bool] = []
        for row in 0..<height {
            for column in 0..<width {
                let x = (Double(column) + 0.5 - Double(width) / 2) / focal
                let y = (Double(height) / 2 - Double(row) - 0.5) / focal
                var (nearest, shade, person) = (wall, 150.0, false)
                for thing in things {
                    if let distance = thing.hit(x, y), distance < nearest {
                        (nearest, shade, person) = (distance, thing.shade, thing.isPerson)
                    }
                }
                let place = 3 * (row * width + column)
                let noise = noises[place..<(place + 3)].reduce(-3) { $0 + Double($1) / 127.5 }
                depth.append(Float(nearest + 0.002 * noise * nearest * nearest))
                let color = UInt8(shade + 3 * noise)
                colors += [color, color, UInt8(255 - shade)]
                isPerson.append(person)
            }
        }
        let map = try DepthMap(metres: depth, width: width)
        var settings = MatteSettings()
        settings.method = .fusion
        let alpha = try withRGB(colors, width: width, height: height) { picture in
            matte.render(
                MatteFrame(
                    depth: map.image, video: picture, width: width, height: height,
                    time: Int64(number) * 33_333_333), settings)
            return matte.finished.alpha.bytes
        }
        /// True where all samples about one are the person, or none is.
        func isAll(_ person: Bool, about index: Int) -> Bool {
            let (column, row) = (index % width, index / width)
            return (max(row - 3, 0)...min(row + 3, height - 1)).allSatisfy { y in
                (max(column - 3, 0)...min(column + 3, width - 1)).allSatisfy { isPerson[y * width + $0] == person }
            }
        }
        var (inside, kept, shown) = (0, 0, 0)
        for index in alpha.indices {
            if isPerson[index] {
                guard isAll(true, about: index) else { continue }
                inside += 1
                kept += alpha[index] > 127 ? 1 : 0
            } else if alpha[index] > 127, isAll(false, about: index) {
                shown += 1
            }
        }
        return (Double(kept) / Double(max(inside, 1)), Double(shown) / Double(width * height))
    }
}
