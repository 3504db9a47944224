import CGStreamer
import DepthCameras
import GstBridge
import Synchronization

/// Reads the machine's thermal state once a second on a thread of its own, and posts every change as the element message
/// "thermal".
///
/// A thread, because reading a sensor may block in its driver for milliseconds; the streaming thread only reads an atomic.
package final class ThermalWatch: Sendable {
    /// The environment variable that names another folder than the kernel's, for tests.
    package static let rootVariable = "DEPTHMATTE_THERMAL_ROOT"
    private static let (interval, timeToStop): (Int64, Int64) = (1_000_000, 500_000)  // microseconds

    private struct Run {
        var isWanted = false
        /// True while the thread exists.
        var isRunning = false
        var mayRun = false
        /// True after the warning that no thread could be started.
        var hasWarned = false
    }

    private let run = Monitor(Run())
    private let lastState = Atomic(ThermalState.nominal.rawValue)

    /// The last state; nominal before the first reading.
    var state: ThermalState { ThermalState(rawValue: lastState.load(ordering: .relaxed)) ?? .nominal }

    /// Starts or ends watching, at READY to PAUSED and when the property changes.
    func setWanted(_ isWanted: Bool, for element: any Element) {
        let needsThread = run.withLock { run in
            run.isWanted = isWanted
            guard isWanted, run.mayRun, !run.isRunning else { return false }
            run.isRunning = true
            return true
        }
        guard needsThread else { return }
        guard !element.onThread("depthmatte-thermal", { [self] in watch($0) }) else { return }
        let isFirst = run.withLock { run in
            defer { (run.isRunning, run.hasWarned) = (false, true) }
            return !run.hasWarned
        }
        if isFirst {
            element.warn(
                ElementError(
                    .resource(GST_RESOURCE_ERROR_FAILED), "The temperature is not watched: no thread could be started.")
            )
        }
    }

    func start(_ isWanted: Bool, for element: any Element) {
        run.withLock { $0.mayRun = true }
        setWanted(isWanted, for: element)
    }

    /// PAUSED to READY: returns when the thread has ended, or soon where a sensor does not answer.
    func stop() {
        run.withLock { $0.mayRun = false }
        _ = run.wait(microseconds: ThermalWatch.timeToStop) { !$0.isRunning }
        lastState.store(ThermalState.nominal.rawValue, ordering: .relaxed)
    }

    private func watch(_ element: ElementReference) {
        let root = environment(ThermalWatch.rootVariable) ?? "/sys/class/thermal"
        var posted: ThermalState?
        repeat {
            let worst = ThermalZone.worst(of: ThermalZone.all(below: root))
            let state = worst?.state ?? .nominal
            // The sensor may have answered long after the stop.
            guard run.withLock({ $0.mayRun && $0.isWanted }) else { continue }
            lastState.store(state.rawValue, ordering: .relaxed)
            if state != posted { post(state, worst, element) }
            posted = state
        } while !run.wait(microseconds: ThermalWatch.interval, until: { !$0.mayRun || !$0.isWanted }) || !hasEnded()
    }

    /// Ends the thread, unless watching was requested again meanwhile.
    private func hasEnded() -> Bool {
        run.withLock { run in
            if run.mayRun && run.isWanted { return false }
            lastState.store(ThermalState.nominal.rawValue, ordering: .relaxed)
            run.isRunning = false
            return true
        }
    }

    private func post(_ state: ThermalState, _ zone: ThermalZone?, _ element: ElementReference) {
        guard let structure = gst_structure_new_empty("thermal") else { return }
        structure.set("state", to: state.name)
        structure.set("zone", to: zone?.name ?? "")
        structure.set("temperature", to: Double(zone?.temperature ?? 0) / 1000)
        element.post(gst_message_new_element(element.object, structure))
    }
}
