import CGStreamer
import DepthMattePlugin
import GstTestSupport
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

    @Test func `a matte is not used again after a frame that had none`() throws {
        let machine = FakeMachine()
        machine.add(0, "cpu", 85, trips: [("passive", 80)])
        let bench = Bench.numbered(["thermal": "degrade", "hold-time": "0", "max-skew": "0"])
        _ = bench.bus.nextStructure()
        for (number, map) in [(0, 1), (3, 4), (4, 5), (5, 6)] {
            bench.depth.push(Numbered.map(map), at: time(ofFrame: number))
        }
        bench.depth.end()
        bench.pushVideo(6)
        // Frame 1 has no depth of its own, whatever the heat; frame 2 neither. Frame 3 makes a matte: none is before it.
        #expect(bench.numbers() == [1, 0, 0, 4, 5, 5])
    }
}
