import CGStreamer
import GstBridge
import Synchronization

/// The file that the property `background` names: opened before the first frame, replaced without stopping one.
///
/// Lock order: `state` is the only lock, and no call to GStreamer is made while it is held.
final class BackgroundFile: Sendable {
    private struct State {
        var isRunning = false
        /// Counts the changes of the property, so that a slow load does not replace a newer one.
        var generation = 0
        var reader: BackgroundReader?
    }

    private let state = Mutex(State())

    /// The open file; nil where none is named.
    var reader: BackgroundReader? { state.withLock { $0.reader } }

    /// READY to PAUSED: opens the file, so that a fault shows before any frame leaves.
    func start(_ location: String?) throws(ElementError) {
        let opened = try location.map { location throws(ElementError) in try BackgroundReader(location: location) }
        state.withLock {
            $0.isRunning = true
            $0.reader = opened
        }
    }

    /// Keeps a frame that waits for the decoder from waiting longer.
    func interrupt() { reader?.interrupt() }

    func stop() {
        let closed = state.withLock { state -> BackgroundReader? in
            state.isRunning = false
            state.generation += 1
            defer { state.reader = nil }
            return state.reader
        }
        closed?.interrupt()
    }

    /// The property changed. Before the start nothing happens yet; after it a thread of GStreamer's opens the new
    /// file, and the old one stays until that is done, or for good if it cannot be read.
    func replace(with location: String?, for element: any Element) {
        let generation = state.withLock { state -> Int? in
            guard state.isRunning else { return nil }
            state.generation += 1
            return state.generation
        }
        guard let generation else { return }
        let job = LoadJob(file: self, element: element, location: location, generation: generation)
        gst_element_call_async(
            element.instance,
            { _, data in
                if let data { Unmanaged<LoadJob>.fromOpaque(data).takeUnretainedValue().run() }
            },
            Unmanaged.passRetained(job).toOpaque(),
            { data in
                if let data { Unmanaged<LoadJob>.fromOpaque(data).release() }
            })
    }

    fileprivate func install(_ opened: BackgroundReader?, generation: Int) {
        let replaced = state.withLock { state -> BackgroundReader? in
            // Too late: the element has stopped, or a newer file is on its way. The reader just opened goes.
            guard state.isRunning, state.generation == generation else { return opened }
            defer { state.reader = opened }
            return state.reader
        }
        replaced?.interrupt()
    }
}

/// One load on its way. The element's C half is kept alive by the call that runs it, and that keeps the Swift half.
private final class LoadJob {
    private let file: BackgroundFile
    private let element: any Element
    private let location: String?
    private let generation: Int

    init(file: BackgroundFile, element: any Element, location: String?, generation: Int) {
        self.file = file
        self.element = element
        self.location = location
        self.generation = generation
    }

    func run() {
        do throws(ElementError) {
            let opened = try location.map { location throws(ElementError) in
                try BackgroundReader(location: location)
            }
            file.install(opened, generation: generation)
        } catch {
            element.warn(error)
        }
    }
}
