import CGStreamer
import GstBridge
import GstTestSupport
import TestSupport
import Testing

/// Properties that other threads change while frames flow.
@Suite struct PropertyStormTests {
    private let folder = TemporaryFolder()

    /// A picture of one color, of the room's size.
    private func still(_ name: String, _ color: [UInt8]) -> String {
        folder.write(name, png(width: Room.shape.width, height: Room.shape.height) { _, _ in color })
    }

    @Test(arguments: Follower.all)
    func `every property changed a thousand times a second loses no frame`(follower: Follower) throws {
        let bench = Bench.numbered(follower)
        let files = [still("one.png", [1, 2, 3]), still("two.png", [4, 5, 6]), folder["missing.png"], nil]
        let settable = SettableProperty.all(of: bench.element)
        #expect(settable.count >= follower.leastProperties)
        var random = RepeatableRandomNumberGenerator(seed: 11)
        let element = bench.element
        var starts: [GstClockTime] = []
        func pass() throws {
            let due = time(ofFrame: starts.count)
            bench[follower.partner].push(follower.numbered(5), at: due)
            bench.leading.push(follower.leading.frame, at: due)
            let frame = try #require(bench.output.next(), "frame \(starts.count)")
            starts.append(frame.timing.start)
        }
        try pass()  // max-pixels is a limit for the caps, and is not changed before they are taken
        let setter = Repeater(every: 1000) { round in
            settable[round % settable.count].set(on: element, &random, strings: files)
        }
        while setter.rounds < 1500 { try pass() }
        #expect(setter.finish() >= 1500)
        #expect(starts == (0..<starts.count).map { time(ofFrame: $0) } && !starts.isEmpty)
        #expect(bench.bus.errors().isEmpty)
    }

    @Test func `a background swapped five hundred times shows in no frame with another`() throws {
        let (red, green, color): ([UInt8], [UInt8], [UInt8]) = ([250, 1, 2], [3, 240, 4], [5, 6, 230])
        let bench = Bench([], ["background-color": "0xff0506e6"])
        bench.video.start(Room.shape)
        let files = [still("red.png", red), still("green.png", green), folder["missing.png"], nil]
        let element = bench.element
        let setter = Repeater { round in
            // The last to be set is a good one, so that the end is known. Set again and again it would be read anew each
            // time, and with slow decoding never be ready.
            guard round <= 500 else { return g_usleep(1000) }
            SettableProperty.setString(element, "background", files[round < 500 ? round % 4 : 1])
        }
        var number = 0
        var seen: Set<[UInt8]> = []
        var isLast = false
        while !isLast, number < 200_000 {
            bench.video.push(Room.picture, at: time(ofFrame: number))
            let bytes = try #require(bench.output.next(), "frame \(number)").bytes
            number += 1
            let first = Array(bytes.prefix(3))
            try #require([red, green, color].contains(first), "\(first)")
            try #require(pixels(bytes, otherThan: first, Room.shape) == 0, "frame \(number) is mixed")
            seen.insert(first)
            isLast = setter.rounds > 500 && first == green
            if number.isMultiple(of: 100) { #expect(bench.bus.discardAll() == 0) }
        }
        setter.finish()
        #expect(isLast && seen.count > 1)
    }
}
