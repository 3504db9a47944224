import CGStreamer
import GstBridge
import Synchronization

/// Watches how hot the machine is, once a second, on a thread of its own, and tells of every change by an element message
/// `thermal`.
///
/// A thread, because reading a sensor is a call into its driver, which may talk to it over a slow bus for milliseconds; the
/// streaming thread only looks at a number that is always there.
package final class ThermalWatch: Sendable {
    /// Names another folder than the kernel's, for tests.
    package static let rootVariable = "DEPTHMATTE_THERMAL_ROOT"
    private static let interval: Int64 = 1_000_000  // microseconds

    private struct Run {
        var isWanted = false
        /// The thread is there.
        var isRunning = false
        var mayRun = false
        /// That there is no thread was told.
        var hasWarned = false
    }

    private let run = Monitor(Run())
    private let lastState = Atomic(ThermalState.nominal.rawValue)

    /// What was read last; nominal while nothing was.
    var state: ThermalState { ThermalState(rawValue: lastState.load(ordering: .relaxed)) ?? .nominal }

    /// READY to PAUSED, and whenever the property changes: watches, or does not.
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
                    .resource(GST_RESOURCE_ERROR_FAILED), "The system gives no thread to watch the temperature with."))
        }
    }

    func start(_ isWanted: Bool, for element: any Element) {
        run.withLock { $0.mayRun = true }
        setWanted(isWanted, for: element)
    }

    /// PAUSED to READY: returns when no thread watches any more.
    func stop() {
        run.withLock { $0.mayRun = false }
        run.wait(until: { !$0.isRunning }, then: { _ in })
    }

    private func watch(_ element: ElementReference) {
        let root = environment(ThermalWatch.rootVariable) ?? "/sys/class/thermal"
        var told: ThermalState?
        repeat {
            let worst = ThermalZone.worst(of: ThermalZone.all(below: root))
            let state = worst?.state ?? .nominal
            lastState.store(state.rawValue, ordering: .relaxed)
            if state != told { tell(state, worst, element) }
            told = state
        } while !run.wait(microseconds: ThermalWatch.interval, until: { !$0.mayRun || !$0.isWanted }) || !hasEnded()
    }

    /// Ends the thread, unless it is wanted again by now.
    private func hasEnded() -> Bool {
        run.withLock { run in
            if run.mayRun && run.isWanted { return false }
            lastState.store(ThermalState.nominal.rawValue, ordering: .relaxed)
            run.isRunning = false
            return true
        }
    }

    private func tell(_ state: ThermalState, _ zone: ThermalZone?, _ element: ElementReference) {
        guard let structure = gst_structure_new_empty("thermal") else { return }
        structure.set("state", to: state.name)
        structure.set("zone", to: zone?.name ?? "")
        structure.set("temperature", to: Double(zone?.temperature ?? 0) / 1000)
        guard let message = gst_message_new_element(element.object, structure) else { return }
        gst_element_post_message(element.instance, message)
    }
}
