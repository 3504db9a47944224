import Foundation
import GstBridge

extension Process {
    /// Starts a program that the system kills with this one, however this one ends. A test's children start with every signal
    /// blocked that can be blocked, so that only SIGKILL ends them.
    func start(_ words: [String]) throws {
        executableURL = URL(filePath: "/usr/bin/env")
        arguments = Process.bound + words
        try Starter.run { [self] in try run() }
    }

    /// Kills the program and waits for its end.
    func end() {
        guard isRunning else { return }
        kill(processIdentifier, SIGKILL)
        waitUntilExit()
    }

    /// The words before a program that is to end with the thread that starts it.
    static let bound =
        FileManager.default.isExecutableFile(atPath: "/usr/bin/setpriv")
        ? ["/usr/bin/setpriv", "--pdeathsig", "KILL"] : []
}

/// Starts processes on a thread that lives as long as the program: the system's signal comes when the thread ends.
private enum Starter {
    private struct Job {
        var body: (@Sendable () -> Void)?
    }

    private static let job = Monitor(Job())
    private static let isRunning = onThread("starter") {
        while true { job.wait(until: { $0.body != nil }, then: { $0.body.take() })?() }
    }

    static func run(_ body: @escaping () throws -> Void) throws {
        nonisolated(unsafe) let body = body
        guard isRunning else { return try body() }
        let result = Monitor<Result<Void, any Error>?>(nil)
        job.wait(until: { $0.body == nil }) { job in
            job.body = {
                let made = Result { try body() }
                result.withLock { $0 = made }
            }
        }
        job.withLock { _ in }  // wakes the thread
        try result.wait(until: { $0 != nil }, then: { $0 })?.get()
    }
}
