import Testing

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// How long the endurance tests are, and what they allow.
enum Soak {
    static let isFull = getenv("DEPTHMATTE_SOAK") != nil

    /// What the events of a random run follow from: DEPTHMATTE_SEED, or always the same.
    static let seed = getenv("DEPTHMATTE_SEED").flatMap { UInt64(String(cString: $0)) } ?? 1

    /// Writes a line of the log at once: a run that takes an hour shows how far it is.
    static func report(_ text: String) {
        print("soak: \(text)")
        fflush(nil)
    }

    /// Resident memory may grow by `limit` kB from `early` to `late`, or to now; in a small run by `small` kB.
    static func expectSmallGrowth(
        since early: Int, to late: Int? = nil, limit: Int, small: Int = 8192, after what: String
    ) {
        let growth = (late ?? residentMemory()) - early
        print("resident memory after \(what): \(growth) kB more")
        // In a small run the allocator's own steps of megabytes show; a frame lost each time would show beyond them.
        #expect(growth <= (isFull ? limit : small), "\(growth) kB after \(what)")
    }
}

/// Resident memory of this process in kB, without the pages of program files, which are read in as code is first run;
/// 0 where the system does not tell.
func residentMemory() -> Int {
    guard let file = fopen("/proc/self/status", "r") else { return 0 }
    defer { fclose(file) }
    var line = [CChar](repeating: 0, count: 256)
    while fgets(&line, 256, file) != nil {
        let fields = String(decoding: line.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
            .split(whereSeparator: \.isWhitespace)
        if fields.count > 1, fields[0] == "RssAnon:" { return Int(fields[1]) ?? 0 }
    }
    return 0
}
