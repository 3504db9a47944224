import CGStreamer
import GstBridge
import Synchronization

/// The file that the property `background` names: opened before the first frame, replaced without stopping one.
///
/// No call to GStreamer is made while the state is locked.
final class BackgroundFile: Sendable {
    private struct State {
        var isRunning = false
        /// Counts how often another file was wanted.
        var version = 0
        /// A thread is opening files; it looks again before it ends.
        var isLoading = false
        var reader: BackgroundReader?
        /// The largest picture that may be decoded.
        var maxPixels = 0
    }

    private let state = Monitor(State())
    private let isCancelled = CancelFlag()
    private let location: @Sendable () -> String?

    /// - Parameter location: returns the name of the file wanted now. It is called anew for each file that is opened: setters on
    ///   two threads may come here in another order than they set the property.
    init(location: @escaping @Sendable () -> String?) { self.location = location }

    /// The open file; nil where none is named.
    var reader: BackgroundReader? { state.withLock { $0.reader } }

    /// READY to PAUSED: opens the file, so that a fault shows before any frame leaves.
    func start(for element: any Element, maxPixels: Int) throws(ElementError) {
        isCancelled.set(false)
        state.withLock { $0.maxPixels = maxPixels }
        let named = location()
        let opened = try open(named, for: element)
        state.withLock {
            $0.isRunning = true
            $0.reader = opened
        }
        // The property may have changed while the file was being opened.
        if location() != named { replace(for: element) }
    }

    /// Keeps a frame that waits for the decoder from waiting longer, that of a file still being opened included.
    func interrupt() {
        isCancelled.set(true)
        reader?.interrupt()
    }

    /// PAUSED to READY: closes the file, and returns when no thread works on another.
    func stop() {
        isCancelled.set(true)
        state.withLock { $0.isRunning = false }  // or a thread that names files steadily would keep the loader going
        let closed = state.wait(until: { !$0.isLoading }) { state -> BackgroundReader? in
            defer { state.reader = nil }
            return state.reader
        }
        closed?.close()
    }

    /// The property changed. Before the start nothing happens yet. After it a thread opens the new file,
    /// and the old one stays until that is done, or for good if it cannot be read. Of many changes in a row, those
    /// that came while another file was being opened are passed over but for the last.
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
                "The background stays as it is: the system gives no thread to open another file with."))
    }

    private func open(_ location: String?, for element: any MessageSource) throws(ElementError) -> BackgroundReader? {
        guard let location else { return nil }
        let reader = try BackgroundReader(
            location: location, maxPixels: state.withLock { $0.maxPixels }, isCancelled: isCancelled)
        if reader.isInterlaced {
            element.warn(interlaced("The background \"\(location)\"", "its fields are shown as one picture"))
        }
        return reader
    }

    /// Opens the wanted file, and again if another was wanted meanwhile.
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

    /// Ends the loading, unless another file was wanted meanwhile: whoever asked for it relies on this thread.
    private func finishLoading(_ version: Int) -> Bool {
        state.withLock { state in
            guard state.version == version else { return false }
            state.isLoading = false
            return true
        }
    }

    /// Puts a file in place of the old one; false where another is wanted by now.
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

/// Tells a thread that opens a file to give up.
final class CancelFlag: Sendable {
    private let flag = Atomic(false)

    var isSet: Bool { flag.load(ordering: .relaxed) }

    func set(_ value: Bool) { flag.store(value, ordering: .relaxed) }
}
