import CGStreamer
import DepthMattePlugin
import GstTestSupport
import SystemFaults
import Testing

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// A folder that looks like /sys/class/thermal, in which this process believes while it is there.
private final class FakeMachine {
    private let folder = TemporaryFolder()

    init() { setenv(ThermalWatch.rootVariable, folder.path, 1) }

    deinit { unsetenv(ThermalWatch.rootVariable) }

    var path: String { folder.path }
    var zones: [ThermalZone] { ThermalZone.all(below: folder.path) }

    func write(_ name: String, _ text: String) { folder.write(name, Array(text.utf8)) }

    /// Degrees.
    func add(_ zone: Int, _ type: String, _ degrees: Int, trips: [(String, Int)]) {
        write("thermal_zone\(zone)/type", type + "\n")
        for (index, trip) in trips.enumerated() {
            write("thermal_zone\(zone)/trip_point_\(index)_type", trip.0 + "\n")
            write("thermal_zone\(zone)/trip_point_\(index)_temp", "\(trip.1 * 1000)\n")
        }
        heat(zone, to: degrees)
    }

    func heat(_ zone: Int, to degrees: Int) { write("thermal_zone\(zone)/temp", "\(degrees * 1000)\n") }
}

@Suite(.serialized) struct ThermalTests {
    // MARK: Zones

