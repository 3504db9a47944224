import CGStreamer
import GstBridge
import GstTestSupport
import SystemFaults
import Testing

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// Files of the other elements whose reading or writing fails at any call: the element works, or says which file it is.
@Suite(.serialized, .enabled(if: can_fail_calls())) struct FileFaultTests {
    private let folder = TemporaryFolder()

    // MARK: Calibration

    @Test(
        arguments: ["depthalign", "depthunpack"],
        [CallFault(call: CALL_OPEN, error: EMFILE), CallFault(call: CALL_READ, error: EIO)])
    func `a calibration of which any call fails is refused by its name`(factory: String, fault: CallFault) {
        let path = folder.write("calibration.json", Array("{\"depth\": 1}".utf8))
        let failed = failEach(fault, in: folder) { _ in
            #expect(refusal(of: factory, ["calibration": path])?.text.contains(path) == true)
        }
        #expect(failed > 0)
    }

    // MARK: Point clouds

    @Test(
        arguments: [
            CallFault(call: CALL_OPEN, error: EMFILE), CallFault(call: CALL_WRITE, error: ENOSPC),
            CallFault(call: CALL_WRITE, error: EIO), CallFault(call: CALL_SYNC, error: EIO),
            CallFault(call: CALL_RENAME, error: EACCES),
        ])
    func `a snapshot of which any call fails leaves the old file, and nothing else`(fault: CallFault) throws {
        let shape = DepthShape("GRAY16_LE", 64, 48)
        let path = folder.write("cloud.ply", Array("old".utf8))
        let bench = Bench([], ["location": path], of: Bench.Kind(factory: "depthcloud", leading: "depth"))
        bench.leading.start(shape)
        let map = shape.bytes(counts: [Int](repeating: 900, count: 64 * 48))
        bench.leading.push(map, at: 0)
        _ = try #require(bench.output.next())
        let files = openFiles()
        var (frame, content, isWritten) = (1, folder.read("cloud.ply"), false)
        let failed = try failEach(fault, in: folder) { number in
            bench.set("snapshot", "true")
            bench.leading.push(map, at: time(ofFrame: frame))
            frame += 1
            _ = try #require(bench.output.next())
            var warning: Bus.Report?
            #expect(
                eventually {
                    warning = bench.bus.warnings().first
                    isWritten = !bench.bus.structures("snapshot").isEmpty
                    return warning != nil || isWritten
                })
            if let warning {
                #expect(warning.text.contains("The snapshot was not written: ") && warning.text.contains(path))
            }
        } then: { number in
            if isWritten { content = folder.read("cloud.ply") }
            #expect(folder.read("cloud.ply") == content && folder.names == ["cloud.ply"], "call \(number)")
        }
        #expect(content.count > 64 * 48 * 15)
        #expect(failed > 0)
        #expect(eventually { openFiles() <= files })
        #expect(bench.bus.errors() == [])
    }

    @Test func `a stop does not wait for a snapshot on a slow disk, which is whole when it has its name`() throws {
        let shape = DepthShape("GRAY16_LE", 64, 48)
        let bench = Bench(
            [], ["location": folder["cloud.ply"], "snapshot": "true"],
            of: Bench.Kind(factory: "depthcloud", leading: "depth"))
        delay_calls(folder.path, CALL_SYNC.rawValue, 4_000_000)
        defer { end_failing_calls() }
        bench.leading.start(shape)
        bench.leading.push(shape.bytes(counts: [Int](repeating: 900, count: 64 * 48)), at: 0)
        _ = try #require(bench.output.next())
        // The end waits, and the stop ends that wait.
        bench.leading.end()
        gst_element_set_state(bench.element, GST_STATE_READY)
        #expect(!folder.names.contains("cloud.ply"), "it waited")
        #expect(bench.bus.warnings().contains { $0.text.contains("still being written") })
        #expect(eventually { folder.names == ["cloud.ply"] }, "\(folder.names)")
        #expect(folder.read("cloud.ply").count > 64 * 48 * 15)
    }

    @Test func `a snapshot whose calls are interrupted is written`() throws {
        let shape = DepthShape("GRAY16_LE", 64, 48)
        let bench = Bench(
            [], ["location": folder["cloud.ply"], "snapshot": "true"],
            of: Bench.Kind(factory: "depthcloud", leading: "depth"))
        let calls = CALL_OPEN.rawValue | CALL_WRITE.rawValue
        fail_calls(folder.path, calls, EINTR, 0, .max)
        defer { end_failing_calls() }
        bench.leading.start(shape)
        bench.leading.push(shape.bytes(counts: [Int](repeating: 900, count: 64 * 48)), at: 0)
        bench.leading.end()
        _ = bench.output.rest()
        #expect(end_failing_calls() > 0)
        #expect(folder.read("cloud.ply").count > 64 * 48 * 15 && folder.names == ["cloud.ply"])
        #expect(bench.bus.warnings() == [])
    }
}
