import GstTestSupport
import SystemFaults
import Testing

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// A call of the C library that fails with an error number.
struct CallFault: CustomTestStringConvertible {
    let call: system_calls
    let error: CInt
    var testDescription: String { "\(call.rawValue): \(String(cString: strerror(error)))" }
}

/// Calls `body` with call number 0, 1, 2… on the folder's files failing, until none is left to fail; how many were.
///
/// - Parameter check: called after each time, when no call fails.
func failEach(
    _ fault: CallFault, in folder: TemporaryFolder, _ body: (Int) throws -> Void, then check: (Int) -> Void = { _ in }
) rethrows -> Int {
    var number = 0
    while number < 500 {
        fail_calls(folder.path, fault.call.rawValue, fault.error, number, 1)
        defer { end_failing_calls() }
        try body(number)
        let hits = end_failing_calls()
        check(number)
        if hits == 0 { break }
        number += 1
    }
    #expect(number < 500, "there is no end")
    return number
}

/// How many files this process has open.
func openFiles() -> Int {
    guard let folder = opendir("/proc/self/fd") else { return 0 }
    defer { closedir(folder) }
    var count = 0
    while readdir(folder) != nil { count += 1 }
    return count
}