    @Test func `the state follows from the trip points`() {
        func states(_ temperatures: [Int], passive: Int? = nil, hot: Int? = nil, critical: Int? = nil)
            -> [ThermalState?]
        {
            temperatures.map {
                ThermalZone(
                    name: "", temperature: $0 * 1000, passive: passive.map { $0 * 1000 }, hot: hot.map { $0 * 1000 },
                    critical: critical.map { $0 * 1000 }
                ).state
            }
        }
        #expect(
            states([20, 74, 75, 79, 80, 94, 95, 99, 100, 200], passive: 80, critical: 100)
                == [.nominal, .nominal, .fair, .fair, .serious, .serious, .serious, .serious, .critical, .critical])
        #expect(
            states([89, 90, 95, 99, 100], critical: 100) == [.nominal, .fair, .serious, .serious, .critical])
        #expect(states([79, 80, 85, 90], hot: 90, critical: 110) == [.nominal, .fair, .serious, .critical])
        #expect(states([74, 75, 80, 300], passive: 80) == [.nominal, .fair, .serious, .serious])
        #expect(states([20, 300]) == [nil, nil])
    }

    @Test func `zones are read as the kernel writes them, and those that cannot be are left out`() {
        let machine = FakeMachine()
        #expect(machine.zones == [])
        machine.add(0, "acpitz", 45, trips: [("critical", 119), ("active", 50), ("passive", 90), ("passive", 80)])
        machine.add(1, "x86_pkg_temp", 60, trips: [("passive", 0), ("passive", -274)])
        machine.write("thermal_zone2/temp", "no number\n")
        machine.write("thermal_zone3/temp", "99999999999999999999\n")
        machine.write("thermal_zone4/type", "silent\n")
        machine.write("cooling_device0/type", "Fan\n")
        #expect(
            machine.zones == [
                ThermalZone(name: "acpitz", temperature: 45_000, passive: 80_000, critical: 119_000),
                ThermalZone(name: "x86_pkg_temp", temperature: 60_000),
            ])
        #expect(ThermalZone.worst(of: machine.zones)?.name == "acpitz")
        machine.add(5, "battery", 50, trips: [("hot", 55)])
        #expect(ThermalZone.worst(of: machine.zones)?.name == "battery")
    }

    // MARK: The element

    private func states(_ bench: Bench) -> [String] { bench.bus.structures("thermal") }

    private func text(_ state: String, _ zone: String, _ degrees: Int) -> String {
        "thermal, state=(string)\(state), zone=(string)\(zone.isEmpty ? "\"\"" : zone), temperature=(double)\(degrees);"
    }

    private func hotMachine() -> FakeMachine {
        let machine = FakeMachine()
        machine.add(0, "cpu", 85, trips: [("passive", 80)])
        return machine
    }

    @Test func `a machine without zones reports nominal, once`() {
        let machine = FakeMachine()
        let bench = Bench(["depth"], ["thermal": "report"])
        #expect(bench.bus.nextStructure() == text("nominal", "", 0))
        // A second reading would come within this patience if it had something to tell.
        machine.add(0, "cpu", 99, trips: [("passive", 80)])
        #expect(bench.bus.nextStructure() == text("serious", "cpu", 99))
    }

    @Test func `every change of state is told, and nothing else`() {
        let machine = FakeMachine()
        machine.add(0, "cpu", 40, trips: [("passive", 80), ("critical", 100)])
        let bench = Bench(["depth"], ["thermal": "report"])
        #expect(bench.bus.nextStructure() == text("nominal", "cpu", 40))
        for (degrees, state) in [(76, "fair"), (81, "serious"), (101, "critical"), (50, "nominal")] {
            machine.heat(0, to: degrees)
            #expect(bench.bus.nextStructure() == text(state, "cpu", degrees))
        }
        #expect(states(bench) == [])
    }

    @Test func `who ignores the heat hears nothing of it until they ask`() {
        let machine = FakeMachine()
        machine.add(0, "cpu", 85, trips: [("passive", 80)])
        let bench = Bench(["depth"])
        #expect(states(bench) == [])
        bench.set("thermal", "report")
        #expect(bench.bus.nextStructure() == text("serious", "cpu", 85))
        bench.set("thermal", "ignore")
        gst_element_set_state(bench.element, GST_STATE_READY)
        #expect(states(bench) == [])
        bench.set("thermal", "report")
        #expect(states(bench) == [], "nothing is read while nothing runs")
    }

    @Test(arguments: [("degrade", 85), ("degrade", 40), ("report", 85)])
    func `a hot machine makes every second matte, if it may`(mode: String, degrees: Int) throws {
        let machine = FakeMachine()
        machine.add(0, "cpu", degrees, trips: [("passive", 80)])
        let bench = Bench.numbered(["thermal": mode])
        #expect(bench.bus.nextStructure() == text(degrees > 80 ? "serious" : "nominal", "cpu", degrees))
        for number in 0..<6 {
            bench.depth.push(Numbered.map(number + 1), at: time(ofFrame: number))
        }
        bench.depth.end()
        bench.pushVideo(6)
        #expect(bench.numbers() == (mode == "degrade" && degrees > 80 ? [1, 1, 3, 3, 5, 5] : [1, 2, 3, 4, 5, 6]))
    }

    @Test func `a frame with the matte of the one before counts as reused, with the skew of the depth that made it`() {
        let machine = FakeMachine()
        machine.add(0, "cpu", 85, trips: [("passive", 80)])
        let bench = Bench.numbered(["thermal": "degrade"])
        _ = bench.bus.nextStructure()
        for number in 0..<4 { bench.depth.push(Numbered.map(number + 1), at: time(ofFrame: number)) }
        bench.depth.end()
        bench.pushVideo(4)
        #expect(bench.numbers() == [1, 1, 3, 3])
        let stats = Stats(of: bench)
        #expect(stats["paired"] == 2 && stats["reused"] == 2)
        #expect(stats.signed("skew") == Int64(time(ofFrame: 2)) - Int64(time(ofFrame: 3)))
    }

    @Test func `a matte is not used again after a frame that had none`() throws {
        let machine = FakeMachine()
        machine.add(0, "cpu", 85, trips: [("passive", 80)])
        let bench = Bench.numbered(["thermal": "degrade", "hold-time": "0", "max-skew": "40000000"])
        _ = bench.bus.nextStructure()
        for (number, map) in [(0, 1), (4, 5), (5, 6)] { bench.depth.push(Numbered.map(map), at: time(ofFrame: number)) }
        bench.depth.end()
        bench.pushVideo(6)
        // Frame 2 is too far from any depth, whatever the heat. Frame 3 makes a matte: none is before it.
        #expect(bench.numbers() == [1, 1, 0, 5, 5, 5])
    }

    @Test func `a matte is not used again after a frame that had none, however soon`() throws {
        let machine = FakeMachine()
        machine.add(0, "cpu", 85, trips: [("passive", 80)])
        let bench = Bench.numbered(["thermal": "degrade", "hold-time": "0", "max-skew": "50000000"])
        _ = bench.bus.nextStructure()
        let start: GstClockTime = 1_000_000_000
        bench.depth.push(Numbered.map(1), at: start - 38_000_000)
        bench.depth.push(Numbered.map(2), at: start + 75_000_000)
        bench.depth.end()
        for frame in 0..<4 { bench.video.push(Numbered.picture, at: start + GstClockTime(frame) * 10_000_000) }
        bench.video.end()
        // Frame 2 is too far from both maps; the matte of frame 0 would be near enough to frame 3.
        #expect(bench.numbers() == [1, 1, 0, 2])
    }

    @Test(.enabled(if: can_fail_calls()))
    func `a stop does not wait for a sensor that does not answer, and nothing is told after it`() {
        let machine = hotMachine()
        delay_calls(machine.path, CALL_OPEN.rawValue, 3_000_000)
        defer { end_failing_calls() }
        let bench = Bench(["depth"], ["thermal": "report"])
        gst_element_set_state(bench.element, GST_STATE_READY)
        #expect(ThreadStormTests.ownThreads().contains { $0.hasPrefix("depthmatte-ther") }, "it waited")
        #expect(end_failing_calls() > 0)
        #expect(eventually { ThreadStormTests.ownThreads().isEmpty }, "\(ThreadStormTests.ownThreads())")
        #expect(states(bench) == [])
        gst_element_set_state(bench.element, GST_STATE_PLAYING)
        #expect(bench.bus.nextStructure() == text("serious", "cpu", 85))
    }

    // MARK: A matte that means nothing any more

    /// A hot element that has shown all of the room, which was near; the matte of that frame would show it again.
    private func hotBench(_ properties: [String: String] = [:]) throws -> Bench {
        let bench = Bench.room(properties.with(["thermal": "degrade"]))
        #expect(bench.bus.nextStructure() == text("serious", "cpu", 85))
        #expect(Room.leaked(bench.pair(0, depth: Room.wall(700))) == Room.all)
        return bench
    }

    @Test func `after a gap in time a frame gets its own matte`() throws {
        let machine = hotMachine()
        let bench = try hotBench()
        bench.depth.push(Room.wall(3000), at: 10_000 * millisecond)
        bench.video.push(Room.picture, at: 10_000 * millisecond)
        #expect(Room.leaked(bench.output.next()) == 0)
        withExtendedLifetime(machine) {}
    }

    @Test(arguments: [
        ("cutoff", "0.5"), ("near", "0.8"), ("invert", "true"), ("mask", "band-pass"),
        ("anchor", "face"), ("depth-unit", "0.01"), ("depth-bias", "1"), ("depth-invalid", "700"),
        ("depth-kind", "disparity"), ("depth-offset-x", "1000"),
    ])
    func `a change of what makes the matte is whole on the next frame`(name: String, value: String) throws {
        let machine = hotMachine()
        let bench = try hotBench()
        bench.set(name, value)
        let changed = try #require(bench.pair(1, depth: Room.wall(700)))
        // The picture of a cool machine.
        let cool = Bench.room([name: value])
        let expected = try #require(cool.pair(0, depth: Room.wall(700)))
        #expect(changed.bytes == expected.bytes)
        #expect(Room.leaked(expected) != Room.all, "the change must hide something")
        withExtendedLifetime(machine) {}
    }

    /// The restarts that may come between two frames.
    enum Beginning: CaseIterable {
        case depthCaps, depthSegment, depthStream, depthPad, videoCaps, videoSegment, videoStream
    }

    @Test(arguments: Beginning.allCases)
    func `what begins anew gets a matte of its own`(beginning: Beginning) throws {
        let machine = hotMachine()
        let bench = try hotBench()
        var map = Room.wall(3000)
        switch beginning {
        case .depthCaps:
            let small = DepthShape("GRAY16_LE", 16, 12)
            bench.depth.setCaps(small.caps)
            map = small.bytes(counts: [Int](repeating: 3000, count: 16 * 12))
        case .depthSegment: bench.depth.push(.time())
        case .depthStream: bench.depth.start(Room.depth)
        case .depthPad:
            bench.release("depth")
            bench.request("depth").start(Room.depth)
        case .videoCaps: bench.video.setCaps(VideoShape("RGB", 64, 48, fields: "pixel-aspect-ratio=(fraction)2/1").caps)
        case .videoSegment: bench.video.push(.time())
        case .videoStream: bench.video.start(Room.shape)
        }
        #expect(Room.leaked(bench.pair(1, depth: map)) == 0)
        withExtendedLifetime(machine) {}
    }
}
