import FuzzTargets

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

private let target: FuzzTarget = {
    let name = getenv("DEPTHMATTE_FUZZ_TARGET").map { String(cString: $0) } ?? ""
    guard let target = FuzzTarget(rawValue: name) else {
        preconditionFailure("DEPTHMATTE_FUZZ_TARGET is none of \(FuzzTarget.allCases)")
    }
    return target
}()

/// libFuzzer's entry point ("libFuzzer", LLVM documentation).
@_cdecl("LLVMFuzzerTestOneInput")
public func testOneInput(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    target.run(UnsafeBufferPointer(start: data, count: count))
    return 0
}
