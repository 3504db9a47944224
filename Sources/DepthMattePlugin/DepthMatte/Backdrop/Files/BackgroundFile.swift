import CGStreamer
import GstBridge
import Synchronization

/// The file that a property names, `background` or `room-picture`. It is opened before the first frame, and replaced without holding
/// one up.
///
/// No call to GStreamer is made while the state is locked.
final class BackgroundFile: Sendable {
    private struct State {
        var isRunning = false
        /// The number of changes of the property.
        var version = 0
        /// True while a thread opens files. It checks `version` again before it ends.
        var isLoading = false
        var reader: BackgroundReader?
        /// The largest picture that may be decoded.
        var maxPixels = 0
    }

    private let state = Monitor(State())
    private static let timeToStop: Int64 = 2_000_000  // microseconds
    private let isCancelled = CancelFlag()
    private let location: @Sendable () -> Location?
    /// True where the stream goes on without a file that cannot be read.
    private let isOptional: Bool

    /// The property's value, and whether it may name a file of the network.
    struct Location: Equatable {
        let name: String
        let allowsRemote: Bool
    }

    /// - Parameter location: returns the property's current value. It is called for each file that is opened, because two
    ///   threads may report their changes in another order than they made them.
    init(isOptional: Bool = false, location: @escaping @Sendable () -> Location?) {
        (self.isOptional, self.location) = (isOptional, location)
    }

    /// The open file; nil if the property is not set.
    var reader: BackgroundReader? { state.withLock { $0.reader } }

    /// READY to PAUSED: opens the file, so that an error is posted before any frame.
    ///
    /// - Throws: an error that names the file and the reason.
    func start(for element: any Element, maxPixels: Int) throws(ElementError) {
        isCancelled.set(false)
        state.withLock { $0.maxPixels = maxPixels }
        let named = location()
        let opened = try openFirst(named, for: element)
        state.withLock {
            $0.isRunning = true
            $0.reader = opened
        }
        // The property may have changed while the file was being opened.
        if location() != named { replace(for: element) }
    }

    /// Ends every wait for a decoder, including that of a file being opened.
    func interrupt() {
        isCancelled.set(true)
        reader?.interrupt()
    }

    /// PAUSED to READY: closes the file. Returns when no thread opens another, or soon where a disk does not answer: then
    /// that thread closes what it opens.
    func stop() {
        isCancelled.set(true)
        // First, or a thread that keeps setting the property could keep the loader running.
        let closed = state.withLock { state -> BackgroundReader? in
            (state.isRunning, state.version) = (false, state.version &+ 1)
            defer { state.reader = nil }
            return state.reader
        }
        _ = state.wait(microseconds: BackgroundFile.timeToStop) { !$0.isLoading }
        closed?.close()
    }

    /// Handles a change of the property. In NULL and READY it does nothing. Later a thread opens the new file; the old one
    /// stays until that is done, or for good if the new one cannot be read. Of several changes while a file is being
    /// opened, only the last counts.
    func replace(for element: any Element) {
        let needsThread = state.withLock { state in
            guard state.isRunning else { return false }
            state.version += 1
            defer { state.isLoading = true }
            return !state.isLoading
        }
        guard needsThread else { return }
        if element.onThread("depthmatte-background", { [self] in load(for: $0) }) { return }
        state.withLock { $0.isLoading = false }
        element.warn(
            ElementError(
                .resource(GST_RESOURCE_ERROR_FAILED),
                "The file is not replaced: no thread could be started to open the file."))
    }

    private func openFirst(
        _ location: Location?, for element: any MessageSource
    ) throws(ElementError) -> BackgroundReader? {
        do throws(ElementError) {
            return try open(location, for: element)
        } catch {
            guard isOptional else { throw error }
            element.warn(error)
            return nil
        }
    }

    private func open(_ location: Location?, for element: any MessageSource) throws(ElementError) -> BackgroundReader? {
        guard let location else { return nil }
        let reader = try BackgroundReader(
            location: location.name, allowsRemote: location.allowsRemote, maxPixels: state.withLock { $0.maxPixels },
            isCancelled: isCancelled)
        if reader.isInterlaced {
            element.warn(interlaced("The file \"\(location.name)\"", "its fields are shown as one picture"))
        }
        return reader
    }

    /// Opens the file, and again if the property changed meanwhile.
    private func load(for element: ElementReference) {
        var version: Int
        repeat {
            version = state.withLock { $0.version }
            openWanted(version, for: element)
        } while !finishLoading(version)
    }

    private func openWanted(_ version: Int, for element: ElementReference) {
        do throws(ElementError) {
            let opened = try open(location(), for: element)
            if !install(opened, version) { opened?.close() }
        } catch {
            if isCurrent(version) && !isCancelled.isSet { element.warn(error) }
        }
    }

    private func isCurrent(_ version: Int) -> Bool { state.withLock { $0.version == version } }

    /// Ends the thread's work; false if the property changed meanwhile, which this thread has to handle.
    private func finishLoading(_ version: Int) -> Bool {
        state.withLock { state in
            guard state.version == version || !state.isRunning else { return false }
            state.isLoading = false
            return true
        }
    }

    /// Replaces the open file; false if the property changed meanwhile.
    private func install(_ opened: BackgroundReader?, _ version: Int) -> Bool {
        let replaced = state.withLock { state -> BackgroundReader?? in
            guard state.version == version else { return nil }
            defer { state.reader = opened }
            return .some(state.reader)
        }
        guard let replaced else { return false }
        replaced?.close()
        return true
    }
}

/// A flag that makes a thread stop waiting.
package final class CancelFlag: Sendable {
    private let flag = Atomic(false)

    package init() {}

    var isSet: Bool { flag.load(ordering: .relaxed) }

    func set(_ value: Bool) { flag.store(value, ordering: .relaxed) }
}
